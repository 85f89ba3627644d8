#!/bin/sh
# Prints a Markdown table of a comparison with a peer, given as a JSON list of objects, one member per line, with
# file, ours_run_min_s, peer_run_min_s, ours_first_result_s, peer_net_first_s, ours_peak_rss and peer_peak_rss.
# The last rows are the geometric means and the maxima of the ratios ours / peer.
#
#   table.sh FILE.json [NAME OF THE PEER]
[ $# -ge 1 ] || {
    echo "usage: table.sh FILE.json [PEER]" >&2
    exit 2
}
awk -v peer="${2:-peer}" '
function number(k) { return (k in v) && v[k] != "null" ? v[k] : 0 }
function shown(x, scale, digits) { return x ? sprintf("%." digits "f", x * scale) : "-" }
function ratio(x, y) { return x && y ? x / y : 0 }
function note(which, r) {
    if (!r) return
    sum[which] += log(r)
    count[which]++
    if (r > worst[which]) worst[which] = r
}
function row(    run, first, memory) {
    run = ratio(number("ours_run_min_s"), number("peer_run_min_s"))
    first = ratio(number("ours_first_result_s"), number("peer_net_first_s"))
    memory = ratio(number("ours_peak_rss"), number("peer_peak_rss"))
    note("run", run); note("first", first); note("memory", memory)
    printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", v["file"],
        shown(number("ours_run_min_s"), 1e3, 3), shown(number("peer_run_min_s"), 1e3, 3), shown(run, 1, 2),
        shown(number("ours_first_result_s"), 1e3, 1), shown(number("peer_net_first_s"), 1e3, 1), shown(first, 1, 3),
        shown(number("ours_peak_rss"), 1e-6, 0), shown(number("peer_peak_rss"), 1e-6, 0), shown(memory, 1, 2)
}
function summary(what, which) {
    if (count[which])
        printf "%s: geometric mean %.3f, worst %.2f, of %d\n", what, exp(sum[which] / count[which]), worst[which], count[which]
}
BEGIN {
    printf "| file | run, ms | %s | ratio | first result, ms | %s | ratio | memory, MB | %s | ratio |\n", peer, peer, peer
    print "|---|---|---|---|---|---|---|---|---|---|"
}
/^ *\{/ { split("", v) }
match($0, /"[a-z_]+": */) {
    key = substr($0, RSTART + 1, RLENGTH)
    sub(/".*/, "", key)
    value = substr($0, RSTART + RLENGTH)
    gsub(/^"|"?,? *$/, "", value)
    v[key] = value
}
/^ *\}/ { row() }
END {
    print ""
    summary("run", "run")
    summary("first result", "first")
    summary("memory", "memory")
}' "$1"
