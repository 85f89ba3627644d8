# diff: the first instruction whose value differs; with --text changed instructions and those present in one module only; tolerances; statuses.
# stdout: results differ; 4 of 4 instructions compared
# stdout: first difference: %c
# stdout:   a.hlo:5: %c = f32[4]{0} constant({1, 2, 3, 4})
# stdout:   b.hlo:5: %c = f32[4]{0} constant({1, 2, 3, 4.5})
# stdout: 1 of 4 elements differ; worst errors: abs 0.5, rel 0.125, 1048576 ulp
# stdout:   element  A    B  abs    rel      ulp
# stdout:       {3}  4  4.5  0.5  0.125  1048576
# stdout: relative error      elements
# stdout:   none                     3  ########################################
# stdout:   up to 1e0                1  #############
# stdout: values: 1
# stdout: results agree; 4 of 4 instructions compared, 3 not bit-identical
# stdout: 1 changed
# stdout:   a.hlo:5: %c = f32[4]{0} constant({1, 2, 3, 4})
# stdout:   b.hlo:5: %c = f32[4]{0} constant({1, 2, 3, 4.5})
# stdout: 1 only in B
# stdout:   b.hlo:8: %n = f32[4]{0} negate(%mul.7)
# stdout: within a fifth: 0
# stdout: results agree; 4 of 4 instructions compared, 0 not bit-identical
# stdout: the same: 0
# stderr: -
cat >a.hlo <<'E'
HloModule a
add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
ENTRY e {
  x = f32[4] parameter(0)
  c = f32[4] constant({1, 2, 3, 4})
  m = f32[4] multiply(x, c), metadata={op_name="jit(f)/mul" source_file="f.py" source_line=3}
  z = f32[] constant(0)
  ROOT r = f32[] reduce(m, z), dimensions={0}, to_apply=add
}
E
sed 's/3, 4}/3, 4.5}/; s/HloModule a/HloModule b/; s/ m = / mul.7 = /; s/reduce(m,/reduce(mul.7,/; s/ROOT r = /n = f32[4] negate(mul.7)\n  ROOT r = /' a.hlo >b.hlo
$HLO diff a.hlo b.hlo '{1, 2, 3, 4}'; echo values: $?
$HLO diff a.hlo b.hlo '{1, 2, 3, 4}' --rel=0.2 --text; echo within a fifth: $?
$HLO diff a.hlo a.hlo '{1, 2, 3, 4}'; echo the same: $?
