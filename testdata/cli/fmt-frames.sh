# fmt --in-place: the second time changes nothing, although tables of stack frames are numbered in the order of the text that was read
# stdout: 1 {file_name_id=1 function_name_id=1 line=8 end_line=8 column=1 end_column=2}
# stdout: 2 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=1 end_column=2}
# stdout: %c = f32[] negate(%p), metadata={stack_frame_id=1}
# stdout: ROOT %r = f32[] add(%c, %d), metadata={stack_frame_id=2}
cat >a.hlo <<'END'
HloModule a

FileNames
1 "train.py"

FunctionNames
1 "step"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=1 end_column=2}
2 {file_name_id=1 function_name_id=1 line=8 end_line=8 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=1}

ENTRY e {
  p = f32[] parameter(0)
  d = f32[] exponential(p), metadata={stack_frame_id=1}
  c = f32[] negate(p), metadata={stack_frame_id=2}
  ROOT r = f32[] add(c, d), metadata={stack_frame_id=1}
}
END
$HLO fmt --in-place a.hlo && $HLO fmt --check a.hlo || exit 1
sed -n 's/^ *//; /negate/p; /add/p; /line=/p' a.hlo
