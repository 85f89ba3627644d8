# test: values without a name are for one parameter after the other, of everyone or of one participant; one too many is said.
# status: 1
# stdout: FAIL many.hlo
# stdout:   many.hlo:5: a value too many: no parameter is left for it
# stdout: 0 passed, 1 failed, 0 skipped
cat >two.hlo <<'END'
// test: eval
// from: hand
// in: f32[2] {5, 7}
// in: f32[2] {2, 3}
// out: f32[2] {3, 4}
ENTRY main {
  x = f32[2] parameter(0)
  y = f32[2] parameter(1)
  ROOT d = f32[2] subtract(x, y)
}
// -----
// test: eval
// from: hand
// in: f32[] 5
// in: f32[] 1
// in@1: f32[] 9
// out@0: f32[] 4
// out@1: f32[] 8
HloModule two, replica_count=2
ENTRY main {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT d = f32[] subtract(x, y)
}
END
$HLO test two.hlo >out.txt || { cat out.txt; exit 3; }
cat >many.hlo <<'END'
// test: eval
// from: hand
// out: f32[] -5
// in: f32[] 5
// in: f32[] 1
ENTRY main {
  x = f32[] parameter(0)
  ROOT d = f32[] negate(x)
}
END
$HLO test many.hlo
