# What is no safetensors file is refused with the reason.
# status: 2
# stderr: x.safetensors: error: not a sound safetensors file: it ends in its header
printf 'HloModule a\nENTRY e { ROOT p = f32[1] parameter(0) }\n' >a.hlo
printf 'some other file, longer than a size' >x.safetensors
$HLO run a.hlo --inputs x.safetensors
