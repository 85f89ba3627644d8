# An error is shown where it was typed, leaves the session unchanged, and ends a script with its status
# status: 3
# stderr: <stdin>:4:8: error: instruction 'yy' is not defined above
# stderr: add(y, yy)
# stderr:        ^~
# stderr: help: did you mean 'y'?
# stdout: y = f32[2] {1, 2}
$HLO repl <<'EOF'
// a line before
y = f32[2] {1, 2}

add(y, yy)
y
EOF
