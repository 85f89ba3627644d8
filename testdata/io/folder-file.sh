# What is wrong with a file of a folder is said with its name.
# status: 2
# stderr: d: error: not a sound .npy file: it does not begin with \x93NUMPY
# stderr: this is about `d/p.npy`
printf 'HloModule a\nENTRY e { ROOT p = f32[2] parameter(0) }\n' >a.hlo
mkdir d
echo nothing >d/p.npy
$HLO run a.hlo --inputs=d
