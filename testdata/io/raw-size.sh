# Raw bytes that are too few or too many are refused.
# status: 2
# stderr: w.bin: error: the file has 5 bytes; parameter `p` wants f32[2], which has 8
printf 'HloModule a\nENTRY e { ROOT p = f32[2] parameter(0) }\n' >a.hlo
printf 12345 >w.bin
$HLO run a.hlo p=@w.bin
