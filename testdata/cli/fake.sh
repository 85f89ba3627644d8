# Generated arguments that satisfy the program: indices in bounds, positive operands of logarithms; kinds and seeds.
# stdout: f32[3] {1, 1, 1}
# stdout: f32[3] {0, 0, 0}
# stdout: the same seed, the same numbers
# stdout: another seed, others
# stdout: 0
# stdout: 0
# stderr: hlo: error: invalid value 'two' for '--fake': expected zeros, ones, iota, uniform, normal or edge
# stderr: hlo: error: '--fake' and '--random' are mutually exclusive
# status: 2
cat >m.hlo <<'E'
HloModule m
ENTRY e { x = f32[3] parameter(0)  ROOT y = f32[3] copy(x) }
E
$HLO m.hlo --fake=ones
$HLO m.hlo --fake=zeros --seed=4
$HLO m.hlo --fake >a; $HLO m.hlo --fake=uniform --seed=1 >b; $HLO m.hlo --fake --seed=2 >c
cmp a b && echo the same seed, the same numbers
cmp -s a c || echo another seed, others
cat >log.hlo <<'E'
HloModule m
ENTRY e {
  x = f32[2,2] parameter(0)
  i = s32[] parameter(1)
  z = s32[] constant(0)
  row = f32[1,2] dynamic-slice(x, i, z), dynamic_slice_sizes={1,2}
  ROOT y = f32[1,2] log(row)
}
E
$HLO log.hlo --fake | grep -c nan
cat >norm.hlo <<'E'
HloModule m
ENTRY e {
  variance = f32[8] parameter(0)
  epsilon = f32[] constant(1e-5)
  wide = f32[8] broadcast(epsilon), dimensions={}
  sum = f32[8] add(wide, variance)
  ROOT y = f32[8] rsqrt(sum)
}
E
$HLO norm.hlo --fake | grep -c nan
$HLO m.hlo --fake=two
$HLO m.hlo --fake --random
