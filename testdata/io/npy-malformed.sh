# What is no .npy file is refused with the reason.
# status: 2
# stderr: x.npy: error: not a sound .npy file: it does not begin with \x93NUMPY
printf 'HloModule a\nENTRY e { ROOT p = f32[1] parameter(0) }\n' >a.hlo
printf 'some other file' >x.npy
$HLO run a.hlo @x.npy
