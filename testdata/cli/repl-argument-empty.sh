# An argument of nothing is one all the same, and isn't taken for the one before it
# status: 2
# stderr: argument 'a':1:
printf 'a = f32[] parameter(0)\nb = f32[] parameter(1)\n.run 5 %s\n' "''" | $HLO repl && exit 1
printf 'a = f32[] parameter(0)\n.run %s\n' "''" | $HLO repl
