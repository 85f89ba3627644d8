# diff --json.
# stdout: {"schema":1,"same":true,"instructions":2,"compared":2,"unequal":0,"results_agree":true,"explanations":[],"changed":[],"only_a":[],"only_b":[]}
# stdout: {"schema":1,"same":false,"instructions":2,"compared":2,"unequal":0,"results_agree":false,"results":{"comparable":true,"elements":2,"outside":2,"not_finite":0,"worst_abs":1,"worst_rel":"inf","worst_ulp":1065353216,"worst":[{"leaf":0,"index":0,"actual":-0,"expected":1,"abs":1,"rel":1,"ulp":1065353216},{"leaf":0,"index":1,"actual":-1,"expected":0,"abs":1,"rel":"inf","ulp":1065353216}],"decades":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1]},"explanations":[],"changed":[{"name":"z","computation":"e","op":"exponential","shape":"f32[2]{0}","line":2}],"only_a":[],"only_b":[{"name":"u","computation":"e","op":"abs","shape":"f32[2]{0}","line":2}],"first":{"a":{"name":"z","computation":"e","op":"exponential","shape":"f32[2]{0}","line":2},"b":{"name":"z","computation":"e","op":"tanh","shape":"f32[2]{0}","line":2},"paired":"otherwise","participant":0,"occurrence":0,"difference":{"comparable":true,"elements":2,"outside":2,"not_finite":0,"worst_abs":1,"worst_rel":"inf","worst_ulp":1065353216,"worst":[{"leaf":0,"index":0,"actual":-0,"expected":1,"abs":1,"rel":1,"ulp":1065353216},{"leaf":0,"index":1,"actual":-1,"expected":0,"abs":1,"rel":"inf","ulp":1065353216}],"decades":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1]}}}
# stderr: -
# status: 1
cat >a.hlo <<'E'
HloModule a
ENTRY e { x = f32[2] parameter(0)  y = f32[2] negate(x)  ROOT z = f32[2] exponential(y) }
E
sed 's/exponential/tanh/; s/ y = / y.3 = /; s/negate(x)/negate(x)  u = f32[2] abs(y.3)/; s/tanh(y)/tanh(y.3)/' a.hlo >b.hlo
$HLO diff a.hlo a.hlo '{0, inf}' --json
$HLO diff a.hlo b.hlo '{0, inf}' --json
