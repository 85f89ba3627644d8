# A redefinition may use later instructions; what was typed later and is invalid with it is removed, but nothing of a loaded module
# status: 3
# stdout: _2 = s32[] 6
# stdout: y = s32[3] {2, 3, 4}
# stdout: _3 = s32[3] {4, 6, 8}
# stdout: x = s32[] 3
# stdout: _1 = s32[] 6
# stdout: y = s32[] 4
# stdout: x = f32[2] {1.5, 2}
# stdout: _1 = f32[2] {3, 4}
# stdout: y = s32[] 4
# stdout: _2 = s32[] 6
# stdout: y = s32[3] {4, 5, 6}
# stdout: x = s32[] 3
# stdout: later: 0
# stderr: <stdin>:6: warning: removed _2: invalid with the new 'x'; .undo reverts the change
# stderr: <stdin>:9: warning: removed y, _3: invalid with the new 'x'; .undo reverts the change
# stderr: a.hlo:1:75: error: operands 0 and 1 of 'add' differ in dimensions: f32[3] and f32[2]
$HLO repl <<'EOF'
x = {1, 2, 3};
x + x;
reduce(x, 0), to_apply=add
y = x + 1
y * 2
x = 3
_1
y
x = {1.5, 2}
_1
.undo
y
.undo
_2
.set y = {4, 5, 6}
y
EOF
printf 'x = 1;\ny = 2;\nx = y + 1\n' | $HLO repl 2>&1
echo later: $?
echo 'ENTRY e { x = f32[2] parameter(0) y = f32[2] parameter(1) ROOT r = f32[2] add(x, y) }' >a.hlo
$HLO repl a.hlo -c 'x = f32[3] parameter(0)'
