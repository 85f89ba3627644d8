# --bundle takes a snapshot: its arguments and results are those of another module with the same parameters.
# needs: proto
# stdout: run.pbtxt: results agree: 7 elements
# stdout: alone: 0
# stdout: run.pbtxt: results agree: 7 elements
# stdout: same: 0
# stdout: run.pbtxt: results agree: 7 elements; largest errors: abs 2, rel 0.182
# stdout: near: 0
# stdout: other: 1
# stdout: (
# stdout:   f32[2,3] { { 3, 5, 7 }, { 9, 11, 13 } },
# stdout:   s32[] -1
# stdout: )
# stdout: without result: 0
# stdout: sum[1,2] = 13  subtract f32[2,3]
# stdout:   lhs: twice[1,2] = 12  convolution f32[2,3]
# stdout:   rhs: b[1,2] = -1  broadcast f32[2,3]
# stderr: hlo: run.pbtxt: result differs: tuple element 0: element {0,0} is 3, expected 1; 6 of 6 differ...
# stderr: wide.hlo:3:3: error: parameter 'x' is f32[3,2], but the argument is f32[2,3]
# stderr: run.pbtxt: error: module has 1 parameter, but 2 arguments are stored
# stderr: hlo: error: 'same.hlo' has neither arguments nor results
# status: 2
cp "$HERE/../proto/run.pbtxt" .
$HLO fmt run.pbtxt >same.hlo
sed 's/add(/subtract(/' same.hlo >other.hlo
$HLO run --bundle=run.pbtxt; echo alone: $?
$HLO run same.hlo --bundle=run.pbtxt; echo same: $?
$HLO run same.hlo 'x={{1,2,3},{4,5,7}}' --bundle=run.pbtxt --abs=2; echo near: $?
$HLO run other.hlo --bundle=run.pbtxt; echo other: $?
sed '/^result {/,$d' run.pbtxt >before.pbtxt
$HLO run other.hlo --bundle=before.pbtxt --output=-; echo without result: $?
$HLO why other.hlo 'sum[1,2]' --bundle=run.pbtxt
printf 'HloModule wide\nENTRY e {\n  x = f32[3,2] parameter(0)\n  n = s32[] parameter(1)\n  ROOT y = f32[3,2] negate(x)\n}\n' >wide.hlo
$HLO run wide.hlo --bundle=run.pbtxt
printf 'HloModule one\nENTRY e { ROOT x = f32[2,3] parameter(0) }\n' >one.hlo
$HLO run one.hlo --bundle=run.pbtxt
$HLO run same.hlo --bundle=same.hlo
