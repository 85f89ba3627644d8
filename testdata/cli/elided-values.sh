# Values of elided constants: words that count upwards, or numbers in [-1, 1),
# 0 to 4, within the range of narrow types; the same for the same module.
# stdout: (s32[3]{0,1,2},s4[5]{3,0,0,0,0},pred[5]{0,1,0,0,0})
# stdout: pred[] true
# stdout: same
cat >iota.hlo <<'END'
HloModule a
ENTRY e { i = s32[3] constant({...})
 n = s4[5] constant({...})
 p = pred[5] constant({...})
 ROOT r = (s32[3], s4[5], pred[5]) tuple(i, n, p) }
END
cat >random.hlo <<'END'
HloModule b
and { a = pred[] parameter(0)
 b = pred[] parameter(1)
 ROOT r = pred[] and(a, b) }
ENTRY e { f = f32[100] constant({...})
 d = f64[100] constant({...})
 h = bf16[100] constant({...})
 z = c64[100] constant({...})
 y = c128[100] constant({...})
 i = s32[100] constant({...})
 n = s1[100] constant({...})
 t = pred[100] constant({...})
 one = f32[] constant(1)
 ones = f32[100] broadcast(one), dimensions={}
 fa = f32[100] abs(f)
 dw = f64[100] abs(d)
 da = f32[100] convert(dw)
 hw = bf16[100] abs(h)
 ha = f32[100] convert(hw)
 zr = f32[100] real(z)
 za = f32[100] abs(zr)
 yw = f64[100] imag(y)
 yi = f32[100] convert(yw)
 ya = f32[100] abs(yi)
 m0 = f32[100] maximum(fa, da)
 m1 = f32[100] maximum(ha, za)
 m2 = f32[100] maximum(m0, m1)
 m3 = f32[100] maximum(m2, ya)
 small = pred[100] compare(m3, ones), direction=LE
 four = s32[] constant(4)
 fours = s32[100] broadcast(four), dimensions={}
 few = pred[100] compare(i, fours), direction=LE
 nw = s32[100] convert(n)
 zero = s32[] constant(0)
 zeros = s32[100] broadcast(zero), dimensions={}
 narrow = pred[100] compare(nw, zeros), direction=LE
 both = pred[100] and(small, few)
 all = pred[100] and(both, narrow)
 yes = pred[] constant(true)
 ROOT r = pred[] reduce(all, yes), dimensions={0}, to_apply=and }
END
sed 's/ROOT r = pred\[\] reduce.*/ROOT r = f32[100] copy(m3) }/' random.hlo >numbers.hlo
$HLO run --elided=iota iota.hlo | tr -d '\n '; echo
$HLO run --elided=random random.hlo
$HLO run --elided=random numbers.hlo >1
$HLO run --elided=random numbers.hlo >2
cmp 1 2 && sort -u 1 | grep -q , && echo same
