# .info without a name: the root, or the current instruction of a stopped run; prompt entries with a shape and no operation
# stderr: <stdin>:2: error: session is empty
# stderr: <stdin>:3:7: error: expected a value after the shape
# stdout: _1 = f32[3] {0, 0, 0}
# stdout: y = f32[3] {1, 1, 1}
# stdout: y = f32[3]{0} add(_1, y.broadcast)
# stdout: shape     f32[3]{0}
# stdout: in        main
# stdout: operands  _1, y.broadcast
# stdout: cost      3 operations, 36 bytes
# stdout: value     f32[3] all elements 1
# stdout: breakpoint 1: _1
# stdout: before _1 = f32[3]{0} broadcast(constant.anon), dimensions={}
# stdout: _1 = f32[3]{0} broadcast(constant.anon), dimensions={}
# stdout: shape     f32[3]{0}
# stdout: in        main
# stdout: operands  constant.anon
# stdout: users     y
# stdout: cost      0 operations, 24 bytes
# stdout: value     not computed
$HLO repl <<'EOF'
.bail off
.info
shape=f32[2]
f32[3] broadcast(0)
y = _1 + 1
.info
.break _1
.run
.info
EOF
