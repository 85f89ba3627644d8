# Without .bail errors do not end a session: the message of each of them
# stderr: <stdin>:2:9: error: instruction 'a' is not defined above
# stderr: <stdin>:3:16: error: expected a value, ',' or '}', got 'two'
# stderr: <stdin>:4: error: unknown name 'missing'
# stderr: <stdin>:5: error: unknown name; did you mean the command '.load'?
# stderr: <stdin>:6: error: unknown command '.lod'; did you mean '.load'?
# stderr: <stdin>:7: error: ambiguous command '.re': .redo, .rerun, .reset
# stderr: <stdin>:8: error: expected HLO or a command; see .help
# stderr: <stdin>:9: error: unmatched closing bracket
# stderr: <stdin>:10:7: error: expected an operator
# stderr: has no value; use .set p = VALUE, .run p=VALUE or .run --random
# stderr: <stdin>:13: error: usage: .set [NAME [= VALUE]]
# stderr: <stdin>:14: error: usage: .mode hlo|table|json|npy|summary
# stderr: <stdin>:15: error: unknown name '.lod'
# stderr: <stdin>:16: error: 'gather' is an operation; .doc gather describes it
# stderr: <stdin>:17:1: error: 'gather' is missing the required attribute 'offset_dims'
# stderr: help: .doc gather lists the attributes
# stderr: <stdin>:18:1: error: unknown opcode 'sum'; use reduce(x, 0), to_apply=add
# stderr: <stdin>:19: error: unknown name 'p.shape'; use .type x
# stderr: <stdin>:20: error: unknown operation 'matmul'; use dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
# stderr: <stdin>:21:1: error: 'max' expects 2 operands, got 1; reduce(x, x[0]), to_apply=max reduces an array
# stderr: <stdin>:23:5: error: expected an integer, got '2.5'
# stderr: help: convert(x, new_element_type=TYPE) converts the elements of x
# stderr: <stdin>:24:1: error: operand 0 of 'sqrt' is s32[2], expected float or complex elements
# stderr: help: convert(x, new_element_type=TYPE) converts the elements of x
# stderr: <stdin>:25:3: error: operands 0 and 1 of 'add' differ in element type: s32[2] and f32[2]
# stderr: help: convert(x, new_element_type=TYPE) converts the elements of x
# stderr: <stdin>:26: error: unterminated bracket, string or comment at end of input
# stdout: p: f32[2]{0}
$HLO repl <<'EOF'
.bail off
x = add(a, b)
y = f32[2] {1, two}
missing
load x.hlo
.lod x.hlo
.re
&
x = add(y))
z = a a
p = f32[2] parameter(0)
.print p
.set p 5
.mode loud
.type .lod
gather
gather({1, 2}, {0, 1})
sum(p)
p.shape
.help matmul
max({1, 2})
i = {1, 2};
i * 2.5
sqrt(i)
i + p
x = add(
EOF
