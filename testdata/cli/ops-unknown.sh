# ops: a misspelled name causes a suggestion.
# status: 2
# stderr: unknown operation 'transpoze'; did you mean 'transpose'?
$HLO ops transpoze
