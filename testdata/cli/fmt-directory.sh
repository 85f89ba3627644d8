# fmt: a directory stands for the files in it and in its subdirectories.
# stdout: tests/a.hlo
# stdout: tests/deep/c.hlo
# stdout: 1 0 0
# stderr: empty: error: directory contains no module dumps, such as module_0001.NAME.before_optimizations.txt
mkdir -p tests/deep tests/.hidden tests/none empty/none
printf 'ENTRY e { ROOT p = f32[2] parameter(0) }\n' >tests/a.hlo
cp tests/a.hlo tests/deep/c.hlo
cp tests/a.hlo tests/.hidden/d.hlo
echo 'not HLO' >tests/notes.md
$HLO fmt --check tests; a=$?
$HLO fmt --in-place tests; b=$?
$HLO fmt --check tests; c=$?
echo $a $b $c
! $HLO fmt --check empty
