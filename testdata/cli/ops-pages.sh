# grammar/operations: pages mention all attributes, and cite golden tests where implementations differ.
# stderr: -
pages=$HERE/../../grammar/operations
for op in $($HLO ops | sed -n 's/^  \([[:lower:]0-9-]*\) .*/\1/p'); do
    $HLO ops "$op" | sed -n '/^Attributes:/,/^$/p' | grep -v 'Builder form:' |
        sed -n 's/^  \([[:lower:]_]*\)  *[[:lower:]].*/\1/p' |
        while read -r name; do
            grep -q "[\`=]$name\b" "$pages/$op.md" || echo "$op.md says nothing of $name"
        done
    grep -q '^## Implementations differ' "$pages/$op.md" || continue
    test=$(grep -o 'testdata/[^ )`]*\.hlo' "$pages/$op.md" | head -1)
    grep -q "[ =]$op(" "$HERE/../../$test" || echo "$op.md cites no golden test of it"
done >wrong
cat wrong
[ ! -s wrong ] || exit 1
exit 0
