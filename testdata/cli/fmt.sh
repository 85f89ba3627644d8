# fmt: canonical text; --diff shows the changes; --in-place keeps the leading comments.
# stdout: HloModule a, entry_computation_layout={(f32[2]{0})->f32[2]{0}}
# stdout: 
# stdout: ENTRY %e (p: f32[2]) -> f32[2] {
# stdout:   ROOT %p = f32[2]{0} parameter(0)
# stdout: }
# stdout: 1 0 0
printf '// mine\nHloModule a\nENTRY e { ROOT p = f32[2] parameter(0) }\n' >a.hlo
$HLO fmt a.hlo | sed '/^$/{N;}' >out.txt
cat out.txt | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
$HLO fmt --diff a.hlo >diff.txt; a=$?
grep -q '^-ENTRY e ' diff.txt || exit 1
grep -q '^+ENTRY %e ' diff.txt || exit 1
$HLO fmt --in-place a.hlo; b=$?
head -1 a.hlo | grep -q '^// mine$' || exit 1
$HLO fmt --diff a.hlo; c=$?
echo $a $b $c
