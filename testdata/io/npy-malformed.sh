# A malformed .npy file is rejected with the reason.
# status: 2
# stderr: x.npy: error: malformed .npy file: missing magic number \x93NUMPY
printf 'HloModule a\nENTRY e { ROOT p = f32[1] parameter(0) }\n' >a.hlo
printf 'some other file' >x.npy
$HLO run a.hlo @x.npy
