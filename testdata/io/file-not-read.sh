# A file that does not exist.
# status: 2
# stdout:
# stderr: none.hlo: error: cannot read file: No such file or directory
$HLO run none.hlo
