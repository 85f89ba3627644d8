# Participants that do not exist, and options that do not apply to single participants.
# status: 2
# stderr: no participant 2; there are 2
# stderr: hlo: error: option '--output' cannot be set per participant
# stderr: hlo: error: no participant 2; there are 2
# stderr: x.npy: error: a file of this type cannot hold the results of 2 participants; write an .npz file
cp "$HERE/participants.hlo" m.hlo
$HLO run m.hlo --replicas=2 'x@2={1, 2}'
$HLO run m.hlo --output@1=x '{1, 2}'
$HLO run m.hlo --inputs@one=x
$HLO run m.hlo --replicas=2 '{1, 2}' -o x.npy
