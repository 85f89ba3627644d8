# bench: one JSON object per file with the figures that tools read; one figure per line, with its unit, for people.
# stderr: -
printf 'HloModule a\nENTRY e { p = f32[9] parameter(0)\n ROOT r = f32[9] abs(p) }\n' >a.hlo
$HLO bench a.hlo -n 3 --json >out.json || exit 1
for key in parse_s plan_s inputs_s first_run_s first_result_s run_median_s run_min_s peak_rss; do
    grep -q "\"$key\":[0-9.e-]*[,}]" out.json || exit 1
done
$HLO bench a.hlo -n 3 >out.txt || exit 1
for line in 'parse *[0-9.]* [mun]\{0,1\}s' 'run, minimum *[0-9.]* [mun]\{0,1\}s' 'runs *3' 'peak memory *[0-9.]* MiB'; do
    grep -q "^  $line\$" out.txt || { cat out.txt; exit 1; }
done
$HLO bench a.hlo a.hlo --json -n1 | sed 's/,"parse_s.*"runs"/ "runs"/; s/,"peak_rss.*//' >two
[ "$(cat two)" = '{"schema":1,"file":"a.hlo" "runs":1
{"schema":1,"file":"a.hlo" "runs":1' ]
