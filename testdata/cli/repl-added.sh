# A line that is processed alone, and one that requires the whole module, result in the same module and the same values
# status: 3
# stderr: <stdin>:22:5: error: computation 'twice' of 'fusion' is called by another fusion
# stdout: x = f32[2] {1, 2}
# stdout: a = f32[2] {2, 6}
# stdout: b = f32[2] {4, 12}
# stdout: c = f32[2] {8, 24}
# stdout: f32[2]{0}
# stdout: x = f32[2] {3, 4}
# stdout: c = f32[2] {48, 80}
# stdout: twice: 2 instructions
# stdout: four: 2 instructions
# stdout:       1  x = f32[2]{0} constant({1, 2})
# stdout:       2  multiply.anon = f32[2]{0} multiply(x, x)
# stdout:       3  a = f32[2]{0} add(multiply.anon, x)
# stdout:       4  b = f32[2]{0} call(a), to_apply=twice
# stdout:       5  ROOT c = f32[2]{0} call(b), to_apply=four
# stdout: d = f32[2] {-4, -12}
# stdout: e = f32[2] {4, 12}
# stdout: e = f32[2]{0} abs(d)
# stdout: shape     f32[2]{0}
# stdout: in        main
# stdout: operands  d
# stdout: cost      2 operations, 16 bytes
# stdout: value     f32[2] min 4 max 12 mean 8 nan 0 inf 0
# stdout:       5  c = f32[2]{0} call(b), to_apply=four
# stdout:       6  d = f32[2]{0} negate(b)
# stdout: g = f32[2] {8, 24}
# stdout:       7  e = f32[2]{0} abs(d)
# stdout:       8  ROOT g = f32[2]{0} fusion(e), kind=kLoop, calls=twice
# stdout: _1 = f32[2] {16, 144}
# stdout: HloModule session, entry_computation_layout={()->f32[2]{0}}
# stdout:
# stdout: %twice (p: f32[2]) -> f32[2] {
# stdout:   %p = f32[2]{0} parameter(0)
# stdout:   ROOT %r = f32[2]{0} add(%p, %p)
# stdout: }
# stdout:
# stdout: %four (p.1: f32[2]) -> f32[2] {
# stdout:   %p.1 = f32[2]{0} parameter(0)
# stdout:   ROOT %r.1 = f32[2]{0} call(%p.1), to_apply=%twice
# stdout: }
# stdout:
# stdout: ENTRY %main () -> f32[2] {
# stdout:   %x = f32[2]{0} constant({1, 2})
# stdout:   %multiply.anon = f32[2]{0} multiply(%x, %x)
# stdout:   %a = f32[2]{0} add(%multiply.anon, %x)
# stdout:   %b = f32[2]{0} call(%a), to_apply=%twice
# stdout:   %c = f32[2]{0} call(%b), to_apply=%four
# stdout:   %d = f32[2]{0} negate(%b), control-predecessors={%c}
# stdout:   %e = f32[2]{0} abs(%d)
# stdout:   %g = f32[2]{0} fusion(%e), kind=kLoop, calls=%twice
# stdout:   ROOT %_1 = f32[2]{0} multiply(%e, %e)
# stdout: }
$HLO repl <<'END'
x = f32[2] constant({1, 2})
twice { p = f32[2] parameter(0) ROOT r = f32[2] add(p, p) }
a = add(multiply(x, x), x)
b = twice(a)
four { p = f32[2] parameter(0) ROOT r = f32[2] call(p), to_apply=twice }
c = four(b)
.type add(c, c)
x = f32[2] constant({3, 4})
c
.undo 2
.redo
.list
d = negate(b), control-predecessors={c}
e = abs(d)
.info e
.users b
g = fusion(e), kind=kLoop, calls=twice
.list 7,9
multiply(e, e)
.save -
twice { p = f32[2] parameter(0) ROOT r = f32[2] multiply(p, p) }
h = fusion(e), kind=kLoop, calls=twice
END
