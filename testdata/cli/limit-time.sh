# A loop without a known trip count ends at --timeout.
# stdout: 5
# stderr: a.hlo:9:2: error: time limit exceeded: 0.05 seconds (--timeout)
cat >a.hlo <<'END'
HloModule a
c { p = s32[] parameter(0)
 n = s32[] constant(-1)
 ROOT t = pred[] compare(p, n), direction=NE }
b { p = s32[] parameter(0)
 two = s32[] constant(2)
 ROOT r = s32[] add(p, two) }
ENTRY e { i = s32[] parameter(0)
 ROOT w = s32[] while(i), condition=c, body=b }
END
$HLO run a.hlo 0 --timeout=0.05
echo $?
