# trace: an unused instruction that cannot be executed is in the trace, and the run continues; user code is not called for it.
# stdout: instruction  shape                time         min         max        mean     nan     inf    zero
# stdout: x            f32[]                   -           3           3           3       0       0       0
# stdout: u            f32[]           not executed: its result is unused
# stdout: d            f32[]           not executed: its result is unused
# stdout: t            (f32[], ())             -           -           -           -       -       -       -
# stdout: g            f32[]                   -           3           3           3       0       0       0
# stdout: r            f32[]                   T          -3          -3          -3       0       0       0
# stdout: {"number":1,"name":"u","op":"custom-call","computation":"e","shape":"f32[]","line":4,"within":[],"executed":false}
# stdout: index.csv
# stdout: f32[] -3
# stdout: f32[] -3
# stdout: f32[] -3
# stdout: f32[] -3
# stdout: f32[] 3
# stderr: u.hlo:4:3: error: unknown custom-call target 'unknown'; load it with --custom-call-lib=LIB.so, or replace its results with --custom-call 'unknown=zeros'
cat >u.hlo <<'END'
HloModule u
ENTRY e {
  x = f32[] parameter(0)
  u = f32[] custom-call(x), custom_call_target="unknown"
  d = f32[] add(u, x)
  t = (f32[], f32[]) tuple(x, d)
  g = f32[] get-tuple-element(t), index=0
  ROOT r = f32[] negate(g)
}
END
$HLO trace u.hlo 3 | sed -E 's/ +[0-9.]+ [nmu]?s/                   T/'
$HLO trace u.hlo 3 --json | grep '"u"'
$HLO run u.hlo 3 --dump=dumped >result.txt && ls dumped | grep -v npy && cat result.txt || exit 1
for option in '' --plain --trace=none; do
    $HLO run u.hlo 3 $option --custom-call='unknown=touch called; echo "f32[] 1"' 2>/dev/null || exit 1
done
test ! -e called || exit 1
sed 's/ROOT r = f32\[\] negate(g)/ROOT r = f32[] copy(u)/' u.hlo >used.hlo
$HLO run used.hlo 3 --custom-call=unknown=identity || exit 1
sed 's/index=0/index=1/' u.hlo >u2.hlo && mv u2.hlo u.hlo
$HLO trace u.hlo 3 >/dev/null && exit 1
exit 0
