# plan: fused loops store what is only concatenated in its place, in any dimension; not if a component is read elsewhere, or if runs are shorter than a vector.
# stderr: -
cat >a.hlo <<'EOF'
HloModule a
ENTRY e { x = f32[4,8,16] parameter(0)
 y = f32[4,8,16] parameter(1)
 a = f32[4,8,16] add(x, y)
 b = f32[4,8,16] subtract(x, y)
 ab = f32[8,8,16] concatenate(a, b), dimensions={0}
 c = f32[4,8,16] maximum(x, y)
 d = f32[4,8,16] minimum(x, y)
 cd = f32[4,16,16] concatenate(c, d), dimensions={1}
 f = f32[4,8,16] multiply(x, y)
 g = f32[4,8,16] negate(x)
 fg = f32[4,8,32] concatenate(f, g), dimensions={2}
 h = f32[4,8,16] divide(x, y)
 i = f32[4,8,16] abs(x)
 h1 = f32[4,8,16,1] reshape(h)
 i1 = f32[4,8,16,1] reshape(i)
 hi = f32[4,8,16,2] concatenate(h1, i1), dimensions={3}
 ROOT r = (f32[8,8,16], f32[4,16,16], f32[4,8,32], f32[4,8,16], f32[4,8,16,2]) tuple(ab, cd, fg, g, hi) }
EOF
$HLO plan a.hlo | tr -s ' ' >out.txt || exit 1
[ $(grep -c 'fused: .*, concatenate$' out.txt) = 2 ] && [ $(grep -c '[KM]*B concatenate$' out.txt) = 2 ] || { cat out.txt; exit 1; }
$HLO run a.hlo --random --seed 1 >fast.txt && $HLO run a.hlo --random --seed 1 --plain | cmp - fast.txt
