# Raw files of the wrong size are rejected.
# status: 2
# stderr: w.bin: error: file has 5 bytes, but parameter 'p' is f32[2], which has 8 bytes
printf 'HloModule a\nENTRY e { ROOT p = f32[2] parameter(0) }\n' >a.hlo
printf 12345 >w.bin
$HLO run a.hlo p=@w.bin
