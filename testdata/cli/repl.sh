# Input is evaluated; names are values, and are sliced as in NumPy
# stderr: -
# stdout: x = f32[3] {1, 2, 3}
# stdout: y = f32[3] {2, 4, 6}
# stdout: _1 = f32[3] {3, 6, 9}
# stdout: _1[0:2] = f32[2] {3, 6}
# stdout: y[-1] = f32[] 6
# stdout: quiet = f32[3] {1, 4, 9}
# stdout: r = f32[3] {0, 2, 6}
# stdout: x = f32[3] {10, 20, 30}
# stdout: r = f32[3] {90, 380, 870}
# stdout: _2 = f32[3] {-10, -20, -30}
# stdout: one = f32[] 1
# stdout: _3 = f32[] -1
$HLO repl <<'EOF'
x = f32[3] {1, 2, 3}
y = add(x, x)
add(x, y)        // gets a name
_1[0:2]
y[-1]
quiet = multiply(x, x);
quiet
ROOT r = f32[3]{0} subtract(quiet, x), metadata={op_name="r"}
x = f32[3] {10, 20, 30}
r
f {
  p = f32[] parameter(0)
  ROOT n = f32[] negate(p)
}
map(x), dimensions={0}, to_apply=f
one = f32[] 1
f(one)
EOF
