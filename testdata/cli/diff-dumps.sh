# diff of a directory of dumps: the module before optimizations and the one after, within the usual error of a type.
# stdout: 0
# stdout: results agree; 2 of 2 instructions compared, 2 not bit-identical
# stdout: results differ; 2 of 2 instructions compared
# stdout: first difference: %c
# stderr: hlo: error: 'dir' has no dumps of the module before and after optimizations
# status: 2
mkdir dir
module() { printf 'HloModule m\nENTRY e { x = f32[2] parameter(0)\n c = f32[2] constant({1, 2})\n %s ROOT r = f32[2] multiply(x, c) }\n' "$1" | sed "s/2})/$2})/"; }
module '' 2 >dir/module_0001.f.before_optimizations.txt
module '' 2.00001 >dir/module_0001.f.cpu_after_optimizations.txt
module '' 5 >dir/module_0001.f.0001.simplification.after_dce.before_x.txt
module '' 2 >dir/module_0002.g.before_optimizations.txt
$HLO diff dir --module=1 '{1, 2}' >out.txt; echo $?; cat out.txt
$HLO diff dir --module=1 '{1, 2}' --rel=1e-9 | head -2
$HLO diff dir --module=g --fake
