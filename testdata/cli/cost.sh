# cost: operations and bytes by instruction, loops with their trip counts; JSON; a rejected module.
# stderr: error: result of 'reduce' is f32[5], expected f32[4]
cp "$HERE/step.hlo" a.hlo
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
cat >d.hlo <<'END'
ENTRY main {
  x = f32[4] parameter(0)
  t = token[] after-all()
  d = f32[4] add-dependency(x, t)
  ROOT y = f32[4] negate(d)
}
END
test "$($HLO cost d.hlo | head -1)" = 'd.hlo: 4 operations, 32 bytes moved' || { $HLO cost d.hlo; exit 1; }
sed 's/, backend_config=.*//' a.hlo >b.hlo
$HLO cost b.hlo | head -1 | grep -q 'counted once$' || exit 1
sed 's/f32.4. reduce/f32[5] reduce/' a.hlo >c.hlo
$HLO cost c.hlo
test $? = 3
