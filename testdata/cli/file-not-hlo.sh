# Other program formats cause a single error, with advice on obtaining HLO text.
# stdout: 1
# stdout: 0
# stderr: f.mlir: error: not HLO text but MLIR text (StableHLO); jax.jit(f).lower(x).as_text('hlo') returns HLO text
# stderr: f.mlirbc: error: not HLO text but MLIR bytecode (StableHLO); jax.jit(f).lower(x).as_text('hlo') returns HLO text
# stderr: f.pb: error: not HLO text but a protocol buffer that has no module or is truncated; set XLA_FLAGS='--xla_dump_to=DIR --xla_dump_hlo_as_text' to dump text
# stderr: m.onnx: error: not HLO text but an ONNX model; 'hlo import' converts it
# stderr: m.x-buffer-assignment.txt: error: not HLO text but an XLA buffer assignment; read the file that ends in before_optimizations.txt or after_optimizations.txt
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
printf 'BufferAssignment:\nallocation 0: size 4\n' >m.x-buffer-assignment.txt
$HLO run g.mlir 2>&1 | wc -l
$HLO run f.mlirbc; $HLO run f.pb; cp f.pb m.onnx; $HLO convert m.onnx -o m.pb; $HLO run m.x-buffer-assignment.txt
printf 'HloModule module\nmodule { ROOT x = f32[] constant(1) }\n' | $HLO verify - 2>&1 | wc -l
$HLO verify f.mlir
