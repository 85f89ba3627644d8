# A module in the text format of protocol buffers: lists, joined strings, escapes, comments, unknown fields. The constant is column-major.
# needs: proto
# stdout: HloModule m, entry_computation_layout={(f32[2,3]{1,0})->f32[2,3]{1,0}}
# stdout:
# stdout: ENTRY %main (x: f32[2,3]) -> f32[2,3] {
# stdout:   %x = f32[2,3]{1,0} parameter(0)
# stdout:   %c = f32[2,3]{0,1} constant({ { 1, -inf, 5 }, { 25, 16, 1.5 } })
# stdout:   ROOT %sum = f32[2,3]{1,0} add(%x, %c), metadata={op_name="jit(f)/\303\244\""}, backend_config={"a":1}
# stdout: }
# stdout:
# stdout: f32[2,3] { { 1, -inf, 5 }, { 25, 16, 2.5 } }
# stdout: f32[2,3] { { 1, -inf, 5 }, { 25, 16, 2.5 } }
# stderr: -
$HLO fmt "$HERE/../proto/add.pbtxt" || exit 90
$HLO run "$HERE/../proto/add.pbtxt" '{{0,0,0},{0,0,1}}'
gzip -c "$HERE/../proto/add.pbtxt" | $HLO run - '{{0,0,0},{0,0,1}}'
