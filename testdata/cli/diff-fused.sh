# diff: a module before and after optimization: instructions of fusions are paired by values, and the one that was changed is named, also if it is a constant that optimization made.
# stdout: results agree; 7 of 9 instructions compared, 0 not bit-identical
# stdout: 0
# stdout: results differ; 7 of 9 instructions compared
# stdout: first difference: %s.2; results agree if it is subtract(%q, %u.2)
# stdout:   b.hlo:9: %s.2 = f32[2,4]{1,0} add(%q, %u.2)
# stdout: first difference of values: %s.2
# stdout: first difference: %v.2; results agree if it is multiply(%p, %c)
# stdout:   b.hlo:7: %v.2 = f32[2]{0} add(%p, %c)
# stdout: first difference of values: %v.2
# stdout: first difference: %w.2; results agree if it is multiply(%s.2, %s.2)
# stdout:   b.hlo:10: %w.2 = f32[2,4]{1,0} add(%s.2, %s.2)
# stdout: first difference of values: %w.2
# stdout: results differ; 7 of 9 instructions compared
# stdout: first difference: %h; results agree if it is 0.25
# stdout:   b.hlo:6: %h = f32[] constant(0.375)
# stdout: used by:
# stdout:   b.hlo:7: %v.2 = f32[2]{0} multiply(%p, %c)
# stdout: "agrees_if":"0.25"
# stderr: -
cat >a.hlo <<'E'
HloModule a
add { i = f32[] parameter(0)  j = f32[] parameter(1)  ROOT k = f32[] add(i, j) }

ENTRY e {
  x = f32[2,4] parameter(0)
  zero = f32[] constant(0)
  sum = f32[2] reduce(x, zero), dimensions={1}, to_apply=add
  four = f32[] constant(4)
  n = f32[2] broadcast(four), dimensions={}
  mean = f32[2] divide(sum, n)
  m = f32[2,4] broadcast(mean), dimensions={0}
  d = f32[2,4] subtract(x, m)
  s = f32[2,4] multiply(d, d)
  ROOT r = f32[2,4] exponential(s)
}
E
cat >b.hlo <<'E'
HloModule b
add { i = f32[] parameter(0)  j = f32[] parameter(1)  ROOT k = f32[] add(i, j) }
f {
  p = f32[2] parameter(0)
  q = f32[2,4] parameter(1)
  h = f32[] constant(0.25)  c = f32[2] broadcast(h), dimensions={}
  v.2 = f32[2] multiply(p, c)
  u.2 = f32[2,4] broadcast(v.2), dimensions={0}
  s.2 = f32[2,4] subtract(q, u.2)
  w.2 = f32[2,4] multiply(s.2, s.2)
  ROOT o.2 = f32[2,4] exponential(w.2)
}
ENTRY e {
  x = f32[2,4] parameter(0)
  zero = f32[] constant(0)
  t.2 = f32[2] reduce(x, zero), dimensions={1}, to_apply=add
  ROOT z.2 = f32[2,4] fusion(t.2, x), kind=kLoop, calls=f
}
E
x='{{0.125, 0.75, -1.5, 0.3}, {1.3, -0.7, 0.2, 0.9}}'
$HLO diff a.hlo b.hlo "$x"; echo $?
sed 's/subtract(q/add(q/' b.hlo >c.hlo; mv b.hlo ok.hlo; mv c.hlo b.hlo
$HLO diff a.hlo b.hlo "$x" | head -4
sed 's/multiply(p/add(p/' ok.hlo >b.hlo; $HLO diff a.hlo b.hlo "$x" | sed -n 2,4p
sed 's/multiply(s/add(s/' ok.hlo >b.hlo; $HLO diff a.hlo b.hlo "$x" | sed -n 2,4p
sed 's/(0.25/(0.375/' ok.hlo >b.hlo; $HLO diff a.hlo b.hlo "$x" | sed -n 1,5p
$HLO diff a.hlo b.hlo "$x" --json | grep -o '"agrees_if":"[^"]*"'
