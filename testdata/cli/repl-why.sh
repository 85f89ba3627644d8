# .why at the prompt: provenance of an element, of values that were set, through a loop
# stdout: o[1] = 24  get-tuple-element f32[2]
# stdout:   element: y@2[1] = 24  add f32[2]
# stdout:     lhs: y@1[1] = 12  add f32[2]
# stdout:       lhs: y@0[1] = 6  add f32[2]
# stdout:       rhs: y@0[1] = 6  add f32[2]
# stdout:     rhs: y@1[1] = 12  add f32[2]  (see above)
# stdout: y@0[0] = 2  add f32[2]
# stdout:   lhs: a[0] = 1  parameter f32[2]
# stdout:   rhs: a[0] = 1  parameter f32[2]
# stdout: s = f32[2] {8, 72}
# stdout: s[0] = 8  multiply f32[2]
# stdout:   lhs: a[0] = 1  parameter f32[2]
# stdout:   rhs: y@2[0] = 8  add f32[2]
# stdout: {"schema":1,"element":{"name":"s","computation":"e","op":"multiply","shape":"f32[2]","iterations":[],"leaf":0,"index":[1],"value":72,"where":"","sources":[{"boxes":[{"role":"lhs","name":"a","iterations":[],"leaf":0,"start":[1],"count":[1],"step":[1]}],"elements":1,"shown":[{"name":"a","computation":"e","op":"parameter","shape":"f32[2]","iterations":[],"leaf":0,"index":[1],"value":3,"where":""}]},{"boxes":[{"role":"rhs","name":"o","iterations":[],"leaf":0,"start":[1],"count":[1],"step":[1]}],"elements":1,"shown":[{"name":"y","computation":"body","op":"add","shape":"f32[2]","iterations":[2],"leaf":0,"index":[1],"value":24,"where":""}]}]}}
# stdout: p: f32[2,2]{1,0}
# stdout: y: f32[2,2]{1,0}
# stdout: z[0,1] = nan  add f32[2,2]
# stdout:   lhs: y[0,1] = nan  dot f32[2,2]
# stdout:     lhs: p[0,0:2], rhs: p[0:2,1], 2 products
# stdout:       2
# stdout:         lhs: p[0,0] = 1  parameter f32[2,2]
# stdout:         rhs: p[0,1] = 2  parameter f32[2,2]
# stdout:       nan
# stdout:         lhs: p[0,1] = 2  parameter f32[2,2]
# stdout:         rhs: p[1,1] = nan  parameter f32[2,2]
# stdout:   rhs: y[0,1] = nan  dot f32[2,2]  (see above)
# stderr: <stdin>:2: error: parameter 0, 'a', of shape f32[2]{0}, has no value; use .set a = VALUE
# stderr: <element>: error: 'o[2]': index 2 is out of bounds: dimension 0 has 2 elements
# stderr: <stdin>:7: error: unknown name 'oo'; did you mean 'o'?
# stderr: <stdin>:8: error: usage: .why [NAME[INDEX]] [N]
cat >m.hlo <<'END'
body { p = (s32[], f32[2]) parameter(0) n = s32[] get-tuple-element(p), index=0 x = f32[2] get-tuple-element(p), index=1
  one = s32[] constant(1) m = s32[] add(n, one) y = f32[2] add(x, x) ROOT t = (s32[], f32[2]) tuple(m, y) }
cond { q = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(q), index=0 k = s32[] constant(3) ROOT c = pred[] compare(i, k), direction=LT }
ENTRY e {
  a = f32[2] parameter(0)
  unused = f32[] parameter(1)
  zero = s32[] constant(0)
  init = (s32[], f32[2]) tuple(zero, a)
  w = (s32[], f32[2]) while(init), condition=cond, body=body
  o = f32[2] get-tuple-element(w), index=1
  ROOT r = f32[] add(unused, unused)
}
END
$HLO repl m.hlo <<'END'
.bail off
.why o[1]
.set a = {1, 3}
.why o[1] 2
.why y@0[0]
.why o[2]
.why oo[1]
.why
s = f32[2] multiply(a, o)
.why s[0]
.mode json
.why s[1]
END
$HLO repl <<'END'
p = f32[2,2] parameter(0)
y = dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}
.set p = {{1, 2}, {3, nan}}
z = add(y, y);
.why z[0,1] 2
END
