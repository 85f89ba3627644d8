# run: a literal whose shape differs from that of the parameter.
# status: 2
# stderr: a.hlo:2:11: error: parameter 'x' is f32[2], but the argument is f32[3]
printf 'HloModule a\nENTRY e { ROOT x = f32[2] parameter(0) }\n' >a.hlo
$HLO run a.hlo 'f32[3] {1, 2, 3}'
