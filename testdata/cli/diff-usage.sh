# diff: modules that cannot be compared.
# stdout: 2
# stdout: 2
# stdout: 2
# stdout: 2
# stdout: 2
# stdout: 3
# stderr: hlo: error: no file given
# stderr: hlo: error: expected two files, a directory of dumps, or one file with --plain
# stderr: hlo: error: a.hlo has 0 parameters, and b.hlo has 1
# stderr: hlo: error: parameter 0 of b.hlo and of c.hlo have different shapes
# stderr: hlo: error: a.hlo has 1 participant, and d.hlo has 2
# stderr: e.hlo:2:1: error: expected '=' after the name of the instruction, got end of input
# stderr: hlo: error: expected two files, a directory of dumps, or one file with --plain
# status: 2
module() { printf 'HloModule m\nENTRY e { %s ROOT c = f32[] constant(1) }\n' "$1"; }
module '' >a.hlo
module 'x = f32[2] parameter(0)' >b.hlo
module 'x = f32[3] parameter(0)' >c.hlo
printf 'HloModule m, replica_count=2\nENTRY e { ROOT c = f32[] constant(1) }\n' >d.hlo
echo nonsense >e.hlo
$HLO diff; echo $?
$HLO diff a.hlo; echo $?
$HLO diff a.hlo b.hlo; echo $?
$HLO diff b.hlo c.hlo '{1, 2}'; echo $?
$HLO diff a.hlo d.hlo; echo $?
$HLO diff a.hlo e.hlo; echo $?
$HLO diff a.hlo a.hlo --rel=x
