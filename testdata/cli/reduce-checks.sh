# reduce: what a candidate is checked against: arrays by name, the plain kernels, a rejected module
# status: 2
# stdout: ROOT b = f32[4]{0} subtract(a, x)
# stdout: ROOT b = f32[4]{0} subtract(a, x)
# stdout: ROOT c = f32[5]{0} negate(b)
# stdout: 0
# stdout: 1
# stdout:   y = f32[] nonsense(c3)
# stdout: 5
# stderr: hlo: error: '--bad-if' requires a command
# stderr: hlo: plain.hlo does not fail the check
cat >good.hlo <<'END'
ENTRY main {
  x = f32[4] parameter(0)
  a = f32[4] multiply(x, x)
  b = f32[4] add(a, x)
  c = f32[4] negate(b)
  ROOT r = (f32[4], f32[4], f32[4]) tuple(c, b, x)
}
END
sed 's/ add(/ subtract(/' good.hlo >bad.hlo
$HLO extract good.hlo a --random | $HLO run - -o a.npy
$HLO extract good.hlo b --random | $HLO run - -o b.npy
mkdir right && mv a.npy b.npy right
$HLO reduce bad.hlo --random --check=mismatch:right -o small.hlo
$HLO fmt --short small.hlo | sed -n 's/^ *ROOT/ROOT/p'
$HLO run good.hlo --random -o out.npz
$HLO reduce bad.hlo --random --check=mismatch:out.npz -o small.hlo
$HLO fmt --short small.hlo | sed -n 's/^ *ROOT/ROOT/p'
sed 's/c = f32\[4\]/c = f32[5]/; s/(f32\[4\], f32/(f32[5], f32/' good.hlo >rejected.hlo
$HLO reduce rejected.hlo "--check=error:result of 'negate'" -o small.hlo
$HLO fmt --short small.hlo | sed -n 's/^ *ROOT/ROOT/p'
$HLO reduce good.hlo --check='grep -q negate' -o small.hlo; echo $?
cp good.hlo plain.hlo
$HLO reduce plain.hlo --check=plain; echo $?
printf 'HloModule m\n%s\n\nENTRY main {\n' '// a comment' >text.hlo
for k in 1 2 3 4 5 6 7 8 9; do echo "  c$k = f32[] constant($k)"; done >>text.hlo
printf '  y = f32[] nonsense(c3)\n  ROOT z = f32[] add(c1, c2)\n}\n' >>text.hlo
$HLO reduce text.hlo '--check=error:unknown-opcode'
cat >fill.hlo <<'END'
take {
  p = pred[4] parameter(0)
  v = f32[4] parameter(1)
  none = f32[] constant(nan)
  fill = f32[4] broadcast(none), dimensions={}
  ROOT s = f32[4] select(p, v, fill)
}
ENTRY main {
  x = f32[4] parameter(0)
  y = f32[4] negate(x)
  p = pred[4] compare(x, y), direction=GT
  t = f32[4] call(p, x), to_apply=take
  ROOT r = f32[4] add(t, x)
}
END
$HLO reduce fill.hlo '{1, -2, 3, 4}' --check=nan | $HLO fmt --short - | grep -c '='
$HLO reduce good.hlo --check=nan --bad-if=zero
