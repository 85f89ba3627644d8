# Dictionaries for fuzzers are generated from the tables: of text, directives, the prompt, the command line
# stdout: "// infeed:"
# stdout: ".undo "
# stdout: " --max-trip="
# stderr: invalid value 'poems' for '--dict': expected text, test, repl or options
# status: 2
$HLO ops --dict=text | grep -q '^"dynamic_slice_sizes="$' || exit 1
$HLO ops --dict=test | grep infeed
$HLO ops --dict=repl | grep undo
$HLO ops --dict=options | grep max-trip
$HLO ops --dict=poems
