# Dumps that a directory does not contain.
# stderr: dir: error: no module '7'; directory contains 1 jit_f
# stderr: empty: error: directory contains no module dumps, such as module_0001.NAME.before_optimizations.txt
# status: 2
mkdir dir empty
printf 'HloModule m\nENTRY e { ROOT c = f32[] constant(1) }\n' >dir/module_0001.jit_f.before_optimizations.txt
$HLO run dir --module=7
$HLO run empty
