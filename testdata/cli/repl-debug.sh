# A run stops at breakpoints and watchpoints, is continued in steps, and shows values
# stderr: <stdin>:5: error: 'g' has no value yet: stopped at 'w'
# stderr: <stdin>:17: error: only 'y' can be set where the run is stopped
# stderr: <stdin>:30: error: no stopped run; use .break NAME and .run, or .step
# stderr: <stdin>:8: error: a run is stopped; .continue or .stop it first
# stderr: <stdin>:23: error: no breakpoint 9
# stdout: breakpoint 1: model.py:42
# stdout: before w = (s32[], f32[]) while(st), condition=cond, body=body  # /x/model.py:42
# stdout: st[1] = f32[] 0.5
# stdout: before p = (s32[], f32[]) parameter(0)
# stdout:   in the condition of w
# stdout: before p = (s32[], f32[]) parameter(0)
# stdout:   in the condition of w
# stdout: before i = s32[] get-tuple-element(p), index=0
# stdout:   in the condition of w
# stdout: breakpoint 2: body/y
# stdout: before y = f32[] add(x, x)
# stdout:   in w, iteration 0
# stdout: x = f32[] 0.5
# stdout: k = s32[] 1
# stdout: x = f32[] get-tuple-element(q), index=1
# stdout: shape     f32[]
# stdout: in        body
# stdout: operands  q
# stdout: users     y
# stdout: value     f32[] 0.5
# stdout: body:
# stdout:       1  q = (s32[], f32[]) parameter(0)
# stdout:       2  j = s32[] get-tuple-element(q), index=0
# stdout:       3  one = s32[] constant(1)
# stdout:       4  k = s32[] add(j, one)
# stdout:       5  x = f32[] get-tuple-element(q), index=1
# stdout: =>    6  y = f32[] add(x, x)
# stdout:       7  ROOT r = (s32[], f32[]) tuple(k, y)
# stdout: breakpoint 2: body/y
# stdout: before y = f32[] add(x, x)
# stdout:   in w, iteration 1
# stdout: before y = f32[] add(x, x)
# stdout:   in w, iteration 1
# stdout: x = f32[] 100
# stdout: breakpoint 2: body/y
# stdout: before y = f32[] add(x, x)
# stdout:   in w, iteration 2
# stdout: 3 break divide
# stdout: breakpoint 3: divide
# stdout: before o = f32[] divide(g, g)
# stdout: g = f32[] 400
# stdout: o = f32[] 1
# stdout: o = f32[] 1
# stdout: watchpoint 4: nan
# stdout: after  o = f32[] divide(g, g)
# stdout: watchpoint 6: x
# stdout: after  x = f32[] get-tuple-element(q), index=1
# stdout:   in w, iteration 0
# stdout: before st = (s32[], f32[]) tuple(zero, s)
# stdout: before w = (s32[], f32[]) while(st), condition=cond, body=body  # /x/model.py:42
# stdout: zero: s32[] 0
# stdout: s: f32[] 2
# stdout: st: (s32[], f32[]) min 0 max 2 mean 1 nan 0 inf 0
# stdout:   p: (s32[], f32[]) min 0 max 2 mean 1 nan 0 inf 0
# stdout:   i: s32[] 0
# stdout:   n: s32[] 3
# stdout:   t: pred[] 1
# stdout:   q: (s32[], f32[]) min 0 max 2 mean 1 nan 0 inf 0
# stdout:   j: s32[] 0
# stdout:   one: s32[] 1
# stdout:   k: s32[] 1
# stdout:   x: f32[] 2
# stdout:   y: f32[] 4
# stdout:   r: (s32[], f32[]) min 1 max 4 mean 2.5 nan 0 inf 0
# stdout:   p: (s32[], f32[]) min 1 max 4 mean 2.5 nan 0 inf 0
# stdout:   i: s32[] 1
# stdout:   n: s32[] 3
# stdout:   t: pred[] 1
# stdout:   q: (s32[], f32[]) min 1 max 4 mean 2.5 nan 0 inf 0
# stdout:   j: s32[] 1
# stdout:   one: s32[] 1
# stdout:   k: s32[] 2
# stdout:   x: f32[] 4
# stdout:   y: f32[] 8
# stdout:   r: (s32[], f32[]) min 2 max 8 mean 5 nan 0 inf 0
# stdout:   p: (s32[], f32[]) min 2 max 8 mean 5 nan 0 inf 0
# stdout:   i: s32[] 2
# stdout:   n: s32[] 3
# stdout:   t: pred[] 1
# stdout:   q: (s32[], f32[]) min 2 max 8 mean 5 nan 0 inf 0
# stdout:   j: s32[] 2
# stdout:   one: s32[] 1
# stdout:   k: s32[] 3
# stdout:   x: f32[] 8
# stdout:   y: f32[] 16
# stdout:   r: (s32[], f32[]) min 3 max 16 mean 9.5 nan 0 inf 0
# stdout:   p: (s32[], f32[]) min 3 max 16 mean 9.5 nan 0 inf 0
# stdout:   i: s32[] 3
# stdout:   n: s32[] 3
# stdout:   t: pred[] 0
# stdout: w: (s32[], f32[]) min 3 max 16 mean 9.5 nan 0 inf 0
# stdout: g: f32[] 16
# stdout: o: f32[] 1
# stdout: o = f32[] 1
# stdout: z = f32[] -1
cat >m.hlo <<'EOF'
HloModule m
cond {
  p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT t = pred[] compare(i, n), direction=LT
}
body {
  q = (s32[], f32[]) parameter(0)
  j = s32[] get-tuple-element(q), index=0
  one = s32[] constant(1)
  k = s32[] add(j, one)
  x = f32[] get-tuple-element(q), index=1
  y = f32[] add(x, x)
  ROOT r = (s32[], f32[]) tuple(k, y)
}
ENTRY e {
  zero = s32[] constant(0)
  s = f32[] parameter(0)
  st = (s32[], f32[]) tuple(zero, s)
  w = (s32[], f32[]) while(st), condition=cond, body=body, metadata={source_file="/x/model.py" source_line=42}
  g = f32[] get-tuple-element(w), index=1
  ROOT o = f32[] divide(g, g)
}
EOF
$HLO repl m.hlo <<'EOF'
.bail off
.break model.py:42
.run 0.5
st[1]
g
.step
.where
.run
.next 1
.delete 1
.break body/y
.c
x
k
.info x
.list
.set zero = 1
.set y = 100
.c
.where
x
.finish
.delete 9
.d
.break divide
.break
.c
g
.n
.c
o
.delete
.watch nan
.watch inf
.run 0
.stop
.delete
.watch x
.run 1
.k
.delete
.step 3
.s
.stop
.trace on
.run 2
.trace off
z = negate(o)
EOF
