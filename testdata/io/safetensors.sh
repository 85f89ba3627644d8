# Tensors named after parameters, at any offset; an empty one has no bytes.
# stdout: (
# stdout:   u8[3] {1, 2, 3},
# stdout:   f16[2] {1, 2},
# stdout:   bf16[] 3,
# stdout:   pred[2] {1, 0},
# stdout:   f32[0,3] {  }
# stdout: )
cat >a.hlo <<'X'
HloModule a
ENTRY e {
  model.w = u8[3] parameter(0)
  h = f16[2] parameter(1)
  b = bf16[] parameter(2)
  on = pred[2] parameter(3)
  none = f32[0,3] parameter(4)
  ROOT t = (u8[3], f16[2], bf16[], pred[2], f32[0,3]) tuple(model.w, h, b, on, none)
}
X
header='{"__metadata__": {"format": "pt"}, "model.w": {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]},
"h": {"dtype": "F16", "shape": [2], "data_offsets": [3, 7]}, "arg2": {"dtype": "BF16", "shape": [], "data_offsets": [7, 9]},
"on": {"dtype": "BOOL", "shape": [2], "data_offsets": [9, 11]}, "none": {"dtype": "F32", "shape": [0, 3], "data_offsets": [3, 3]}} '
{
    printf "\\$(printf %o $((${#header} % 256)))\\$(printf %o $((${#header} / 256)))\000\000\000\000\000\000"
    printf '%s' "$header"
    printf '\001\002\003\000\074\000\100\100\100\001\000'
} >x.safetensors
$HLO run a.hlo --inputs=x.safetensors
