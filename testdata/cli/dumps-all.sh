# Commands on files take all modules of a directory of dumps or of a pattern; --module selects one.
# stdout: dir/module_0001.jit_f.before_optimizations.txt: 1 computation, 1 instruction
# stdout: dir/module_0001.jit_f.0007.simplification.after_algsimp.before_dce.txt: 1 computation, 1 instruction
# stdout: dir/module_0001.jit_f.cpu_after_optimizations.txt: 1 computation, 1 instruction
# stdout: dir/module_0023.jit_step.before_optimizations.txt: 1 computation, 1 instruction
# stdout: dir/module_0001.jit_f.0007.simplification.after_algsimp.before_dce.txt: 1 computation, 1 instruction
# stdout: dir: 1 computation, 1 instruction
# stdout: 4
# stdout: 2
# stdout: f32[] 2
# stdout: f32[] 4
# stdout: 3
# stderr: dir/module_0023.jit_step.before_optimizations.txt:2:26: error: unknown opcode 'constante'
mkdir dir plain
module() { printf 'HloModule m\nENTRY e { ROOT c = f32[] constant(%s) }\n' "$1"; }
module 1 >dir/module_0001.jit_f.cpu_after_optimizations.txt
module 2 >dir/module_0001.jit_f.before_optimizations.txt
module 4 >dir/module_0001.jit_f.0007.simplification.after_algsimp.before_dce.txt
module 3 >dir/module_0023.jit_step.before_optimizations.txt
$HLO ls dir | grep dir/
$HLO ls 'dir/*algsimp*' | grep dir/
$HLO ls dir --module=step | grep dir
$HLO find dir op=constant | wc -l
module 1 >plain/a.hlo
module 1 >plain/b.hlo
$HLO ls plain | grep -c plain/
$HLO run dir --module=f
$HLO run dir --module=algsimp
sed -i s/constant/constante/ dir/module_0023.jit_step.before_optimizations.txt
$HLO verify dir; echo $?
