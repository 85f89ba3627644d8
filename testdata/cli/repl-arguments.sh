# Parameters: in order, by name, from files, generated, also again; a missing one is reported by name
# status: 2
# stderr: <stdin>:3: error: unknown parameter 'c'
# stderr: <stdin>:4: error: too many arguments: '3'; the module has 2 parameters
# stderr: <stdin>:2: error: parameter 1, 'b', of shape f32[2]{0}, has no value; use .set b = VALUE, .run b=VALUE or .run --random
# stderr: m.hlo:2:3: error: parameter 'a' is f32[], but the argument is f32[2]
# stderr: <stdin>:6: error: 'a@1': all participants get the same arguments at the prompt
# stderr: <stdin>:1: error: invalid option '--bits': expected --inputs=FILE, --bundle=FILE, ...
# stdout: r = f32[2] {5, 6}
# stdout: r = f32[2] {7, 8}
# stdout: r = f32[2] {2, 2}
# stdout: w = f32[2] {7, 8}
# stdout: r = f32[2] {8, 9}
# stdout: r = f32[2] {3, 4}
# stdout: r = f32[2] {7, 8}
# stdout: r = f32[2] {7, 8}
# stdout: r = f32[2] {4, 4}
# stdout: r = f32[2] {4, 5}
# stdout: r = f32[2] {4, 5}
cat >m.hlo <<'EOF'
ENTRY e {
  a = f32[] parameter(0)
  b = f32[2] parameter(1)
  c = f32[2] broadcast(a), dimensions={}
  ROOT r = f32[2] add(b, c)
}
EOF
echo '{5, 6}' >b.txt
$HLO repl m.hlo <<'EOF'
.bail off
.run 1
.run c=1
.run 1 {1, 2} 3
.run f32[2] {1, 2}
.run 2 b = f32[2] {3, 4}
.run b=@b.txt
EOF
printf '.run --random=3 a=1\n.print b\n' | $HLO repl m.hlo >one
printf '.run 1\n.print b\n' | $HLO repl m.hlo --random=3 | cmp - one
printf '.run --random --seed=3 a=1\n.print b\n' | $HLO repl m.hlo | cmp - one
printf '.run --fake=ones\n' | $HLO repl m.hlo
printf '.mode npy\n.once b.npy\n.print b\n' | cat - >save
printf '.set b = {7, 8}\n' | cat - save | $HLO repl m.hlo
printf 'w = @b.npy\n.run a=1 b=@b.npy\n' | $HLO repl m.hlo
$HLO run m.hlo 1 '{2, 3}' --save-bundle=in.npz -q
$HLO repl m.hlo <<'EOF'
.bail off
.run --bundle=in.npz
.run --inputs=in.npz a=5
.run {5, 6} a=2
.run a@0=3 b=[1, 1]
.run a@1=3
EOF
printf '.run 1 --random=3\n.print b\n' | $HLO repl m.hlo | sed 1d >three
printf '.run 1 --random=2\n.run --random=3\n.run 1\n.print b\n' | $HLO repl m.hlo | tail -1 | cmp - three
printf '.run 1 {3, 4}\n.run --random\n' | $HLO repl m.hlo
printf '.run --bits\n' | $HLO repl m.hlo
