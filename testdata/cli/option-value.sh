# An option that needs a value says so; a number out of range as well.
# status: 2
# stderr: option `--output` needs a value: --output=FILE
# stderr: `--module=0`: a number from 1 to 1 is wanted
printf 'HloModule a\nENTRY e { ROOT p = f32[] parameter(0) }\n' >a.hlo
$HLO run a.hlo --output
$HLO run a.hlo --module 0
