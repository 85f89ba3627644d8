# Directories of XLA dumps: a module by number or name, before or after optimizations; compressed files.
# stdout: f32[] 1
# stdout: f32[] 2
# stdout: f32[] 3
# stdout: f32[] 4
# stdout: f32[] 4
# stdout: f32[] 1
# stdout: f32[] 1
# stdout: 1
# stderr: -
mkdir dir one
module() { printf 'HloModule m\nENTRY e { ROOT c = f32[] constant(%s) }\n' "$1"; }
module 1 >dir/module_0001.jit_f.before_optimizations.txt
module 2 >dir/module_0001.jit_f.sm_8.0_gpu_after_optimizations.txt
module 3 >dir/module_0023.jit_step.0004.simplification.after_algsimp.before_dce.txt
module 4 | gzip >dir/module_0024.jit_g.before_optimizations.txt.gz
echo 'BufferAssignment:' >dir/module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt
echo 'x' >dir/module_0001.jit_f.config.pbtxt
$HLO run dir --module 1
$HLO run dir --module=1:after
$HLO run dir --module=jit_step
$HLO run dir --module=24
$HLO run dir/module_0024.jit_g.before_optimizations.txt.gz
cp dir/module_0001* one
$HLO one
$HLO verify one
$HLO fmt one --module=1 | $HLO run -
$HLO ls dir --module=23 | grep -c 'f32\[\] constant\|constant '
