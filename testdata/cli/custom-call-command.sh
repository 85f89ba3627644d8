# A shell command implements a custom call: it reads the operands and writes the result, one literal per line
# stdout: (
# stdout:   f32[2,2] { { 1, 2 }, { 3, 4 } },
# stdout:   s32[] 7
# stdout: )
# stdout: (
# stdout:   f32[2,2] { { 5, 6 }, { 7, 8 } },
# stdout:   s32[] 9
# stdout: )
# stdout: out[0] = s32[] 11
# stdout: out[1] = s32[] 12
# stdout: s32[] 123
# stdout: any (s32[]) of 2 {a = 1 : i64}
# stdout: f32[100000] sum 100000
# stdout: f32[2,2] { { 1, 2 }, { 3, 4 } }
# stdout: s32[] 7
# stderr: -
cp "$HERE/pair.hlo" pair.hlo
"$HLO" run pair.hlo --custom-call='f=cat' || exit 1
# A tuple may also be one literal; comments and empty lines are ignored.
"$HLO" run pair.hlo --custom-call 'f=echo "// two"; echo; echo "(f32[2,2] {{5, 6}, {7, 8}}, s32[] 9)"' || exit 1
cat >add.hlo <<'END'
HloModule add, replica_count=2

ENTRY main {
  n = s32[] parameter(0)
  ROOT r = s32[] custom-call(n), custom_call_target="add.ten"
}
END
"$HLO" run add.hlo n@0=1 n@1=2 --custom-call='add.*=while read -r shape n; do echo "$shape $((n + 10))"; done' || exit 1
cat >know.hlo <<'END'
HloModule know, num_partitions=3

ENTRY main {
  ROOT r = (s32[]) custom-call(), custom_call_target="any", backend_config={a = 1 : i64}
}
END
HLO_TARGET=other "$HLO" run know.hlo --custom-call='any=test $HLO_PARTICIPANT != 2 || echo "$HLO_TARGET $HLO_RESULT of $HLO_PARTICIPANT $HLO_CONFIG" >seen.txt; echo "s32[] 123"' |
    sed -n 's/^out\[2\].0 = //p'
cat seen.txt
# More than the capacity of a pipe is transferred in both directions at once; unread input is discarded.
cat >much.hlo <<'END'
HloModule much

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = f32[] add(x, y)
}

ENTRY main {
  one = f32[] constant(1)
  x = f32[100000] broadcast(one), dimensions={}
  y = f32[100000] custom-call(x), custom_call_target="f"
  z = f32[1] custom-call(x), custom_call_target="g"
  zero = f32[] constant(0)
  s = f32[] reduce(y, zero), dimensions={0}, to_apply=add
  t = f32[] reshape(z)
  ROOT r = f32[] add(s, t)
}
END
echo "f32[100000] sum $("$HLO" run much.hlo --custom-call=f=cat --custom-call='g=echo "f32[1] {0}"' | cut -d' ' -f2)"
"$HLO" run pair.hlo --custom-call='f=tee seen.txt' >/dev/null && cat seen.txt
