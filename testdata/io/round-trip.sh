# Round trip of every element type through .npz, bit for bit.
# stderr: -
for t in pred s2 s4 s8 s16 s32 s64 u2 u4 u8 u16 u32 u64 f4e2m1fn f8e3m4 f8e4m3 f8e4m3b11fnuz f8e4m3fn f8e4m3fnuz f8e5m2 \
    f8e5m2fnuz f8e8m0fnu f16 bf16 f32 f64 c64 c128; do
    printf 'HloModule a\nENTRY e { p = %s[2,3] parameter(0)\n q = %s[] parameter(1)\n ROOT t = (%s[2,3], (%s[])) tuple(p, u)\n}\n' \
        $t $t $t $t | sed 's/ ROOT/ u = ('$t'[]) tuple(q)\n ROOT/' >a.hlo
    printf 'HloModule b\nENTRY e { p = (%s[2,3], (%s[])) parameter(0)\n ROOT t = (%s[2,3], (%s[])) copy(p)\n}\n' $t $t $t $t >b.hlo
    $HLO run a.hlo --random=3 >one.txt || exit 1
    $HLO run a.hlo --random=3 --output out.npz || exit 1
    sed 's/out0/arg0/g; s/out1/arg1/g' out.npz >in.npz
    $HLO run b.hlo --inputs in.npz >two.txt || exit 1
    cmp one.txt two.txt || exit 1
done
