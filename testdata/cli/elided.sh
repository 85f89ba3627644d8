# A module with elided constants runs only with --elided.
# stdout: f32[2] {0, 0}
# stdout: 4
# stderr: --elided=zero, --elided=iota or --elided=random
printf 'HloModule a\nENTRY e { ROOT c = f32[2] constant({...}) }\n' >a.hlo
$HLO run --elided=zero a.hlo
$HLO run a.hlo
echo $?
