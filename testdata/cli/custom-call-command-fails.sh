# a command that fails, writes nonsense, too much or nothing is an error; none of them holds up the run
# status: 5
# stderr: `f`: the command ends with status 3
# stderr: `f`: the command ends with status 1: no such luck
# stderr: `f`: the command was ended by signal 9
# stderr: `f`: leaf 0 of the result is f32[2,2]; the command writes nothing for it
# stderr: `f`: leaf 1 of the result is s32[]; the command writes nothing for it
# stderr: `f`: leaf 0 of the result is f32[2,2]; the command writes s32[]
# stderr: `f`: the command writes more arrays than its result has
# stderr: `f`: line 2 of its output is no literal: expected a shape, found `hello`
# stderr: `f`: the command writes more than
# stderr: bytes, too much for its result
# stderr: bytes to its standard error
# stderr: not done after 0.2 seconds, the limit that was set
# stderr: f: error: NAME=identity, NAME=zeros or NAME=COMMAND is wanted
# stderr: =zeros: error: NAME=identity, NAME=zeros or NAME=COMMAND is wanted
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
