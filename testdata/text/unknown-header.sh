# strict: an unknown module attribute is an error
# stdout: 3
# stderr: unknown module attribute 'future'
printf 'HloModule m, future=1\nENTRY e { ROOT p = f32[] parameter(0) }\n' >m.hlo
$HLO verify --strict --parse-only m.hlo
echo $?
