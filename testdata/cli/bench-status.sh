# bench: continues with the next file after an error; the status is the highest one.
# status: 3
# stdout: 1
printf 'HloModule a\nENTRY e { ROOT p = f32[2] parameter(0) }\n' >a.hlo
printf 'HloModule b\nENTRY e { ROOT p = f32[2] parameter(1) }\n' >b.hlo
$HLO bench b.hlo a.hlo --json >out
status=$?
grep -c '"file":"a.hlo"' out
exit $status
