# graph: a module as DOT, and what lies around an instruction.
# stderr: no instruction `nobody`
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
$HLO graph a.hlo >out.txt || exit 1
want() {
    grep -qE -- "$1" out.txt || { echo "lacks: $1"; cat out.txt; exit 1; }
}
want '^digraph "a.hlo" \{$'
want '^    label="main"; penwidth=2;$'
want '^    n[0-9]+ \[label="d\\ndot f32\[4,2\]\{1,0\}\\nmodel.py:12"\];$'
test "$(grep -c ' -> ' out.txt)" = 16 || exit 1
test "$(grep -c 'style=dotted' out.txt)" = 3 || exit 1
$HLO graph a.hlo --around=d --width=1 >out.txt || exit 1
test "$(grep -c ' \[label=' out.txt)" = 4 || exit 1
want 'label="d.*fillcolor=gold'
$HLO graph a.hlo --computation=sum -o sum.dot && test "$(grep -c ' -> ' sum.dot)" = 2 || exit 1
$HLO graph a.hlo --values --fake=ones k=3 >out.txt || exit 1
want 'label="d.ndot .*n8 ... 8, mean 8"'
want 'label="j.nadd s32...n10"'
$HLO graph a.hlo --values x='{{nan,0,0,0,0,0,0,0},{0,0,0,0,0,0,0,0},{0,0,0,0,0,0,0,0},{0,0,0,0,0,0,0,0}}' >out.txt || exit 1
want 'label="x.nparameter .*n1 nan", style=filled, fillcolor=red'
$HLO graph a.hlo --around=nobody
test $? = 2
