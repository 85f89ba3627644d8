# annotate: the lines of the user's program as comments; the text is read back as the same module.
# stderr: says nothing of where
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
$HLO annotate a.hlo -o b.hlo || exit 1
grep -A1 -F '  // model.py:12 (loss) < train.py:40 (step)' b.hlo | grep -q '%d = ' || exit 1
grep -A1 -Fx '  // train.py:40 (step)' b.hlo | grep -q '%r = ' || exit 1
$HLO fmt a.hlo >a.txt && $HLO fmt b.hlo >b.txt && cmp a.txt b.txt || exit 1
echo 'ENTRY e { ROOT c = f32[] constant(1) }' >none.hlo
$HLO annotate none.hlo >out.txt || exit 1
$HLO fmt none.hlo | cmp - out.txt
