# extract: an instruction with its transitive operands; replaced operands have the values of the run
# stdout: ENTRY main {
# stdout:   e = f32[2]{0} constant({2.71828175, 1.64872122})
# stdout:   x = f32[2]{0} constant({1, 0.5})
# stdout:   ROOT r = f32[2]{0} add(e, x)
# stdout: }
# stdout: ENTRY main {
# stdout:   x = f32[2]{0} parameter(0)
# stdout:   e = f32[2]{0} exponential(x)
# stdout:   ROOT r = f32[2]{0} add(e, x)
# stdout: }
# stdout: ENTRY main {
# stdout:   e = f32[2]{0} parameter(1)
# stdout:   x = f32[2]{0} parameter(0)
# stdout:   ROOT r = f32[2]{0} add(e, x)
# stdout: }
# stdout: the same
# stdout: f32[3] {-0, 0, -1}
# stderr: -
cat >m.hlo <<'END'
ENTRY main {
  x = f32[2] parameter(0)
  y = f32[2] parameter(1)
  e = f32[2] exponential(x)
  r = f32[2] add(e, x)
  ROOT t = (f32[2], f32[2]) tuple(r, y)
}
END
show() { $HLO fmt --short - | sed '1,2d;/^$/d'; }
$HLO extract m.hlo r '{1, 0.5}' '{7, 8}' --height=0 | show
$HLO extract --parameters m.hlo r | show
$HLO extract --parameters --height=0 m.hlo r | show
$HLO extract m.hlo r '{1, 0.5}' '{7, 8}' -o alone.hlo
$HLO run m.hlo '{1, 0.5}' '{7, 8}' | sed -n 's/,$//;2s/^ *//p' >whole
$HLO run alone.hlo | cmp - whole && echo the same
printf 'ENTRY e {\n  x = f32[3] parameter(0)\n  y = f32[3] copy(x)\n  ROOT z = f32[3] copy(y)\n}\n' >zero.hlo
$HLO extract zero.hlo z 'f32[3] {-0, 0, -1}' --height=0 | $HLO run -
