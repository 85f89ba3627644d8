# Tokens and opaque values cannot be arguments: a module with such a parameter cannot be run.
# stdout: 4
# stderr: a.hlo:3:3: error: parameter 0 has type 'token', which cannot be passed as an argument
printf 'HloModule a\nENTRY e {\n  t = token[] parameter(0)\n  ROOT c = f32[] constant(1)\n}\n' >a.hlo
$HLO run --random a.hlo
echo $?
