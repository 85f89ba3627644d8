# An array of another size than the parameter is rejected.
# status: 2
# stderr: x.npy: error: array is f32[2], but parameter 'p' expects f32[3]
printf 'HloModule a\nENTRY e { ROOT p = f32[2] parameter(0) }\n' >a.hlo
printf 'HloModule b\nENTRY e { ROOT p = f32[3] parameter(0) }\n' >b.hlo
$HLO run a.hlo '{1, 2}' --output x.npy && $HLO run b.hlo @x.npy
