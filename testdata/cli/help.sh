# --help shows examples first, on standard output.
# stderr: -
$HLO run --help >help.txt || exit 1
head -3 help.txt | tail -1 | grep -q '^  hlo run ' || exit 1
grep -q -- '--random\[=SEED\]' help.txt || exit 1
$HLO --help | grep -q '^  hlo verify ' || exit 1
echo | $HLO --help | grep -q '^  hlo verify ' || exit 1
$HLO --help | grep -q -- '^  -V, --version ' || exit 1
# Options are in groups; a text may depend on the command; lines fit a terminal.
sed -n '/^usage:/,$s/^\([[:lower:]]*\):$/\1/p' help.txt | tr '\n' ' ' >groups
[ "$(cat groups)" = 'input selection execution comparison limits debugging output general ' ] || { cat groups; exit 1; }
sed -n '/^limits:/,/^$/p' help.txt | grep -q -- --max-steps || exit 1
sed -n '/^usage:/,$p' help.txt | grep '.\{80\}' && exit 1
$HLO test --help | grep -q -- '--filter=RE  *select tests' || exit 1
$HLO trace --help | grep -q -- '--filter=RE  *only instructions' || exit 1
$HLO test --help | grep -q -- '--json  *print one JSON object per test' || exit 1
$HLO test --help | grep -q -- '--random\[=SEED\]  *with --new, ' || exit 1
$HLO diff --help | grep -q -- '--verbose  *with --text, ' || exit 1
$HLO diff --help | grep -q -- '--bundle=FILE  *read arguments from' || exit 1
$HLO help fmt | grep -q -- --in-place
