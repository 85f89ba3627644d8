# test --update: rewrites expectations; if CI is set, writes FILE.new beside it and shows the difference.
# stdout: 0 passed, 1 failed, 0 skipped
# stdout: 1 passed, 0 failed, 0 skipped
# stdout: // out: (
# stdout: //     f32[2] {1, 2},
# stdout: //     s32[] 5
# stdout: //   )
# stdout: --- a.hlo
# stdout: +// out: f32[2] {1, 2}
# stdout: status 1
# stdout: the file is what it was
# stdout: // out: f32[2] {1, 2}
cat >a.hlo <<'X'
// test: eval
// from: hand
// in p: f32[2] {1, -2}
// out: f32[2] {1, 9}
HloModule a
ENTRY e {
  p = f32[2] parameter(0)
  a = f32[2] abs(p)
  c = s32[] constant(5)
  ROOT r = (f32[2], s32[]) tuple(a, c)
}
X
$HLO test a.hlo | tail -1
$HLO test --update a.hlo >/dev/null
$HLO test a.hlo | tail -1
sed -n 4,7p a.hlo
cat >b.hlo <<'X'
// test: eval
// from: hand
// in p: f32[2] {1, -2}
// out: f32[2] {1, 7}
HloModule a
ENTRY e { p = f32[2] parameter(0)  ROOT a = f32[2] abs(p) }
X
cp b.hlo a.hlo
CI=1 $HLO test --update a.hlo >log.txt; status=$?
grep -e '^---' -e '^+//' log.txt
echo status $status
cmp a.hlo b.hlo && echo the file is what it was
sed -n 4p a.hlo.new
