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
timeout --preserve-status -s INT 0.2 $HLO run a.hlo 0; a=$?
timeout --preserve-status -s INT 0.2 $HLO run b.hlo --random; b=$?
echo $a $b
