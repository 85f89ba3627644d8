# A program with feeds is traced with the files that a run reads and writes.
# stdout: f infeed 1
# stdout: n negate 2
# stdout: o outfeed 3
# stdout: f32[2] {-1, -2}
# stderr: -
cat >m.hlo <<'X'
ENTRY e {
  t = token[] after-all()
  f = (f32[2], token[]) infeed(t)
  v = f32[2] get-tuple-element(f), index=0
  k = token[] get-tuple-element(f), index=1
  n = f32[2] negate(v)
  ROOT o = token[] outfeed(n, k), outfeed_shape=f32[2]
}
X
echo 'f32[2] {1, 2}' >in.txt
$HLO trace m.hlo --infeed=in.txt --outfeed=out.txt --json --filter='feed|negate' |
    sed -n 's/.*"name":"\([^"]*\)","op":"\([^"]*\)".*/\1 \2/p' | awk '{ print $0, NR }'
cat out.txt
