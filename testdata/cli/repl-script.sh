# Scripts: files, -c, the rc file; the first error ends them with its status
# status: 2
# stderr: time: 0....
# stderr: -c:1: error: unknown command '.bogus'; see .help
# stderr: <stdin>:2: error: unterminated bracket, string or comment at end of input
# stderr: nowhere.hlr: No such file or directory
# stderr: .source nested more than 20 deep
# stderr: -c:1: error: shell exited with status 3
# stderr: expected at most one file, got 'two'
# stdout: third = f32[] 0.333
# stdout: > x
# stdout: x = f32[2] {1, 2}
# stdout: > .echo off
# stdout: y = f32[2] {2, 4}
# stdout:       1  third = f32[] constant(0.333333343)
# stdout:       2  x = f32[2]{0} constant({1, 2})
# stdout:       3  ROOT y = f32[2]{0} add(x, x)
# stdout: third = f32[] 0.333333343
# stdout: third: f32[] 0.333333343
# stdout: x = f32[] 1
# stdout: z = f32[] 7
# stdout: x = f32[] 1
# stdout: status 2
# stdout: x = f32[2] {1, 2}
# stdout: status 3
# stdout: x = s32[] 0
# stdout: status 3
# stdout: status 2
# stdout: status 5
# stdout: status 4
# stdout: status 5
echo 'f32[2] {5, 6}' >five.txt
cat >setup.hlr <<'EOF'
// read by .source
x = f32[2] {1, 2};
.prompt '> '
EOF
mkdir -p config/hlo
echo '.precision 3' >config/hlo/rc
export XDG_CONFIG_HOME=$PWD/config
$HLO repl <<'EOF'
.source setup.hlr
third = f32[] 0.333333333
.echo on
x
.echo off
.time on
y = add(x, x)
.time off
.reset
.list
.undo
.list
.quit
never read
EOF
$HLO repl --norc -c 'third = f32[] 0.333333333' -c '.mode summary' -c third
echo 'z = f32[] 7' | $HLO repl --norc -i -c 'x = f32[] 1'
echo 'z = f32[] 7' | $HLO repl --norc -c 'x = f32[] 1'
$HLO repl --norc -c .bogus -c 'x = f32[] 1'
echo "status $?"
printf 'x = f32[2] {1, 2}\ny = divide(x, x\n' | $HLO repl --norc
echo "status $?"
printf 'x = s32[] 0\nwhile(x), condition=c, body=b\n' | $HLO repl --norc
echo "status $?"
echo '.source nowhere.hlr' | $HLO repl --norc
echo "status $?"
echo '.source loop.hlr' >loop.hlr
$HLO repl --norc <loop.hlr
echo "status $?"
$HLO repl --norc -c '.shell exit 3'
echo "status $?"
cat >loop.hlo <<'EOF'
c { p = s32[] parameter(0) n = s32[] constant(-1) ROOT t = pred[] compare(p, n), direction=NE }
b { q = s32[] parameter(0) o = s32[] constant(2) ROOT r = s32[] add(q, o) }
ENTRY e { z = s32[] constant(0) ROOT w = s32[] while(z), condition=c, body=b }
EOF
$HLO repl --norc --max-steps=100 loop.hlo -c .run
echo "status $?"
$HLO repl --norc loop.hlo two
