# Parameters that are declared one by one, and values assigned to them before and after their first use
# status: 3
# stderr: <stdin>:20:1: error: missing parameter number 3: there are 4 parameters
# stdout: x: f32[2]{0}
# stdout: y: f32[2]{0}
# stdout: x = f32[2] {1, 2}
# stdout: s = f32[2] {4, 10}
# stdout: s = f32[2] {20, 30}
# stdout: z: f32[2]{0}
# stdout: t = f32[2] {29, 38}
# stdout: x: f32[2] min 5 max 6 mean 5.5 nan 0 inf 0
# stdout: y: f32[2] min 3 max 4 mean 3.5 nan 0 inf 0
# stdout: z: f32[2] min 8 max 9 mean 8.5 nan 0 inf 0
# stdout:       1  x = f32[2]{0} parameter(0)
# stdout:       2  y = f32[2]{0} parameter(1)
# stdout:       3  multiply.anon = f32[2]{0} multiply(x, y)
# stdout:       4  s = f32[2]{0} add(multiply.anon, x)
# stdout:       5  z = f32[2]{0} parameter(2)
# stdout:       6  ROOT t = f32[2]{0} add(s, z)
# stdout: HloModule session, entry_computation_layout={(f32[2]{0})->f32[2]{0}}
# stdout:
# stdout: ENTRY %main (y: f32[2]) -> f32[2] {
# stdout:   %x = f32[2]{0} constant({5, 6})
# stdout:   %y = f32[2]{0} parameter(0)
# stdout:   %multiply.anon = f32[2]{0} multiply(%x, %y)
# stdout:   %s = f32[2]{0} add(%multiply.anon, %x)
# stdout:   %z = f32[2]{0} constant({9, 8})
# stdout:   ROOT %t = f32[2]{0} add(%s, %z)
# stdout: }
# stdout:
# stdout: z = f32[2] {9, 8}
# stdout: y = f32[2] {3, 4}
# stdout: s = f32[2]{0} add(multiply.anon, x)
# stdout: shape     f32[2]{0}
# stdout: in        main
# stdout: operands  multiply.anon, x
# stdout: cost      2 operations, 24 bytes
# stdout: value     f32[2] min 20 max 30 mean 25 nan 0 inf 0
$HLO repl <<'END'
x = f32[2] parameter(0)
.set x = {1, 2}
y = f32[2] parameter(1)
x
.set y = {3, 4}
s = add(multiply(x, y), x)
.set x = {5, 6}
s
z = f32[2] parameter(2), metadata={op_name="in"}
.set z = {7, 8}
.set z = {9, 8}
t = add(s, z)
.set
.set y
.list
.save -
.undo 2
.print z y
.info s
w = f32[2] parameter(4)
END
