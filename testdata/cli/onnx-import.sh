# import: an ONNX model as HLO text, with the names of its parameters; the module runs.
# needs: onnx
# stdout: // parameter 0, a, is int32[]
# stdout: // parameter 1, b, is int32[]
# stdout: // result 0, b_out, is int32[]
# stdout: // result 1, user_defined_vals, is int32[?]
# stdout: (
# stdout:   s32[] 6,
# stdout:   s32[2] {12, -6}
# stdout: )
# stderr: -
$HLO import "$HERE/../onnx/example.onnx" -o example.hlo || exit 90
head -4 example.hlo
$HLO verify example.hlo || exit 91
$HLO run example.hlo 3 6
