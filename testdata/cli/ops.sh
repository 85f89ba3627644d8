# ops: all operations, one with its attributes, the fuzz dictionary.
# stderr: -
$HLO ops | grep -q '^  dynamic-slice ' || exit 1
$HLO ops compare | grep -q 'direction .*Required' || exit 1
$HLO ops compare | grep -q 'EQ, NE, GE' || exit 1
$HLO ops --dict | grep -q '^"dynamic_slice_sizes="$' || exit 1
$HLO ops --dict | grep -qv '^"..*"$' && exit 1
exit 0
