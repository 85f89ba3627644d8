#!/bin/sh
# Runs `hlo bench` once on each case and checks that all figures are printed. Prints TAP.
#
#   smoke.sh HLO CASE...
HLO=$1
shift
echo "1..$#"
n=0
bad=0
for case in "$@"; do
    n=$((n + 1))
    line=$("$HLO" bench -n 1 --json "$case" | tail -n 1)
    missing=
    for key in parse_s plan_s inputs_s first_run_s first_result_s run_median_s run_min_s peak_rss; do
        printf '%s\n' "$line" | grep -q "\"$key\":[0-9.e-]*[,}]" || missing="$missing $key"
    done
    if [ -z "$missing" ]; then
        echo "ok $n - ${case##*/}"
    else
        echo "not ok $n - ${case##*/} # lacks$missing"
        bad=1
    fi
done
exit $bad
