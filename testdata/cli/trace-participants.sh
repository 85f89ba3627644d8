# The lines of several participants are in the order of participants, independently of their speed; so are warnings.
# stdout: 0 i 0
# stdout: 0 x 0
# stdout: 0 y 6
# stdout: 1 i 1
# stdout: 1 x 1
# stdout: 1 y 6
# stdout: 2 i 2
# stdout: 2 x 2
# stdout: 2 y 6
# stdout: 3 i 3
# stdout: 3 x 3
# stdout: 3 y 6
# stdout: 0004.z@0.npy 0004.z@1.npy 0004.z@2.npy 0004.z@3.npy
# stdout: 4 1
cat >a.hlo <<'END'
HloModule m, replica_count=4
sum { a = s32[] parameter(0)
 b = s32[] parameter(1)
 ROOT c = s32[] add(a, b) }
ENTRY e {
 i = u32[] replica-id()
 x = s32[] convert(i)
 y = s32[] all-reduce(x), to_apply=sum
 two = f32[] constant(2)
 f = f32[] convert(x)
 g = f32[] subtract(f, two)
 z = f32[] sqrt(g)
 ROOT t = (s32[], f32[]) tuple(y, z)
}
END
$HLO trace a.hlo --filter='^[ixy]$' >out.txt || exit 1
sed 1d out.txt | awk '{ print $1, $2, $6 }'
$HLO trace a.hlo --filter='^z$' --dump=all >/dev/null || exit 1
ls all | sed 's/^00[0-9]*/0004/' | grep npy | tr '\n' ' ' | sed 's/ $//'; echo
$HLO run a.hlo --stop-on=nan >/dev/null 2>err.txt; echo $? $(grep -c 'produces nan from operands' err.txt)
