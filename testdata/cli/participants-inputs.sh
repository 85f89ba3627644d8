# A file for one participant, generated numbers for the others, different for each.
# stdout: different
# stderr: -
cp "$HERE/participants.hlo" m.hlo
$HLO run m.hlo '{1, 2}' --output=one.npz || exit 1
sed 's/out0/arg0/g' one.npz >in.npz
$HLO run m.hlo --replicas=2 --inputs@1=in.npz --random=3 >a.txt || exit 1
$HLO run m.hlo --replicas=2 --inputs@0=in.npz --random=3 >b.txt || exit 1
cmp -s a.txt b.txt || echo different
