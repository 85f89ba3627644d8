# Without .bail mistakes don't end a session: what each of them says
# stderr: <stdin>:2:9: error:
# stderr: <stdin>:3:16: error:
# stderr: <stdin>:4: error: nothing is called 'nobody'
# stderr: <stdin>:5: error: commands begin with a dot: '.load'
# stderr: <stdin>:6: error: no command '.lod'; did you mean '.load'?
# stderr: <stdin>:7: error: '.re' may be .redo, .rerun, .reset
# stderr: <stdin>:8: error: this is neither HLO nor a command
# stderr: <stdin>:9: error: a bracket is closed that was not opened
# stderr: a literal needs its shape here: f32[] 5
# stderr: has no value: .set p = VALUE
# stderr: <stdin>:13: error: usage: .set [NAME [= VALUE]]
# stderr: <stdin>:14: error: usage: .mode hlo|table|json|npy|summary
# stderr: <stdin>:15: error: nothing is called '.lod'
# stderr: <stdin>:16: error: the entry ends before its brackets
# stdout: p: f32[2]{0}
$HLO repl <<'EOF'
.bail off
x = add(a, b)
y = f32[2] {1, two}
nobody
load x.hlo
.lod x.hlo
.re
&
x = add(y))
z = 5
p = f32[2] parameter(0)
.print p
.set p 5
.mode loud
.type .lod
x = add(
EOF
