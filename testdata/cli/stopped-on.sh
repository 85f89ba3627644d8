# --stop-on ends a run at the instruction that produces nan, inf, an overflow or a denormal number from operands without one.
# stdout: 4 4 4 4 4 0 2 4 4
# stderr: a.hlo:5:3: error: 'l' produces nan from operands without any: nan at {1} (1 of 3 elements)
# stderr: a.hlo:4:3: note: operand 0 is 'y': {1} -1
# stderr: a.hlo:12:3: note: in 'call'
# stderr: note: traced from step.py:7
# stderr: a.hlo:5:3: error: 'l' produces inf from operands without any: -inf at {2} (1 of 3 elements)
# stderr: a.hlo:13:3: error: 'e' produces inf from finite operands: inf at {0} (1 of 3 elements)
# stderr: a.hlo:14:3: error: 'd' produces a denormal from operands without any: 2e-39 at {} (1 of 1 elements)
# stderr: hlo: warning: nan in the arguments of 'x'
# stderr: b.hlo:7:3: error: 'r' reads nan from a constant: nan at {0} (2 of 3 elements)
# stderr: b.hlo:6:3: note: operand 2 is 'n': {0} nan
# stderr: c.hlo: note: source line unknown: no stack frame table entry 4 of 'r'
# stderr: note: traced from jit(f)/log
# stderr: d.hlo:3:3: note: operand 0 is 'r': {1} inf
# stderr: d.hlo:3:3: note: 'r' produced the first infinity
# stderr: hlo: error: invalid value 'nan,x' for '--stop-on': expected nan, inf, overflow or denormal, separated by commas
cat >a.hlo <<'END'
HloModule a

inner {
  y = f32[3] parameter(0)
  ROOT l = f32[3] log(y), metadata={source_file="step.py" source_line=7}
}

ENTRY main {
  x = f32[3] parameter(0)
  tiny = f32[] parameter(1)
  half = f32[] constant(0.1)
  call = f32[3] call(x), to_apply=inner
  e = f32[3] exponential(x)
  d = f32[] multiply(tiny, half)
  ROOT t = (f32[3], f32[3], f32[]) tuple(call, e, d)
}
END
cat >b.hlo <<'END'
HloModule b
ENTRY main {
  x = f32[3] parameter(0)
  p = pred[3] is-finite(x)
  c = f32[] constant(nan)
  n = f32[3] broadcast(c), dimensions={}
  ROOT r = f32[3] select(p, x, n)
}
END
run() { $HLO run "$@" >/dev/null; }
run a.hlo '{1, -1, 0}' 1 --stop-on=nan; a=$?
run a.hlo '{1, -1, 0}' 1 --stop-on=inf,overflow; b=$?
run a.hlo '{100, 1, 0}' 1 --stop-on=overflow; c=$?
run a.hlo '{1, 1, 1}' 2e-38 --stop-on=denormal; d=$?
run b.hlo '{inf, 1, inf}' --stop-on=nan; e=$?
run a.hlo '{1, nan, 0}' 1 --stop-on=nan; f=$?
run a.hlo '{1, 1, 1}' 1 --stop-on=nan,x; g=$?
cat >c.hlo <<'END'
ENTRY main {
  x = f32[] parameter(0)
  ROOT r = f32[] log(x), metadata={op_name="jit(f)/log" stack_frame_id=4}
}
END
run c.hlo -1 --stop-on=nan; h=$?
cat >d.hlo <<'END'
ENTRY main {
  x = f32[2] parameter(0)
  r = f32[2] rsqrt(x)
  ROOT s = f32[2] sine(r)
}
END
run d.hlo '{1, 0}' --stop-on=nan; i=$?
echo $a $b $c $d $e $f $g $h $i
