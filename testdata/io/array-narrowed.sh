# 64-bit elements, those of NumPy and of numbers of Python, are converted for a parameter with half as many bits: arrays with a warning; integers only if they are in range.
# stdout: (
# stdout:   f32[2] {0.1, 2},
# stdout:   c64[] (0.1, -2),
# stdout:   s32[] -3,
# stdout:   u32[] 4294967295
# stdout: )
# stderr: 0.npy: warning: array is f64[2]; its elements are converted to f32, as JAX does
# stderr: large.npy: error: value 4294967296 is out of range for s32
# status: 2
printf 'ENTRY e { a = f32[2] parameter(0) b = c64[] parameter(1) c = s32[] parameter(2) d = u32[] parameter(3)
  ROOT t = (f32[2], c64[], s32[], u32[]) tuple(a, b, c, d) }\n' >narrow.hlo
save() {
    printf 'ENTRY e { ROOT p = %s parameter(0) }\n' "$2" >wide.hlo
    $HLO run wide.hlo "$3" -o "$1.npy"
}
save 0 'f64[2]' '{0.1, 2}'
save 1 'c128[]' '(0.1, -2)'
save 2 's64[]' -3
save 3 'u64[]' 4294967295
save large 's64[]' 4294967296
$HLO run narrow.hlo @0.npy @1.npy @2.npy @3.npy
$HLO run narrow.hlo '{1, 2}' '(0, 0)' @large.npy 0
