# test --new: directives with arguments and results; a bundle for large ones; tests are left as they are.
# stdout: 3 passed, 0 failed, 0 skipped
# stdout: // test: eval
# stdout: // in x: f32[3] {0, 1, 2}
# stdout: // out: f32[3] {0, 2, 4}
# stdout: // doubles
# stdout: ENTRY main {
# stdout: // test: eval
# stdout: // out: s32[] 1
# stdout: // test: eval
# stdout: // in: @b.2.npz
# stdout: // out: @b.2.npz
# stdout: 3 passed, 0 failed, 0 skipped
# stdout: 1 passed, 0 failed, 0 skipped
# stdout: 1 passed, 0 failed, 0 skipped
# stdout: 1 passed, 0 failed, 0 skipped
# stdout: 1 passed, 0 failed, 0 skipped
# stdout: 0 passed, 1 failed, 0 skipped
# stderr: hlo: b.hlo: added 2 tests, with values in .npz files beside it
# stderr: hlo: a.hlo: added 1 test
# stderr: hlo: a.hlo: unchanged: it has tests; --update changes their expected values
# stderr: hlo: error: c.hlo: missing argument for parameter 0, 'x', of shape f32[3]; --fake or --random generates one
# stderr: Try 'hlo test --help'.
# status: 2
cat >a.hlo <<'END'
// doubles
ENTRY main {
  x = f32[3] parameter(0)
  ROOT r = f32[3] add(x, x)
}
END
cp a.hlo c.hlo
printf 'ENTRY e { ROOT r = s32[] constant(1) }\n// -----\n' >b.hlo
sed 's/3\]/300]/g' a.hlo >>b.hlo
$HLO test --new --fake=iota b.hlo a.hlo || exit 1
sed -n 1,5p a.hlo
grep '^// [tio]' b.hlo
cp a.hlo d.hlo
$HLO test --no-skip --new a.hlo b.hlo && cmp a.hlo d.hlo || exit 1
# a test passes on other processors: its tolerance depends on the operations
cat >p.hlo <<'END'
ENTRY main {
  x = f32[8,64] parameter(0)
  y = f32[64,8] parameter(1)
  d = f32[8,8] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = f32[8,8] tanh(d)
}
END
$HLO test --new --random p.hlo && $HLO test --plain p.hlo && HLO_ISA=baseline $HLO test p.hlo || exit 1
printf '// test: eval usual\n// out: f32[2] {1.00001, 0}\nENTRY e { ROOT r = f32[2] constant({1, 0.00001}) }\n' >u.hlo
$HLO test u.hlo && sed -i 's/1.00001/1.001/' u.hlo && $HLO test u.hlo | tail -1
$HLO test --new c.hlo
