# Expressions become HLO: literals get the type of the other operands, indices become slices,
# operations with attributes instructions of their own, and operations computations
# stderr: -
# stdout: > x = {1, 2.5, -3}
# stdout:   x = f32[3]{0} constant({1, 2.5, -3})
# stdout: x = f32[3] {1, 2.5, -3}
# stdout: > x + x
# stdout:   _1 = f32[3]{0} add(x, x)
# stdout: _1 = f32[3] {2, 5, -6}
# stdout: > add(x, 2)
# stdout:   constant.anon = f32[] constant(2)
# stdout:   _2.broadcast = f32[3]{0} broadcast(constant.anon), dimensions={}
# stdout:   _2 = f32[3]{0} add(x, _2.broadcast)
# stdout: _2 = f32[3] {3, 4.5, -1}
# stdout: > x = 3
# stdout:   x = f32[] constant(3)
# stdout: x = f32[] 3
# stdout: > _2
# stdout: _2 = f32[] 5
# stdout: > reduce({2, 3}, 0), to_apply=add
# stdout:   constant.anon.1 = s32[2]{0} constant({2, 3})
# stdout:   constant.anon.2 = s32[] constant(0)
# stdout:   _3 = s32[] reduce(constant.anon.1, constant.anon.2), dimensions={0}, to_apply=add_s32
# stdout: _3 = s32[] 5
# stdout: > -(_2 - x) ** 2 < 2.5
# stdout:   subtract.anon = f32[] subtract(_2, x)
# stdout:   constant.anon.3 = f32[] constant(2)
# stdout:   power.anon = f32[] power(subtract.anon, constant.anon.3)
# stdout:   negate.anon = f32[] negate(power.anon)
# stdout:   constant.anon.4 = f32[] constant(2.5)
# stdout:   _4 = pred[] compare(negate.anon, constant.anon.4), direction=LT
# stdout: _4 = pred[] true
# stdout: > m = [[1, 2, 3], [4, 5, 6]]
# stdout:   m = s32[2,3]{1,0} constant({ { 1, 2, 3 }, { 4, 5, 6 } })
# stdout: m = s32[2,3] { { 1, 2, 3 }, { 4, 5, 6 } }
# stdout: > m[0] + 10 * m[1]
# stdout:   _5 = s32[1,3]{1,0} slice(m), slice={[0:1], [0:3]}
# stdout:   _6 = s32[1,3]{1,0} slice(m), slice={[1:2], [0:3]}
# stdout:   reshape.anon = s32[3]{0} reshape(_5)
# stdout:   constant.anon.5 = s32[] constant(10)
# stdout:   multiply.broadcast = s32[3]{0} broadcast(constant.anon.5), dimensions={}
# stdout:   reshape.anon.1 = s32[3]{0} reshape(_6)
# stdout:   multiply.anon = s32[3]{0} multiply(multiply.broadcast, reshape.anon.1)
# stdout:   _7 = s32[3]{0} add(reshape.anon, multiply.anon)
# stdout: _7 = s32[3] {41, 52, 63}
# stdout: > .echo off
# stdout: _9 = s32[] 2
# stdout: _11 = s32[2,2] { { 3, 1 }, { 6, 4 } }
# stdout: _14 = s32[3] {7, 6, 10}
# stdout: _14[0] = s32[] 7
# stdout: _14 = s32[3] {7, 6, 10}
# stdout: _15 = pred[2,3] { { 0, 0, 1 }, { 1, 1, 1 } }
# stdout: _16 = s32[2,3] { { 0, 0, 3 }, { 4, 5, 6 } }
# stdout: _17 = f32[] -9
# stdout: _18 = f32[] 512
# stdout: _19 = f32[] 1
# stdout: _21 = s32[] -14
# stdout: a-b = s32[] 7
# stdout: _22 = s32[] 6
# stdout: _25 = f32[] 4
# stdout: s32[2,3]{1,0}
# stdout: t = (
# stdout:   s32[2,3] { { 1, 2, 3 }, { 4, 5, 6 } },
# stdout:   s32[] 1,
# stdout:   (
# stdout:     f32[] 2.5
# stdout:   )
# stdout: )
# stdout: _26 = s32[2] {3, 3}
# stdout: _27 = s32[] 7
$HLO repl --norc <<'EOF'
.prompt '> '
.echo on
x = {1, 2.5, -3}
x + x
add(x, 2)
x = 3
_2
reduce({2, 3}, 0), to_apply=add
-(_2 - x) ** 2 < 2.5
m = [[1, 2, 3], [4, 5, 6]]
m[0] + 10 * m[1]
.echo off
reduce(m, 0, to_apply=max) / 3
sort(m[:, ::2], to_apply=gt)
m[1] * 2 - m[0] ** 2 % 7
_[0]
root
m > 2
select(_, m, 0)
-3.0 ** 2
2 ** (3.0 ** 2)
exp(0)
f { p = s32[] parameter(0)  q = s32[] parameter(1)  ROOT r = s32[] subtract(p, q) }
f(f(1, 3), 12)
a-b = 7
a-b-1
tuple(m, 2.5);
_[1] + 1.5
.type m * m
t = (m, 1, (2.5,))
s32[2] broadcast(3)
(a-b)
EOF
