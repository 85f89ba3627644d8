# Other forms of a program get one error, with the way to HLO text; not a storm of them.
# stdout: 1
# stdout: 0
# stderr: f.mlir: error: this is MLIR text (StableHLO), not HLO text; `jax.jit(f).lower(x).as_text('hlo')` gives HLO text
# stderr: f.mlirbc: error: this is MLIR bytecode (StableHLO), not HLO text
# stderr: f.pb: error: this is a protocol buffer (an HloProto or snapshot?), not HLO text; run with XLA_FLAGS=
# stderr: f.pbtxt: error: this is a protocol buffer as text (HloProto), not HLO text
# stderr: m.x-buffer-assignment.txt: error: this is XLA's report of where buffers lie, not HLO text
# status: 2
cat >f.mlir <<'E'
#loc1 = loc("x")
module @jit_f attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<f32>) -> (tensor<f32>) {
    %0 = stablehlo.add %arg0, %arg0 : tensor<f32>
    return %0 : tensor<f32>
  }
}
E
sed 1d f.mlir >g.mlir
printf 'ML\357R\001\002' >f.mlirbc
printf '\n\300\001\n\003jit\020\001' >f.pb
printf 'hlo_module {\n  name: "m"\n}\n' >f.pbtxt
printf 'BufferAssignment:\nallocation 0: size 4\n' >m.x-buffer-assignment.txt
$HLO run g.mlir 2>&1 | wc -l
$HLO run f.mlirbc; $HLO run f.pb; $HLO run f.pbtxt; $HLO run m.x-buffer-assignment.txt
printf 'HloModule module\nmodule { ROOT x = f32[] constant(1) }\n' | $HLO verify - 2>&1 | wc -l
$HLO verify f.mlir
