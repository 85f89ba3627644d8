# A missing array is reported with the arrays of the archive.
# status: 2
# stderr: x.npz: error: no array 'arg0' or 'p' for parameter 'p'; the file has 'out0'
printf 'HloModule a\nENTRY e { ROOT p = f32[2] parameter(0) }\n' >a.hlo
$HLO run a.hlo '{1, 2}' --output x.npz && $HLO run a.hlo --inputs x.npz
