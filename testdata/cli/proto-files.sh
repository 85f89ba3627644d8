# Protocol buffers are taken from a directory of dumps, unless there is text of the same dump, by the prompt, with all values, and for bundles. hlo fmt does not rewrite them.
# needs: proto
# stdout: f32[2,3] { { 1, -inf, 5 }, { 25, 16, 1.5 } }
# stdout: f32[] 1
# stdout:   %c = f32[2,3]{0,1} constant({ { 1, -inf, 5 }, { 25, 16, 1.5 } })
# stdout: f32[2,3] { { 1, -inf, 5 }, { 25, 16, 1.5 } }
# stdout: "path":"computations[0].instructions[1].literal.f32s","message":"malformed protocol buffer: expected 6 elements, got more"
# stderr: hlo: error: 'd/module_0001.f.before_optimizations.hlo.pb' is not text
# status: 2
zeros='{{0,0,0},{0,0,0}}'
mkdir d
cp "$HERE/../proto/add.pbtxt" d/module_0001.f.before_optimizations.hlo.pb
$HLO run d "$zeros" --save-bundle=b.npz
printf 'HloModule f\nENTRY e { ROOT c = f32[] constant(1) }\n' >d/module_0002.g.before_optimizations.txt
cp "$HERE/../proto/add.pbtxt" d/module_0002.g.before_optimizations.hlo.pb
$HLO run d --module=g
printf '.save s.hlo\n' | $HLO repl "$HERE/../proto/add.pbtxt" >/dev/null && grep constant s.hlo
$HLO run b.npz --inputs=b.npz
sed 's/f32s: 5/f32s: [5, 6]/' "$HERE/../proto/add.pbtxt" | $HLO verify --json - | grep -o '"path".*more"'
$HLO fmt --in-place d/module_0001.f.before_optimizations.hlo.pb
