# ops: all operations, one with its attributes, the fuzz dictionary, the sections of hlo(5).
# stderr: -
$HLO ops | grep -q '^  dynamic-slice ' || exit 1
$HLO ops compare | grep -q 'direction .*Required' || exit 1
$HLO ops compare | grep -q 'EQ, NE, GE' || exit 1
$HLO ops --dict | grep -q '^"dynamic_slice_sizes="$' || exit 1
$HLO ops --dict | grep -qv '^"..*"$' && exit 1
$HLO ops --mdoc | grep -q '^.It Ic compare Ns Pq Ar "lhs, rhs"$' || exit 1
exit 0
