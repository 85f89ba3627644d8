# diff: iterations of loops; computations matched by callers, instructions by op_name; infinities.
# stdout: results differ; 8 of 8 instructions compared
# stdout: first difference: %e; results agree if it is select(%p, %d, %d)
# stdout:   b.hlo:6: %e = f32[2]{0} select(%p, %z, %d)
# stdout: or: %q; results agree if it is broadcast(%o), dimensions={}
# stdout:   b.hlo:5: %q = s32[2]{0} broadcast(%i.1), dimensions={}
# stdout: or: %s; results agree if it is broadcast(%j), dimensions={}
# stdout:   b.hlo:5: %s = s32[2]{0} broadcast(%two), dimensions={}
# stdout: first difference of values: %k, paired by op_name, executed 2 times before
# stdout:   a.hlo:6: %h = f32[2]{0} divide(%x, %d)
# stdout:   b.hlo:7: %k = f32[2]{0} divide(%x, %e)
# stdout:   m.py:7  jit(f)/div
# stdout: 2 of 2 elements differ, 2 of them not finite on one side
# stdout:   element      A    B  abs  rel  ulp
# stdout:       {0}  0.125  inf  nan  nan    -
# stdout:       {1}   0.25  inf  nan  nan    -
# stdout: relative error      elements
# stdout:   more                     2  ########################################
# stdout: 6 only in B
# stdout:   b.hlo:5: %q = s32[2]{0} broadcast(%i.1), dimensions={}
# stdout:   b.hlo:4: %two = s32[] constant(2)
# stdout:   b.hlo:5: %s = s32[2]{0} broadcast(%two), dimensions={}
# stdout:   b.hlo:5: %p = pred[2]{0} compare(%q, %s), direction=EQ
# stdout:   b.hlo:5: %zero = f32[] constant(0)
# stdout:   b.hlo:5: %z = f32[2]{0} broadcast(%zero), dimensions={}
# stderr: -
# status: 1
cat >a.hlo <<'E'
HloModule a
more { t = (s32[], f32[2]) parameter(0)  i = s32[] get-tuple-element(t), index=0  n = s32[] constant(4)  ROOT l = pred[] compare(i, n), direction=LT }
body { t = (s32[], f32[2]) parameter(0)  i = s32[] get-tuple-element(t), index=0  o = s32[] constant(1)  j = s32[] add(i, o)
  x = f32[2] get-tuple-element(t), index=1
  d = f32[2] constant({2, 2})
  h = f32[2] divide(x, d), metadata={op_name="jit(f)/div" source_file="m.py" source_line=7}
  ROOT r = (s32[], f32[2]) tuple(j, h) }
ENTRY e {
  x = f32[2] parameter(0)
  z = s32[] constant(0)
  t = (s32[], f32[2]) tuple(z, x)
  ROOT w = (s32[], f32[2]) while(t), condition=more, body=body
}
E
cat >b.hlo <<'E'
HloModule b
more.1 { t = (s32[], f32[2]) parameter(0)  i = s32[] get-tuple-element(t), index=0  n = s32[] constant(4)  ROOT l = pred[] compare(i, n), direction=LT }
body.1 { t = (s32[], f32[2]) parameter(0)  i = s32[] get-tuple-element(t), index=0  o = s32[] constant(1)  j = s32[] add(i, o)
  x = f32[2] get-tuple-element(t), index=1  d = f32[2] constant({2, 2})  two = s32[] constant(2)
  q = s32[2] broadcast(i), dimensions={}  s = s32[2] broadcast(two), dimensions={}  p = pred[2] compare(q, s), direction=EQ  zero = f32[] constant(0)  z = f32[2] broadcast(zero), dimensions={}
  e = f32[2] select(p, z, d)
  k = f32[2] divide(x, e), metadata={op_name="jit(f)/div" source_file="m.py" source_line=7}
  ROOT r = (s32[], f32[2]) tuple(j, k) }
ENTRY e {
  x = f32[2] parameter(0)
  z = s32[] constant(0)
  t = (s32[], f32[2]) tuple(z, x)
  ROOT w = (s32[], f32[2]) while(t), condition=more.1, body=body.1
}
E
$HLO diff a.hlo b.hlo '{1, 2}' --text
