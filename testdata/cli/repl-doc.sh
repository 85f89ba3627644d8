# .doc: the description of an operation, by its name or an alias; .help: the commands related to a word
# status: 2
# stdout: compare(lhs, rhs): Compares elements: EQ, NE, LT, LE, GT or GE.
# stdout:   direction=word  Direction of the comparison. (required) One of: EQ, NE, GE, GT, LE, LT
# stdout: convolution(input, kernel): Slides a kernel over an array.
# stdout:   .precision N                  number of digits; 0: shortest representation that reads back exactly
# stdout:       .precision 4
# stderr: <stdin>:1: error: unknown operation 'galher'; did you mean 'gather'?
$HLO repl -c '.doc compare' >compare
head -1 compare
grep direction=word compare
$HLO repl -c '.doc conv' | head -1
$HLO repl -c '.help precision'
echo '.doc galher' | $HLO repl
