# Without arguments the usage goes to standard error.
# status: 2
# stdout:
# stderr: usage: hlo COMMAND
$HLO
