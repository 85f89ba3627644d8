# why: elements in loops lead to the previous iteration; tuples, calls and parameters are followed
# stdout: out[1] = 156  get-tuple-element f32[2]
# stdout:   element: y@2[1] = 156  add f32[2]
# stdout:     lhs: b@2[1] = 136  add f32[2]
# stdout:       lhs: y@1[1] = 68  add f32[2]
# stdout:         lhs: b@1[1] = 48  add f32[2]
# stdout:         rhs: step[1] = 20  parameter f32[2]
# stdout:       rhs: y@1[1] = 68  add f32[2]  (see above)
# stdout:     rhs: step[1] = 20  parameter f32[2]
# stdout: y@0[0] = 12  add f32[2]
# stdout:   lhs: b@0[0] = 2  add f32[2]
# stdout:     lhs: start[0] = 1  parameter f32[2]
# stdout:     rhs: start[0] = 1  parameter f32[2]
# stdout:   rhs: step[0] = 10  parameter f32[2]
# stdout: w[2][1] = 20  while f32[2]
# stdout:   last iteration: step[1] = 20  parameter f32[2]
# stdout: c@test = 0  compare pred[]
# stdout:   lhs: m@2 = 3  add s32[]
# stdout:   rhs: most@test = 3  constant s32[]
# stderr: -
cat >m.hlo <<'END'
HloModule m
twice { a = f32[2] parameter(0) ROOT b = f32[2] add(a, a) }
body {
  p = (s32[], f32[2], f32[2]) parameter(0)
  n = s32[] get-tuple-element(p), index=0
  x = f32[2] get-tuple-element(p), index=1
  k = f32[2] get-tuple-element(p), index=2
  one = s32[] constant(1)
  m = s32[] add(n, one)
  f = f32[2] fusion(x), kind=kLoop, calls=twice
  y = f32[2] add(f, k)
  ROOT t = (s32[], f32[2], f32[2]) tuple(m, y, k)
}
cond {
  q = (s32[], f32[2], f32[2]) parameter(0)
  i = s32[] get-tuple-element(q), index=0
  most = s32[] constant(3)
  ROOT c = pred[] compare(i, most), direction=LT
}
ENTRY e {
  start = f32[2] parameter(0)
  step = f32[2] parameter(1)
  zero = s32[] constant(0)
  init = (s32[], f32[2], f32[2]) tuple(zero, start, step)
  w = (s32[], f32[2], f32[2]) while(init), condition=cond, body=body
  ROOT out = f32[2] get-tuple-element(w), index=1
}
END
$HLO why m.hlo 'out[1]' '{1, 2}' '{10, 20}' --levels=3
$HLO why m.hlo 'y@0[0]' '{1, 2}' '{10, 20}' --levels=2
$HLO why m.hlo 'w[2][1]' '{1, 2}' '{10, 20}'
$HLO why m.hlo cond/c '{1, 2}' '{10, 20}'
