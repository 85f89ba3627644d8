# test: expected errors must be reported at their location, and no others.
# status: 1
# stdout: FAIL b.hlo
# stdout:   b.hlo:2: no such error: 6:17: unknown opcode
# stdout:   b.hlo:6: unexpected error: 6:18: unknown opcode 'paramter'
# stdout: 1 passed, 1 failed, 0 skipped
cat >a.hlo <<'X'
// test: verify
// error: 6:18: unknown opcode

HloModule a
ENTRY e {
  ROOT p = f32[] paramter(0)
}
X
sed 's/6:18/6:17/' a.hlo >b.hlo
$HLO test a.hlo b.hlo
