# diff: of computations that are applied to elements, the only instruction that differs is named; none if several do.
# stdout: results differ; 2 of 2 instructions compared
# stdout: first difference: %k.1, applied by %sum
# stdout:   a.hlo:3: %k = f32[] add(%i, %t)
# stdout:   b.hlo:3: %k.1 = f32[] subtract(%t.1, %i.1)
# stdout: first difference of values: %sum
# stdout:   a.hlo:7: %sum = f32[2]{0} reduce(%x, %zero), dimensions={1}, to_apply=%add
# stdout:   b.hlo:7: %sum = f32[2]{0} reduce(%x, %zero), dimensions={1}, to_apply=%add
# stdout: first difference: %t.1, applied by %sum
# stdout: first difference: %c.1, applied by %sum
# stdout: first difference: %k.1, applied by %sum
# stdout: first difference: %sum
# stdout: results agree; 2 of 2 instructions compared, 0 not bit-identical
# stdout: "applied_a":{"name":"k","computation":"add","op":"add","shape":"f32[]","line":3}
# stdout: "applied_b":{"name":"k.1","computation":"add","op":"subtract","shape":"f32[]","line":3}
# stderr: -
cat >a.hlo <<'E'
HloModule a
add { i = f32[] parameter(0)  j = f32[] parameter(1)  c = f32[] constant(0.5)  t = f32[] multiply(j, c)
  ROOT k = f32[] add(i, t) }
ENTRY e {
  x = f32[2,3] parameter(0)
  zero = f32[] constant(0)
  ROOT sum = f32[2] reduce(x, zero), dimensions={1}, to_apply=add
}
E
sed '2,3s/\([ (]\)\([ijctk]\) =/\1\2.1 =/g; 3s/(i, t)/(t.1, i.1)/; 2s/(j, c)/(j.1, c.1)/' a.hlo >same.hlo
x='{{1, 2, 3}, {0.3, 5, 7}}'
sed 's/ add(/ subtract(/' same.hlo >b.hlo; $HLO diff a.hlo b.hlo "$x" | head -7
for change in 's/ multiply(/ maximum(/' 's/0.5/0.75/' 's/add(t.1, i.1)/add(t.1, t.1)/' 's/ add(/ subtract(/; s/0.5/0.75/'; do
    sed "$change" same.hlo >b.hlo; $HLO diff a.hlo b.hlo "$x" | sed -n 2p
done
$HLO diff a.hlo same.hlo "$x"
sed 's/ add(/ subtract(/' same.hlo >b.hlo; $HLO diff a.hlo b.hlo "$x" --json | grep -o '"applied_.":{[^}]*}'
