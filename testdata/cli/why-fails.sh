# why: a run that fails has values up to the failure; later instructions have none
# status: 5
# stdout: y@4[0] = 32  add f32[2]
# stdout:   lhs: y@3[0] = 16  add f32[2]
# stdout:   rhs: y@3[0] = 16  add f32[2]
# stdout: 5
# stderr: m.hlo:8:3: error: loop exceeded 5 iterations (--max-trip)
# stderr: <element>: error: 'o[0]': not executed on whole values in this run
# stderr: m.hlo:8:3: error: loop exceeded 5 iterations (--max-trip)
cat >m.hlo <<'END'
body { p = (s32[], f32[2]) parameter(0) n = s32[] get-tuple-element(p), index=0 x = f32[2] get-tuple-element(p), index=1
  one = s32[] constant(1) m = s32[] add(n, one) y = f32[2] add(x, x) ROOT t = (s32[], f32[2]) tuple(m, y) }
cond { q = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(q), index=0 k = s32[] constant(3) ROOT c = pred[] compare(i, k), direction=GE }
ENTRY e {
  a = f32[2] parameter(0)
  four = s32[] constant(4)
  init = (s32[], f32[2]) tuple(four, a)
  w = (s32[], f32[2]) while(init), condition=cond, body=body
  ROOT o = f32[2] get-tuple-element(w), index=1
}
END
$HLO why m.hlo 'y[0]' '{1, 2}' --max-trip=5
echo $?
$HLO why m.hlo 'o[0]' '{1, 2}' --max-trip=5
