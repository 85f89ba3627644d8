# Feeds of several participants are independent: programs that communicate through pipes, one file read by all, a run that fails elsewhere, --timeout.
# stdout: s32[] 11
# stdout: out[0] = s32[] 12
# stdout: out[1] = s32[] 11
# stdout: out[0] = s32[] 1
# stdout: out[1] = s32[] 2
# stdout: 3 4
# stdout: status 4
# stdout: status 5
# stdout: status 5
# stdout: status 5
# stdout: status 5
# stdout: status 130
# stdout: status 143
# stderr: ask.hlo:4:3: error: 'infeed' expects s32[], but the item is f32[]
# stderr: note: on participant 1
# stderr: ask.hlo:4:3: error: time limit exceeded: 0.2 seconds (--timeout)
# stderr: tell.hlo:5:3: error: time limit exceeded: 0.2 seconds (--timeout)
cat >one_more.hlo <<'END'
HloModule one_more
ENTRY main {
  t = token[] after-all()
  f = (s32[], token[]) infeed(t)
  x = s32[] get-tuple-element(f), index=0
  u = token[] get-tuple-element(f), index=1
  one = s32[] constant(1)
  y = s32[] add(x, one)
  o = token[] outfeed(y, u), outfeed_shape=s32[]
  ROOT r = s32[] copy(y)
}
END
# The item for participant 0 is written only after participant 1 has read its item and written another one.
mkfifo a b c d
(read -r item <c
echo "$item"
echo "$item" >a) &
echo 's32[] 10' >b &
timeout 60 "$HLO" run one_more.hlo --replicas=2 --infeed@0=a --infeed@1=b --outfeed@1=c --outfeed@0=rest >result.txt || exit 1
wait
cat result.txt
# One pipe for both: the second item is written after both have responded to the first.
cat >two.hlo <<'END'
HloModule two
ENTRY main {
  t = token[] after-all()
  f = (s32[], token[]) infeed(t)
  x = s32[] get-tuple-element(f), index=0
  u = token[] get-tuple-element(f), index=1
  n = u32[] replica-id()
  i = s32[] convert(n)
  y = s32[] add(x, i)
  o = token[] outfeed(y, u), outfeed_shape=s32[]
  g = (s32[], token[]) infeed(o)
  z = s32[] get-tuple-element(g), index=0
  v = token[] get-tuple-element(g), index=1
  sum = s32[] add(z, i)
  p = token[] outfeed(sum, v), outfeed_shape=s32[]
  ROOT r = s32[] copy(y)
}
END
(exec 3>d
echo 's32[] 1' >&3
exec 4<a 5<b
read -r type x <&4
read -r type y <&5
echo 's32[] 3' >&3
read -r type x <&4
read -r type y <&5
echo "$x $y" >sums.txt) &
timeout 60 "$HLO" run two.hlo --replicas=2 --infeed=d --outfeed@0=a --outfeed@1=b || exit 1
wait
cat sums.txt
# Participant 1 fails while participant 0 waits for an item that is never written.
cat >ask.hlo <<'END'
HloModule ask
ENTRY main {
  t = token[] after-all()
  f = (s32[], token[]) infeed(t)
  ROOT x = s32[] get-tuple-element(f), index=0
}
END
echo 'f32[] 1' >wrong.txt
timeout 60 "$HLO" run ask.hlo --replicas=2 --infeed@0=a --infeed@1=wrong.txt
echo "status $?"
# --timeout ends the wait for a writer, for an item, for a reader, and for a reader that has stopped reading.
cat >tell.hlo <<'END'
HloModule tell
ENTRY main {
  t = token[] after-all()
  x = s32[100000] iota(), iota_dimension=0
  o = token[] outfeed(x, t), outfeed_shape=s32[100000]
  ROOT r = s32[] constant(0)
}
END
timeout 60 "$HLO" run ask.hlo --infeed=b --timeout=0.2
echo "status $?"
exec 3<>a # a writer that writes nothing
timeout 60 "$HLO" run ask.hlo --replicas=3 --infeed=a --timeout=0.2
echo "status $?"
timeout 60 "$HLO" run tell.hlo --outfeed=c --timeout=0.2
echo "status $?"
exec 3<>c # a reader that reads nothing
timeout 60 "$HLO" run tell.hlo --outfeed=c --timeout=0.2
echo "status $?"
exec 3>&-
# A signal ends the wait at once, so that `timeout` need not send SIGKILL.
waits_for() { echo "ls -l /proc/\$PID/fd | grep -q '/$1\$'"; }
timeout 60 "$TOOLS/signal_when.sh" INT "$(waits_for a)" "$HLO" run ask.hlo --infeed=a
echo "status $?"
timeout 60 "$TOOLS/signal_when.sh" TERM "$(waits_for b)" "$HLO" run ask.hlo --replicas=2 --infeed=b
echo "status $?"
