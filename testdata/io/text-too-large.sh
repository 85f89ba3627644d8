# Places in a text have 32 bits.
# status: 2
# stderr: it is too long: of a file 4 GiB are read
truncate -s 4G big.hlo
$HLO verify big.hlo
