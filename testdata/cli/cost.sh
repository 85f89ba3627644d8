# cost: operations and bytes by instruction, loops by their number of rounds; JSON; a rejected module.
# stderr: error
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
$HLO cost a.hlo >out.txt || exit 1
want() {
    tr -s ' ' <out.txt | grep -qE -- "$1" || { echo "lacks: $1"; cat out.txt; exit 1; }
}
want '^a.hlo: 156 operations,'
want '^ 128 82.1% 224 [0-9.]+% 1 d dot'
want '^ 10 6.4% 120 [0-9.]+% 10 j add'
grep -q sum out.txt && exit 1
test "$($HLO cost a.hlo --top=1 | tail -1)" = '... 3 more' || exit 1
$HLO cost a.hlo --json >out.txt || exit 1
want '"loops_once":false'
want '"name":"d","op":"dot","computation":"main","times":1,"operations":128,"bytes":224'
sed 's/, backend_config=.*//' a.hlo >b.hlo
$HLO cost b.hlo | head -1 | grep -q 'count once$' || exit 1
sed 's/f32.4. reduce/f32[5] reduce/' a.hlo >c.hlo
$HLO cost c.hlo
test $? = 3
