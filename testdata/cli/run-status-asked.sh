# SIGUSR1: a run reports its progress and continues.
# stdout: f32[] 6
# stderr: s: reading, planning or writing
# stderr: s: step 2 of 3, second
# stderr: , second
cat >two.hlo <<'X'
HloModule two
ENTRY main {
  t = token[] after-all()
  first = (f32[], token[]) infeed(t)
  u = token[] get-tuple-element(first), index=1
  second = (f32[], token[]) infeed(u)
  x = f32[] get-tuple-element(first), index=0
  y = f32[] get-tuple-element(second), index=0
  ROOT r = f32[] multiply(x, y)
}
X
mkfifo module items
$HLO run module --infeed=items 2>err >out &
pid=$!
exec 4>module # the program has opened it, so its signal handler is installed
"$TOOLS/await.sh" "kill -USR1 $pid; grep -q 'reading, planning' err"
cat two.hlo >&4
exec 4>&-
exec 3>items
echo 'f32[] 2' >&3
"$TOOLS/await.sh" "kill -USR1 $pid; grep -q 'step 2 of .*, second' err"
echo 'f32[] 3' >&3
exec 3>&-
wait $pid
status=$?
cat out
cat err >&2
exit $status
