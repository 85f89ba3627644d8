# test --update: values in files are rewritten, those of bundles with the module; in CI they are not; words that are no paths
# stdout: 1 passed, 0 failed, 0 skipped
# stdout: 0 passed, 1 failed, 0 skipped
# stdout: 0 passed, 1 failed, 0 skipped
# stdout: 1 passed, 0 failed, 0 skipped
# stdout: 2 passed, 0 failed, 0 skipped
# stdout: 1 passed, 0 failed, 0 skipped
# stdout: 1 passed, 0 failed, 0 skipped
# stderr: hlo: a.hlo: added 1 test, with values in .npz files beside it
# stderr: hlo: error: expected a file or directory, got 'x={1}'; a test has arguments in 'in:' lines, and --new takes them from --inputs=FILE
# stderr: Try 'hlo test --help'.
# stderr: values.npz: error: not HLO text but an archive of arrays; --inputs=FILE reads arguments from it
# status: 2
cat >a.hlo <<'END'
ENTRY main {
  x = f32[300] parameter(0)
  ROOT r = f32[300] add(x, x)
}
END
unset CI
$HLO test --new --fake=iota a.hlo || exit 1
sed -i 's/add(/multiply(/' a.hlo
$HLO test a.hlo | tail -1
CI=1 $HLO test --update a.hlo | tail -1
$HLO test --update a.hlo && $HLO test a.hlo a.npz || exit 1
printf '// test: eval\n// out: @values.npz\nENTRY e { a = s32[] constant(1) ROOT r = (s32[], s32[]) tuple(a, a) }\n' >b.hlo
$HLO test --update b.hlo && $HLO test b.hlo || exit 1
$HLO test --new a.hlo 'x={1}' y
$HLO test values.npz
