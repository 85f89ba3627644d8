# bisect: trouble has status 2: arguments, selection, and dumps of which none can be run; JSON; the output of a program; other parameters are skipped.
# stdout: 2
# stdout: 2
# stdout: 2
# stdout: 2
# stdout: 2
# stdout: {"schema":1,"same":false,"first":1,"dumps":[{"file":"out.txt","name":"module_0001.f.before_optimizations.txt","pipeline":"","pass":"before_optimizations","outcome":"reference"},{"file":"out.txt","name":"module_0001.f.0002.simplification.after_algsimp.before_dce.txt","pipeline":"simplification","pass":"algsimp","outcome":"differs","difference":{"comparable":true,"elements":2,"outside":1,"not_finite":0,"worst_abs":1,"worst_rel":0.5,"worst_ulp":4194304,"worst":[{"leaf":0,"index":1,"actual":3,"expected":2,"abs":1,"rel":0.5,"ulp":4194304}],"decades":[1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,0]}},{"file":"out.txt","name":"module_0001.f.cpu_after_optimizations.txt","pipeline":"","pass":"cpu_after_optimizations","outcome":"skipped","reason":"other parameters"}]}
# stdout: first difference: after pass algsimp of simplification
# stdout:   out.txt: module_0001.f.0002.simplification.after_algsimp.before_dce.txt
# stdout:   skipped                          cpu_after_optimizations  other parameters
# stderr: hlo: error: no directory given
# stderr: hlo: error: missing argument for parameter 0, 'x', of shape f32[2]; --fake or --random generates one
# stderr: dir: error: several modules: 1 f, 2 g; select one with --module=2
# stderr: hlo: error: 'dir' has only one dump of the module
# stderr: three: error: 2 of 2 dumps cannot be run; module_0003.h.before_optimizations.txt: unknown opcode 'adding'
# status: 1
mkdir dir three
module() { printf 'HloModule f\nENTRY e { x = f32[%s] parameter(0)\n c = f32[2] constant({1, %s})\n ROOT r = f32[2] %s }\n' "$1" "$2" "$3"; }
begin() { echo "*** Begin module_0001.f.$1.txt ***"; }
module 2 2 'add(x, c)' >dir/module_0001.f.before_optimizations.txt
module 2 2 'add(c, x)' >dir/module_0001.f.cpu_after_optimizations.txt
module 2 2 'add(c, x)' >dir/module_0002.g.before_optimizations.txt
module 2 2 'adding(c, x)' | tee three/module_0003.h.before_optimizations.txt >three/module_0003.h.cpu_after_optimizations.txt
$HLO bisect; echo $?
$HLO bisect dir --module=f; echo $?
$HLO bisect dir --fake; echo $?
$HLO bisect dir --module=g --fake; echo $?
$HLO bisect three --fake; echo $?
{
    begin before_optimizations; module 2 2 'multiply(x, c)'
    begin 0002.simplification.after_algsimp.before_dce; module 2 3 'multiply(x, c)'
    begin cpu_after_optimizations; module 1 2 'copy(c)'
} >out.txt
$HLO bisect out.txt '{1, 1}' --json
$HLO bisect out.txt '{1, 1}' | grep 'first\|out.txt\|skipped '
$HLO bisect out.txt '{1, 1}' -q
