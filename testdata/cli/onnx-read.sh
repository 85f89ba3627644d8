# Models that are refused at reading, and inputs that do not fit: messages, statuses 2 and 3.
# needs: onnx
# status: 2
# stdout:
# stderr: onnx.hlo: error: no sound ONNX file
# stderr: nowhere.onnx: error: cannot read the file
# stderr: no value for input 1, `b`, which is int32[]
# stderr: no input `c`; the model takes `a`, `b`
# stderr: argument `7` is one too many: the model takes 2
# stderr: `a` is int32[]; the value is f32[2]
# stderr: input `start` is seq(int64): its elements are written in brackets
# stderr: `start` is seq(int64); the value has an element that is f32[1]
# stderr: `--replicas` does not go with a model of ONNX
# stderr: `--bound` is for models of ONNX
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
