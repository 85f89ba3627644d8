# A misspelled option causes a suggestion.
# status: 2
# stderr: unknown option '--strcit'; did you mean '--strict'?
$HLO verify --strcit x.hlo
