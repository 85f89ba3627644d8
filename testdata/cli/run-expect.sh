# run --expect: a literal, an array or an archive; differences are written to standard error, status 1.
# stdout: text: 0
# stdout: arrays: 0
# stdout: near: 0
# stdout: differs: 1
# stdout: hlo: good.txt: result differs: tuple element 0: element {1} is nan, expected 2; 2 of 3 differ, 1 of them not finite on one side; worst errors: abs 0.5 at {2}, rel 0.167, 2097152 ulp
# stdout:      element  expected  actual  abs    rel      ulp
# stdout:   leaf 0 {1}         2     nan  nan    nan        -
# stdout:    leaf 1 {}         4       5    1   0.25        1
# stdout:   leaf 0 {2}         3     3.5  0.5  0.167  2097152
# stdout: relative error      elements
# stdout:   none                     1  ####################
# stdout:   up to 1e0                2  ########################################
# stdout:   more                     1  ####################
# stdout: quiet: 1
# stdout: hlo: good.txt: result differs: tuple element 0: element {2} is 3.00000358, expected 3; 1 of 3 differ; worst errors: abs 3.58e-06 at {2}, rel 1.19e-06, 15 ulp; try --rel=1e-05
# stdout: good.txt: results agree: 4 elements; largest errors: abs 3.58e-06, rel 1.19e-06
# stdout: good.txt: results agree: 4 elements
# stdout: (
# stdout:   f32[3] min 1 max 3 mean 2 nan 0 inf 0,
# stdout:   s32[] 4
# stdout: )
# stdout: hlo: large.txt: result differs: element {0} is 1.1, expected 1; 1 of 3 differ; worst errors: abs 0.1 at {0}, rel 0.1, 838861 ulp; try --abs=1
# stdout: large.json: results agree: 3 elements
# stdout: [1, 0, 1e5]: results agree: 3 elements
# stdout: f32[3] {1, 0, 1e5}: results agree: 3 elements
# stdout: {1, 0, 1e5}: results agree: 3 elements
# stdout: @large.txt: results agree: 3 elements
# stdout: 3.5: results agree: 1 element
# stdout: shape: 1
# stdout: broken: 2
# stdout: none: 2
# stderr: hlo: short.txt: result differs: shape is (f32[3], s32[]), expected f32[2]
# stderr: <literal>:1:11: error: expected a value, ',' or '}', got end of input
# stderr: none.txt: error: cannot read file: No such file or directory
# stderr: hlo: error: 'good.txt': results of 2 participants must be in an .npz file
# status: 2
printf 'HloModule m\nENTRY e { x = f32[3] parameter(0)  y = s32[] parameter(1)  ROOT t = (f32[3], s32[]) tuple(x, y) }\n' >a.hlo
printf 'HloModule m, replica_count=2\nENTRY e { ROOT x = u32[] replica-id() }\n' >two.hlo
$HLO run a.hlo '{1, 2, 3}' 4 -o good.txt
$HLO run a.hlo '{1, 2, 3}' 4 -o good.npz
$HLO run a.hlo '{1, 2, 3}' 4 --expect=good.txt >/dev/null; echo text: $?
$HLO run a.hlo '{1, 2, 3}' 4 --expect=good.npz >/dev/null; echo arrays: $?
$HLO run a.hlo '{1, 2, 3.001}' 4 --expect=good.txt --rel=0.001 >/dev/null; echo near: $?
$HLO run a.hlo '{1, nan, 3.5}' 5 --expect=good.txt 2>why.txt >/dev/null; echo differs: $?
cat why.txt
$HLO run a.hlo '{1, 2, 3.0000036}' 4 --expect=good.txt -q 2>why.txt; echo quiet: $?
cat why.txt
$HLO run a.hlo '{1, 2, 3.0000036}' 4 --expect=good.txt --rel=1e-5
$HLO run a.hlo '{1, 2, 3}' 4 --expect=good.txt
$HLO run a.hlo '{1, 2, 3}' 4 --expect=good.txt --summary
echo 'f32[3] {1, 0, 100000}' >large.txt
printf 'HloModule m\nENTRY e { ROOT x = f32[3] parameter(0) }\n' >one.hlo
$HLO run one.hlo '{1.1, 0, 100000}' --expect=large.txt -q 2>why.txt
cat why.txt
echo '[1, 0, 1e5]' >large.json
$HLO run one.hlo '{1, 0, 100000}' --expect=large.json
for literal in '[1, 0, 1e5]' 'f32[3] {1, 0, 1e5}' '{1, 0, 1e5}' @large.txt; do $HLO run one.hlo '{1, 0, 100000}' --expect="$literal"; done
echo 'ENTRY e { ROOT x = f32[] parameter(0) }' | $HLO run - 3.5 --expect=3.5
echo 'f32[2] {1, 2}' >short.txt
$HLO run a.hlo '{1, 2, 3}' 4 --expect=short.txt >/dev/null; echo shape: $?
echo 'f32[2] {1,' >broken.txt
$HLO run a.hlo '{1, 2, 3}' 4 --expect=broken.txt >/dev/null; echo broken: $?
$HLO run a.hlo '{1, 2, 3}' 4 --expect=none.txt >/dev/null; echo none: $?
$HLO run two.hlo --expect=good.txt >/dev/null
