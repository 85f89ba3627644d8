# A warning is printed once, although its text is parsed again for each run
# stderr: <stdin>:2:5: warning: dot without contracting dimensions and result shape is an outer product, as in XLA; for a matrix product add lhs_contracting_dims={0}, rhs_contracting_dims={0}
# stderr: <stdin>:7:5: warning: dot without contracting dimensions and result shape is an outer product, as in XLA; for a matrix product add lhs_contracting_dims={0}, rhs_contracting_dims={0}
# stdout: x: f32[2]{0}
# stdout: d: f32[2,2]{1,0}
# stdout: e: f32[2,2]{1,0}
# stdout: e = f32[2,2] { { 2, 4 }, { 4, 8 } }
# stdout: e = f32[2,2] { { 2, 4 }, { 6, 8 } }
# stdout: f = f32[2,2] { { 1, 2 }, { 2, 4 } }
$HLO repl --norc <<'EOF'
x = f32[2] parameter(0)
d = dot(x, x)
e = add(d, d)
.run {1, 2}
.set d = {{1, 2}, {3, 4}}
e
f = dot(x, x)
EOF
