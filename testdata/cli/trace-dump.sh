# --dump writes the value of each instruction as an array, one per execution, and an index.
# stdout: 0000.zero.npy
# stdout: 0001.f.npy
# stdout: 0002.s.0.npy
# stdout: 0002.s.1.npy
# stdout: 0013.y.npy
# stdout: 0024.y.npy
# stdout: f32[2] {0.25, 1}
# stdout: "0024.y.npy",24,0,"y","multiply","f32[2]","b","1",14,"step.py:12",T,2,0.0625,1,0.53125,0,0,0
# stderr: /dev/null/x/index.csv: error: cannot write: Not a directory
cat >a.hlo <<'END'
HloModule a
c {
  p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(2)
  ROOT t = pred[] compare(i, n), direction=LT
}
b {
  q = (s32[], f32[2]) parameter(0)
  j = s32[] get-tuple-element(q), index=0
  one = s32[] constant(1)
  k = s32[] add(j, one)
  x = f32[2] get-tuple-element(q), index=1
  y = f32[2] multiply(x, x), metadata={op_name="sq" source_file="step.py" source_line=12}
  ROOT r = (s32[], f32[2]) tuple(k, y)
}
ENTRY e {
  zero = s32[] constant(0)
  f = f32[2] parameter(0)
  s = (s32[], f32[2]) tuple(zero, f)
  ROOT w = (s32[], f32[2]) while(s), condition=c, body=b
}
END
$HLO run a.hlo '{0.5, 1}' --dump=all >/dev/null || exit 1
cd all; ls | grep -E '^000[0-2]|y.npy'; cd ..
test $(ls all | wc -l) = $(wc -l <all/index.csv) || exit 1
cat >id.hlo <<'END'
HloModule i
ENTRY e { ROOT p = f32[2] parameter(0) }
END
sed -n '/0013.y/p' all/index.csv | grep -q ',0.25,1,' || exit 1
$HLO run id.hlo @all/0013.y.npy
sed -n 's/,[0-9.e-]*,2,0.0625,/,T,2,0.0625,/; /0024.y/p' all/index.csv
$HLO trace a.hlo '{0.5, 1}' --dump=some --filter=multiply >/dev/null && test $(ls some | wc -l) = 3 || exit 1
$HLO trace a.hlo '{0.5, 1}' --dump=/dev/null/x
test $? = 2
