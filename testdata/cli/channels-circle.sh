# Deadlocks on channels that no order can avoid; the message shows the cycle. Both XLA's verifier and hlo's accept the module.
# status: 4
# stderr: circle.hlo:5:3: error: deadlock: 'recv-done' on participant 0 waits for participant 2
# stderr: circle.hlo:8:3: note: send 's' of participant 2 comes after its recv-done 'd'
# stderr: circle.hlo:5:3: note: recv-done on participant 1 waits for participant 0
# stderr: circle.hlo:8:3: note: send 's' of participant 0 comes after its recv-done 'd'
# stderr: circle.hlo:5:3: note: recv-done on participant 2 waits for participant 1
# stderr: circle.hlo:8:3: note: send 's' of participant 1 comes after its recv-done 'd'
cat >circle.hlo <<'END'
HloModule circle, replica_count=3
ENTRY main {
  t = token[] after-all()
  r = (s32[], u32[], token[]) recv(t), channel_id=0, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,2},{2,0}}}
  d = (s32[], token[]) recv-done(r), channel_id=0
  x = s32[] get-tuple-element(d), index=0
  n = s32[] negate(x)
  s = (s32[], u32[], token[]) send(n, t), channel_id=0, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,2},{2,0}}}
  e = token[] send-done(s), channel_id=0
  ROOT y = s32[] copy(n)
}
END
$HLO verify circle.hlo || exit 1
$HLO run circle.hlo
