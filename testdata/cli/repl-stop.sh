# While stopped, the session can be changed; the run continues with the module it started with
# stderr: -
# stdout: breakpoint 1: z
# stdout: before z = f32[2]{0} multiply(y, x)
# stdout: w = f32[2] {4, 16}
# stdout: q = f32[2] {-4, -16}
# stdout: r = f32[2] {0, 4}
# stdout: r = f32[2] {0, 4}
cat >m.hlo <<'EOF'
ENTRY e {
  x = f32[2] constant({1, 2})
  y = add(x, x)
  z = multiply(y, x)
  ROOT r = subtract(z, y)
}
EOF
$HLO repl m.hlo <<'EOF'
.break z
.run
w = multiply(y, y)
ROOT q = negate(w)
.undo 2
.reset
.list
.c
.undo
.delete
.run
EOF
