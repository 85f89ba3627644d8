# .watch nan stops where a NaN originates, not at what passes it on; .why explains elements while
# a run is stopped, by default of the current iteration
# stderr: -
# stdout: watchpoint 1: nan
# stdout: after  y = f32[2]{0} sqrt(x)
# stdout:   in w, iteration 1
# stdout: x = f32[2] {0, -2}
# stdout: y@1[1] = -nan  sqrt f32[2]
# stdout:   operand: z@0[1] = -2  subtract f32[2]
# stdout: y@1[1] = -nan  sqrt f32[2]
# stdout:   operand: z@0[1] = -2  subtract f32[2]
# stdout:     lhs: y@0[1] = 2  sqrt f32[2]
# stdout:       operand: s[1] = 4  parameter f32[2]
# stdout:     rhs: s[1] = 4  parameter f32[2]
# stdout: y@1[1] = -nan  sqrt f32[2]
# stdout:   operand: z@0[1] = -2  subtract f32[2]
# stdout:     lhs: y@0[1] = 2  sqrt f32[2]
# stdout:       operand: s[1] = 4  parameter f32[2]
# stdout:     rhs: s[1] = 4  parameter f32[2]
# stdout: x@0[1] = 4  get-tuple-element f32[2]
# stdout:   element: s[1] = 4  parameter f32[2]
# stdout: s[0] = 1  parameter f32[2]
# stdout: o = f32[2] {0, -nan}
# stdout: o[1] = -nan  add f32[2]
# stdout:   lhs: z@2[1] = -nan  subtract f32[2]
# stdout:   rhs: z@2[1] = -nan  subtract f32[2]
# stdout: watchpoint 1: nan
# stdout: after  s = f32[2]{0} parameter(0)
# stdout: o = f32[2] {nan, 0}
cat >m.hlo <<'EOF'
cond {
  p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT t = pred[] compare(i, n), direction=LT
}
body {
  q = (s32[], f32[2]) parameter(0)
  j = s32[] get-tuple-element(q), index=0
  one = s32[] constant(1)
  k = s32[] add(j, one)
  x = f32[2] get-tuple-element(q), index=1
  y = f32[2] sqrt(x)
  z = f32[2] subtract(y, x)
  ROOT r = (s32[], f32[2]) tuple(k, z)
}
ENTRY e {
  zero = s32[] constant(0)
  s = f32[2] parameter(0)
  st = (s32[], f32[2]) tuple(zero, s)
  w = (s32[], f32[2]) while(st), condition=cond, body=body
  g = f32[2] get-tuple-element(w), index=1
  ROOT o = f32[2] add(g, g)
}
EOF
$HLO repl --norc --plain m.hlo <<'EOF'
.watch nan
.run {1, 4}
x
.why
.why 3
.why y[1] 3
.why x@0[1]
.why s[0]
.c
.why root[1]
.run {nan, 1}
.c
EOF
