# reduce: a module of 1,700 instructions with a wrong one is reduced to that instruction on the correct operands
# stdout:   ROOT w700 = f32[4]{0} add(v700, x)
# stdout:   ROOT w700 = f32[4]{0} multiply(v700, x)
# stdout:   ROOT l = f32[4]{0} log(w849)
awk 'BEGIN {
    print "HloModule many\nENTRY main {\n  x = f32[4] parameter(0)\n  w0 = f32[4] tanh(x)"
    for (k = 1; k < 850; k++)
        print "  v" k " = f32[4] negate(w" k - 1 ")\n  w" k " = f32[4] " (k % 2 ? "add" : "multiply") "(v" k ", x)"
    print "  l = f32[4] log(w849)\n  ROOT r = (f32[4], f32[4]) tuple(w849, l)\n}"
}' >good.hlo
sed 's/ w700 = f32\[4\] multiply/ w700 = f32[4] add/' good.hlo >bad.hlo
show() {
    sed -n "s/^hlo: \([0-9]*\) of \([0-9]*\) instructions are left; .*/\1 instructions of \2/p" err
    $HLO fmt --short "$1" | grep ROOT
}
$HLO reduce bad.hlo '{0.1, 0.2, 0.3, 0.4}' --check=mismatch:good.hlo -o small.hlo 2>err
show small.hlo
cat >check <<'END'
# a compiler that replaces one multiplication by an addition
sed 's/\(w700 = [^ ]*\) multiply/\1 add/' "$1" >compiled.hlo
$HLO run "$1" --random -o out.npz && $HLO run compiled.hlo --random --expect=out.npz
END
$HLO reduce good.hlo '{0.1, 0.2, 0.3, 0.4}' --check='sh ./check' --bad-if=nonzero -o small.hlo 2>err
show small.hlo
$HLO reduce good.hlo '{-0.1, -0.2, -0.3, -0.4}' --check=nan -o small.hlo 2>err
show small.hlo
