# ops: a slip in a name is mended by a suggestion.
# status: 2
# stderr: unknown operation 'transpoze'; did you mean 'transpose'?
$HLO ops transpoze
