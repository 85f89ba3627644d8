# run --summary: statistics and the ends of each result; --hexfloat: exact floats, which read back unchanged.
# stdout: (
# stdout:   f32[3] /* min 1 max 3 mean 2 nan 1 inf 0 */ {1, nan, 3},
# stdout:   s32[50,60] /* min 0 max 59 mean 29.5 */ {
# stdout:     {  0,  1,  2, ..., 57, 58, 59 },
# stdout:     {  0,  1,  2, ..., 57, 58, 59 },
# stdout:     {  0,  1,  2, ..., 57, 58, 59 },
# stdout:     ...,
# stdout:     {  0,  1,  2, ..., 57, 58, 59 },
# stdout:     {  0,  1,  2, ..., 57, 58, 59 },
# stdout:     {  0,  1,  2, ..., 57, 58, 59 }
# stdout:   },
# stdout:   f32[] 7
# stdout: )
# stdout: f32[3] {0x1.99999ap-4, -0x1.8p+1, inf}
# stdout: f32[3] {0.1, -3, inf}
# stderr: -
cat >a.hlo <<'E'
HloModule a
ENTRY e {
  x = f32[3] parameter(0)
  i = s32[50,60] iota(), iota_dimension=1
  s = f32[] constant(7)
  ROOT t = (f32[3], s32[50,60], f32[]) tuple(x, i, s)
}
E
printf 'HloModule b\nENTRY e { ROOT x = f32[3] parameter(0) }\n' >b.hlo
$HLO run a.hlo '{1, nan, 3}' --summary
$HLO run b.hlo '{0.1, -3, inf}' --hexfloat
$HLO run b.hlo "$($HLO run b.hlo '{0.1, -3, inf}' --hexfloat)"
