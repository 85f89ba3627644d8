# strict: a computation belongs to one async-start at most
# stdout: 3
# stderr: is called by two async-starts
cat >m.hlo <<'END'
HloModule m

f {
  ROOT a = f32[2] parameter(0)
}

ENTRY main {
  p = f32[2] parameter(0)
  s = ((f32[2]), f32[2], s32[]) async-start(p), calls=f
  t = ((f32[2]), f32[2], s32[]) async-start(p), calls=f
  d = f32[2] async-done(s)
  ROOT e = f32[2] async-done(t)
}
END
$HLO verify --strict --parse-only m.hlo
echo $?
