# A misspelled command causes a suggestion; so does a command of other programs.
# status: 2
# stdout: 2
# stdout: 2
# stderr: hlo: error: 'check' is not a command or file; did you mean 'verify'?
# stderr: hlo: error: 'check' is not a command or file; did you mean 'verify'?
# stderr: hlo: error: 'prinf' is not a command or file; did you mean 'prof'?
# stderr: hlo: error: 'dot' is an operation; see 'hlo ops dot'
$HLO check x.hlo; echo $?
$HLO help prinf; echo $?
$HLO help dot
$HLO help fmt | grep -q -- --in-place || exit 1
$HLO verfiy x.hlo
