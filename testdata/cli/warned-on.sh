# --warn-on warns of each instruction that --stop-on would stop at, once each, and continues.
# stdout: f32[2] {-nan, -nan}
# stdout: 2
cat >a.hlo <<'END'
HloModule a
ENTRY main {
  x = f32[2] parameter(0)
  d = f32[2] divide(x, x)
  l = f32[2] log(x)
  s = f32[2] subtract(l, l)
  ROOT r = f32[2] add(s, d)
}
END
$HLO run a.hlo '{0, 0}' --plain --warn-on=nan 2>err.txt
grep -c 'warning: .* produces nan from operands without any' err.txt
