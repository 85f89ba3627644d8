# trace: lines of the width of the terminal, or COLUMNS: columns are dropped, and names and shapes cut.
# stderr: -
cat >a.hlo <<'END'
ENTRY main { a.name.that.is.longer.than.its.column = f32[1,2,3,4,5,6] parameter(0)
  ROOT r = f32[1,2,3,4,5,6] negate(a.name.that.is.longer.than.its.column) }
END
head_of() { COLUMNS=$1 $HLO trace a.hlo --fake | head -1 | tr -s ' '; }
same() { [ "$1" = "$2" ] || { echo "$1 != $2"; exit 1; }; }
same "$(head_of 200)" 'instruction shape time min max mean nan inf zero'
same "$(head_of 100)" 'instruction shape time min max nan inf'
same "$(head_of 70)" 'instruction shape time max nan'
for columns in 200 100 80 60 40; do
    COLUMNS=$columns $HLO trace a.hlo --fake >out.txt || exit 1
    awk -v most=$columns 'length($0) > most { print; bad = 1 } END { exit bad }' out.txt || exit 1
done
COLUMNS=60 $HLO trace a.hlo --fake >out.txt
grep -q '^a.name.that.i\.\.\.  f32' out.txt
