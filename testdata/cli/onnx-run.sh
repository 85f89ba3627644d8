# run of an ONNX model: arguments by order, by name, from files; sequences; bounds that grow or are fixed.
# needs: onnx
# status: 0
# stdout: b_out = s32[] 6
# stdout: user_defined_vals = s32[2] {12, -6}
# stdout: b_out = s32[] 6
# stdout: user_defined_vals = s32[2] {12, -6}
# stdout: ranges = [
# stdout:   s64[2] {7, 8},
# stdout:   s64[0] {},
# stdout:   s64[1] {0},
# stdout:   s64[2] {0, 1}
# stdout: ]
# stdout: length = s64[] 4
# stdout: ranges = []
# stdout: length = s64[] 0
# stdout: length = s64[] 300
# stdout: length = s64[] 4
# stdout: length = s64[] 3
# stdout: length = s64[] 1
# stderr: -
example=$HERE/../onnx/example.onnx
ranges=$HERE/../onnx/ranges.onnx
$HLO run "$example" 3 6 || exit 90
$HLO "$example" b=6 a=3 || exit 91
$HLO run "$ranges" 3 '[{7, 8}]' --output=out.npz || exit 92
$HLO run "$ranges" n=3 start='[[7, 8]]' || exit 93
printf '[]' >nothing.txt
$HLO run "$ranges" 0 @nothing.txt || exit 94
$HLO run "$ranges" 300 '[]' | tail -1 || exit 95
for inputs in by_name by_number empty; do # a sequence missing in the archive is empty
    $HLO run "$ranges" --inputs="${ranges%.onnx}_$inputs.npz" | tail -1 || exit 98
done
$HLO run "$ranges" 300 '[]' --bound=20 2>err.txt
[ $? = 4 ] || exit 96
grep -q 'its bound 20' err.txt || exit 97
$HLO run "$ranges" 300 '[]' --max-memory=1M 2>err.txt
[ $? = 5 ] || exit 99
grep -q 'with a bound of 256: memory limit exceeded: values need more than 1048576 bytes' err.txt || exit 100
