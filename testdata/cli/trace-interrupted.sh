# Ctrl-C interrupts a trace; all lines of executed instructions are written completely.
# stdout: 130
# stdout: 130
# stderr: error: interrupted here
cp "$HERE/endless.hlo" a.hlo
"$TOOLS/signal_when.sh" INT 'test -s out.txt' "$HLO" trace a.hlo 0 --filter=add >out.txt; echo $?
n=$(wc -l <out.txt)
test $n -gt 2 && test "$(sed -n '$p' out.txt | awk '{ print $1, $2, NF }')" = "$((n - 2)) r 11" || exit 1
"$TOOLS/signal_when.sh" INT 'test $(ls all | wc -l) -gt 3' "$HLO" run a.hlo 0 --trace=add --dump=all 2>/dev/null; echo $?
test $(ls all | wc -l) = $(wc -l <all/index.csv)
