# bench: inputs from files; an array that does not match a module is an error, as for run.
# status: 2
# stderr: a.npz: error: no array 'arg0' or 'p' for parameter 'p'; the file has 'out0'
printf 'HloModule a\nENTRY e { p = f32[2] parameter(0)\n ROOT r = f32[2] abs(p) }\n' >a.hlo
$HLO run a.hlo '{1, 2}' --output=a.npz || exit 1
$HLO bench a.hlo --inputs=a.npz
