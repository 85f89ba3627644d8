# test --exact-messages: a part of a message fails, unless it ends in `...`; --update completes it.
# stdout: 3 passed, 0 failed, 0 skipped
# stdout:   a.hlo:2: expected the whole message: instruction 'q' is not defined above
# stdout:   a.hlo:7: expected the whole message: unknown module attribute 'mark' ignored
# stdout: 1 passed, 2 failed, 0 skipped
# stdout: 3 passed, 0 failed, 0 skipped
# stdout: // error: 4:52: instruction 'q' is not defined above
# stdout: // warning: 8:16: unknown module attribute 'mark' ignored
# stdout: // error: 14:52: instruction 'q' is ...
# stdout: 2 passed, 1 failed, 0 skipped
cat >a.hlo <<'X'
// test: verify
// error: 4:52: instruction 'q'
HloModule a
ENTRY e { p = f32[] parameter(0)  r = f32[] add(p, q) }
// -----
// test: verify
// warning: 8:16: unknown module attribute
HloModule odd, mark=3
ENTRY main { ROOT r = s32[] constant(3) }
// -----
// test: verify
// error: 14:52: instruction 'q' is ...
HloModule b
ENTRY e { p = f32[] parameter(0)  r = f32[] add(p, q) }
X
$HLO test a.hlo
$HLO test --exact-messages a.hlo | grep -e whole -e passed
$HLO test --exact-messages --update --quiet a.hlo
$HLO test --exact-messages a.hlo
grep -e error -e warning a.hlo
sed "s/'q' is \.\.\./'p' is .../" a.hlo >b.hlo
$HLO test b.hlo | tail -1
