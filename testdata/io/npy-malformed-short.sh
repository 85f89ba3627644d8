# A truncated .npy file.
# status: 2
# stderr: truncated data
printf 'HloModule a\nENTRY e { ROOT p = f32[2] parameter(0) }\n' >a.hlo
$HLO run a.hlo '{1, 2}' --output x.npy
head -c 134 x.npy >y.npy
$HLO run a.hlo @y.npy
