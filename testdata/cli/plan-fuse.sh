# plan: steps that read the same array are one loop; cheap steps are repeated instead of stored; reductions with equal bodies are one. -v has the schedules of loops: 300 * 400 elements of 100 + 2 * 150 ps take 0.048 ms.
# stderr: -
cat >a.hlo <<'EOF'
HloModule a
max { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT m = f32[] maximum(x, y) }
min { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT m = f32[] minimum(x, y) }
add { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y) }
again { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[300,400] parameter(0)
 h = bf16[1000,1000] parameter(1)
 zero = f32[] constant(0)
 least = f32[300] reduce(x, zero), dimensions={1}, to_apply=min
 most = f32[300] reduce(x, zero), dimensions={1}, to_apply=max
 n = f32[] constant(1000000)
 wide = f32[1000,1000] convert(h)
 sum = f32[] reduce(wide, zero), dimensions={0,1}, to_apply=add
 same = f32[] reduce(wide, zero), dimensions={0,1}, to_apply=again
 mean = f32[] divide(sum, n)
 means = f32[1000,1000] broadcast(mean), dimensions={}
 off = f32[1000,1000] subtract(wide, means)
 square = f32[1000,1000] multiply(off, off)
 squares = f32[] reduce(square, zero), dimensions={0,1}, to_apply=add
 ROOT t = (f32[300], f32[300], f32[], f32[]) tuple(least, most, same, squares) }
EOF
$HLO plan a.hlo >out.txt || exit 1
want() {
    tr -s ' ' <out.txt | grep -qF -- "$1" || { echo "lacks: $1"; tr -s ' ' <out.txt; exit 1; }
}
want ' 2 fused: reduce, reduce'
want ' 4 fused: convert, subtract, multiply, reduce'
want ' merged 1 common'
$HLO plan -v a.hlo >loops.txt || exit 1
loop() {
    tr -s ' ' <loops.txt | grep -qF -- "$1" || { echo "lacks: $1"; tr -s ' ' <loops.txt; exit 1; }
}
loop ' 2 fused: reduce, reduce; 300 x 400 x 1 in blocks of 18 x 400 x 1, 0.048 ms, shared by threads'
loop ' multiply, reduce; 1 x 1000000 x 1 in blocks of 1 x 4096 x 1, 0.430 ms, shared by threads'
grep -q '1000,1000' out.txt && { echo "an array is stored"; cat out.txt; exit 1; }
exit 0
