# .help COMMAND shows an example of each command of the prompt, and each of them works
# stdout: 44 commands, an example of each
# stderr: -
cat >norm.hlo <<'END'
HloModule norm
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY main {
  x = f32[2,3] parameter(0)
  zero = f32[] constant(0)
  total = f32[2] reduce(x, zero), dimensions={1}, to_apply=sum
  rows = f32[2,3] broadcast(total), dimensions={0}
  share = f32[2,3] divide(x, rows)
  ROOT logs = f32[2,3] log(share), metadata={op_name="loss/log" source_file="loss.py" source_line=7}
}
END
echo 'share' >entries.txt
n=0
for command in $($HLO repl -c .help | sed -n 's/^  \.\([[:lower:]]*\).*/\1/p'); do
    $HLO repl -c ".help $command" | sed -n 's/^      \([^ ]\)/\1/p' >example.txt
    [ -s example.txt ] || { echo "$command has no example"; continue; }
    grep -q "^\.$command" example.txt || echo "the example of $command lacks it"
    { echo '.run --fake'; cat example.txt; } | $HLO repl norm.hlo >log.txt 2>&1 && ! grep -q 'error:' log.txt || { echo "the example of $command:"; cat log.txt; }
    n=$((n + 1))
done
echo "$n commands, an example of each"
