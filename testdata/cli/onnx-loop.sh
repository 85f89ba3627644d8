# The mode ("", "") of ONNX's Loop does not terminate by itself: the step or time limit ends it, or a scan
# output that has reached its bound.
# stdout: 5 5 4
# stderr: endless.hlo:9:2: error: step limit exceeded: more than 100000 steps (--max-steps)
# stderr: endless.hlo:9:2: error: time limit exceeded: 0.1 seconds (--timeout)
# stderr: full.hlo:9:2: error: scan output 0 has 10 elements along dimension 0, more than its bound 9
cat >endless.hlo <<'END'
HloModule endless
body { i = s64[] parameter(0)
 keep = pred[] parameter(1)
 x = f32[2] parameter(2)
 y = f32[2] add(x, x)
 f = pred[] constant(false)
 ROOT r = (pred[], f32[2]) tuple(f, y) }
ENTRY e { x = f32[2] parameter(0)
 ROOT r = f32[2] custom-call(x), custom_call_target="onnx.Loop", called_computations={body}, backend_config={"inputs": []} }
END
sed 's/f32\[2\] custom-call(x)/(f32[2], pred[<=9]) custom-call(x)/; s/(pred\[\], f32\[2\]) tuple(f, y)/(pred[], f32[2], pred[]) tuple(f, y, f)/' endless.hlo >full.hlo
$HLO run endless.hlo --random --max-steps=100000; a=$?
$HLO run endless.hlo --random --timeout=0.1; b=$?
$HLO run full.hlo --random; c=$?
echo $a $b $c
