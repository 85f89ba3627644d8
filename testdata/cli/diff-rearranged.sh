# diff: values in another layout are compared, those of a computation that is called twice and inlined once for each call, folded constants, and moves that were removed.
# stdout: results agree; 4 of 5 instructions compared, 1 not bit-identical
# stdout: results agree; 8 of 8 instructions compared, 0 not bit-identical
# stderr: -
cat >a.hlo <<'E'
HloModule a
ENTRY e {
  x = f32[3,4] parameter(0)
  y = f32[1,12] reshape(x)
  s = f32[3,4] sine(x)
  v = f32[3,4] exponential(s)
  t = f32[4,3] transpose(v), dimensions={1,0}
  ROOT r = f32[4,3] tanh(t)
}
E
cat >b.hlo <<'E'
HloModule b
ENTRY e {
  x = f32[3,4] parameter(0)
  p = f32[4,3] transpose(x), dimensions={1,0}
  s.1 = f32[4,3] sine(p)
  v.1 = f32[4,3] exponential(s.1)
  w.1 = f32[4,3] tanh(v.1)
  ROOT r = f32[4,3] copy(w.1)
}
E
$HLO diff a.hlo b.hlo --random
cat >a.hlo <<'E'
HloModule a
step { x = f32[8] parameter(0)  h = f32[8] parameter(1)  c = f32[] parameter(2)
  m = f32[8] multiply(x, h)  b = f32[8] broadcast(c), dimensions={}  ROOT n = f32[8] add(m, b) }
ENTRY e {
  x = f32[8] parameter(0)
  c = f32[2] constant({3, 5})
  u = f32[1] slice(c), slice={[0:1]}
  squeeze = f32[] reshape(u)
  v = f32[1] slice(c), slice={[1:2]}
  squeeze.1 = f32[] reshape(v)
  h = f32[8] call(x, x, squeeze), to_apply=step
  ROOT r = f32[8] call(x, h, squeeze.1), to_apply=step
}
E
cat >b.hlo <<'E'
HloModule b
ENTRY e {
  x = f32[8] parameter(0)
  c.1 = f32[] constant(3), metadata={op_name="jit(f)/squeeze"}
  b.1 = f32[8] broadcast(c.1), dimensions={}
  m.1 = f32[8] multiply(x, x)
  h.1 = f32[8] add(m.1, b.1)
  c.2 = f32[] constant(5), metadata={op_name="jit(f)/squeeze"}
  b.2 = f32[8] broadcast(c.2), dimensions={}
  m.2 = f32[8] multiply(x, h.1)
  ROOT r = f32[8] add(m.2, b.2)
}
E
$HLO diff a.hlo b.hlo --random
