# Places in a text have 32 bits.
# status: 2
# stderr: the text has 4294967296 bytes; 4 GiB is the limit
truncate -s 4G big.hlo
$HLO verify big.hlo
