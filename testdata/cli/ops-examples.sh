# ops NAME: every example, run in a shell, prints the output shown below it.
# stdout: all examples run
hlo() { "$HLO" "$@"; }
for op in $($HLO ops | sed -n 's/^  \([[:lower:]0-9-]*\) .*/\1/p'); do
    $HLO ops "$op" | sed '1,/^Examples:$/d' >script
    grep -q '^hlo run ' script || { echo "$op has no example"; exit 1; }
    sed -n 's/^# //p' script >want
    . ./script >got 2>err || { echo "$op does not run:"; cat err; exit 1; }
    sed 's/-nan/nan/g' got | cmp -s - want || { echo "$op prints:"; cat got; exit 1; }
done
echo "all examples run"
