# A loop without a known trip count ends at --max-steps, in scalar code and with arrays.
# stdout: 5 5 0
# stderr: step limit exceeded: more than 1000 steps (--max-steps)
cat >a.hlo <<'END'
HloModule a
c { p = (f32[2000], s32[]) parameter(0)
 i = s32[] get-tuple-element(p), index=1
 z = s32[] constant(0)
 ROOT t = pred[] compare(i, z), direction=NE }
b { p = (f32[2000], s32[]) parameter(0)
 x = f32[2000] get-tuple-element(p), index=0
 i = s32[] get-tuple-element(p), index=1
 two = s32[] constant(2)
 j = s32[] add(i, two)
 y = f32[2000] add(x, x)
 ROOT r = (f32[2000], s32[]) tuple(y, j) }
ENTRY e { x = f32[2000] parameter(0)
 i = s32[] constant(1)
 t = (f32[2000], s32[]) tuple(x, i)
 ROOT w = (f32[2000], s32[]) while(t), condition=c, body=b }
END
cat >b.hlo <<'END'
HloModule b
c { p = s32[] parameter(0)
 z = s32[] constant(-1)
 ROOT t = pred[] compare(p, z), direction=NE }
b { p = s32[] parameter(0)
 two = s32[] constant(2)
 ROOT r = s32[] add(p, two) }
ENTRY e { i = s32[] parameter(0)
 ROOT w = s32[] while(i), condition=c, body=b }
END
$HLO run a.hlo --random --max-steps=1000; a=$?
$HLO run b.hlo 0 --max-steps=1000; b=$?
$HLO run b.hlo -101 --max-steps=1000 >/dev/null; c=$?
echo $a $b $c
