# bench: one JSON object with the figures that other tools read.
# stderr: -
printf 'HloModule a\nENTRY e { p = f32[9] parameter(0)\n ROOT r = f32[9] abs(p) }\n' >a.hlo
$HLO bench a.hlo -n 3 --json >out.json || exit 1
for key in parse_s plan_s first_result_s run_median_s run_min_s peak_rss; do
    grep -q "\"$key\":[0-9.e-]*[,}]" out.json || exit 1
done
$HLO bench a.hlo | grep -q '^run_min_s  '
