# trace: one line per executed instruction, with the iteration of loops; written to standard error if there is a result.
# stdout: loop    instruction  shape                 time         min         max        mean     nan     inf    zero
# stdout:         zero         s32[]                    T           0           0           0       0       0       1
# stdout:         f            f32[2]                   T           0           2           1       0       0       1
# stdout:         s            (s32[], f32[2])          T           -           -           -       -       -       -
# stdout: test    p            (s32[], f32[2])          T           -           -           -       -       -       -
# stdout: test    i            s32[]                    T           0           0           0       0       0       1
# stdout: test    n            s32[]                    T           1           1           1       0       0       0
# stdout: test    t            pred[]                   T           1           1           1       0       0       0
# stdout: 0       q            (s32[], f32[2])          T           -           -           -       -       -       -
# stdout: 0       j            s32[]                    T           0           0           0       0       0       1
# stdout: 0       one          s32[]                    T           1           1           1       0       0       0
# stdout: 0       k            s32[]                    T           1           1           1       0       0       0
# stdout: 0       x            f32[2]                   T           0           2           1       0       0       1
# stdout: 0       y            f32[2]                   T         0.5         0.5         0.5       0       1       0
# stdout: 0       r            (s32[], f32[2])          T           -           -           -       -       -       -
# stdout: test    p            (s32[], f32[2])          T           -           -           -       -       -       -
# stdout: test    i            s32[]                    T           1           1           1       0       0       0
# stdout: test    n            s32[]                    T           1           1           1       0       0       0
# stdout: test    t            pred[]                   T           0           0           0       0       0       1
# stdout:         w            (s32[], f32[2])          T           -           -           -       -       -       -
# stdout: {"number":15,"name":"y","op":"divide","computation":"b","shape":"f32[2]","line":16,"where":"step.py:12","within":[{"name":"w","iteration":0}],"seconds":T,"stats":{"elements":2,"finite":1,"nan":0,"positive_inf":1,"negative_inf":0,"zero":0,"denormal":0,"min":0.5,"max":0.5,"mean":0.5,"deviation":0,"first_nan":-1,"first_inf":0}}
# stdout: same
# stderr: 0       y            f32[2]...
# stderr: hlo: error: ONNX models cannot be traced directly: use 'hlo import m.onnx | hlo trace -'
# stderr: hlo: error: invalid regular expression for '--filter': '('
cat >a.hlo <<'END'
HloModule a
c {
  p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(1)
  ROOT t = pred[] compare(i, n), direction=LT
}
b {
  q = (s32[], f32[2]) parameter(0)
  j = s32[] get-tuple-element(q), index=0
  one = s32[] constant(1)
  k = s32[] add(j, one)
  x = f32[2] get-tuple-element(q), index=1
  o = f32[] constant(1)
  z = f32[2] broadcast(o), dimensions={}
  y = f32[2] divide(z, x), metadata={op_name="div" source_file="step.py" source_line=12}
  ROOT r = (s32[], f32[2]) tuple(k, y)
}
ENTRY e {
  zero = s32[] constant(0)
  f = f32[2] parameter(0)
  s = (s32[], f32[2]) tuple(zero, f)
  ROOT w = (s32[], f32[2]) while(s), condition=c, body=b
}
END
$HLO trace a.hlo '{0, 2}' >all.txt || exit 1
sed -E '/ (o|z) /d; 2,$s/^(.{36}).{11}/\1          T/' all.txt
test $($HLO trace a.hlo '{0, 2}' --filter='^div' | wc -l) = 2 || exit 1
test $($HLO trace a.hlo '{0, 2}' --filter='^(x|y)$' | wc -l) = 3 || exit 1
$HLO trace a.hlo '{0, 2}' --json >all.jsonl || exit 1
head -1 all.jsonl | grep -qx '{"schema":1,"trace":"a.hlo"}' || exit 1
grep '"name":"y"' all.jsonl | sed 's/"seconds":[0-9.e-]*/"seconds":T/'
$HLO run a.hlo '{0, 2}' >plain.txt
$HLO run a.hlo '{0, 2}' --trace=divide >traced.txt; cmp plain.txt traced.txt && echo same
$HLO run a.hlo '{0, 2}' --trace-file=t.jsonl >traced.txt || exit 1
cmp plain.txt traced.txt
test $(wc -l <t.jsonl) = $(wc -l <all.jsonl) || exit 1
$HLO trace a.hlo '{0, 2}' -o o.jsonl || exit 1
test $(wc -l <o.jsonl) = $(wc -l <all.jsonl) || exit 1
$HLO run a.hlo '{0, 2}' --trace-file=t.txt >traced.txt || exit 1
test $(wc -l <t.txt) = $(wc -l <all.txt) || exit 1
test -z "$($HLO trace a.hlo '{0, 2}' --quiet)" || exit 1
$HLO run m.onnx --stop-on=nan
test $? = 2 || exit 1
$HLO trace a.hlo '{0, 2}' --filter='('
test $? = 2
