# A loop without end ends when the time is over.
# stdout: 5
# stderr: a.hlo:7:2: error: time limit exceeded: 0.05 seconds (--timeout)
cat >a.hlo <<'END'
HloModule a
c { p = s32[] parameter(0)
 ROOT t = pred[] constant(true) }
b { p = s32[] parameter(0)
 ROOT r = s32[] add(p, p) }
ENTRY e { i = s32[] parameter(0)
 ROOT w = s32[] while(i), condition=c, body=b }
END
$HLO run a.hlo 0 --timeout=0.05
echo $?
