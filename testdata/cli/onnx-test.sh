# ONNX node tests: a directory of a model and data sets, one of which is wrong.
# needs: onnx
# status: 1
# stdout: FAIL node/test_data_set_1
# stdout:   node/test_data_set_1/output_1.pb: element {1} is -6, expected -7; 1 of 2 differ
# stdout: 1 passed, 1 failed, 0 skipped
# stderr: -
mkdir -p node/test_data_set_0 node/test_data_set_1
cp "$HERE/../onnx/example.onnx" node/model.onnx
# TensorProtos: dims, data_type 6, raw_data
int32() { printf '\020\006\112\004'"$1"; }
for set in 0 1; do
    int32 '\003\000\000\000' >node/test_data_set_$set/input_0.pb
    int32 '\006\000\000\000' >node/test_data_set_$set/input_1.pb
    int32 '\006\000\000\000' >node/test_data_set_$set/output_0.pb
done
printf '\010\002\020\006\112\010\014\000\000\000\372\377\377\377' >node/test_data_set_0/output_1.pb
printf '\010\002\020\006\112\010\014\000\000\000\371\377\377\377' >node/test_data_set_1/output_1.pb
$HLO test node
