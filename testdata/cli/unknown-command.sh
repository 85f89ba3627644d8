# A slip in the command is mended by a suggestion.
# status: 2
# stderr: no command or file `verfiy`; did you mean `verify`?
$HLO verfiy x.hlo
