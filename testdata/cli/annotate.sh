# annotate: the lines of the user's program as comments; the text reads back as the same module.
# stderr: has no source locations
# stderr: hlo: lost.hlo: 1 instruction has stack frame ids, but the file has no stack frame tables
cp "$HERE/step.hlo" a.hlo
$HLO annotate a.hlo -o b.hlo || exit 1
grep -A1 -F '  // model.py:12 (loss) < train.py:40 (step)' b.hlo | grep -q '%d = ' || exit 1
grep -A1 -Fx '  // train.py:40 (step)' b.hlo | grep -q '%r = ' || exit 1
$HLO fmt a.hlo >a.txt && $HLO fmt b.hlo >b.txt && cmp a.txt b.txt || exit 1
echo 'ENTRY e { ROOT c = f32[] constant(1) }' >none.hlo
$HLO annotate none.hlo >out.txt || exit 1
$HLO fmt none.hlo | cmp - out.txt || exit 1
# Of very deep calls, only the innermost hundred.
awk 'BEGIN {
    print "HloModule m\n\nFileNames\n1 \"f.py\"\n\nFunctionNames\n1 \"again\"\n\nFileLocations"
    print "1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=1 end_column=2}\n\nStackFrames"
    for (i = 1; i <= 150; i++) printf "%d {file_location_id=1 parent_frame_id=%d}\n", i, i
    print "\nENTRY e { ROOT c = f32[] constant(1), metadata={stack_frame_id=150} }"
}' >deep.hlo
$HLO annotate deep.hlo | grep -F 'f.py:7 (again) < ...' | tr '<' '\n' | grep -c . | grep -qx 101 || exit 1
echo 'ENTRY e { ROOT c = f32[] constant(1), metadata={op_name="one" stack_frame_id=4} }' >lost.hlo
$HLO annotate lost.hlo >out.txt
