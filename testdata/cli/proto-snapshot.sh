# A snapshot runs on its arguments and is compared with its result, also by other commands, by the prompt and as a test; arguments of the command line replace the stored ones, and then nothing is compared.
# needs: proto
# stdout: (
# stdout:   f32[2,3] { { 1, 3, 5 }, { 7, 9, 11 } },
# stdout:   s32[] -1
# stdout: )
# stdout: same: 0
# stdout: other: 1
# stdout: near: 0
# stdout: (
# stdout:   f32[2,3] { { 5, 7, 9 }, { 11, 13, 15 } },
# stdout:   s32[] 3
# stdout: )
# stdout: replaced: 0
# stdout: (
# stdout:   f32[2,3] { { 3, 3, 3 }, { 3, 3, 3 } },
# stdout:   s32[] 1
# stdout: )
# stdout: generated: 0
# stdout: without result: same
# stdout: sum[1,2] = 11  add f32[2,3]
# stdout:   lhs: twice[1,2] = 12  convolution f32[2,3]
# stdout:   rhs: b[1,2] = -1  broadcast f32[2,3]
# stdout: t = (
# stdout:   f32[2,3] { { 1, 3, 5 }, { 7, 9, 11 } },
# stdout:   s32[] -1
# stdout: )
# stdout: results agree; 5 of 5 instructions compared, 0 not bit-identical
# stdout: FAIL tests/changed.snapshot.txt
# stdout:   tests/changed.snapshot.txt: tuple element 0: element {1,2} is 11, expected 11.5; 1 of 6 differ; worst errors: abs 0.5 at {1,2}, rel 0.0435, 524288 ulp
# stdout: 2 passed, 1 failed, 1 skipped
# stdout: 3 passed, 0 failed, 1 skipped
# stdout: tests/a.hlo_snapshot.pb.gz
# stdout: tests/before.snapshot.pbtxt
# stdout: tests/changed.snapshot.txt
# stdout: tests/run.npz
# stderr: hlo: changed.pbtxt: result differs: tuple element 0: element {1,2} is 11, expected 11.5; 1 of 6 differ...
# stderr: short.pbtxt: error: module has 2 parameters, but 1 argument is stored
# stderr: short.pbtxt:hlo.hlo_module.computations[0].instructions[0]: error: parameter 'x' is f32[2,3], but the argument is s32[]
# stderr: count.pbtxt:arguments[0].f32s: error: malformed protocol buffer: expected 6 elements, got more
# status: 2
run=$HERE/../proto/run.pbtxt
$HLO run "$run" --output=-; echo same: $?
sed 's/9, 5, 11\]/9, 5, 11.5]/' "$run" >changed.pbtxt
$HLO run changed.pbtxt --output=/dev/null; echo other: $?
$HLO run changed.pbtxt --output=/dev/null --abs=0.5; echo near: $?
$HLO run "$run" n=3; echo replaced: $?
$HLO run "$run" --fake=ones; echo generated: $?
sed '/^result {/,$d' "$run" >before.pbtxt
$HLO run "$run" --output=- >text; $HLO run - <before.pbtxt | cmp - text && echo without result: same
$HLO why "$run" 'sum[1,2]'
printf '.run\n' | $HLO repl "$run" | grep -v '^$'
$HLO fmt "$run" >m.hlo
$HLO diff m.hlo "$run" | head -n 1
mkdir tests
gzip -c "$run" >tests/a.hlo_snapshot.pb.gz
cp before.pbtxt tests/before.snapshot.pbtxt
cp changed.pbtxt tests/changed.snapshot.txt
$HLO run "$run" --save-bundle=tests/run.npz >text
cp "$HERE/../proto/add.pbtxt" tests # not a snapshot
$HLO test tests tests/run.npz | grep -v '^  [ 1r]'
$HLO test --abs=0.5 tests tests/run.npz
$HLO test --list tests tests/run.npz
sed 's/^arguments { .*//' "$run" >short.pbtxt
$HLO run short.pbtxt
sed '/^arguments {$/,/^}/d; s/^arguments { .*/& &/' "$run" >short.pbtxt
$HLO run short.pbtxt
sed 's/f32s: \[1, 4/f32s: [0, 1, 4/' "$run" >count.pbtxt
$HLO run count.pbtxt
