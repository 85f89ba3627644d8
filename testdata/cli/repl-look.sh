# Properties of an instruction: .list, .info, .users, .type, .graph, .doc
# status: 2
# stderr: <stdin>:13: error: unknown operation 'negat'; did you mean 'negate'?
# stdout: half: 4 instructions
# stdout:       1  x = f32[2]{0} parameter(0)
# stdout:       2  y = f32[2]{0} call(x), to_apply=half
# stdout:       3  z = f32[2]{0} add(x, y)
# stdout:       4  ROOT r.1 = f32[2]{0} multiply(z, y)
# stdout:       1  p = f32[2]{0} parameter(0)
# stdout:       2  h = f32[] constant(0.5)
# stdout:       3  b = f32[2]{0} broadcast(h), dimensions={}
# stdout:       4  ROOT r = f32[2]{0} multiply(p, b)
# stdout:       2  y = f32[2]{0} call(x), to_apply=half
# stdout:       3  z = f32[2]{0} add(x, y)
# stdout: y = f32[2]{0} call(x), to_apply=half
# stdout: shape     f32[2]{0}
# stdout: in        e
# stdout: operands  x
# stdout: users     z, r.1
# stdout: calls     half
# stdout: op_name   jit(f)/half
# stdout: from      model.py:7
# stdout: cost      0 operations, 16 bytes
# stdout: value     not computed
# stdout: r = f32[2] {0.75, 3}
# stdout: r.1 = f32[2]{0} multiply(z, y)
# stdout: shape     f32[2]{0}
# stdout: in        e
# stdout: operands  z, y
# stdout: cost      2 operations, 24 bytes
# stdout: value     f32[2] min 0.75 max 3 mean 1.875 nan 0 inf 0
# stdout:       3  z = f32[2]{0} add(x, y)
# stdout:       4  ROOT r.1 = f32[2]{0} multiply(z, y)
# stdout: z: f32[2]{0}
# stdout: f32[4]{0}
# stdout: z: f32[2]{0} add
# stdout:   <- x: f32[2]{0} parameter
# stdout:   <- y: f32[2]{0} call
# stdout:     <- x: f32[2]{0} parameter
# stdout:   -> r.1: f32[2]{0} multiply
# stdout: r.1: f32[2]{0} multiply
# stdout:   <- z: f32[2]{0} add
# stdout:     <- x: f32[2]{0} parameter
# stdout:     <- y: f32[2]{0} call
# stdout:       <- x: f32[2]{0} parameter
# stdout:   <- y: f32[2]{0} call
# stdout:     <- x: f32[2]{0} parameter
# stdout:   .break [NAME|OP|FILE:LINE]    set a breakpoint before an instruction; without argument, list breakpoints and watchpoints (.b)
# stdout:       .break share
cat >m.hlo <<'EOF'
HloModule m
half { p = f32[2] parameter(0)  h = f32[] constant(0.5)  b = f32[2] broadcast(h), dimensions={}  ROOT r = f32[2] multiply(p, b) }
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2] call(x), to_apply=half, metadata={op_name="jit(f)/half" source_file="model.py" source_line=7}
  z = f32[2] add(x, y)
  ROOT r = f32[2] multiply(z, y)
}
EOF
$HLO repl m.hlo <<'EOF'
.list
.list half
.l 2,3
.info y
.run {1, 2}
.i r
.users y
.type z
.type concatenate(x, y), dimensions={0}
.graph z
.g
.help break
.doc negat
EOF
