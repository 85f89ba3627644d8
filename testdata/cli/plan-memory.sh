# The memory of a run is known before it starts.
# stdout: 5 0 0
# stderr: a.hlo:7:2: error: memory limit exceeded: run needs 2048 bytes, limit is 1024 (--max-memory)
# stderr: hlo: error: invalid value '1q' for '--max-memory': expected a number of bytes
cat >a.hlo <<'END'
HloModule a
c { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT l = pred[] compare(x, y), direction=LT }
ENTRY e { p = f32[] parameter(0)
 b = f32[512] broadcast(p), dimensions={}
 ROOT r = f32[512] sort(b), dimensions={0}, to_apply=c }
END
$HLO run a.hlo 1 --max-memory=1k; a=$?
$HLO run a.hlo 1 --max-memory=8K >/dev/null; b=$?
$HLO run a.hlo 1 --max-memory=1m >/dev/null; c=$?
$HLO run a.hlo 1 --max-memory=1q
echo $a $b $c
