# Models that are rejected, and inputs that do not match: messages, statuses 2 and 3.
# needs: onnx
# status: 2
# stdout:
# stderr: hlo: error: '--bound' requires an ONNX model
# stderr: nowhere.onnx: error: cannot read file: No such file or directory
# stderr: hlo: error: missing value for input 1, 'b', of type int32[]
# stderr: hlo: error: unknown input 'c'; the model has 'a', 'b'
# stderr: hlo: error: too many arguments: '7'; the model has 2 inputs
# stderr: 'a' is int32[]; the value is f32[2]
# stderr: hlo: error: input 'start' is seq(int64): write its elements in brackets, [{1}, {1, 2}]
# stderr: 'start' is seq(int64); the value has an element that is f32[1]
# stderr: hlo: error: '--replicas' is not supported for ONNX models
# stderr: hlo: error: '--bound' requires an ONNX model
example=$HERE/../onnx/example.onnx
ranges=$HERE/../onnx/ranges.onnx
printf 'HloModule m\n' >onnx.hlo
$HLO import onnx.hlo
[ $? = 3 ] || exit 90
$HLO run nowhere.onnx
[ $? = 2 ] || exit 91
head -c 100 "$example" >cut.onnx
$HLO cut.onnx
[ $? = 3 ] || exit 92
$HLO "$example" 3
$HLO "$example" 3 c=6
$HLO "$example" 3 6 7
$HLO "$example" 'f32[2] {1, 2}' 6
$HLO "$ranges" 3 7
$HLO "$ranges" 3 '[{7, 8}, f32[1] {9}]'
$HLO "$example" 3 6 --replicas=2
$HLO run onnx.hlo --bound=5
