# diff: the comparator of a sort that a pass rewrote; equal errors with different signs; a constant is likelier than another operand, and a name that fits likelier than more equal values.
# stdout: first difference: %o, applied by %t; results agree if it is negate(%m)
# stdout:   b.hlo:3: %o = f32[] abs(%m)
# stdout: first difference: %s
# stdout:   a.hlo:6: %s = f32[13]{0} select(%p, %x, %os)
# stdout: first difference: %one; results agree if it is 0
# stdout:   b.hlo:3: %one = s32[] constant(1)
# stdout: first difference: %divide.1; results agree if it is divide(%os, %u)
# stdout:   b.hlo:4: %divide.1 = f32[4]{0} multiply(%os, %u)
# stderr: -
first() { $HLO diff a.hlo b.hlo "$@" | sed -n 2,3p; }
# A pass rewrites a comparator, so that it has another structure; the sorts are a pair by position.
cat >a.hlo <<'E'
HloModule a
f { i = f32[] parameter(0)  j = f32[] parameter(1)  ROOT l = pred[] compare(i, j), direction=LT }
ENTRY e { x = f32[5] parameter(0)  ROOT s = f32[5] sort(x), dimensions={0}, to_apply=f }
E
cat >b.hlo <<'E'
HloModule b
g { k = f32[] parameter(0)  m = f32[] parameter(1)
  n = f32[] negate(k)  o = f32[] abs(m)  ROOT p = pred[] compare(n, o), direction=GT }
ENTRY e { x = f32[5] parameter(0)  ROOT t = f32[5] sort(x), dimensions={0}, to_apply=g }
E
first '{0.51, -3.7, 0.25, -7.3, 1.57}'
# Of the elements {1,...} only the first and the last differ, by the same.
cat >a.hlo <<'E'
HloModule a
ENTRY e { x = f32[13] parameter(0)
  z = f32[] constant(0)  zs = f32[13] broadcast(z), dimensions={}
  o = f32[] constant(1)  os = f32[13] broadcast(o), dimensions={}
  p = pred[13] compare(x, zs), direction=NE
  s = f32[13] select(p, x, os)
  b = f32[2,13] broadcast(s), dimensions={1}  ROOT r = f32[2,13] sine(b) }
E
sed 's/Module a/Module b/; s/select(p, x, os)/select(p, os, x)/' a.hlo >b.hlo
first '{0.75, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.75}'
# Every other index would explain the results, too.
cat >a.hlo <<'E'
HloModule a
ENTRY e { x = f32[4] parameter(0)  i = s32[] parameter(1)
  z = s32[] constant(0)  p = pred[] compare(i, z), direction=LT
  n = s32[] constant(4)  j = s32[] add(i, n)  k = s32[] select(p, j, i)
  d = f32[1] dynamic-slice(x, k), dynamic_slice_sizes={1}  u = s32[] constant(1)  v = s32[] add(i, u)
  ROOT r = (f32[1], s32[]) tuple(d, v) }
E
sed 's/Module a/Module b/; s/z = s32\[\] constant(0)/one = s32[] constant(1)/; s/(i, z)/(i, one)/' a.hlo >b.hlo
first '{1, 2, 3, 4}' 0
# x / s becomes x * (1 / s), and 1 / s by mistake 1 * s; x / (1 * s) would be right, too.
cat >a.hlo <<'E'
HloModule a
ENTRY e { x = f32[4] parameter(0)  s = f32[4] parameter(1)
  t = f32[4] exponential(x)  u = f32[4] sine(s)  q = f32[4] divide(t, u), metadata={op_name="jit(f)/div"}
  ROOT r = f32[4] tanh(q) }
E
cat >b.hlo <<'E'
HloModule b
ENTRY e { x = f32[4] parameter(0)  s = f32[4] parameter(1)
  t = f32[4] exponential(x)  u = f32[4] sine(s)  o = f32[] constant(1)  os = f32[4] broadcast(o), dimensions={}
  divide.1 = f32[4] multiply(os, u), metadata={op_name="jit(f)/div"}
  multiply.2 = f32[4] multiply(t, divide.1), metadata={op_name="jit(f)/div"}
  ROOT v = f32[4] tanh(multiply.2) }
E
first '{0.5, -3, 0.25, 1}' '{1, 2, 3, 4}'
