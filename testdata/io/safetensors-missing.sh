# A missing tensor is reported with the tensors of the file.
# status: 2
# stderr: x.safetensors: error: no array 'arg0' or 'p' for parameter 'p'; the file has 'w'
printf 'HloModule a\nENTRY e { ROOT p = f32[2] parameter(0) }\n' >a.hlo
header='{"w": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}}'
{ printf "\\$(printf %o ${#header})\000\000\000\000\000\000\000"; printf '%s' "$header"; } >x.safetensors
$HLO run a.hlo --inputs=x.safetensors
