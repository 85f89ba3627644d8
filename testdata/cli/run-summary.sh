# run --summary: shape and statistics, one array per line; --precision: significant digits; --hexfloat: exact floats, which read back unchanged.
# stdout: (
# stdout:   f32[3] min 1 max 3 mean 2 nan 1 inf 0,
# stdout:   s32[50,60] min 0 max 59 mean 29.5,
# stdout:   f32[] 7,
# stdout:   f32[8] all elements 0
# stdout: )
# stdout: f32[3] {0.33, 12, inf}
# stdout: {"schema":1,"results":[{"participant":0,"shape":"f32[3]","values":[0.33,12,"inf"]}]}
# stdout: f32[3] {0x1.99999ap-4, -0x1.8p+1, inf}
# stdout: f32[3] {0.1, -3, inf}
# stderr: hlo: error: invalid value '18' for '--precision': expected an integer from 1 to 17
# status: 2
cat >a.hlo <<'E'
HloModule a
ENTRY e {
  x = f32[3] parameter(0)
  i = s32[50,60] iota(), iota_dimension=1
  s = f32[] constant(7)
  z = f32[] constant(0)
  b = f32[8] broadcast(z), dimensions={}
  ROOT t = (f32[3], s32[50,60], f32[], f32[8]) tuple(x, i, s, b)
}
E
printf 'HloModule b\nENTRY e { ROOT x = f32[3] parameter(0) }\n' >b.hlo
$HLO run a.hlo '{1, nan, 3}' --summary
$HLO run b.hlo '{0.33333333, 12.3, inf}' --precision=2
$HLO run b.hlo '{0.33333333, 12.3, inf}' --precision=2 --json
$HLO run b.hlo '{0.1, -3, inf}' --hexfloat
$HLO run b.hlo "$($HLO run b.hlo '{0.1, -3, inf}' --hexfloat)"
$HLO run b.hlo --random --precision=18
