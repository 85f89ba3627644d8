# ops --json: the description of one operation, or of all, as one object.
# stderr: -
$HLO ops --json clamp >one || exit 1
grep -q '"form":"min, operand, max"' one || exit 1
grep -q '"args":\["s32\[\] 0","s32\[3\] {-1, 5, 9}","s32\[\] 6"\]' one || exit 1
grep -q '"result":"s32\[3\] {0, 5, 6}"' one || exit 1
$HLO ops --json compare | grep -q '"words":\["EQ","NE","GE","GT","LE","LT"\]' || exit 1
[ "$($HLO ops --json | grep -c '"name":')" = "$($HLO ops | grep -c '^  ')" ] || exit 1
exit 0
