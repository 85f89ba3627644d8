# run: status 2 for arguments, 3 for a rejected module, 4 for a failed run.
# stdout: 2 2 2 3
# stderr: hlo: error: missing argument for parameter 0, 'x', of shape f32[2]; --fake or --random generates one
# stderr: hlo: error: too many arguments: '5'; the module has 1 parameters
# stderr: hlo: error: unknown parameter 'z'; the module has 'x'
printf 'HloModule a\nENTRY e { ROOT x = f32[2] parameter(0) }\n' >a.hlo
printf 'HloModule a\nENTRY e { ROOT x = f32[2] parameer(0) }\n' >b.hlo
$HLO run a.hlo; a=$?
$HLO run a.hlo '{1, 2}' 5; b=$?
$HLO run a.hlo z=5; c=$?
$HLO run b.hlo; d=$?
echo $a $b $c $d
