# graph: a module as DOT, and the neighbourhood of an instruction.
# stderr: no instruction 'missing'
cp "$HERE/step.hlo" a.hlo
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
$HLO graph a.hlo --around=missing
test $? = 2
