# Values of elided constants are not read from a protocol buffer of another module, or one that cannot be read.
# needs: proto
# stdout: 4
# stdout: 4
# stderr: d/module_0002.g.before_optimizations.txt: warning: text has elided constants, but 'd/module_0002.g.before_optimizations.hlo.pb' beside it is of another module
# stderr: d/module_0002.g.before_optimizations.txt:5:3: error: constant 'c' was elided when it was printed; dump with XLA_FLAGS=--xla_dump_large_constants, or fill it with --elided=zero, --elided=iota or --elided=random
# stderr:   %c = f32[2,3]{0,1} constant({...})
# stderr:   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
# stderr: d/module_0003.h.before_optimizations.txt: warning: text has elided constants, but 'd/module_0003.h.before_optimizations.pb' beside it cannot be read
# stderr: d/module_0003.h.before_optimizations.txt:5:3: error: constant 'c' was elided when it was printed; dump with XLA_FLAGS=--xla_dump_large_constants, or fill it with --elided=zero, --elided=iota or --elided=random
# stderr:   %c = f32[2,3]{0,1} constant({...})
# stderr:   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
zeros='{{0,0,0},{0,0,0}}'
mkdir d
cp "$HERE/../proto/add.pbtxt" d/module_0001.f.before_optimizations.hlo.pb
$HLO fmt d/module_0001.f.before_optimizations.hlo.pb | sed 's/constant(.*)/constant({...})/' >d/module_0001.f.before_optimizations.txt
sed 's/%sum/%total/' d/module_0001.f.before_optimizations.txt >d/module_0002.g.before_optimizations.txt
cp d/module_0001.f.before_optimizations.hlo.pb d/module_0002.g.before_optimizations.hlo.pb
$HLO run d --module=2 "$zeros"; echo $?
cp d/module_0001.f.before_optimizations.txt d/module_0003.h.before_optimizations.txt
echo nothing >d/module_0003.h.before_optimizations.pb
$HLO run d --module=3 "$zeros"; echo $?
