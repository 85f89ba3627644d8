# Ctrl-C interrupts a run at its next instruction, in loops of scalars and of arrays.
# stdout: 130 130
# stderr: a.hlo:9:2: error: interrupted here
cp "$HERE/endless.hlo" a.hlo
cat >b.hlo <<'END'
c { p = (s32[], f32[4096]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 n = s32[] constant(-1)
 ROOT t = pred[] compare(i, n), direction=NE }
b { p = (s32[], f32[4096]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 x = f32[4096] get-tuple-element(p), index=1
 two = s32[] constant(2)
 j = s32[] add(i, two)
 y = f32[4096] negate(x)
 ROOT r = (s32[], f32[4096]) tuple(j, y) }
ENTRY e { x = f32[4096] parameter(0)
 i = s32[] constant(0)
 t = (s32[], f32[4096]) tuple(i, x)
 ROOT w = (s32[], f32[4096]) while(t), condition=c, body=b }
END
# The run is in the loop once it has used 0.3 s of processor time.
interrupted() { "$TOOLS/signal_when.sh" INT 'test $(cut -d " " -f 14 "/proc/$PID/stat") -gt 30' "$HLO" run "$@"; }
interrupted a.hlo 0; a=$?
interrupted b.hlo --random; b=$?
echo $a $b
