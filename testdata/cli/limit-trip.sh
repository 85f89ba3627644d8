# A loop that goes round more often than --max-trip says ends the run, be it a scalar program or one over arrays.
# stdout: 5 0 5 5
# stderr: c.hlo:9:2: error: a loop goes round more than 9 times, the limit that was set
cat >a.hlo <<'END'
HloModule a
c { p = (f32[2000], s32[]) parameter(0)
 i = s32[] get-tuple-element(p), index=1
 n = s32[] constant(10)
 ROOT t = pred[] compare(i, n), direction=LT }
b { p = (f32[2000], s32[]) parameter(0)
 x = f32[2000] get-tuple-element(p), index=0
 i = s32[] get-tuple-element(p), index=1
 one = s32[] constant(1)
 j = s32[] add(i, one)
 y = f32[2000] add(x, x)
 ROOT r = (f32[2000], s32[]) tuple(y, j) }
ENTRY e { x = f32[2000] parameter(0)
 i = s32[] constant(0)
 t = (f32[2000], s32[]) tuple(x, i)
 ROOT w = (f32[2000], s32[]) while(t), condition=c, body=b }
END
cat >c.hlo <<'END'
HloModule c
c { p = s32[] parameter(0)
 n = s32[] constant(10)
 ROOT t = pred[] compare(p, n), direction=LT }
b { p = s32[] parameter(0)
 one = s32[] constant(1)
 ROOT r = s32[] add(p, one) }
ENTRY e { i = s32[] parameter(0)
 ROOT w = s32[] while(i), condition=c, body=b }
END
$HLO run a.hlo --random --max-trip=9; a=$?
$HLO run a.hlo --random --max-trip=10 >/dev/null; b=$?
$HLO run c.hlo 0 --max-trip=9; c=$?
$HLO run a.hlo --random --plain --max-trip=9; d=$?
echo $a $b $c $d
