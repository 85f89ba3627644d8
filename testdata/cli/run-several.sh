# Several modules in one file run one after another; --module selects one.
# stdout: s32[] 1
# stdout: s32[] 2
# stdout: s32[] 2
cat >a.hlo <<'X'
HloModule a
ENTRY e { ROOT c = s32[] constant(1) }
// -----
HloModule b
ENTRY e { ROOT c = s32[] constant(2) }
X
$HLO run a.hlo
$HLO run --module=2 a.hlo
