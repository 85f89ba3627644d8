# A malformed hint for random inputs is an error.
# status: 4
# stderr: a.hlo: error: malformed hint 'peers: param=0 range=5,1'
printf '// peers: param=0 range=5,1\nHloModule a\nENTRY e { ROOT p = f32[1] parameter(0) }\n' >a.hlo
$HLO run a.hlo --random
