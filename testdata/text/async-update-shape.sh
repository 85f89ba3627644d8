# strict: shape of an async-update must be that of its operand
# stdout: 3
# stderr: shape of an async-update must be that of its operand: got ((f32[2]), f32[2], u32[]), operand is ((f32[2]), f32[2], s32[])
cat >m.hlo <<'END'
HloModule m

ENTRY main {
  p = f32[2] parameter(0)
  s = ((f32[2]), f32[2], s32[]) negate-start(p)
  u = ((f32[2]), f32[2], u32[]) negate-update(s)
  ROOT d = f32[2] negate-done(u)
}
END
$HLO verify --strict --parse-only m.hlo
echo $?
