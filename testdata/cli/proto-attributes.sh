# Attributes whose form in protocol buffers differs from that of the text: shardings, domains, literals of calls, payloads, schedules, stack frames.
# needs: proto
# stdout: HloModule attributes, is_scheduled=true, input_output_alias={ {}: (0, {}, must-alias) }, entry_computation_layout={(f32[2]{0})->f32[2]{0}}
# stdout:
# stdout: FileNames
# stdout: 1 "f.py"
# stdout:
# stdout: FunctionNames
# stdout: 1 "g"
# stdout:
# stdout: FileLocations
# stdout: 1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=2 end_column=9}
# stdout:
# stdout: StackFrames
# stdout: 1 {file_location_id=1 parent_frame_id=1}
# stdout: 2 {file_location_id=1 parent_frame_id=2}
# stdout:
# stdout:
# stdout: ENTRY %main (x: f32[2]) -> f32[2] {
# stdout:   %x = f32[2]{0} parameter(0), sharding={devices=[2]<=[2]}, origin={({}, ({"c" {3}}))}
# stdout:   %d = f32[2]{0} domain(%x), domain={kind="sharding", entry={mesh['a'=2,'b'=4], [{'b':(1)2, ?}], replicated={'a'}}, exit={maximal device=1}}, control-predecessors={%x}
# stdout:   %call = f32[2]{0} custom-call(%d), custom_call_target="t", literal=( pred[3]{0} {1, 0, 1}, c64[] (1, -2) ), frontend_attributes={a="1",k="b\""}, backend_config="\000one"
# stdout:   ROOT %s = f32[2]{0} sqrt(%call), statistics={visualizing_index=0,n=1.5}, result_accuracy={tolerance={atol=0.5,rtol=0,ulps=2}}, metadata={op_name="s" stack_frame_id=2}
# stdout: }
# stdout:
# stderr: -
$HLO fmt "$HERE/../proto/attributes.pbtxt"
