# A file that is not ONNX is rejected with the offset of the first malformed byte.
# needs: onnx
# status: 3
# stdout:
# stderr: bad.onnx: error: malformed ONNX file: malformed or truncated field at byte 0
printf '\377\377\377\377\377\377\377\377\377\377\377' >bad.onnx
$HLO import bad.onnx
