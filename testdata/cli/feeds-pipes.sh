# Feeds through named pipes, whichever end is opened first, and from /dev/stdin; a program that responds gets each item at once.
# stdout: f32[2,2] { { 2, 4 }, { 6, 8 } }
# stdout: f32[2,2] { { 10, 10 }, { 10, 10 } }
# stdout: 1
# stdout: 2
# stdout: 4
# stdout: s32[] 4
# stderr: -
cp "$HERE/doubler.hlo" twice.hlo
echo 'f32[2,2] {{1, 2}, {3, 4}}' >items.txt
$HLO run twice.hlo --infeed=/dev/stdin --outfeed=- <items.txt >out.txt || exit 1
head -n 1 out.txt
mkfifo in out
timeout 60 sh -c 'echo $$ >pid; exec "$HLO" run twice.hlo --infeed=in --outfeed=out' >result.txt &
("$TOOLS/await.sh" 'ls -l "/proc/$(cat pid)/fd" | grep -q "/in\$"'
echo 'f32[2,2] {{5, 5}, {5, 5}}' >in) &
cat out
wait
# The other program opens its input before its output, and doubles each value.
cat >talk.hlo <<'END'
HloModule talk
body {
  s = (s32[], token[]) parameter(0)
  x = s32[] get-tuple-element(s), index=0
  t = token[] get-tuple-element(s), index=1
  o = token[] outfeed(x, t), outfeed_shape=s32[]
  f = (s32[], token[]) infeed(o)
  y = s32[] get-tuple-element(f), index=0
  u = token[] get-tuple-element(f), index=1
  ROOT r = (s32[], token[]) tuple(y, u)
}
small {
  s = (s32[], token[]) parameter(0)
  x = s32[] get-tuple-element(s), index=0
  k = s32[] constant(4)
  ROOT c = pred[] compare(x, k), direction=LT
}
ENTRY main {
  t = token[] after-all()
  one = s32[] constant(1)
  i = (s32[], token[]) tuple(one, t)
  w = (s32[], token[]) while(i), condition=small, body=body
  x = s32[] get-tuple-element(w), index=0
  u = token[] get-tuple-element(w), index=1
  o = token[] outfeed(x, u), outfeed_shape=s32[]
  ROOT r = s32[] copy(x)
}
END
(while read -r type x; do
    echo "$x" >&2
    echo "$type $((2 * x))"
done <out >in 2>seen.txt) &
timeout 60 "$HLO" run talk.hlo --outfeed=out --infeed=in >result.txt || exit 1
wait
cat seen.txt result.txt
