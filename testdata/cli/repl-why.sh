# Which elements made an element, of what the session has, values that were set among it
# stderr: parameter `p` has no value
# stderr: there is no instruction `zz`
# stderr: usage: .why NAME[INDEX] [N]
# stdout: p: f32[2,2]{1,0}
# stdout: y: f32[2,2]{1,0}
# stdout: z[0,1] = -nan  negate f32[2,2]
# stdout:   operand: y[0,1] = nan  dot f32[2,2]
# stdout:     lhs: p[0,0:2], rhs: p[0:2,1], 2 products
# stdout:       2
# stdout:         lhs: p[0,0] = 1  constant f32[2,2]
# stdout:         rhs: p[0,1] = 2  constant f32[2,2]
# stdout:       nan
# stdout:         lhs: p[0,1] = 2  constant f32[2,2]
# stdout:         rhs: p[1,1] = nan  constant f32[2,2]
$HLO repl <<'EOF'
.bail off
p = f32[2,2] parameter(0)
y = dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}
.why y[0,1]
.set p = {{1, 2}, {3, nan}}
z = negate(y);
.why z[0,1] 2
.why zz
.why
EOF
