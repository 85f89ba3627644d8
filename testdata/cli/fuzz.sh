# Generated arguments, including edge values: fast and plain kernels agree, a different program need not.
# stdout: 20 runs agree
# stdout: {"schema":1,"seed":1,"runs":4,"agreed":4,"stopped":0,"differs":null}
# stdout: 3 runs agree
# stdout: run 1 of 100 differs (--fake=ones --seed=1): element {0} is 1, expected 0; 3 of 3 differ; worst errors: abs 1 at {0}, rel inf, 1065353216 ulp
# stdout: reproduce with 'hlo run --bundle=bad.npz'
# stdout: differs: 1
# stdout: shown: 1
# stdout: {"schema":1,"seed":1,"runs":1,"agreed":0,"stopped":0,"differs":{"run":0,"fake":"uniform","seed":1,"text":"only the reference failed: exit status 7","bundle":"fuzz.npz"}}
# stdout: 2 runs agree, 1 fail on both sides
# stderr: nowhere/at/all: error: exit status 127
# stderr: hlo: error: '--plain' requires '--oracle': the reference kernels are the default reference
# status: 2
cat >m.hlo <<'E'
HloModule m
ENTRY e { x = f32[3] parameter(0)  y = f32[3] parameter(1)  ROOT m = f32[3] multiply(x, y) }
E
cat >sub.hlo <<'E'
HloModule m
ENTRY e { x = f32[3] parameter(0)  y = f32[3] parameter(1)  ROOT m = f32[3] subtract(x, y) }
E
cat >oracle.sh <<E
$HLO run \${MODULE:-\$1} --inputs=\$2 --output=\$3
E
$HLO fuzz m.hlo --runs=20 --seed=3
$HLO fuzz m.hlo --runs=4 --json
$HLO fuzz m.hlo --runs=3 --oracle='sh oracle.sh' --abs=0
MODULE=sub.hlo $HLO fuzz m.hlo --oracle='sh oracle.sh' --fake=ones --save-bundle=bad.npz; echo differs: $?
$HLO run --bundle=bad.npz; echo shown: $?
$HLO fuzz m.hlo --oracle='exit 7; :' --json
cat >infeed.hlo <<'E'
HloModule m
ENTRY e {
  p = pred[] parameter(0)
  t = token[] after-all()
  ROOT c = f32[] conditional(p, t, t), true_computation=yes, false_computation=no
}
no { n = token[] parameter(0)  ROOT z = f32[] constant(0) }
yes { k = token[] parameter(0)  f = (f32[], token[]) infeed(k)  ROOT v = f32[] get-tuple-element(f), index=0 }
E
awk '/^ENTRY/ { e = 1 } e { entry = entry $0 "\n" } !e { print } /^}/ { e = 0 } END { printf "%s", entry }' infeed.hlo >ordered.hlo
$HLO fuzz ordered.hlo --runs=3 --seed=1
$HLO fuzz m.hlo --oracle=nowhere/at/all
$HLO fuzz m.hlo --plain
