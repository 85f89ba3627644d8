# A module is loaded, run, extended, and saved in a form that hlo run accepts
# stderr: -c:5: error: nothing to undo
# stdout: o = f32[4] {1, 2, 3, 4}
# stdout: t = f32[] 1
# stdout: d = f32[4] {1, 2, 3, 4}
# stdout: both = (
# stdout:   f32[4] {1, 2, 3, 4},
# stdout:   f32[4] {1, 2, 3, 4}
# stdout: )
# stdout: double: 2 instructions
# stdout:       1  a = f32[4]{0} parameter(0)
# stdout:       2  s = f32[] parameter(1)
# stdout:       3  t = f32[] call(s), to_apply=double
# stdout:       4  b = f32[4]{0} broadcast(t), dimensions={}
# stdout:       5  o = f32[4]{0} multiply(a, b)
# stdout:       6  d = f32[4]{0} divide(o, b)
# stdout:       7  ROOT both = (f32[4]{0}, f32[4]{0}) tuple(o, d)
# stdout:       1  p = f32[] parameter(0)
# stdout:       2  ROOT r = f32[] add(p, p)
# stdout: (
# stdout:   f32[4] {1, 2, 3, 4},
# stdout:   f32[4] {1, 2, 3, 4}
# stdout: )
# stdout: x = s32[] 1
# stdout: y = s32[] 2
# stdout: y = s32[] 2
cat >m.hlo <<'EOF'
HloModule m, entry_computation_layout={(f32[4]{0}, f32[])->f32[4]{0}}
double { p = f32[] parameter(0) ROOT r = f32[] add(p, p) } // a computation in a line
// two on a line, and a remark
ENTRY e {
  a = f32[4] parameter(0)  s = f32[] parameter(1)
  t = f32[] call(s), to_apply=double /* twice */
  b = f32[4] broadcast(t), dimensions={}
  ROOT o = f32[4] multiply(a, b)
}
EOF
$HLO repl m.hlo <<'EOF'
.run '{1, 2, 3, 4}' s=0.5
t
d = divide(o, b)
ROOT both = tuple(o, d)
.list
.list double
.save grown.hlo
EOF
$HLO run grown.hlo
printf '%s\n' 'HloModule one' 'ENTRY e { ROOT x = s32[] constant(1) }' '// -----' 'ENTRY e { ROOT y = s32[] constant(2) }' >two.hlo
$HLO repl two.hlo -c '.bail off' -c .run -c '.load two.hlo module 2' -c .run -c '.undo' -c .run
