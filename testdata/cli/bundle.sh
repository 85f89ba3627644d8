# A run in one file: module, arguments and results; when executed, it is compared with its results.
# stdout: f32[2] {2, 3}
# stdout: io.npz: results agree: 2 elements
# stdout: same: 0
# stdout: io.npz: results agree: 2 elements
# stdout: as a file: 0
# stdout: f32[2] {4, 5}
# stdout: other arguments: 0
# stdout: f32[2] {1, 1}
# stdout: made up: 0
# stdout: HloModule add, entry_computation_layout={(f32[2]{0}, f32[])->f32[2]{0}}
# stdout: f32[2] {2, 3}
# stdout: other module: 1
# stdout: io.npz: results agree: 2 elements; largest errors: abs 0.125, rel 0.0625
# stdout: near enough: 0
# stdout: expected: 1
# stdout: failed: 4
# stdout: s32[] 3
# stdout: s32[] 3
# stdout: as a file, other results: 1
# stdout: s32[2] {0, 1}
# stdout: replicas: 0
# stderr: io.npz: result differs: element {0} is 2.125, expected 2; 2 of 2 differ; worst errors: abs 0.125 at {0}, rel 0.0625, 524288 ulp
cat >add.hlo <<'E'
HloModule add
ENTRY e {
  x = f32[2] parameter(0)
  s = f32[] parameter(1)
  b = f32[2] broadcast(s), dimensions={}
  ROOT r = f32[2] add(x, b)
}
E
sed 's/add(x, b)/add(x, c)/; s/^  ROOT/  d = f32[] constant(1.125)  c = f32[2] broadcast(d), dimensions={}\n  ROOT/' add.hlo >off.hlo
$HLO run add.hlo '{1, 2}' 1 --save-bundle=io.npz
$HLO run --bundle io.npz; echo same: $?
$HLO run io.npz; echo as a file: $?
$HLO run io.npz '{1, 2}' 3; echo other arguments: $?
$HLO run io.npz --fake=ones s=0; echo made up: $?
$HLO fmt --short io.npz | head -1
$HLO run add.hlo --bundle=io.npz --output=/dev/stdout | cat
$HLO run off.hlo --bundle=io.npz >off.txt; echo other module: $?
$HLO run off.hlo --bundle=io.npz --abs=0.2; echo near enough: $?
$HLO run off.hlo '{1, 2}' 5 --expect=io.npz; echo expected: $?
cat >sum.hlo <<'E'
HloModule sum
add { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT c = s32[] add(a, b) }
ENTRY e {
  x = s32[] parameter(0)
  s = s32[] all-reduce(x), replica_groups={}, to_apply=add
  k = u32[] replica-id()
  ROOT t = (s32[], u32[]) tuple(s, k)
}
E
cat >call.hlo <<'E'
HloModule call
ENTRY e { x = s32[] parameter(0)  ROOT y = s32[] custom-call(x), custom_call_target="fails" }
E
$HLO run call.hlo 3 --custom-call='fails=false' --save-bundle=bad.npz 2>why.txt; echo failed: $?
$HLO run --bundle=bad.npz --custom-call='fails=identity'
$HLO run call.hlo 3 --custom-call='fails=identity' --save-bundle=good.npz
$HLO run good.npz --custom-call='fails=zeros' 2>>why.txt; echo as a file, other results: $?
$HLO run sum.hlo --replicas=2 x@0=1 x@1=2 --save-bundle=two.npz >two.txt
$HLO run --bundle=two.npz --output=back.npz; status=$?
cat >stack.hlo <<'E'
HloModule stack
ENTRY e {
  a = u32[] parameter(0)  b = u32[] parameter(1)
  p = u32[1] reshape(a)  q = u32[1] reshape(b)
  c = u32[2] concatenate(p, q), dimensions={0}
  ROOT r = s32[2] convert(c)
}
E
$HLO run stack.hlo 0 1; echo replicas: $status
