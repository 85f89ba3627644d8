# run: a literal of another shape than the parameter.
# status: 2
# stderr: parameter `x` is f32[2]; the argument given is f32[3]
printf 'HloModule a\nENTRY e { ROOT x = f32[2] parameter(0) }\n' >a.hlo
$HLO run a.hlo 'f32[3] {1, 2, 3}'
