# diff: what was changed is named in a reducer that a pass made, in a comparator, in the state of a loop, and along another dimension.
# stdout: first difference: %k, applied by %s; results agree if it is add(%i, %j)
# stdout:   b.hlo:3: %k = f32[] subtract(%i, %j)
# stdout: first difference: %l, applied by %o; results agree if it is compare(%i, %j), direction=LE
# stdout:   b.hlo:2: %l = pred[] compare(%i, %j), direction=GE
# stdout: first difference: %two; results agree if it is 1
# stdout:   b.hlo:2: %two = s32[] constant(2)
# stdout: used by:
# stdout:   b.hlo:2: %n = s32[] add(%i, %two)
# stdout: first difference: %i; results agree if it is iota(), iota_dimension=1
# stdout:   b.hlo:4: %i = f32[2,2]{1,0} iota(), iota_dimension=0
# stderr: -
first() { $HLO diff a.hlo b.hlo "$@" | grep -A1 '^first difference: \|^or: \|^used by:' | grep -v '^--'; }
# A dot becomes a product and a reduction.
cat >a.hlo <<'E'
HloModule a
ENTRY e { x = f32[5] parameter(0)
  s = f32[] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}  ROOT r = f32[] sqrt(s) }
E
cat >b.hlo <<'E'
HloModule b
f { i = f32[] parameter(0)  j = f32[] parameter(1)
  ROOT k = f32[] subtract(i, j) }
ENTRY e {
  x = f32[5] parameter(0)
  m = f32[5] multiply(x, x)
  zero = f32[] constant(0)
  s = f32[] reduce(m, zero), dimensions={0}, to_apply=f
  ROOT r = f32[] sqrt(s)
}
E
first '{0.5, 3, 0.25, 7, 1.5}'
# A reversed sort becomes a sort in the other direction.
cat >a.hlo <<'E'
HloModule a
f { i = f32[] parameter(0)  j = f32[] parameter(1)  ROOT l = pred[] compare(i, j), direction=GT }
ENTRY e { x = f32[5] parameter(0)  s = f32[5] sort(x), dimensions={0}, to_apply=f
  ROOT r = f32[5] reverse(s), dimensions={0} }
E
cat >b.hlo <<'E'
HloModule b
f { i = f32[] parameter(0)  j = f32[] parameter(1)  ROOT l = pred[] compare(i, j), direction=GE }
ENTRY e { x = f32[5] parameter(0)  ROOT o = f32[5] sort(x), dimensions={0}, is_stable=true, to_apply=f }
E
first '{0.5, 3, 0.25, 7, 1.5}'
# A sum becomes a loop.
cat >a.hlo <<'E'
HloModule a
f { i = f32[] parameter(0)  j = f32[] parameter(1)  ROOT k = f32[] add(i, j) }
ENTRY e { x = f32[5] parameter(0)  zero = f32[] constant(0)
  ROOT s = f32[] reduce(x, zero), dimensions={0}, to_apply=f }
E
cat >b.hlo <<'E'
HloModule b
body { t = (s32[], f32[], f32[5]) parameter(0)  i = s32[] get-tuple-element(t), index=0  two = s32[] constant(2)  n = s32[] add(i, two)
  s = f32[] get-tuple-element(t), index=1  x = f32[5] get-tuple-element(t), index=2
  d = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={1}  v = f32[] reshape(d)  w = f32[] add(s, v)
  ROOT r = (s32[], f32[], f32[5]) tuple(n, w, x) }
more { t = (s32[], f32[], f32[5]) parameter(0)  i = s32[] get-tuple-element(t), index=0  five = s32[] constant(5)
  ROOT l = pred[] compare(i, five), direction=LT }
ENTRY e { x = f32[5] parameter(0)  zero = f32[] constant(0)  first = s32[] constant(0)
  t = (s32[], f32[], f32[5]) tuple(first, zero, x)
  w = (s32[], f32[], f32[5]) while(t), condition=more, body=body  ROOT g = f32[] get-tuple-element(w), index=1 }
E
first '{0.5, 3, 0.25, 7, 1.5}'
# A constant becomes an iota.
cat >a.hlo <<'E'
HloModule a
ENTRY e { x = f32[2,2] parameter(0)
  s = f32[2,2] constant({{0, 1}, {0, 1}})  ROOT r = f32[2,2] subtract(x, s) }
E
cat >b.hlo <<'E'
HloModule b
ENTRY e {
  x = f32[2,2] parameter(0)
  i = f32[2,2] iota(), iota_dimension=0
  n = f32[2,2] negate(i)
  ROOT r = f32[2,2] add(n, x)
}
E
first '{{0.5, 3}, {0.25, 7}}'
