# test: counts, the first difference, tolerances with reasons, exit status 1, TAP and JUnit.
# status: 1
# stderr: -
cat >a.hlo <<'X'
// test: eval
// from: hand
// in p: f32[2] {1, -2}
// out: f32[2] {1, 2}
HloModule a
ENTRY e {
  p = f32[2] parameter(0)
  ROOT r = f32[2] abs(p)
}
// -----
// test: eval
// from: hand
// in p: f32[2] {1, -2}
// out: f32[2] {1, 2.5}
HloModule b
ENTRY e {
  p = f32[2] parameter(0)
  ROOT r = f32[2] abs(p)
}
// -----
// test: eval rel=0.5
// from: hand
// in p: f32[2] {1, -2}
// out: f32[2] {1, 2.5}
HloModule c
ENTRY e {
  p = f32[2] parameter(0)
  ROOT r = f32[2] abs(p)
}
// -----
// test: eval rel=0.5 why: to show it
// from: hand
// in p: f32[2] {1, -2}
// out: f32[2] {1, 2.5}
HloModule d
ENTRY e {
  p = f32[2] parameter(0)
  ROOT r = f32[2] abs(p)
}
// -----
HloModule no_test
ENTRY e { ROOT c = s32[] constant(2) }
X
$HLO test --require-sources --junit=out.xml a.hlo >out.txt
status=$?
[ "$(tail -1 out.txt)" = '2 passed, 2 failed, 1 skipped' ] || exit 90
grep -q 'a.hlo:18: element {1} is 2, expected 2.5; 1 of 2 differ; worst errors: abs 0.5 at {1}, rel 0.2, 2097152 ulp' out.txt || exit 91
grep -q '^ *{1}  *2.5  *2  *0.5  *0.2  *2097152$' out.txt && grep -q '^ *up to 1e0  *1  *#' out.txt || exit 96
grep -q 'a.hlo:21: a tolerance requires a reason' out.txt || exit 92
grep -q '<testsuite name="hlo test" tests="5" failures="2" errors="0" skipped="1" time="[0-9.]*">' out.xml || exit 93
$HLO test --tap a.hlo | grep -q '^not ok 2 - a.hlo\\#2' || exit 94
[ "$($HLO test --filter='#[14]$' a.hlo | tail -1)" = '2 passed, 0 failed, 0 skipped' ] || exit 95
exit $status
