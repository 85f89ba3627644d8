# Several modules printed one after the other, and dumps to standard output between lines of a program: each is a module, with the lines of the file; --module takes a part of a name.
# stdout: f32[] 1
# stdout: f32[] 2
# stdout: f32[] 2
# stdout: f32[] 1
# stdout: two.txt module 1 jit_f: 1 computation, 1 instruction
# stdout: two.txt module 2 jit_g: 1 computation, 1 instruction
# stdout: out.txt module 2 module_0004.jit_g.cpu_after_optimizations.txt: 1 computation, 1 instruction
# stdout: 4
# stdout: 5
# stderr: two.txt: error: no module 'jit_h'; file has 1 jit_f, 2 jit_g
# stderr: two.txt: error: several modules: 1 jit_f, 2 jit_g; select one with --module=2
# stderr: out.txt: error: several modules: module_0004.jit_g.before_optimizations.txt, module_0004.jit_g.cpu_after_optimizations.txt; select one with --module=23:after
# stderr: wrong.txt:10:23: error: instruction 'y' is not defined above
# status: 3
module() { printf 'HloModule %s, entry_computation_layout={()->f32[]}\n\nENTRY %%e () -> f32[] {\n  ROOT %%c = f32[] constant(%s)\n}\n\n' "$1" "$2"; }
{ module jit_f 1; module jit_g 2; } >two.txt
$HLO run two.txt
$HLO run two.txt --module=g
$HLO run two.txt --module=1
$HLO ls two.txt | grep two.txt
{
    echo compiling
    echo '*** Begin module_0004.jit_g.before_optimizations.txt ***'
    module jit_g 4
    echo '*** End module_0004.jit_g.before_optimizations.txt ***'
    echo '*** Begin module_0004.jit_g.cpu_after_optimizations-buffer-assignment.txt ***'
    echo 'BufferAssignment:'
    echo '*** End module_0004.jit_g.cpu_after_optimizations-buffer-assignment.txt ***'
    echo 'done HloModule'
    echo '*** Begin module_0004.jit_g.cpu_after_optimizations.txt ***'
    module jit_g 5
    echo '*** End module_0004.jit_g.cpu_after_optimizations.txt ***'
} >out.txt
$HLO ls out.txt --module=4:after | grep out.txt
$HLO run out.txt | sed 's/f32.. //'
$HLO run two.txt --module=jit_h
$HLO run two.txt --module=jit_
$HLO run out.txt --module=optimizations:none
{ module jit_f 1; module jit_g 2 | sed 's/constant.*/add(y, y)/'; } >wrong.txt
$HLO verify wrong.txt
