# Participants that there are not, and options that are nobody's own.
# status: 2
# stderr: no participant 2; there are 2
# stderr: option `--output` is not for one participant
# stderr: the number of a participant is wanted
# stderr: there are 2 participants; write an .npz file
cat >m.hlo <<'END'
HloModule sum
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY main {
  x = f32[2] parameter(0)
  r = u32[] replica-id()
  s = f32[2] all-reduce(x), to_apply=add
  ROOT t = (f32[2], u32[]) tuple(s, r)
}
END
$HLO run m.hlo --replicas=2 'x@2={1, 2}'
$HLO run m.hlo --output@1=x '{1, 2}'
$HLO run m.hlo --inputs@one=x
$HLO run m.hlo --replicas=2 '{1, 2}' -o x.npy
