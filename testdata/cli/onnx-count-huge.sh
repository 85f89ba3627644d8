# A loop with the largest trip count ends by its condition; its scan exceeds the initial bound.
# needs: onnx
# status: 0
# stdout: y = f32[] 192
# stdout: s = f32[7] {3, 6, 12, 24, 48, 96, 192}
# stdout: y = f32[] 1.2676506e+30
# stdout: 100
# stderr: -
doubled=$HERE/../onnx/doubled.onnx
$HLO run "$doubled" 1.5 100 || exit 90
$HLO run "$doubled" 1 1e30 --output=out.npz || exit 91
$HLO run "$doubled" 1 1e30 | sed -n 's/^\(y = .*\)/\1/p; s/^s = f32\[\([0-9]*\)\].*/\1/p'
