# test: misspelt directives, an empty value, files without tests, and the source that --require-sources wants.
# stdout: FAIL a.hlo
# stdout:   a.hlo:3: unknown directive 'ouf'; did you mean 'out'?
# stdout: 0 passed, 1 failed, 0 skipped
# stdout: FAIL b.hlo
# stdout:   b.hlo:1: unknown directive 'tset'; did you mean 'test'?
# stdout: 0 passed, 1 failed, 0 skipped
# stdout: FAIL c.hlo
# stdout:   c.hlo:3: expected value is empty; 'hlo test --update' writes the actual one
# stdout: 0 passed, 1 failed, 0 skipped
# stdout: // out: f32[2] {2, 4}
# stdout: 1 passed, 0 failed, 0 skipped
# stdout: FAIL c.hlo
# stdout:   c.hlo:1: an expected value requires its source, such as '// from: hand'
# stdout: 0 passed, 1 failed, 0 skipped
# stdout: FAIL d.hlo
# stdout:   d.hlo:1: a tolerance requires a reason: 'why: ...'
# stdout: 0 passed, 1 failed, 0 skipped
# stdout: FAIL f.hlo
# stdout:   f.hlo:2: unknown directive 'tolerence'; did you mean 'test: eval rel=X'?
# stdout: FAIL g.hlo
# stdout:   g.hlo:2: unknown directive 'expected'; did you mean 'out'?
# stdout: 1 passed, 2 failed, 0 skipped
# stdout: SKIP e.hlo: no line '// test: ...'
# stdout: 1 passed, 0 failed, 1 skipped
# stdout: SKIP e.hlo: no line '// test: ...'
# stdout: 1 passed, 0 failed, 1 skipped
# status: 1
cat >a.hlo <<'END'
// test: eval
// in: {1, 2}
// ouf: {2, 4}
ENTRY main {
  x = f32[2] parameter(0)
  ROOT r = f32[2] add(x, x)
}
END
sed 's/test:/tset:/; s/ouf:/out:/' a.hlo >b.hlo
sed 's/ouf: .*/out:/' a.hlo >c.hlo
sed 's/eval/eval rel=1/; s/ouf:/out:/' a.hlo >d.hlo
echo '// note: not a test' | cat - a.hlo | sed '/^.. [tio]/d' >e.hlo
unset CI
$HLO test a.hlo
$HLO test b.hlo
$HLO test c.hlo
$HLO test --update -q c.hlo
grep out: c.hlo
$HLO test c.hlo
$HLO test --require-sources c.hlo
$HLO test --require-sources d.hlo
sed '1a // tolerence: 1e-6' c.hlo >f.hlo
sed '1a // expected: {2, 4}' c.hlo >g.hlo
sed '1a // list: prose' c.hlo >h.hlo
$HLO test f.hlo g.hlo h.hlo
$HLO test -v d.hlo e.hlo
$HLO test --no-skip d.hlo e.hlo
