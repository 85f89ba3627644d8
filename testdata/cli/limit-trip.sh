# A loop with more iterations than --max-trip ends the run, in scalar code and with arrays.
# stdout: 5 0 5 5
# stdout: 5 0 5 0
# stderr: c.hlo:9:2: error: loop exceeded 9 iterations (--max-trip)
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
cat >nest.hlo <<'END'
HloModule nest
ic { p = (s32[], f32[8]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 n = s32[] constant(5)
 ROOT t = pred[] compare(i, n), direction=LT }
ib { p = (s32[], f32[8]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 x = f32[8] get-tuple-element(p), index=1
 one = s32[] constant(1)
 j = s32[] add(i, one)
 f = f32[] convert(i)
 u = f32[1] reshape(f)
 y = f32[8] dynamic-update-slice(x, u, i)
 ROOT r = (s32[], f32[8]) tuple(j, y) }
oc { p = (s32[], f32[8]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 n = s32[] constant(7)
 ROOT t = pred[] compare(i, n), direction=LT }
ob { p = (s32[], f32[8]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 x = f32[8] get-tuple-element(p), index=1
 z = s32[] constant(0)
 s = (s32[], f32[8]) tuple(z, x)
 w = (s32[], f32[8]) while(s), condition=ic, body=ib
 y = f32[8] get-tuple-element(w), index=1
 one = s32[] constant(1)
 j = s32[] add(i, one)
 ROOT r = (s32[], f32[8]) tuple(j, y) }
ENTRY e { x = f32[8] parameter(0)
 z = s32[] constant(0)
 s = (s32[], f32[8]) tuple(z, x)
 ROOT w = (s32[], f32[8]) while(s), condition=oc, body=ob }
END
$HLO run nest.hlo --random --max-trip=6 2>err.txt; a=$?
$HLO run nest.hlo --random --max-trip=7 >/dev/null; b=$? # the inner loop has 35 iterations in total
cat >rest.hlo <<'END'
HloModule rest
c { p = (s32[], f32[8], f32[3000], f32[]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 n = s32[] constant(7)
 ROOT t = pred[] compare(i, n), direction=LT }
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
b { p = (s32[], f32[8], f32[3000], f32[]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 x = f32[8] get-tuple-element(p), index=1
 w = f32[3000] get-tuple-element(p), index=2
 v = f32[] get-tuple-element(p), index=3
 z = f32[] constant(0)
 e = f32[3000] exponential(w)
 s = f32[] reduce(e, z), dimensions={0}, to_apply=add
 m = f32[] add(s, v)
 q = f32[8] broadcast(m), dimensions={}
 y = f32[8] add(x, q)
 one = s32[] constant(1)
 j = s32[] add(i, one)
 ROOT r = (s32[], f32[8], f32[3000], f32[]) tuple(j, y, w, v) }
ENTRY e { x = f32[8] parameter(0)
 w = f32[3000] parameter(1)
 v = f32[] parameter(2)
 z = s32[] constant(0)
 s = (s32[], f32[8], f32[3000], f32[]) tuple(z, x, w, v)
 ROOT l = (s32[], f32[8], f32[3000], f32[]) while(s), condition=c, body=b }
END
$HLO run rest.hlo --random --max-trip=6 2>err.txt; c=$?
$HLO run rest.hlo --random --max-trip=7 >/dev/null; d=$?
echo $a $b $c $d
