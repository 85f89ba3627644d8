# plan -v: why steps of a loop run in every iteration; --json has the reasons too.
# stderr: -
cat >a.hlo <<'E'
HloModule a
less { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT l = pred[] compare(x, y), direction=LT }
add { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT l = f32[] add(x, y) }
large { x = f32[] parameter(0)
 a = f32[100000] iota(), iota_dimension=0
 b = f32[100000] broadcast(x), dimensions={}
 m = f32[100000] multiply(a, b)
 zero = f32[] constant(0)
 ROOT r = f32[] reduce(m, zero), dimensions={0}, to_apply=add }
then { p = f32[300,300] parameter(0)
 ROOT n = f32[300,300] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
else { q = f32[300,300] parameter(0)
 c = f32[300,300] constant({...})
 s = f32[300,300] sort(c), dimensions={1}, to_apply=less
 ROOT n = f32[300,300] add(q, s) }
body { s = (s32[], f32[300,300], f32[300], f32[300,300]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 v = f32[300,300] get-tuple-element(s), index=1
 c = f32[300] get-tuple-element(s), index=2
 k = f32[300,300] get-tuple-element(s), index=3
 one = s32[] constant(1)
 j = s32[] add(i, one)
 sorted = f32[300] sort(c), dimensions={0}, to_apply=less
 mapped = f32[300] map(c), dimensions={0}, to_apply=large
 rows = f32[300,300] broadcast(sorted), dimensions={0}
 columns = f32[300,300] broadcast(mapped), dimensions={1}
 sum = f32[300,300] add(rows, columns)
 other = f32[300,300] broadcast(sorted), dimensions={1}
 outer = f32[300,300] multiply(rows, other)
 more = f32[300,300] multiply(v, outer)
 d = f32[300,300] dot(v, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 zero = s32[] constant(0)
 g = f32[300,300] conditional(zero, k, k), branch_computations={then, else}
 h = f32[300,300] dot(g, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 lo = f32[] constant(0)
 hi = f32[] constant(1)
 r = f32[300,300] rng(lo, hi), distribution=rng_uniform
 u = f32[300,300] dot(r, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 n1 = f32[300,300] add(sum, more)
 n2 = f32[300,300] add(n1, d)
 n3 = f32[300,300] add(n2, h)
 n4 = f32[300,300] add(n3, u)
 ROOT t = (s32[], f32[300,300], f32[300], f32[300,300]) tuple(j, n4, c, k) }
cond { s = (s32[], f32[300,300], f32[300], f32[300,300]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(9)
 ROOT l = pred[] compare(i, n), direction=LT }
ENTRY e { p = f32[300,300] parameter(0)
 c = f32[300] parameter(1)
 k = f32[300,300] parameter(2)
 zero = s32[] constant(0)
 t = (s32[], f32[300,300], f32[300], f32[300,300]) tuple(zero, p, c, k)
 w = (s32[], f32[300,300], f32[300], f32[300,300]) while(t), body=body, condition=cond
 ROOT r = f32[300,300] get-tuple-element(w), index=1 }
E
$HLO plan -v a.hlo >out.txt || exit 1
want() {
    tr -s ' ' <out.txt | grep -qE -- "$1" || { echo "lacks: $1"; tr -s ' ' <out.txt; exit 1; }
}
want ' %sorted .*; once per loop$'
want ' %j .* add; not hoisted: depends on state 0, which the body changes$'
want ' %mapped .*; not hoisted: calls a computation for each element$'
want ' %columns .*; not hoisted: depends on %mapped, which is not hoisted$'
want ' 2 fused: .*; not hoisted: %outer: cheaper than reading its result; %more: depends on state 1, which the body changes$'
want ' %g .*; not hoisted: loops, conditionals and calls are not hoisted$'
want ' %u .*; not hoisted: depends on %r.1, which is not hoisted$'
want ' %h .*; not hoisted: depends on %g, which is not hoisted$'
want ' %r.1 .* rng; not hoisted: has side effects$'
want ' %n .*; not hoisted: in a condition, branch or called computation$'
want ' %s .*; once per run$'
want ' %l.2 .* compare$' # its loop runs it as scalar code
want ' hoisted 2 steps executed once per run, after fusion$' # %s, and %a of %large
want ' invariant 3 loop-invariant steps hoisted, after fusion$'
$HLO plan a.hlo | grep 'not hoisted' && exit 1
$HLO plan --plain -v a.hlo | grep 'not hoisted' && exit 1
$HLO plan a.hlo --json | grep -q '"what":"add","not_hoisted":"depends on state 0, which the body changes"' || exit 1
cat >b.hlo <<'E'
HloModule b
less { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT l = pred[] compare(x, y), direction=LT }
body { s = (f32[20000,5000], f32[20000,5000]) parameter(0)
 v = f32[20000,5000] get-tuple-element(s), index=0
 k = f32[20000,5000] get-tuple-element(s), index=1
 sorted = f32[20000,5000] sort(k), dimensions={1}, to_apply=less
 sum = f32[20000,5000] add(sorted, v)
 ROOT t = (f32[20000,5000], f32[20000,5000]) tuple(sum, k) }
cond { s = (f32[20000,5000], f32[20000,5000]) parameter(0)
 v = f32[20000,5000] get-tuple-element(s), index=0
 first = f32[1,1] slice(v), slice={[0:1],[0:1]}
 x = f32[] reshape(first)
 limit = f32[] constant(9)
 ROOT l = pred[] compare(x, limit), direction=LT }
ENTRY e { s = (f32[20000,5000], f32[20000,5000]) parameter(0)
 ROOT w = (f32[20000,5000], f32[20000,5000]) while(s), body=body, condition=cond }
E
$HLO plan -v b.hlo >out.txt || exit 1
want ' %sorted .*; not hoisted: kept values would exceed 256 MiB$'
