# ops --matrix: each cell is the outcome of the operation's example with that type.
# stderr: -
$HLO ops --matrix >grid || exit 1
grep -q '^+ runs: [0-9]* .* ! missing: 0$' grid || exit 1
grep -q '^add                       + + + + ' grid || exit 1
grep -q '^sine                      \. \. \. ' grid || exit 1
grep -q '^partition-id              +  (has no element type)$' grid || exit 1
$HLO ops --matrix sine | grep -q '^s32  *rejected: operand 0 of .sine. is s32\[4\], expected' || exit 1
$HLO ops --matrix sine | grep -q '^f8e4m3fn  *runs$' || exit 1
[ "$($HLO ops --matrix convert | grep -c '^[[:lower:]0-9]*  *+ + + ')" = 32 ] || exit 1
$HLO ops --matrix --json not | grep -q '^{"type":"f32","state":"rejected","why":"operand 0 of .not.' || exit 1
$HLO ops --matrix --plain >plain
cmp grid plain || exit 1 # the same with the reference kernels
$HLO ops --matrix --json >cells
grep -q '"op":"not","rejected":\["f4e2m1fn",.*"runs":\["pred","s1"' cells || exit 1
$HLO ops --matrix add sub 2>err && exit 1
grep -q 'expected at most one operation, got 2' err && rm err
