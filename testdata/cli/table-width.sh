# Tables of ls, cost, bisect and prof have lines of the width of the terminal, or COLUMNS: long cells are cut, and columns dropped.
cat >a.hlo <<'END'
HloModule a
ENTRY main { a.name.that.is.longer.than.others = f32[1,2,3,4,5,6] parameter(0)
  another.name.that.is.long = f32[1,2,3,4,5,6] negate(a.name.that.is.longer.than.others)
  t = (f32[1,2,3,4,5,6], f32[1,2,3,4,5,6], f32[1,2,3,4,5,6]) tuple(another.name.that.is.long, another.name.that.is.long, a.name.that.is.longer.than.others)
  ROOT r = f32[1,2,3,4,5,6] get-tuple-element(t), index=0 }
END
mkdir dumps
cp a.hlo dumps/module_0000.a.0000.some_pipeline_of_passes.after_pipeline-start.before_a_pass_of_a_long_name.txt
sed 's/ROOT r/ROOT q/' a.hlo >dumps/module_0000.a.0001.some_pipeline_of_passes.after_a_pass_of_a_long_name.before_other.txt
sed 's/ENTRY/ENTR/' a.hlo >dumps/module_0000.a.0002.some_pipeline_of_passes.after_other.before_pipeline-end.txt
fits() {
    columns=$1
    shift
    COLUMNS=$columns "$@" >out.txt
    awk -v most="$columns" '/^  / && !/module_/ && length($0) > most { print; bad = 1 } END { exit bad }' out.txt ||
        { echo "$* does not fit $columns columns"; exit 1; }
}
for columns in 200 100 80 60 40; do
    fits $columns $HLO ls a.hlo
    fits $columns $HLO cost a.hlo
    fits $columns $HLO bisect dumps --fake
    fits $columns $HLO prof a.hlo --fake
done
head_of() { COLUMNS=$1 $HLO cost a.hlo | sed -n 2p | tr -s ' '; }
test "$(head_of 100)" = ' operations share bytes share times instruction' || exit 1
test "$(head_of 60)" = ' operations share bytes times instruction' || exit 1
COLUMNS=80 $HLO ls a.hlo | grep -q '^  another.name.that.is.long  *f32.*\.\.\.  a\.name.*\.\.\.$' || exit 1
# elsewhere they are complete
$HLO ls a.hlo | grep -q 'get-tuple-element  f32\[1,2,3,4,5,6\]{5,4,3,2,1,0}  t$'
