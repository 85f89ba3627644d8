# A slip in the command is mended by a suggestion; so is a word of other programs.
# status: 2
# stdout: 2
# stdout: 2
# stderr: no command or file `verfiy`; did you mean `verify`?
# stderr: no command or file `check`; did you mean `verify`?
# stderr: no command or file `prinf`; did you mean `prof`?
# stderr: `dot` is an operation: `hlo ops dot` says what it does
$HLO check x.hlo; echo $?
$HLO help prinf; echo $?
$HLO help dot
$HLO help fmt | grep -q -- --in-place || exit 1
$HLO verfiy x.hlo
