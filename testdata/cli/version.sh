# --version is one line.
# stdout: hlo 0.1.0
$HLO --version
