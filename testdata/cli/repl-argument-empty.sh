# An empty argument is an argument, and differs from the preceding one
# status: 2
# stderr: argument 'a':1:7: error: expected a value, got end of input
printf 'a = f32[] parameter(0)\nb = f32[] parameter(1)\n.run 5 %s\n' "''" | $HLO repl && exit 1
printf 'a = f32[] parameter(0)\n.run %s\n' "''" | $HLO repl
