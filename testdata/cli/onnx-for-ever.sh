# A loop without trip count and condition: only a limit ends it.
# needs: onnx
# status: 5
# stdout:
# stderr: not done after 1000 steps, the limit that was set
$HLO run "$HERE/../onnx/for_ever.onnx" 1 --max-steps=1000
