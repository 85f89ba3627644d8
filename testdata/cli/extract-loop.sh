# extract: an instruction in a loop, with the values of the requested iteration
# status: 4
# stdout: f32[2] {2, 0.5}
# stdout: f32[2] {8, 0.5}
# stdout: f32[2] {128, 0.5}
# stdout:   v = f32[2]{0} constant({2, 0.5})
# stdout: s32[] 3
# stderr: m.hlo:9:3: error: 'u' was executed 3 times on whole values; its operands were not recorded
# stderr: hlo: error: m.hlo has no instruction 'missing'
# stderr: hlo: error: invalid instruction 'u@x': expected an execution number after '@'
cat >m.hlo <<'END'
HloModule m
body {
  p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  n = s32[] add(i, one)
  v = f32[2] get-tuple-element(p), index=1
  w = f32[2] add(v, v)
  u = f32[2] multiply(w, v)
  ROOT t = (s32[], f32[2]) tuple(n, u)
}
cond {
  p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  three = s32[] constant(3)
  ROOT c = pred[] compare(i, three), direction=LT
}
ENTRY main {
  x = f32[2] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[2]) tuple(zero, x)
  ROOT loop = (s32[], f32[2]) while(init), condition=cond, body=body
}
END
for k in 0 1 2; do $HLO extract m.hlo u@$k '{1, 0.5}' | $HLO run -; done
$HLO extract m.hlo body/u@1 '{1, 0.5}' | $HLO fmt --short - | grep ' v ='
$HLO extract m.hlo three '{1, 0.5}' | $HLO run -
$HLO extract m.hlo missing '{1, 0.5}'
$HLO extract m.hlo u@x '{1, 0.5}'
$HLO extract m.hlo u@3 '{1, 0.5}'
