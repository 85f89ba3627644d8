# A feed that ends too early is an error and never blocks: an empty pipe, too few items, an outfeed whose reader has exited.
# status: 4
# stdout: status 4
# stdout: status 4
# stdout: status 4
# stderr: twice.hlo:4:3: error: 'infeed': no more items in the feed of the host
# stderr: twice.hlo:6:3: error: 'infeed': no more items in the feed of the host
# stderr: note: on participant 1
# stderr: gone: error: cannot write: Broken pipe
# stderr: /dev/full: error: cannot write '/dev/full': No space left on device
cat >twice.hlo <<'END'
HloModule twice
ENTRY main {
  t = token[] after-all()
  a = (s32[], token[]) infeed(t)
  u = token[] get-tuple-element(a), index=1
  b = (s32[], token[]) infeed(u)
  v = token[] get-tuple-element(b), index=1
  x = s32[] get-tuple-element(a), index=0
  y = s32[] get-tuple-element(b), index=0
  ROOT n = s32[] add(x, y)
}
END
cat >write.hlo <<'END'
HloModule write
body {
  s = (s32[], token[]) parameter(0)
  x = s32[] get-tuple-element(s), index=0
  t = token[] get-tuple-element(s), index=1
  o = token[] outfeed(x, t), outfeed_shape=s32[]
  one = s32[] constant(1)
  y = s32[] add(x, one)
  ROOT r = (s32[], token[]) tuple(y, o)
}
small {
  s = (s32[], token[]) parameter(0)
  x = s32[] get-tuple-element(s), index=0
  k = s32[] constant(1000000)
  ROOT c = pred[] compare(x, k), direction=LT
}
ENTRY main {
  t = token[] after-all()
  z = s32[] constant(0)
  i = (s32[], token[]) tuple(z, t)
  w = (s32[], token[]) while(i), condition=small, body=body
  ROOT x = s32[] get-tuple-element(w), index=0
}
END
mkfifo empty gone
: >empty &
timeout 60 "$HLO" run twice.hlo --infeed=empty
echo "status $?"
printf 's32[] 1\ns32[] 2\n' >two.txt
echo 's32[] 1' >one.txt
timeout 60 "$HLO" run twice.hlo --replicas=3 --infeed=two.txt --infeed@1=one.txt
echo "status $?"
head -n 3 gone >/dev/null &
timeout 60 "$HLO" run write.hlo --outfeed=gone
echo "status $?"
wait
timeout 60 "$HLO" run write.hlo --outfeed=/dev/full
