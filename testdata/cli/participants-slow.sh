# A deadlock is reported with the same message if a participant is slow: detection waits for all participants.
# status: 4
# stderr: slow.hlo:8:3: note: all-reduce on participant 2 waits for participant 0, which has finished
# stderr: slow.hlo:8:3: note: all-reduce on participant 2 waits for participant 0, which has finished
cat >slow.hlo <<'END'
HloModule slow, replica_count=3
add { a = s32[] parameter(0) b = s32[] parameter(1)
  ROOT c = s32[] add(a, b) }
first { x = s32[] parameter(0)
  ROOT y = s32[] negate(x) }
other { x = s32[] parameter(0)
  n = s32[] custom-call(x), custom_call_target="come"
  ROOT y = s32[] all-reduce(n), to_apply=add }
ENTRY main {
  r = u32[] replica-id()
  x = s32[] convert(r)
  zero = u32[] constant(0)
  is_first = pred[] compare(r, zero), direction=EQ
  ROOT out = s32[] conditional(is_first, x, x), true_computation=first, false_computation=other
}
END
"$HLO" run slow.hlo --custom-call='come=read -r type n; [ $n = 1 ] || sleep 1; echo "$type $n"'
