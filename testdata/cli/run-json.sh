# run --json: one object per line and module; all participants; non-finite numbers are strings.
# stdout: {"schema":1,"results":[{"participant":0,"shape":"(f32[3], pred[], c64[1], s64[0,2])","elements":[{"shape":"f32[3]","values":[1,"nan","-inf"]},{"shape":"pred[]","values":true},{"shape":"c64[1]","values":[[0.1,"inf"]]},{"shape":"s64[0,2]","values":[]}]}]}
# stdout: {"schema":1,"results":[{"participant":0,"shape":"f32[2,1]","values":[["0x1.8p+1"],["-0x0p+0"]]}]}
# stdout: {"schema":1,"results":[{"participant":0,"shape":"f32[2,1]","stats":{"elements":2,"finite":2,"nan":0,"positive_inf":0,"negative_inf":0,"zero":1,"denormal":0,"min":0,"max":3,"mean":1.5,"deviation":1.5,"first_nan":-1,"first_inf":-1}}]}
# stdout: {"schema":1,"results":[{"participant":0,"shape":"u32[]","values":0},{"participant":1,"shape":"u32[]","values":1}]}
# stdout: 5000 5000
# stderr: -
cat >a.hlo <<'E'
HloModule a
ENTRY e {
  x = f32[3] parameter(0)
  t = pred[] constant(true)
  c = c64[1] constant({(0.1, inf)})
  n = s64[0,2] constant({})
  ROOT r = (f32[3], pred[], c64[1], s64[0,2]) tuple(x, t, c, n)
}
E
printf 'HloModule b\nENTRY e { ROOT x = f32[2,1] parameter(0) }\n' >b.hlo
printf 'HloModule c, replica_count=2\nENTRY e { ROOT x = u32[] replica-id() }\n' >c.hlo
printf 'HloModule d\nENTRY e { ROOT x = u16[5000] iota(), iota_dimension=0 }\n' >d.hlo
$HLO run a.hlo '{1, nan, -inf}' --json
$HLO run b.hlo '{{3}, {-0}}' --json --hexfloat
$HLO run b.hlo '{{3}, {-0}}' --json --summary
$HLO run c.hlo --json
$HLO run d.hlo --json -o d.json && $HLO run d.hlo >d.txt
echo $(sed 's/.*"values"://' d.json | tr ',' '\n' | wc -l) $(tr ',' '\n' <d.txt | wc -l)
