# Without a file, also before arguments, a module is read from standard input if that is a pipe or a file, also without a command.
# status: 2
# stderr: hlo: error: no file given
cat >a.hlo <<'END'
ENTRY main { x = f32[2] parameter(0)
  ROOT r = f32[2] add(x, x) }
END
out='f32[2] {0, 2}'
echo '{0, 1}' >x.txt
[ "$(cat a.hlo | $HLO --fake=iota)" = "$out" ] || exit 1
[ "$($HLO --fake=iota <a.hlo)" = "$out" ] || exit 1
[ "$(cat a.hlo | $HLO run --fake=iota)" = "$out" ] || exit 1
for argument in '{0, 1}' x='{0, 1}' 'f32[2] {0, 1}' @x.txt; do
    [ "$(cat a.hlo | $HLO "$argument")" = "$out" ] || exit 1
    [ "$(cat a.hlo | $HLO run "$argument")" = "$out" ] || exit 1
done
[ "$(cat a.hlo | $HLO run - '{0, 1}')" = "$out" ] || exit 1
cat a.hlo | $HLO trace '{0, 1}' | grep -q ^r || exit 1
cat a.hlo | $HLO b.hlo '{0, 1}' 2>&1 | grep -q '^b.hlo: error: cannot read file' || exit 1
cat a.hlo | $HLO fmt | grep -q '^HloModule' || exit 1
cat a.hlo | $HLO verify || exit 1
cat a.hlo | $HLO prof -n1 | grep -q '%r  add' || exit 1
echo | $HLO run a.hlo --fake=iota | grep -q '{0, 2}' || exit 1
: | $HLO 2>&1 | grep -q '^<stdin>: error: expected a module' || exit 1
echo 'f32[2] {1, 1}' | $HLO run --infeed=- 2>&1 | grep -q 'no file given' || exit 1
$HLO run </dev/null
