# An infinite loop is an error in every kind of run, with and without limits.
# stdout: run 4
# stdout: plain 4
# stdout: limits 4
# stdout: steps 5
# stdout: traced 4
# stdout: traced 0
# stdout: replicas 4
# stdout: -c:5:1: error: infinite loop
# stdout: y = s32[] 6
# stdout: serve 4
# stdout: fuzz 0 runs agree, 10 fail on both sides
# stderr: a.hlo:5:2: error: infinite loop: the condition of 'w' does not depend on anything its body changes
# stderr: b.hlo:10:2: error: infinite loop: the values that the condition of 'w' depends on are those of an earlier iteration
# stderr: note: on participant 1
cat >a.hlo <<'END'
HloModule a
c { p = s32[] parameter(0) ROOT t = pred[] constant(true) }
b { p = s32[] parameter(0) k = s32[] constant(3) ROOT r = s32[] add(p, k) }
ENTRY e { i = s32[] parameter(0)
 ROOT w = s32[] while(i), condition=c, body=b }
END
cat >b.hlo <<'END'
HloModule b
c { p = s32[] parameter(0)
 z = s32[] constant(7)
 ROOT t = pred[] compare(p, z), direction=NE }
b { p = s32[] parameter(0)
 ROOT r = s32[] negate(p) }
ENTRY e {
 i = s32[] parameter(0)
 j = s32[] add(i, i)
 ROOT w = s32[] while(j), condition=c, body=b }
END
sed 's/HloModule b/&, replica_count=2/; s/add(i, i)/maximum(i, i)/' b.hlo >two.hlo
$HLO run a.hlo 0; echo run $?
$HLO run b.hlo 1 --plain; echo plain $?
$HLO run a.hlo 0 --max-trip=1 --max-steps=1000 --timeout=5; echo limits $?
$HLO run b.hlo 1 --max-steps=100; echo steps $?
$HLO trace b.hlo 1 >/dev/null; echo traced $?
cat >golden.hlo <<'END'
// test: eval
// why: -2 and 2 take turns
// error: 8:2: infinite loop: the values that the condition of 'w' depends on are those of an earlier iteration
c { p = s32[] parameter(0) z = s32[] constant(7) ROOT t = pred[] compare(p, z), direction=NE }
b { p = s32[] parameter(0) ROOT r = s32[] negate(p) }
ENTRY e {
 i = s32[] constant(2)
 ROOT w = s32[] while(i), condition=c, body=b }
END
$HLO test -q --traced golden.hlo; echo traced $?
$HLO run two.hlo i@0=7 i@1=1; echo replicas $?
prompt() { # an entry that does not terminate, and another one
    $HLO repl --norc -c '.bail off' -c 'x = s32[] 3' -c 'c { p = s32[] parameter(0) ROOT t = pred[] constant(true) }' \
        -c 'b { p = s32[] parameter(0) ROOT t = s32[] add(p, p) }' -c 'w = s32[] while(x), condition=c, body=b' \
        -c 'y = s32[] add(x, x)'
}
prompt 2>&1 | grep 'error: infinite loop' | cut -c 1-28
prompt 2>&1 | tail -n 1
m='c { p = s32[] parameter(0)  ROOT t = pred[] constant(true) }\nb { p = s32[] parameter(0)  ROOT q = s32[] add(p, p) }\n'
m="${m}ENTRY e { z = s32[] constant(1)  ROOT w = s32[] while(z), condition=c, body=b }"
printf '%s\n' "{\"id\": 1, \"op\": \"run\", \"module\": \"$m\"}" | $HLO serve --stdio | sed 's/.*"status":\([0-9]\).*/serve \1/'
echo "fuzz $($HLO fuzz a.hlo --runs=10 | tail -n 1)"
