# A loop without trip count and condition ends at a limit only.
# needs: onnx
# status: 5
# stdout:
# stderr: step limit exceeded: more than 1000 steps (--max-steps)
$HLO run "$HERE/../onnx/endless.onnx" 1 --max-steps=1000
