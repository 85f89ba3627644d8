# Input that is endless, or larger than the limit of a text, is rejected with a message: each reader of text
# stdout: verify: 2
# stdout: run: 2
# stdout: literal: 2
# stdout: expect: 2
# stdout: options: 2
# stdout: infeed: 4
# stdout: golden: 2
# stdout: repl: 5
# stdout: source: 5
# stdout: serve: 5
# stdout: large: 2
# stdout: messages: 11
cat >m.hlo <<'E'
ENTRY e { x = f32[2] parameter(0) t = token[] after-all() i = (f32[2], token[]) infeed(t) ROOT r = f32[2] get-tuple-element(i), index=0 }
E
echo 'ENTRY e { ROOT x = f32[] constant(1) }' >one.hlo
$HLO verify /dev/zero 2>>log; echo "verify: $?"
$HLO run - </dev/zero 2>>log; echo "run: $?"
$HLO run m.hlo @/dev/zero 2>>log; echo "literal: $?"
$HLO run one.hlo --quiet --expect=/dev/zero 2>>log; echo "expect: $?"
$HLO run m.hlo --options=/dev/zero 2>>log; echo "options: $?"
$HLO run m.hlo 'x={1, 2}' --infeed=/dev/zero 2>>log; echo "infeed: $?"
ln -s /dev/zero golden.hlo
$HLO test golden.hlo >>log 2>&1; echo "golden: $?"
$HLO repl </dev/zero 2>>log; echo "repl: $?"
$HLO repl -c '.source /dev/zero' 2>>log; echo "source: $?"
$HLO serve --stdio </dev/zero 2>>log; echo "serve: $?"
truncate -s 5G large.hlo # a sparse file
$HLO verify large.hlo 2>>log; echo "large: $?"
echo "messages: $(grep -c 'input too long (limits: file 4 GiB' log)"
