# fmt --strip-metadata: removes metadata and stack frame tables; text without them is unchanged.
# stdout: HloModule a, entry_computation_layout={()->f32[]}
# stdout: 
# stdout: ENTRY %e () -> f32[] {
# stdout:   ROOT %c = f32[] constant(1)
# stdout: }
cat >a.hlo <<'END'
HloModule a

FileNames
1 "model.py"
FunctionNames
1 "loss"
FileLocations
1 {file_name_id=1 function_name_id=1 line=12 end_line=12 column=5 end_column=9}
StackFrames
1 {file_location_id=1 parent_frame_id=1}

ENTRY e { ROOT c = f32[] constant(1), metadata={op_name="x" stack_frame_id=1} }
END
$HLO fmt a.hlo | grep -q model.py || exit 1
$HLO fmt --strip-metadata a.hlo >b.hlo || exit 1
$HLO fmt --strip-metadata b.hlo | cmp - b.hlo || exit 1
sed '/^$/{N;}' b.hlo | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
