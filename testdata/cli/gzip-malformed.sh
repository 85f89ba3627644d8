# A truncated compressed file.
# stderr: m.hlo.gz: error: malformed gzip file: corrupt or truncated
# status: 2
printf 'HloModule m\nENTRY e { ROOT c = f32[] constant(1) }\n' | gzip | head -c 30 >m.hlo.gz
$HLO run m.hlo.gz
