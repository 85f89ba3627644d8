# test: without any test the status is 1, with a message.
# stdout: 0 passed, 0 failed, 1 skipped
# stdout: status 1
# stdout: 0 passed, 0 failed, 0 skipped
# stdout: status 1
# stdout: status 1
# stdout: 0 passed, 0 failed, 1 skipped
# stdout: status 0
# stdout: TAP version 13
# stdout: 1..1
# stdout: ok 1 - a.hlo # SKIP no 'test:' line
# stdout: # 0 passed, 0 failed, 1 skipped
# stderr: hlo: error: no tests found: a test has a line '// test: ...' or is a snapshot; --new adds one to a module
# stderr: hlo: error: no test matches '--filter=other'
# status: 1
echo 'ENTRY e { ROOT r = s32[] constant(1) }' >a.hlo
$HLO test a.hlo
echo "status $?"
$HLO test --filter=other .
echo "status $?"
mkdir empty
$HLO test --list empty
echo "status $?"
$HLO test --allow-no-tests a.hlo
echo "status $?"
$HLO test --tap a.hlo
