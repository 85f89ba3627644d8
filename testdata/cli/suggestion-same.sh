# Of several equally near names, the same one is always suggested
# stdout: help: did you mean 'a1'?
# stdout: 1
cat >near.hlo <<'E'
ENTRY e {
  k1 = f32[] constant(1)
  d1 = f32[] constant(1)
  b1 = f32[] constant(1)
  x1 = f32[] constant(1)
  a1 = f32[] constant(1)
  h1 = f32[] constant(1)
  m1 = f32[] constant(1)
  ROOT r = f32[] add(z1, k1)
}
E
for k in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    $HLO verify near.hlo 2>&1 | grep help
done | sort -u >log
cat log
wc -l <log
