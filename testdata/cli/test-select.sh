# test: --list, --shuffle, --fail-fast, --slowest, and JSON lines.
# stdout: dir/a.hlo
# stdout: dir/b.hlo
# stdout: dir/c.hlo#1
# stdout: dir/c.hlo#2
# stdout: {"schema":1,"test":"dir/a.hlo","file":"dir/a.hlo","module":1}
# stdout: 3 passed, 1 failed, 0 skipped
# stdout: as many slow ones as there are: 2
# stdout: 1 passed, 1 failed, 0 skipped, 2 not run
# stdout: the same order
# stdout: {"schema":1,"test":"dir/b.hlo","file":"dir/b.hlo","module":1,"status":"failed","seconds":S,"text":"dir/b.hlo:6: element {} is 5, expected 6; 1 of 1 differ"}
# stdout: {"schema":1,"passed":3,"failed":1,"skipped":0,"not_run":0}
# stderr: hlo: --shuffle=...
# status: 1
one() { printf '// test: eval\n// from: hand\n// in p: s32[] %s\n// out: s32[] %s\nHloModule m\nENTRY e { p = s32[] parameter(0)  ROOT a = s32[] abs(p) }\n' "$1" "$2"; }
mkdir dir
one -4 4 >dir/a.hlo; one 5 6 >dir/b.hlo; { one 1 1; echo '// -----'; one 2 2; } >dir/c.hlo
$HLO test --list dir
$HLO test --list --json dir/a.hlo
$HLO test --slowest=2 --shuffle dir >out.txt
tail -1 out.txt
echo "as many slow ones as there are: $(grep -c ' s  dir/' out.txt)"
$HLO test --fail-fast -j1 dir | tail -1
$HLO test --shuffle=5 --tap -j2 dir >x.txt; $HLO test --shuffle=5 --tap -j1 dir >y.txt; cmp x.txt y.txt && echo the same order
$HLO test --json dir >j.txt; status=$?
grep '"failed",' j.txt | sed 's/"seconds":[^,]*/"seconds":S/'
tail -1 j.txt
exit $status
