# Ctrl-C ends a run at its next instruction, in loops of scalars and of arrays.
# stdout: 130 130
# stderr: error: interrupted here
cp "$HERE/endless.hlo" a.hlo
sed 's,s32\[\],s32[4096],; s,one = s32\[4096\] constant(1),one = s32[4096] negate(p),' a.hlo >b.hlo
# In the loop it is once it has taken 0.3 s of a processor.
interrupted() { "$TOOLS/signal_when.sh" INT 'test $(cut -d " " -f 14 "/proc/$PID/stat") -gt 30' "$HLO" run "$@"; }
interrupted a.hlo 0; a=$?
interrupted b.hlo --random; b=$?
echo $a $b
