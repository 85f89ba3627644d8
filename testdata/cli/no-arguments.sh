# Without arguments the usage is written to standard error.
# status: 2
# stdout:
# stderr: usage: hlo COMMAND ...
$HLO </dev/null
