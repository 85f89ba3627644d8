# A slip in an option is mended by a suggestion.
# status: 2
# stderr: unknown option '--strcit'; did you mean '--strict'?
$HLO verify --strcit x.hlo
