# Participants have arguments of their own, and results are labelled with their participant.
# stdout: out[0].0 = f32[2] {4, 6.5}
# stdout: out[0].1 = u32[] 0
# stdout: out[1].0 = f32[2] {4, 6.5}
# stdout: out[1].1 = u32[] 1
# stdout: same
# stderr: -
cp "$HERE/participants.hlo" m.hlo
$HLO run m.hlo --replicas=2 'x@0={1, 2}' 'x@1={3, 4.5}' || exit 1
$HLO run m.hlo --replicas=2 'x@0={1, 2}' 'x@1={3, 4.5}' --output=out.npz || exit 1
sed 's/out0@/arg0@/g' out.npz >in.npz
$HLO run m.hlo --replicas=2 --inputs=in.npz --output=a.txt || exit 1
$HLO run m.hlo --replicas=2 '{4, 6.5}' >b.txt || exit 1
cmp a.txt b.txt && echo same
