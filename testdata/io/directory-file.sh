# An error in a file of a directory is reported with its name.
# status: 2
# stderr: d: error: malformed .npy file: missing magic number \x93NUMPY
# stderr: d: note: in reading 'd/p.npy'
printf 'HloModule a\nENTRY e { ROOT p = f32[2] parameter(0) }\n' >a.hlo
mkdir d
echo nothing >d/p.npy
$HLO run a.hlo --inputs=d
