# Forty computations, each of which calls the previous one twice: 2^40 instructions to execute in forty lines.
# stdout: 0 verify
# stdout: 0 fmt
# stdout: 0 ls
# stdout: 0 cost
# stdout: 0 graph
# stdout: 5 run --max-steps=100000
# stdout: 5 trace --max-steps=100000
{
    printf 'HloModule m\nc0 { p = s32[] parameter(0)  ROOT r = s32[] add(p, p) }\n'
    k=0
    while [ $k -lt 40 ]; do
        printf 'c%d { p = s32[] parameter(0)  a = s32[] call(p), to_apply=c%d  ROOT r = s32[] call(a), to_apply=c%d }\n' $((k + 1)) $k $k
        k=$((k + 1))
    done
    printf 'ENTRY e { p = s32[] parameter(0)  ROOT r = s32[] call(p), to_apply=c40 }\n'
} >m.hlo
for what in verify fmt ls cost graph; do
    $HLO $what m.hlo >/dev/null 2>&1; echo $? $what
done
for what in 'run --max-steps=100000' 'trace --max-steps=100000'; do
    $HLO $what m.hlo 1 >/dev/null 2>&1; echo $? "$what"
done
