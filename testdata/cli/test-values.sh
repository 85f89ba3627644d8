# test: malformed or surplus values; an expectation requires its source.
# stdout: FAIL t.hlo#1
# stdout:   t.hlo:5: too many values: the module has 1 parameters
# stdout: FAIL t.hlo#2
# stdout:   t.hlo:11: cannot read the value
# stdout:   argument 'x':1:13: error: expected a value, ',' or '}', got end of input
# stdout:   f32[2] {1, 2
# stdout:               ^
# stdout: FAIL t.hlo#3
# stdout:   t.hlo:17: an expected value requires its source, such as '// from: hand'
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
$HLO test --require-sources t.hlo
