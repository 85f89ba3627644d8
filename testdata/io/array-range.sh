# int8 values are converted to a narrower type only if they are in its range.
# status: 2
# stdout: s4[2] {7, -8}
# stderr: x.npy: error: value 8 is out of range for s4
printf 'HloModule a\nENTRY e { ROOT p = s8[2] parameter(0) }\n' >a.hlo
printf 'HloModule b\nENTRY e { ROOT p = s4[2] parameter(0) }\n' >b.hlo
$HLO run a.hlo '{7, -8}' --output x.npy && $HLO run b.hlo @x.npy
$HLO run a.hlo '{8, 0}' --output x.npy && $HLO run b.hlo @x.npy
