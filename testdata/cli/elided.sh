# A constant that was left out runs only with something in its place.
# stdout: f32[2] {0, 0}
# stdout: 4
# stderr: --elided=zero
printf 'HloModule a\nENTRY e { ROOT c = f32[2] constant({...}) }\n' >a.hlo
$HLO run --elided=zero a.hlo
$HLO run a.hlo
echo $?
