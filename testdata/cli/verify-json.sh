# verify --json: one object with a schema number and the diagnostics of each file.
# status: 3
# stderr: -
printf 'HloModule a\nENTRY e { ROOT p = f32[] parameter(0) }\n' >good.hlo
printf 'HloModule a\nENTRY e {\n  ROOT p = f32[] paramter(0)\n}\n' >bad.hlo
$HLO verify --json good.hlo bad.hlo >out.json
status=$?
grep -q '^{"schema":1,"files":\[' out.json || exit 1
grep -q '{"file":"good.hlo","accepted":true,"diagnostics":\[\]}' out.json || exit 1
grep -q '{"file":"bad.hlo","accepted":false,"diagnostics":\[{' out.json || exit 1
exit $status
