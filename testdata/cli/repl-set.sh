# Setting a value invalidates its dependents; .undo and .rerun
# stderr: -
# stdout: x = f32[2] {1, 2}
# stdout: y = f32[2] {2, 4}
# stdout: z = f32[2] {4, 16}
# stdout: z = f32[2] {100, 400}
# stdout: y: f32[2] min 10 max 20 mean 15 nan 0 inf 0
# stdout: z = f32[2] {4, 16}
# stdout: z = f32[2] {4, 16}
# stdout: z = f32[2] {9, 16}
# stdout: z = f32[2] {9, 16}
# stdout: z = f32[2] {9, 16}
# stdout: z = f32[2] {9, 16}
# stdout: p: f32[]
# stdout: q: f32[]
# stdout: q = f32[] -7
# stdout: q = f32[] -8
# stdout: q = f32[] -9
# stdout: q = f32[] -9
# stdout: f32[2] {100, 400}
$HLO repl <<'EOF'
x = f32[2] {1, 2}
y = add(x, x)
z = multiply(y, y)
.set y = {10, 20}
z
.set
.save set.hlo
.set y
z
.undo 2
z
.set y = f32[2] {3, 4}
z
.undo
.redo
z
.rerun from y
.rerun
p = f32[] parameter(0)
q = negate(p)
.set p = 7
q
.run p=8
.run 9
.reset
.list
.undo
q
EOF
$HLO run set.hlo
