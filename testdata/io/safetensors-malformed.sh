# A malformed safetensors file is rejected with the reason.
# status: 2
# stderr: x.safetensors: error: malformed safetensors file: truncated header
printf 'HloModule a\nENTRY e { ROOT p = f32[1] parameter(0) }\n' >a.hlo
printf 'some other file, longer than a size' >x.safetensors
$HLO run a.hlo --inputs x.safetensors
