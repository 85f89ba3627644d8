# reduce: calls and loops are inlined, outputs dropped, metadata removed; the error remains the same
# status: 2
# stdout: ENTRY main {
# stdout:   a = f32[2]{0} constant({0, 0})
# stdout:   ROOT t = f32[2]{0} custom-call(a), custom_call_target="nowhere"
# stdout: }
# stderr: hlo: reduced to 2 of 21 instructions...
# stderr: hlo: m.hlo does not fail the check
# stderr: hlo: error: missing --check=CMD, nan, plain, mismatch:FILE or error:TEXT
cat >m.hlo <<'END'
HloModule m
f {
  a = f32[2] parameter(0)
  b = f32[2] parameter(1)
  t = f32[2] custom-call(a), custom_call_target="nowhere", metadata={op_name="jit(f)/nowhere"}
  ROOT s = f32[2] add(t, b)
}
body {
  p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  n = s32[] add(i, one)
  v = f32[2] get-tuple-element(p), index=1
  w = f32[2] call(v, v), to_apply=f
  ROOT u = (s32[], f32[2]) tuple(n, w)
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
  loop = (s32[], f32[2]) while(init), condition=cond, body=body
  y = f32[2] get-tuple-element(loop), index=1
  ROOT r = (f32[2], f32[2]) tuple(y, x)
}
END
$HLO reduce m.hlo '--check=error:unknown custom-call target' | $HLO fmt --short - | sed '1,2d;/^$/d'
$HLO reduce m.hlo --check=error:nothing-of-the-kind
$HLO reduce m.hlo
