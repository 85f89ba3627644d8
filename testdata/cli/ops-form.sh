# ops: a builder form is described with the operation that it is lowered to.
# stderr: -
$HLO ops collapse | grep -q '^A builder form, .* ends in reshape' || exit 1
$HLO ops collapse | grep -q '^Specification: Collapse$' || exit 1
$HLO ops less-than | grep -q '^compare(' || exit 1
$HLO ops --dict | grep -q '^"cross-replica-sum"$' || exit 1
exit 0
