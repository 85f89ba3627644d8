# verify: 0 accepted, 3 rejected, 2 if a file cannot be read; all files are processed.
# stdout: 0 3 3 2
# stderr: bad.hlo:3:18: error: unknown opcode 'paramter'
printf 'HloModule a\nENTRY e { ROOT p = f32[] parameter(0) }\n' >good.hlo
printf 'HloModule a\nENTRY e {\n  ROOT p = f32[] paramter(0)\n}\n' >bad.hlo
$HLO verify good.hlo; a=$?
$HLO verify bad.hlo; b=$?
$HLO verify --strict --parse-only good.hlo bad.hlo; c=$?
$HLO verify none.hlo; d=$?
echo $a $b $c $d
