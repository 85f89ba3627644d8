# Options of other tools cause a suggestion of the corresponding option.
# stdout: 2
# stdout: 2
# stdout: 2
# stdout: f32[2] {0.5, 1}
# stderr: argument 'x': error: write arrays in braces or brackets: '{1, 2, 3}'
# stderr: argument 'x': error: 'x.npy' is a file; use '@x.npy' to read its contents
# stderr: argument 'x': error: './v.txt' is a file; use '@./v.txt' to read its contents
echo 'ENTRY e { ROOT x = f32[2] parameter(0) }' >a.hlo
$HLO run a.hlo '1, 2'; echo $?
echo '{0.5, 1}' >v.txt
$HLO run a.hlo @v.txt -o x.npy
$HLO run a.hlo x.npy; echo $?
$HLO run a.hlo x=./v.txt; echo $?
$HLO run a.hlo @x.npy
