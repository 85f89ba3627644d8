# Missing option values and numbers out of range are reported.
# status: 2
# stderr: hlo: error: option '--output' requires a value: --output=FILE
# stderr: a.hlo: error: no module '0'; file has 1 a
printf 'HloModule a\nENTRY e { ROOT p = f32[] parameter(0) }\n' >a.hlo
$HLO run a.hlo --output
$HLO run a.hlo --module 0
