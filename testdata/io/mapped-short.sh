# A truncated large file is rejected when it is opened, not when it is used.
# status: 2
# stderr: w.npy: error: malformed .npy file: truncated data
# stderr: w.safetensors: error: malformed safetensors file: tensor 'p': extends past the end of the file
cat >ones.hlo <<'X'
HloModule ones
ENTRY e {
  one = f32[] constant(1)
  ROOT r = f32[50000] broadcast(one), dimensions={}
}
X
printf 'HloModule a\nENTRY e { p = f32[50000] parameter(0)\n ROOT r = f32[50000] negate(p) }\n' >a.hlo
$HLO run ones.hlo --output=all.npy || exit 1
head -c 200000 all.npy >w.npy
$HLO run a.hlo p=@w.npy
header='{"p": {"dtype": "F32", "shape": [50000], "data_offsets": [0, 200000]}}'
{
    printf "\\$(printf %o ${#header})\000\000\000\000\000\000\000%s" "$header"
    tail -c 199999 all.npy
} >w.safetensors
$HLO run a.hlo --inputs=w.safetensors
