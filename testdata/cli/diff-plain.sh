# diff --plain: fast kernels compared with the formulas of the operations.
# stdout: results agree; 4 of 4 instructions compared, some not bit-identical
# stdout: 1
# stderr: -
cat >a.hlo <<'E'
HloModule a
add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
ENTRY e {
  x = f32[70,90] parameter(0)
  y = f32[90,50] parameter(1)
  d = f32[70,50] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[70,50] tanh(d)
  z = f32[] constant(0)
  ROOT r = f32[70] reduce(t, z), dimensions={1}, to_apply=add
}
E
$HLO diff a.hlo --plain --random --rel=1e-5 --abs=1e-5 | sed 's/, [0-9]* not/, some not/'
$HLO diff a.hlo --plain --random --rel=1e-30 | grep -c '^first difference'
