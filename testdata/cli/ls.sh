# ls: computations and instructions, instructions per opcode; one computation; JSON.
# stderr: no computation 'missing'
cp "$HERE/step.hlo" a.hlo
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
test "$($HLO ls two.hlo --module=2 | head -1)" = 'two.hlo module 2: 1 computation, 1 instruction' || exit 1
$HLO ls a.hlo --computation=missing
test $? = 2
