# Infeed reads literals from files and pipes, outfeed writes them; those of several participants in order.
# stdout: f32[2,2] { { 2, 4 }, { 6, 8 } }
# stdout: f32[2,2] { { -1, -2 }, { -3, -4 } }
# stdout: // participant 0
# stdout: f32[2,2] { { 2, 4 }, { 6, 8 } }
# stdout: // participant 1
# stdout: f32[2,2] { { 10, 10 }, { 10, 10 } }
# stdout: f32[2,2] { { 10, 10 }, { 10, 10 } }
# stderr: -
cp "$HERE/doubler.hlo" m.hlo
printf '// a comment\n\nf32[2,2] {{1, 2}, {3, 4}}\n' >items.txt
$HLO run m.hlo --infeed=- --outfeed=- <items.txt || exit 1
echo 'f32[2,2] {{5, 5}, {5, 5}}' >more.txt
$HLO run m.hlo --replicas=2 --infeed=items.txt --infeed@1=more.txt --outfeed=out.txt >result.txt || exit 1
cat out.txt
$HLO run m.hlo --replicas=2 --infeed=items.txt --infeed@1=more.txt --outfeed=both.txt --outfeed@1=own.txt >result.txt || exit 1
cat own.txt
