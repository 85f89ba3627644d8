# plan: the components of a concatenation are computed in one loop, even if they have no operand in common and are reshaped one after the other, and slices are not copied where reshapes drop a dimension.
# stderr: -
cat >a.hlo <<'EOF'
HloModule a
ENTRY e { x = f32[1000,4] parameter(0)
 a1 = f32[1000,1] slice(x), slice={[0:1000], [0:1]}
 a = f32[1000] reshape(a1)
 b1 = f32[1000,1] slice(x), slice={[0:1000], [1:2]}
 b = f32[1000] reshape(b1)
 c1 = f32[1000,1] slice(x), slice={[0:1000], [2:3]}
 c = f32[1000] reshape(c1)
 d1 = f32[1000,1] slice(x), slice={[0:1000], [3:4]}
 d = f32[1000] reshape(d1)
 aa = f32[1000] multiply(a, a)
 ab = f32[1000] subtract(aa, b)
 p = f32[1000,1] reshape(ab)
 cc = f32[1000] multiply(c, c)
 cd = f32[1000] add(cc, d)
 q = f32[1000,1] reshape(cd)
 ROOT r = f32[1000,2] concatenate(p, q), dimensions={1} }
EOF
$HLO plan a.hlo >out.txt || exit 1
tr -s ' ' <out.txt | grep -q ' 8 fused: reshape' || { cat out.txt; exit 1; }
$HLO run a.hlo --random --seed 1 >fast.txt && $HLO run a.hlo --random --seed 1 --plain | cmp - fast.txt
