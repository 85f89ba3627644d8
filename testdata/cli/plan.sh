# plan: what each step computes, where to, until when, and with which kernel; the memory of a run.
# stderr: -
cat >a.hlo <<'END'
HloModule a
less { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT l = pred[] compare(x, y), direction=LT }
sum { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT l = f32[] add(x, y) }
body { s = (s32[], f32[65536]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 v = f32[65536] get-tuple-element(s), index=1
 one = s32[] constant(1)
 j = s32[] add(i, one)
 x = f32[1] constant({7})
 w = f32[65536] dynamic-update-slice(v, x, i)
 ROOT t = (s32[], f32[65536]) tuple(j, w) }
cond { s = (s32[], f32[65536]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(9)
 ROOT l = pred[] compare(i, n), direction=LT }
ENTRY e { p = f32[65536] parameter(0)
 q = f32[] parameter(1)
 sorted = f32[65536] sort(p), dimensions={0}, to_apply=less
 b = f32[65536] broadcast(q), dimensions={}
 d = f32[65536] divide(sorted, b)
 e = f32[65536] exponential(d)
 zero = s32[] constant(0)
 t = (s32[], f32[65536]) tuple(zero, e)
 w = (s32[], f32[65536]) while(t), body=body, condition=cond
 v = f32[65536] get-tuple-element(w), index=1
 r = f32[] reduce(v, q), dimensions={0}, to_apply=sum
 ROOT o = (f32[], f32[65536]) tuple(r, v) }
END
$HLO plan a.hlo >out.txt || exit 1
want() {
    tr -s ' ' <out.txt | grep -qF -- "$1" || { echo "lacks: $1"; tr -s ' ' <out.txt; exit 1; }
}
want 'entry %e: 2 parameters'
want '%sorted f32[65536] 256.0 KiB b'
want ' sort: ascending by operand 0, a f32; radix sort of keys'
want 'in place of %sorted'
want ' while: '
want ' reduce: add; '
want ' arguments 256.0 KiB'
want ' results 256.0 KiB'
want ' values 256.'
$HLO plan a.hlo --json >out.json || exit 1
grep -q '^{"schema":1,"module":"a","functions":\[{"name":"e","entry":true,' out.json || exit 1
grep -q '"memory":{"arguments":262148,"constants":[0-9]*,"results":262148,"estimated":true,"exact":false,"peak":' out.json || exit 1
