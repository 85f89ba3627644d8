# diff: an instruction that was changed to another opcode or direction, or whose operands were swapped, is named with what it was, although its operands have no counterpart; changes that no evidence distinguishes are all reported; not if two were changed.
# stdout: results agree; 3 of 4 instructions compared, 3 not bit-identical
# stdout: first difference: %h; results agree if it is add(%g, %two)
# stdout:   b.hlo:10: %h = f32[4]{0} subtract(%g, %two)
# stdout: first difference of values: %o, paired despite changes
# stdout: first difference: %i; results agree if it is divide(%g, %h)
# stdout:   b.hlo:11: %i = f32[4]{0} divide(%h, %g)
# stdout: first difference of values: %o, paired despite changes
# stdout: first difference: %p; results agree if it is compare(%g, %zero), direction=LE
# stdout:   b.hlo:13: %p = pred[4]{0} compare(%g, %zero), direction=GE
# stdout: or: %l; results agree if it is select(%p, %j, %k)
# stdout: first difference: %w; results agree if it is exponential(%v)
# stdout:   b.hlo:6: %w = f32[4]{0} abs(%v)
# stdout: first difference of values: %o, paired despite changes
# stdout: first difference: %d, without counterpart
# stdout:   b.hlo:8: %d = f32[4]{0} multiply(%x, %two)
# stdout: first difference of values that can be compared:
# stdout: "agrees_if":"divide(%g, %h)"
# stderr: -
cat >a.hlo <<'E'
HloModule a
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  t = f32[4] tanh(x)
  u = f32[4] exponential(y)
  q = f32[4] divide(t, u)
  ROOT r = f32[4] exponential(q)
}
E
cat >same.hlo <<'E'
HloModule b
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  v = f32[4] negate(y)
  w = f32[4] exponential(v)
  two = f32[4] constant({2, 2, 2, 2})
  d = f32[4] multiply(x, two)
  g = f32[4] exponential-minus-one(d)
  h = f32[4] add(g, two)
  i = f32[4] divide(g, h)
  zero = f32[4] constant({0, 0, 0, 0})
  p = pred[4] compare(g, zero), direction=LT
  j = f32[4] abs(i)
  k = f32[4] negate(j)
  l = f32[4] select(p, k, j)
  m = f32[4] multiply(l, w)
  ROOT o = f32[4] exponential(m)
}
E
set -- '{1, -2, 0.5, 3}' '{0.25, 1, -1, 2}'
$HLO diff a.hlo same.hlo "$@"
for change in 's/add(g, two)/subtract(g, two)/' 's/divide(g, h)/divide(h, g)/' 's/=LT/=GE/' 's/exponential(v)/abs(v)/' 's/=LT/=GE/; s/exponential(v)/abs(v)/'; do
    sed "$change" same.hlo >b.hlo; $HLO diff a.hlo b.hlo "$@" | sed -n 2,4p
done
sed 's/divide(g, h)/divide(h, g)/' same.hlo >b.hlo; $HLO diff a.hlo b.hlo "$@" --json | grep -o '"agrees_if":"[^"]*"'
