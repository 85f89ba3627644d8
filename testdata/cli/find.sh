# find: instructions by name, opcode, shape, neighbours, location, size; grep's format, JSON, statuses.
# stderr: expected a number after 'bytes'
cp "$HERE/step.hlo" a.hlo
lines() { $HLO find a.hlo "$@" | sed 's/ = .*//'; }
test "$(lines op=dot)" = 'a.hlo:28:2: %d' || exit 1
test "$(lines 'shape~^f32\[4')" = "$(printf 'a.hlo:25:14: %%x\na.hlo:28:2: %%d\na.hlo:30:2: %%r')" || exit 1
test "$(lines operand=d)" = 'a.hlo:30:2: %r' || exit 1
test "$(lines user=%r op!=constant)" = 'a.hlo:28:2: %d' || exit 1
test "$(lines calls=body)" = 'a.hlo:31:2: %w' || exit 1
test "$(lines where~train)" = 'a.hlo:30:2: %r' || exit 1
test "$(lines 'op_name~dot$')" = 'a.hlo:28:2: %d' || exit 1
test "$(lines 'operations>100' 'bytes<10000')" = 'a.hlo:28:2: %d' || exit 1
test "$(lines 'users=0' 'operands>1' computation=main)" = 'a.hlo:32:2: %t' || exit 1
test "$(lines contracting)" = 'a.hlo:28:2: %d' || exit 1
$HLO find a.hlo op=dot --json | grep -q '^{"schema":1,"file":"a.hlo","module":1,"instruction":{"name":"d",' || exit 1
$HLO find a.hlo op=sort
test $? = 1 || exit 1
$HLO find a.hlo '(' 2>/dev/null
test $? = 2 || exit 1
$HLO find a.hlo op=add shape '(' 2>/dev/null
test $? = 2 || exit 1
$HLO find a.hlo 'bytes>many'
test $? = 2
