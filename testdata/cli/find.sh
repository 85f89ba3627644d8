# find: instructions by name, operation, shape, neighbours, place, size; grep's form, JSON, its statuses.
# stderr: a number is wanted behind `bytes`
cat >a.hlo <<'END'
HloModule a

FileNames
1 "model.py"
2 "train.py"
FunctionNames
1 "loss"
2 "step"
FileLocations
1 {file_name_id=2 function_name_id=2 line=40 end_line=40 column=1 end_column=2}
2 {file_name_id=1 function_name_id=1 line=12 end_line=12 column=5 end_column=9}
StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

sum { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }
body { i = s32[] parameter(0)
 one = s32[] constant(1)
 ROOT j = s32[] add(i, one) }
cond { i = s32[] parameter(0)
 ten = s32[] constant(10)
 ROOT l = pred[] compare(i, ten), direction=LT }
ENTRY main { x = f32[4,8] parameter(0)
 y = f32[8,2] parameter(1)
 k = s32[] parameter(2)
 d = f32[4,2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(step)/dot" stack_frame_id=2}
 zero = f32[] constant(0)
 r = f32[4] reduce(d, zero), dimensions={1}, to_apply=sum, metadata={op_name="jit(step)/sum" stack_frame_id=1}
 w = s32[] while(k), condition=cond, body=body, backend_config={"known_trip_count":{"n":"10"}}
 ROOT t = (f32[4], s32[]) tuple(r, w) }
END
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
