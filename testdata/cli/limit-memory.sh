# With dynamic sizes, a run ends before it allocates values beyond --max-memory.
# stdout: 5 0
# stderr: a.hlo:6:2: error: memory limit exceeded: values need more than 1024 bytes (--max-memory)
cat >a.hlo <<'END'
HloModule a
c { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT l = pred[] compare(x, y), direction=LT }
ENTRY e { p = f32[<=512] parameter(0)
 b = f32[<=512] negate(p)
 ROOT r = f32[<=512] sort(b), dimensions={0}, to_apply=c }
END
$HLO run a.hlo --random --max-memory=1k; a=$?
$HLO run a.hlo 'f32[<=512] {1, 2}' --max-memory=1k >/dev/null; b=$?
echo $a $b
