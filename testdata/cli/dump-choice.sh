# An ambiguous selection in a directory of dumps lists the candidates.
# stderr: dir: error: several modules: 1 jit_f, 23 jit_step; select one with --module=23
# stderr: dir: error: several modules: module_0001.jit_f.thunk.txt, module_0001.jit_f.cpu_after_optimizations.txt; select one with --module=23:after
# stderr: file.hlo: error: no module '3'; file has 1 m, 2 m
# status: 2
mkdir dir
module() { printf 'HloModule m\nENTRY e { ROOT c = f32[] constant(%s) }\n' "$1"; }
module 1 >dir/module_0001.jit_f.cpu_after_optimizations.txt
module 1 >dir/module_0001.jit_f.thunk.txt
module 2 >dir/module_0023.jit_step.before_optimizations.txt
$HLO run dir
$HLO run dir --module=1
(module 1; echo '// -----'; module 2) >file.hlo
$HLO run file.hlo --module=3
