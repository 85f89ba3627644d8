# Values that are nested less deeply than the dimensions of a parameter, on the command line and at the prompt.
# status: 2
# stderr: argument 'x':1:11: error: values of f32[2,2] are nested 2 levels deep, got 1
# stderr: f32[2,2] {1, 2, 3, 4}
# stderr: argument 'x':1:2: error: values of f32[2,2] are nested 2 levels deep, got 1
# stderr: argument 'x':1:2: error: dimension 0 of f32[2,2] has 2 elements, got 0
echo 'ENTRY e { x = f32[2,2] parameter(0) ROOT r = f32[2,2] negate(x) }' >a.hlo
$HLO run a.hlo '{1, 2, 3, 4}'
$HLO run a.hlo '[]'
$HLO repl a.hlo -c '.run [1, 2, 3, 4]'
