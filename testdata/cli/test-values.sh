# test: values that cannot be read, or are one too many; what is expected needs its source.
# stdout: FAIL t.hlo#1
# stdout:   t.hlo:5: one value too many: the module takes 1
# stdout: FAIL t.hlo#2
# stdout:   t.hlo:11: the value cannot be read
# stdout:   argument `x`:1:13: error: expected a value, `,` or `}`, but the text ends here
# stdout:   f32[2] {1, 2
# stdout:               ^
# stdout: FAIL t.hlo#3
# stdout:   t.hlo:17: an expected value needs its source: `// from: hand`, say
# stdout: 0 passed, 3 failed, 0 skipped
# status: 1
entry='ENTRY e { ROOT x = f32[2] parameter(0) }'
cat >t.hlo <<X
// test: eval
// from: hand
// in: {1, 2}
// out: {1, 2}
// in: {1, 2}
$entry
// -----
// test: eval
// from: hand
// out: {1, 2}
// in: {1, 2
$entry
// -----
//
// what they say is of no use
//
// test: eval
// in: {1, 2}
// out: {1, 2}
$entry
X
$HLO test t.hlo
