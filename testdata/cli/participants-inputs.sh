# A file for one participant, made-up numbers for the others, each its own.
# stdout: different
# stderr: -
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
$HLO run m.hlo '{1, 2}' --output=one.npz || exit 1
sed 's/out0/arg0/g' one.npz >in.npz
$HLO run m.hlo --replicas=2 --inputs@1=in.npz --random=3 >a.txt || exit 1
$HLO run m.hlo --replicas=2 --inputs@0=in.npz --random=3 >b.txt || exit 1
cmp -s a.txt b.txt || echo different
