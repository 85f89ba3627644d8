# why: provenance of an element: the largest terms of a product first, back through several instructions; padding, selections, indices
# stdout: d[0] = -12  dot f32[2]  step.py:12
# stdout:   lhs: x[0,0:6], rhs: w[0:6], 6 products, largest first
# stdout:     -20
# stdout:       lhs: x[0,1] = 2  parameter f32[2,6]
# stdout:       rhs: w[1] = -10  parameter f32[6]
# stdout:     9
# stdout:       lhs: x[0,2] = 3  parameter f32[2,6]
# stdout:       rhs: w[2] = 3  parameter f32[6]
# stdout:     -8
# stdout:       lhs: x[0,3] = -4  parameter f32[2,6]
# stdout:       rhs: w[3] = 2  parameter f32[6]
# stdout:     6
# stdout:       lhs: x[0,5] = 6  parameter f32[2,6]
# stdout:       rhs: w[5] = 1  parameter f32[6]
# stdout:     and 2 more
# stdout: out[1] = 5  select f32[2]
# stdout:   condition: c[1] = 1  compare pred[2]
# stdout:     lhs: d[1] = 5  dot f32[2]  step.py:12
# stdout:       lhs: x[1,0:6], rhs: w[0:6], 6 products, largest first
# stdout:         3
# stdout:           lhs: x[1,2] = 1  parameter f32[2,6]
# stdout:           rhs: w[2] = 3  parameter f32[6]
# stdout:         2
# stdout:           lhs: x[1,3] = 1  parameter f32[2,6]
# stdout:           rhs: w[3] = 2  parameter f32[6]
# stdout:         0
# stdout:           lhs: x[1,0] = 0  parameter f32[2,6]
# stdout:           rhs: w[0] = 1  parameter f32[6]
# stdout:         -0
# stdout:           lhs: x[1,1] = 0  parameter f32[2,6]
# stdout:           rhs: w[1] = -10  parameter f32[6]
# stdout:         and 2 more
# stdout:     rhs: part[1] = -3  slice f32[2]
# stdout:       operand: wide[3] = -3  pad f32[8]
# stdout:         operand: cut[1] = -3  dynamic-slice f32[3]
# stdout:           operand: s[3] = -3  reduce f32[6]
# stdout:           index: i = 2  parameter s32[]
# stdout:   chosen: d[1] = 5  dot f32[2]  step.py:12  (see above)
# stdout: part[0] = 0  slice f32[2]
# stdout:   operand: wide[0] = 0  pad f32[8]
# stdout:     padding value: zero = 0  constant f32[]
# stdout: d[1] = 5  dot f32[2]  step.py:12
# stdout:   lhs: x[1,0:6], rhs: w[0:6], 6 products
# stdout:     0
# stdout:       lhs: x[1,0] = 0  parameter f32[2,6]
# stdout:       rhs: w[0] = 1  parameter f32[6]
# stdout:     -0
# stdout:       lhs: x[1,1] = 0  parameter f32[2,6]
# stdout:       rhs: w[1] = -10  parameter f32[6]
# stdout:     3
# stdout:       lhs: x[1,2] = 1  parameter f32[2,6]
# stdout:       rhs: w[2] = 3  parameter f32[6]
# stdout:     2
# stdout:       lhs: x[1,3] = 1  parameter f32[2,6]
# stdout:       rhs: w[3] = 2  parameter f32[6]
# stdout:     0
# stdout:       lhs: x[1,4] = 0  parameter f32[2,6]
# stdout:       rhs: w[4] = 0  parameter f32[6]
# stdout:     0
# stdout:       lhs: x[1,5] = 0  parameter f32[2,6]
# stdout:       rhs: w[5] = 1  parameter f32[6]
# stdout: {"schema":1,"element":{"name":"d","computation":"e","op":"dot","shape":"f32[2]","iterations":[],"leaf":0,"index":[1],"value":5,"where":"step.py:12","sources":[{"boxes":[{"role":"lhs","name":"x","iterations":[],"leaf":0,"start":[1,0],"count":[1,6],"step":[1,1]},{"role":"rhs","name":"w","iterations":[],"leaf":0,"start":[0],"count":[6],"step":[1]}],"elements":6,"shown":[{"product":3,"elements":[{"name":"x","computation":"e","op":"parameter","shape":"f32[2,6]","iterations":[],"leaf":0,"index":[1,2],"value":1,"where":""},{"name":"w","computation":"e","op":"parameter","shape":"f32[6]","iterations":[],"leaf":0,"index":[2],"value":3,"where":""}]},{"product":2,"elements":[{"name":"x","computation":"e","op":"parameter","shape":"f32[2,6]","iterations":[],"leaf":0,"index":[1,3],"value":1,"where":""},{"name":"w","computation":"e","op":"parameter","shape":"f32[6]","iterations":[],"leaf":0,"index":[3],"value":2,"where":""}]},{"product":0,"elements":[{"name":"x","computation":"e","op":"parameter","shape":"f32[2,6]","iterations":[],"leaf":0,"index":[1,0],"value":0,"where":""},{"name":"w","computation":"e","op":"parameter","shape":"f32[6]","iterations":[],"leaf":0,"index":[0],"value":1,"where":""}]},{"product":-0,"elements":[{"name":"x","computation":"e","op":"parameter","shape":"f32[2,6]","iterations":[],"leaf":0,"index":[1,1],"value":0,"where":""},{"name":"w","computation":"e","op":"parameter","shape":"f32[6]","iterations":[],"leaf":0,"index":[1],"value":-10,"where":""}]}]}]}}
# stdout: d[1] = nan  dot f32[2]  step.py:12
# stdout:   lhs: x[1,0:6], rhs: w[0:6], 6 products, largest first
# stdout:     nan
# stdout:       lhs: x[1,1] = nan  parameter f32[2,6]
# stdout:       rhs: w[1] = 7  parameter f32[6]
# stdout:     -inf
# stdout:       lhs: x[1,5] = -inf  parameter f32[2,6]
# stdout:       rhs: w[5] = 1  parameter f32[6]
# stdout:     0
# stdout:       lhs: x[1,0] = 0  parameter f32[2,6]
# stdout:       rhs: w[0] = 1  parameter f32[6]
# stdout:     0
# stdout:       lhs: x[1,2] = 0  parameter f32[2,6]
# stdout:       rhs: w[2] = 3  parameter f32[6]
# stdout:     and 2 more
# stdout: r[2] = -nan  negate f32[3]
# stdout:   operand: x[2] = nan  parameter f32[3]
# stdout: r[1] = -inf  negate f32[3]
# stdout:   operand: x[1] = inf  parameter f32[3]
# stderr: -
cat >m.hlo <<'END'
HloModule m
add { p = f32[] parameter(0) q = f32[] parameter(1) ROOT r = f32[] add(p, q) }
ENTRY e {
  x = f32[2,6] parameter(0)
  w = f32[6] parameter(1)
  i = s32[] parameter(2)
  d = f32[2] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="mul" source_file="step.py" source_line=12}
  zero = f32[] constant(0)
  s = f32[6] reduce(x, zero), dimensions={0}, to_apply=add
  cut = f32[3] dynamic-slice(s, i), dynamic_slice_sizes={3}
  wide = f32[8] pad(cut, zero), padding=1_2_1
  part = f32[2] slice(wide), slice={[0:4:3]}
  c = pred[2] compare(d, part), direction=GT
  ROOT out = f32[2] select(c, d, part)
}
END
set -- '{{1, 2, 3, -4, 5, 6}, {0, 0, 1, 1, 0, 0}}' '{1, -10, 3, 2, 0, 1}' 2
$HLO why m.hlo 'd[0]' "$@"
$HLO why m.hlo 'out[1]' "$@" --levels=5
$HLO why m.hlo 'part[0]' "$@" --levels=2
$HLO why m.hlo 'd[1]' "$@" --full
$HLO why m.hlo 'd[1]' "$@" --json
$HLO why m.hlo 'd' '{{1, 1, 1, 1, 1, 1}, {0, nan, 0, 0, 0, -inf}}' '{1, 7, 3, 2, 0, 1}' 0
printf 'ENTRY e { x = f32[3] parameter(0) ROOT r = f32[3] negate(x) }' >n.hlo
$HLO why n.hlo r '{1, inf, nan}'
$HLO why n.hlo r '{1, inf, 2}'
