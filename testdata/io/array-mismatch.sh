# An array of another type than the parameter is rejected, not converted.
# status: 2
# stderr: x.npy: error: array is s32[2], but parameter 'p' expects f32[2]
printf 'HloModule a\nENTRY e { ROOT p = s32[2] parameter(0) }\n' >a.hlo
printf 'HloModule b\nENTRY e { ROOT p = f32[2] parameter(0) }\n' >b.hlo
$HLO run a.hlo '{1, 2}' --output x.npy && $HLO run b.hlo @x.npy
