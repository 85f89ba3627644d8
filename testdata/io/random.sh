# Random inputs are reproducible by their seed on all machines; hints set range and diagonal.
# stdout: (
# stdout:   s32[3] {7, 9, 9},
# stdout:   s32[2,2] { { 102, 0 }, { 2, 102 } }
# stdout: )
printf '// peers: param=0 range=7,10\n// peers: param=1 range=0,3 eye=100\n' >a.hlo
cat >>a.hlo <<'X'
HloModule a
ENTRY e {
  p = s32[3] parameter(0)
  q = s32[2,2] parameter(1)
  ROOT t = (s32[3], s32[2,2]) tuple(p, q)
}
X
$HLO run a.hlo --random=1
