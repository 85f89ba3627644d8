# run: arguments of a bounded shape have any size up to the bound, results have their actual size, also in files.
# stdout: f32[3] {2, 4, 6}
# stdout: f32[3] {2, 4, 6}
# stdout: f32[3] {2, 4, 6}
# stdout: f32[0] {}
# stdout: f32[3] {4, 8, 12}
# stdout: f32[10]
# stderr: argument 'x':1:32: error: f32[10] has 10 elements, got 11
# stderr: many.npy: error: array is f32[11], but parameter 'x' expects f32[<=10]
# status: 2
cat >twice.hlo <<'X'
HloModule twice
ENTRY main {
  x = f32[<=10] parameter(0)
  ROOT y = f32[<=10] add(x, x)
}
X
cat >many.hlo <<'X'
HloModule many
ENTRY main {
  ROOT y = f32[11] iota(), iota_dimension=0
}
X
$HLO twice.hlo '{1, 2, 3}'
$HLO twice.hlo 'f32[<=10] {1, 2, 3}'
$HLO twice.hlo 'x=f32[3] {1, 2, 3}'
$HLO twice.hlo '{}'
$HLO run twice.hlo '{1, 2, 3}' --output half.npy
$HLO twice.hlo @half.npy
$HLO twice.hlo --random=1 | sed 's/ .*//'
$HLO twice.hlo '{1,2,3,4,5,6,7,8,9,0,1}'
$HLO run many.hlo --output many.npy
$HLO twice.hlo @many.npy
