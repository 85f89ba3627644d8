# A command that fails, or writes malformed, too much or no output, is an error and does not block the run
# status: 5
# stderr: pair.hlo:6:3: error: custom call 'f' failed: command exited with status 3
# stderr: pair.hlo:6:3: error: custom call 'f' failed: command exited with status 1: no such luck
# stderr: pair.hlo:6:3: error: custom call 'f' failed: command killed by signal 9
# stderr: pair.hlo:6:3: error: custom call 'f' failed: leaf 0 of the result is f32[2,2], but the command wrote nothing for it
# stderr: pair.hlo:6:3: error: custom call 'f' failed: leaf 1 of the result is s32[], but the command wrote nothing for it
# stderr: pair.hlo:6:3: error: custom call 'f' failed: leaf 0 of the result is f32[2,2], but the command wrote s32[]
# stderr: pair.hlo:6:3: error: custom call 'f' failed: command wrote more arrays than its result has
# stderr: pair.hlo:6:3: error: custom call 'f' failed: line 2 of the output is not a literal: expected a shape, got 'hello'
# stderr: pair.hlo:6:3: error: custom call 'f' failed: command wrote more arrays than its result has
# stderr: bytes, more than its result
# stderr: bytes to standard error
# stderr: time limit exceeded: 0.2 seconds (--timeout)
# stderr: f: error: expected NAME=identity, NAME=zeros or NAME=COMMAND
# stderr: =zeros: error: expected NAME=identity, NAME=zeros or NAME=COMMAND
cp "$HERE/pair.hlo" pair.hlo
for how in 'exit 3' 'echo "no such luck" >&2; echo no >&2; exit 1' 'kill -9 $$' ':' 'head -n 1' 'tail -n 1' \
    'cat; echo "s32[] 1"' 'echo "// x"; echo hello' 'yes' 'yes >&2'; do
    "$HLO" run pair.hlo --custom-call="f=$how"
    [ $? = 4 ] || exit 1
done
"$HLO" run pair.hlo --custom-call=f
[ $? = 2 ] || exit 1
"$HLO" run pair.hlo --custom-call==zeros
[ $? = 2 ] || exit 1
"$HLO" run pair.hlo --custom-call='f=sleep 20 | sleep 20' --timeout=0.2
