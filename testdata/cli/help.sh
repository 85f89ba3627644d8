# --help shows examples first, on standard output.
# stderr: -
$HLO run --help >help.txt || exit 1
head -3 help.txt | tail -1 | grep -q '^  hlo run ' || exit 1
grep -q -- '--random\[=SEED\]' help.txt || exit 1
$HLO --help | grep -q '^  hlo verify ' || exit 1
$HLO help fmt | grep -q -- --in-place
