# annotate: the lines of the user's program as comments; the text is read back as the same module.
# stderr: says nothing of where
# stderr: hlo: lost.hlo: 1 instruction has stack frames, but the file has no tables of them
cp "$HERE/step.hlo" a.hlo
$HLO annotate a.hlo -o b.hlo || exit 1
grep -A1 -F '  // model.py:12 (loss) < train.py:40 (step)' b.hlo | grep -q '%d = ' || exit 1
grep -A1 -Fx '  // train.py:40 (step)' b.hlo | grep -q '%r = ' || exit 1
$HLO fmt a.hlo >a.txt && $HLO fmt b.hlo >b.txt && cmp a.txt b.txt || exit 1
echo 'ENTRY e { ROOT c = f32[] constant(1) }' >none.hlo
$HLO annotate none.hlo >out.txt || exit 1
$HLO fmt none.hlo | cmp - out.txt || exit 1
echo 'ENTRY e { ROOT c = f32[] constant(1), metadata={op_name="one" stack_frame_id=4} }' >lost.hlo
$HLO annotate lost.hlo >out.txt
