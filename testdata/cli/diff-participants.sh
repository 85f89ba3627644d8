# diff: several participants; results that differ because of instructions present in one module only.
# stdout: results agree; 2 of 2 instructions compared, 0 not bit-identical
# stdout: 0
# stdout: results differ; 2 of 2 instructions compared
# stdout: no instruction present in both modules differs
# stdout: 1 of 2 elements differ; worst errors: abs 2, rel 1, 2 ulp
# stdout:     element  A  B  abs  rel  ulp
# stdout:   leaf 1 {}  2  0    2    1    2
# stdout: relative error      elements
# stdout:   none                     1  ########################################
# stdout:   up to 1e0                1  ########################################
# stdout: 1
# stdout: results differ; 2 of 2 instructions compared
# stdout: first difference of values that can be compared:
# stdout: 1 of 1 elements differ; worst errors: abs 2, rel 0.4, 2 ulp
# stdout:   element  A  B  abs  rel  ulp
# stdout:        {}  5  3    2  0.4    2
# stdout: relative error      elements
# stdout:   up to 1e0                1  ########################################
# stdout: 0
# stderr: -
cat >a.hlo <<'E'
HloModule m, replica_count=3
add { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT c = s32[] add(a, b) }
ENTRY e {
  x = s32[] parameter(0)
  s = s32[] all-reduce(x), replica_groups={}, to_apply=add
  k = u32[] replica-id()
  ROOT t = (s32[], u32[]) tuple(s, k)
}
E
sed 's/ROOT t = (s32\[\], u32\[\]) tuple(s, k)/u = u32[] constant(1)\n  l = u32[] and(k, u)\n  ROOT t = (s32[], u32[]) tuple(s, l)/' a.hlo >b.hlo
sed 's/all-reduce(x)/all-reduce(y)/; s/  s = /  z = u32[] replica-id()\n  i = s32[] convert(z)\n  y = s32[] multiply(x, i)\n  s = /' a.hlo >c.hlo
$HLO diff a.hlo a.hlo x@0=1 x@1=2 x@2=5; echo $?
$HLO diff a.hlo b.hlo x=1; echo $?
$HLO diff a.hlo c.hlo x@0=3 x@1=1 x@2=1 | grep -v ': %'; echo $?
