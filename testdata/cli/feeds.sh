# Infeed reads literals from files and pipes, outfeed writes them; of several participants one after the other.
# stdout: f32[2,2] { { 2, 4 }, { 6, 8 } }
# stdout: f32[2,2] { { -1, -2 }, { -3, -4 } }
# stdout: // participant 0
# stdout: f32[2,2] { { 2, 4 }, { 6, 8 } }
# stdout: // participant 1
# stdout: f32[2,2] { { 10, 10 }, { 10, 10 } }
# stdout: f32[2,2] { { 10, 10 }, { 10, 10 } }
# stderr: -
cat >m.hlo <<'END'
HloModule m
ENTRY main {
  t = token[] after-all()
  a = (f32[2,2], token[]) infeed(t)
  u = token[] get-tuple-element(a), index=1
  x = f32[2,2] get-tuple-element(a), index=0
  y = f32[2,2] add(x, x)
  o = token[] outfeed(y, u), outfeed_shape=f32[2,2]{1,0}
  ROOT n = f32[2,2] negate(x)
}
END
printf '// a comment\n\nf32[2,2] {{1, 2}, {3, 4}}\n' >items.txt
$HLO run m.hlo --infeed=- --outfeed=- <items.txt || exit 1
echo 'f32[2,2] {{5, 5}, {5, 5}}' >more.txt
$HLO run m.hlo --replicas=2 --infeed=items.txt --infeed@1=more.txt --outfeed=out.txt >result.txt || exit 1
cat out.txt
$HLO run m.hlo --replicas=2 --infeed=items.txt --infeed@1=more.txt --outfeed=both.txt --outfeed@1=own.txt >result.txt || exit 1
cat own.txt
