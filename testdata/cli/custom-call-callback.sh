# A callback without results is skipped with a warning; --custom-call='*=zeros' stands in for the others.
# stdout: f32[3] {2, 4, 6}
# stdout: f32[3] {1, 2, 3}
# stderr: a.hlo:3:3: warning: skipped custom call 'xla_ffi_python_cpu_callback', a callback into the Python process that created the module
cat >a.hlo <<'END'
ENTRY e {
  x = f32[3] parameter(0)
  c = () custom-call(x), custom_call_target="xla_ffi_python_cpu_callback", custom_call_has_side_effect=true
  ROOT r = f32[3] add(x, x)
}
END
sed 's/c = ()/c = f32[3]/; s/add(x, x)/add(x, c)/' a.hlo >b.hlo
$HLO run a.hlo '{1, 2, 3}'
$HLO run b.hlo '{1, 2, 3}' --custom-call='*=zeros'
