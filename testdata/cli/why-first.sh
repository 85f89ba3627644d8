# why without NAME: the first NaN of the run, in a loop too; without any, the first infinity; literals and NAME=VALUE are arguments
# stdout: share@1[1] = nan  divide f32[2]
# stdout:   lhs: share@0[1] = 0  divide f32[2]
# stdout:   rhs: share@0[1] = 0  divide f32[2]
# stdout: s[1] = inf  divide f32[2]
# stdout:   lhs: x[1] = 1  parameter f32[2]
# stdout:   rhs: y[1] = 0  parameter f32[2]
# stderr: <element>: error: no instruction produces NaN or infinity; expected NAME[I,J]
# status: 2
cat >m.hlo <<'END'
body { p = (s32[], f32[2], f32[2], f32[2]) parameter(0)
  n = s32[] get-tuple-element(p), index=0 x = f32[2] get-tuple-element(p), index=1 y = f32[2] get-tuple-element(p), index=2
  share = f32[2] divide(x, y)
  one = s32[] constant(1) m = s32[] add(n, one)
  ROOT t = (s32[], f32[2], f32[2], f32[2]) tuple(m, share, share, share) }
cond { q = (s32[], f32[2], f32[2], f32[2]) parameter(0) i = s32[] get-tuple-element(q), index=0 k = s32[] constant(3) ROOT c = pred[] compare(i, k), direction=LT }
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2] parameter(1)
  zero = s32[] constant(0)
  init = (s32[], f32[2], f32[2], f32[2]) tuple(zero, x, y, x)
  w = (s32[], f32[2], f32[2], f32[2]) while(init), condition=cond, body=body
  ROOT o = f32[2] get-tuple-element(w), index=3
}
END
cat >once.hlo <<'END'
ENTRY e { x = f32[2] parameter(0) y = f32[2] parameter(1) s = f32[2] divide(x, y) ROOT n = f32[2] negate(s) }
END
$HLO why m.hlo '{1, 0}' '{2, 2}' | sed 's/-nan/nan/' # processors choose its sign
$HLO why once.hlo x='{1, 1}' y='{2, 0}'
$HLO why m.hlo 'f32[2] {1, 1}' '{2, 2}'
