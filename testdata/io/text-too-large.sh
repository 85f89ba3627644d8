# A text of more than 4 GiB is rejected.
# status: 2
# stderr: big.hlo: error: cannot read file: input too long (limits: file 4 GiB, pipe 1 GiB, device 16 MiB)
truncate -s 4G big.hlo
$HLO verify big.hlo
