# Errors in expressions refer to what was typed
# stderr: <stdin>:3:3: error: expected an operand
# stderr: <stdin>:4:5: error: instruction 'yy' is not defined above
# stderr: <stdin>:5:9: error: expected an operator
# stderr: <stdin>:6:6: error: expected an index or a range FROM:TO:STEP
# stderr: <stdin>:7:3: error: index 2 is out of bounds: the dimension has 2 elements
# stderr: <stdin>:8:2: error: too many indices: the array has 2 dimensions
# stderr: <stdin>:9:5: error: expected an integer, got '2.5'
# stderr: <stdin>:10:3: error: 'add' has operands of rank 2 and 1, s32[2,3] and s32[2]: broadcast_dimensions={...} must map the dimensions of s32[2] to those of s32[2,3]
# stderr: <stdin>:11:5: error: 'm' cannot be computed from itself; use another name
# stderr: <stdin>:12:3: error: expected an operand
# stderr: <stdin>:13:5: error: expected a value after the shape
# stderr: <stdin>:14:7: error: expected an operator
# stderr: <stdin>:15:18: error: index 9 is out of bounds: the dimension has 2 elements
# stderr: <stdin>:16: error: unknown name 'nobody'
# stderr: <stdin>:17:3: error: expected an operator
# stderr: <stdin>:18:3: error: expected an operator
# stderr: <stdin>:19:11: error: expected an operator
# stderr: <stdin>:20:3: error: expected an operator
# stderr: <stdin>:21: error: expected HLO or a command; see .help
# stdout: m = s32[2,3] { { 1, 2, 3 }, { 4, 5, 6 } }
$HLO repl --norc <<'EOF'
.bail off
m = [[1, 2, 3], [4, 5, 6]]
m +
m + yy
(m + 1) m
m[0, 2:1:0] + 1
m[2] + 1
m[0, 0, 0] + 1
m + 2.5
m + {1, 2}
m = m + 1
x =
x = f32[2]
x = m m
(m)[0] - sort(m)[9]
nobody
m 1
m @ m
add(m, m) m
1 @ 2
nothing m
EOF
