# Elided values are not accepted as an argument, an expected result, an item of a feed, or the output of a command.
# stderr: argument 'x':1:9: error: elided values '...' are not allowed here
# stderr: <literal>:1:9: error: elided values '...' are not allowed here
# stderr: a.txt: error: line 1 is not a literal
# stderr: call.hlo:7:3: error: custom call 'f' failed: line 1 of the output is not a literal: elided values '...' are not allowed here
# stdout: 2 4
# stdout: 4
# stdout: 0 passed, 2 failed, 0 skipped
cat >double.hlo <<'END'
// test: eval
// from: hand
// in: {1, 2, 3}
// out: f32[3] {...}
ENTRY main {
  x = f32[3] parameter(0)
  ROOT r = f32[3] add(x, x)
}
END
cat >read.hlo <<'END'
// test: eval
// from: hand
// infeed: f32[3] {...}
// out: f32[3] {1, 2, 3}
ENTRY main {
  t = token[] after-all()
  i = (f32[3], token[]) infeed(t)
  ROOT x = f32[3] get-tuple-element(i), index=0
}
END
sed 's/add(x, x)/custom-call(x), custom_call_target="f"/' double.hlo >call.hlo
echo 'f32[3] {...}' >a.txt
printf 'f32[3] {...}' >expected.txt
$HLO run double.hlo '{...}' --save-bundle=b.npz
$HLO run double.hlo '{1, 2, 3}' --expect=expected.txt >/dev/null
expect=$?
$HLO run read.hlo --infeed=a.txt
echo $expect $?
$HLO run call.hlo '{1, 2, 3}' --custom-call='f=cat >/dev/null; echo "f32[3] {...}"'
echo $?
$HLO test double.hlo read.hlo | tail -1
