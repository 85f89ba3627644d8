# Ctrl-C ends a run at its next instruction, in loops of scalars and of arrays.
# stdout: 130 130
# stderr: a.hlo:8:2: error: the run was interrupted here
cat >a.hlo <<'END'
HloModule a
c { p = s32[] parameter(0)
 ROOT t = pred[] constant(true) }
b { p = s32[] parameter(0)
 one = s32[] constant(1)
 ROOT r = s32[] add(p, one) }
ENTRY e { i = s32[] parameter(0)
 ROOT w = s32[] while(i), condition=c, body=b }
END
sed 's,s32\[\],s32[4096],; s,one = s32\[4096\] constant(1),one = s32[4096] negate(p),' a.hlo >b.hlo
# In the loop it is once it has taken 0.3 s of a processor.
interrupted() { "$TOOLS/signal_when.sh" INT 'test $(cut -d " " -f 14 "/proc/$PID/stat") -gt 30' "$HLO" run "$@"; }
interrupted a.hlo 0; a=$?
interrupted b.hlo --random; b=$?
echo $a $b
