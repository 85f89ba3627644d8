# A tuple cannot be written to one .npy file.
# status: 2
# stderr: x.npy: error: a .npy file holds a single array; write an .npz file
printf 'HloModule a\nENTRY e { p = f32[1] parameter(0)\n ROOT t = (f32[1]) tuple(p) }\n' >a.hlo
$HLO run a.hlo '{1}' --output x.npy
