# plan: the effect of passes: inlined calls and maps, constant-folded steps, loops as scalar code.
# stderr: -
cat >a.hlo <<'END'
HloModule a
add { x = s32[] parameter(0)
 y = s32[] parameter(1)
 ROOT l = s32[] add(x, y) }
square { x = s32[] parameter(0)
 ROOT l = s32[] multiply(x, x) }
twice { x = s32[5000] parameter(0)
 a = s32[5000] add(x, x)
 b = s32[5000] add(x, x)
 ROOT t = (s32[5000], s32[5000]) tuple(a, b) }
body { s = (s32[], s32[], s32[5000]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 sum = s32[] get-tuple-element(s), index=1
 v = s32[5000] get-tuple-element(s), index=2
 squares = s32[5000] map(v), dimensions={0}, to_apply=square
 zero = s32[] constant(0)
 all = s32[] reduce(squares, zero), dimensions={0}, to_apply=add
 one = s32[] constant(1)
 j = s32[] add(i, one)
 next = s32[] add(sum, all)
 ROOT t = (s32[], s32[], s32[5000]) tuple(j, next, v) }
cond { s = (s32[], s32[], s32[5000]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(9)
 ROOT l = pred[] compare(i, n), direction=LT }
ENTRY e { p = s32[5000] parameter(0)
 c = (s32[5000], s32[5000]) call(p), to_apply=twice
 v = s32[5000] get-tuple-element(c), index=1
 zero = s32[] constant(0)
 t = (s32[], s32[], s32[5000]) tuple(zero, zero, v)
 w = (s32[], s32[], s32[5000]) while(t), body=body, condition=cond
 ROOT r = s32[] get-tuple-element(w), index=1 }
END
$HLO plan a.hlo >out.txt || exit 1
want() {
    tr -s ' ' <out.txt | grep -qF -- "$1" || { echo "lacks: $1"; tr -s ' ' <out.txt; exit 1; }
}
want ' %all s32[] 4 B b3 1 20.1 KiB 3 fused: add, multiply, reduce' # before the loop
want ' while: scalar code of '
want ' inlined 1 calls and fusions'
want ' mapped 1 maps'
want ' merged 1 common'
# The loop may have no iteration: what takes long runs only when it is reached, in its function.
sed -e 's/5000/500000/g' -e 's/n = s32\[\] constant(9)/n = s32[] get-tuple-element(s), index=1/' a.hlo >b.hlo
$HLO plan b.hlo >out.txt || exit 1
want ' while: body %body, condition scalar code of 2 operations'
want '; once per loop'
want ' invariant 1 loop-invariant' # multiply and reduce are fused
sed -i 's/500000/5000/g' b.hlo
$HLO plan b.hlo >out.txt || exit 1
want ' while: scalar code of '
# Scalar code: x is constant in the loop and its square folded, nothing reads y, k only for itself.
cat >a.hlo <<'END'
HloModule a
body { s = (s32[], s32[], f32[], f32[], s32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 k = s32[] get-tuple-element(s), index=1
 x = f32[] get-tuple-element(s), index=2
 a = f32[] get-tuple-element(s), index=3
 y = s32[] get-tuple-element(s), index=4
 one = s32[] constant(1)
 j = s32[] add(i, one)
 l = s32[] multiply(k, j)
 xx = f32[] multiply(x, x)
 b = f32[] add(a, xx)
 ROOT t = (s32[], s32[], f32[], f32[], s32[]) tuple(j, l, x, b, y) }
cond { s = (s32[], s32[], f32[], f32[], s32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(4)
 ROOT l = pred[] compare(i, n), direction=LT }
loop { a = f32[] parameter(0)
 i = s32[] constant(0)
 x = f32[] constant(3)
 t = (s32[], s32[], f32[], f32[], s32[]) tuple(i, i, x, a, i)
 w = (s32[], s32[], f32[], f32[], s32[]) while(t), condition=cond, body=body
 ROOT r = f32[] get-tuple-element(w), index=3 }
ENTRY e { a = f32[] parameter(0)
 ROOT r = f32[] call(a), to_apply=loop }
END
$HLO plan a.hlo >out.txt || exit 1
want ' call: scalar code of 8 operations'
