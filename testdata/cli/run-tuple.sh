# Arguments that are tuples, and complex numbers, without shapes.
# stdout: (
# stdout:   (
# stdout:     f32[2] {1, 2},
# stdout:     s32[] 3
# stdout:   ),
# stdout:   c64[] (1, -2.5)
# stdout: )
# stdout: (
# stdout:   (
# stdout:     f32[2] {1, 2},
# stdout:     s32[] 3
# stdout:   ),
# stdout:   c64[] (1, -2.5)
# stdout: )
# stderr: argument 'p':1:11: error: expected ')' after the last tuple element, got ','
# stderr: argument 'c':1:7: error: expected a complex number such as (1, 2), got '1'
# status: 2
cat >t.hlo <<'END'
ENTRY e { p = (f32[2], s32[]) parameter(0) c = c64[] parameter(1) ROOT t = ((f32[2], s32[]), c64[]) tuple(p, c) }
END
$HLO run t.hlo '({1, 2}, 3)' '(1, -2.5)'
$HLO run t.hlo '(f32[2] {1, 2}, s32[] 3)' 'c64[] (1, -2.5)'
$HLO run t.hlo '({1, 2}, 3, 4)' '(1, -2.5)'
$HLO run t.hlo '({1, 2}, 3)' 1
