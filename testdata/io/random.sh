# Random numbers are the same for the same seed, everywhere; hints set range and diagonal.
# stdout: (
# stdout:   s32[3] {7, 7, 9},
# stdout:   f32[2,2] { { 0.5, 0.5 }, { 0.5, 0.5 } }
# stdout: )
printf '// peers: param=0 range=7,10\n' >a.hlo
cat >>a.hlo <<'X'
HloModule a
ENTRY e {
  p = s32[3] parameter(0)
  q = f32[2,2] parameter(1)
  ROOT t = (s32[3], f32[2,2]) tuple(p, q)
}
X
$HLO run a.hlo --random=1
