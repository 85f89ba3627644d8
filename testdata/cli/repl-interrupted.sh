# Ctrl-C interrupts a run; values computed until then can be shown
# stderr: error: interrupted here
# stdout: y = s32[] negate(z)
# stdout: shape     s32[]
# stdout: in        e
# stdout: operands  z
# stdout: users     x
# stdout: cost      1 operations, 8 bytes
# stdout: value     s32[] 0
# stdout: y = s32[] 0
# stdout: status 0
# stdout: status 130
cat >loop.hlo <<'EOF'
c { p = s32[] parameter(0) n = s32[] constant(-1) ROOT t = pred[] compare(p, n), direction=NE }
b { q = s32[] parameter(0) o = s32[] constant(2) ROOT r = s32[] add(q, o) }
ENTRY e { z = s32[] constant(0) y = s32[] negate(z) x = s32[] custom-call(y), custom_call_target="begun" ROOT w = s32[] while(x), condition=c, body=b }
EOF
interrupted() { # COMMAND...: interrupted when the run has reached x
    rm -f begun
    "$TOOLS/signal_when.sh" INT 'test -e begun' "$HLO" repl loop.hlo --custom-call='begun=cat; touch begun' "$@"
}
interrupted -c '.bail off' -c .run -c '.info y' -c y
echo "status $?"
interrupted -c .run -c y
echo "status $?"
