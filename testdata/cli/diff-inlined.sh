# diff: calls that a pass inlined are inlined, so that each call has its own values; an instruction with another operand or attribute is named with what it was.
# stdout: results agree; 7 of 7 instructions compared, 0 not bit-identical
# stdout: first difference: %w; results agree if it is sine(%v)
# stdout:   c.hlo:8: %w = f32[2,2]{1,0} sine(%u)
# stdout: first difference: %a; results agree if it is add(%v, %w)
# stdout:   c.hlo:9: %a = f32[2,2]{1,0} add(%t, %w)
# stdout: first difference: %b; results agree if it is transpose(%a), dimensions={0,1}
# stdout:   c.hlo:10: %b = f32[2,2]{1,0} transpose(%a), dimensions={1,0}
# stdout: first difference: %f; results agree if it is slice(%c), slice={[0:2], [1:2]}
# stdout:   c.hlo:13: %f = f32[2,1]{1,0} slice(%c), slice={[0:2], [0:1]}
# stderr: -
cat >a.hlo <<'F'
HloModule a
next.1 {
  x = f32[2,2] parameter(0)
  y = f32[2,2] sine(x)
  ROOT z = f32[2,2] add(x, y)
}
ENTRY e {
  p = f32[2,2] parameter(0)
  c = f32[2,2] call(p), to_apply=next.1
  d = f32[2,2] call(c), to_apply=next.1
  f = f32[2,2] call(d), to_apply=next.1
  ROOT r = f32[2,2] negate(f)
}
F
cat >b.hlo <<'F'
HloModule b
ENTRY e {
  p = f32[2,2] parameter(0)
  s = f32[2,2] sine(p)
  t = f32[2,2] add(p, s)
  u = f32[2,2] sine(t)
  v = f32[2,2] add(t, u)
  w = f32[2,2] sine(v)
  a = f32[2,2] add(v, w)
  b = f32[2,2] transpose(a), dimensions={1,0}
  c = f32[2,2] transpose(b), dimensions={1,0}
  d = f32[2,1] slice(c), slice={[0:2], [0:1]}
  f = f32[2,1] slice(c), slice={[0:2], [1:2]}
  g = f32[2,2] concatenate(d, f), dimensions={1}
  ROOT r = f32[2,2] negate(g)
}
F
$HLO diff a.hlo b.hlo '{{0.1, 0.2}, {0.3, 0.4}}'
for change in 's/sine(v)/sine(u)/' 's/add(v, w)/add(t, w)/' 's/(b), dimensions={1,0}/(b), dimensions={0,1}/' 's/\[1:2\]/[0:1]/'; do
    sed "$change" b.hlo >c.hlo
    $HLO diff a.hlo c.hlo '{{0.1, 0.2}, {0.3, 0.4}}' | sed -n 2,3p
done
