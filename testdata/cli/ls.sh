# ls: computations and instructions, how often each operation stands there; one computation; JSON.
# stderr: no computation `nobody`
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
$HLO ls a.hlo >out.txt || exit 1
want() {
    tr -s ' ' <out.txt | grep -qE -- "$1" || { echo "lacks: $1"; cat out.txt; exit 1; }
}
want '^a.hlo: 4 computations, 17 instructions$'
want '^ENTRY main: 8 instructions$'
want '^sum: 3 instructions, called by r$'
want '^ d dot f32\[4,2\]\{1,0\} x, y model.py:12$'
want '^ k parameter s32\[\] 2$'
want '^ w while s32\[\] k calls body, cond$'
test "$($HLO ls a.hlo --computation=sum | wc -l)" = 5 || exit 1
$HLO ls a.hlo --histogram >out.txt || exit 1
want '^ 7 parameter$'
$HLO ls a.hlo --json >out.txt || exit 1
want '^\{"schema":1,"file":"a.hlo","module":1,"computations":\['
want '"name":"d","op":"dot","shape":"f32\[4,2\]\{1,0\}","computation":"main","operands":\["x","y"\],"users":\["r"\],"calls":\[\],"root":false,"line":28,"column":2,"op_name":"jit.step./dot","where":"model.py:12"'
$HLO ls a.hlo --json --histogram | grep -q '"ops":{"parameter":7,' || exit 1
printf 'ENTRY e { ROOT c = f32[] constant(1) }\n// -----\nENTRY f { ROOT c = f32[] constant(1) }\n' >two.hlo
test "$($HLO ls two.hlo | grep -c '^two.hlo module')" = 2 || exit 1
test "$($HLO ls two.hlo --module=2 | head -1)" = 'two.hlo module 2: 1 computation, 1 instructions' || exit 1
$HLO ls a.hlo --computation=nobody
test $? = 2
