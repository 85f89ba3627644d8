# A directory contains arrays in files named after parameters, or arg0, arg1, ...; tuples have .0, .1, ....
# stdout: (
# stdout:   f32[2] {1, 2},
# stdout:   s8[2] {65, 66},
# stdout:   f32[] 5,
# stdout:   s8[2] {67, 68}
# stdout: )
printf 'HloModule f\nENTRY e { ROOT p = f32[2] parameter(0) }\n' >f.hlo
printf 'HloModule g\nENTRY e { ROOT p = f32[] parameter(0) }\n' >g.hlo
cat >a.hlo <<'X'
HloModule a
ENTRY e {
  w = f32[2] parameter(0)
  t = (s8[2], f32[]) parameter(1)
  last = s8[2] parameter(2)
  x = s8[2] get-tuple-element(t), index=0
  y = f32[] get-tuple-element(t), index=1
  ROOT r = (f32[2], s8[2], f32[], s8[2]) tuple(w, x, y, last)
}
X
mkdir d
$HLO run f.hlo '{1, 2}' --output=d/w.npy && $HLO run g.hlo 5 --output=d/t.1.npy || exit 1
printf AB >d/arg1.bin
printf CD >d/last.bin
$HLO run a.hlo --inputs=d >one && $HLO run a.hlo @d/ >two || exit 1
cmp one two && cat one
