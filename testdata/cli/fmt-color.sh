# HLO text in colour, on request: without its escape sequences the text is the same.
# stderr: -
cat >a.hlo <<'END'
HloModule a
// a note
ENTRY main { x = f32[2,3]{1,0} parameter(0) /* two
  lines */ y = pred[] constant(true)
  ROOT r = (f32[2,3], pred[]) tuple(x, y), metadata={op_name="jit(f)/\"r\""} }
END
esc=$(printf '\033')
$HLO fmt --comments a.hlo >plain.txt || exit 1
$HLO fmt --comments --color=always a.hlo >colored.txt || exit 1
grep -q "$esc" plain.txt && exit 1
sed "s/$esc\[[0-9;]*m//g" colored.txt | cmp - plain.txt || exit 1
want() { grep -qF -- "$1" colored.txt || { echo "lacks: $1"; cat -v colored.txt; exit 1; }; }
want "${esc}[1;35mROOT${esc}[0m ${esc}[36m%r${esc}[0m = ("
want "${esc}[32mf32[2,3]{1,0}${esc}[0m ${esc}[1mparameter${esc}[0m(${esc}[33m0${esc}[0m)"
want "${esc}[90m// a note${esc}[0m"
want "${esc}[34mop_name=${esc}[0m${esc}[31m\"jit(f)/"
HLO_COLORS=shape=4 $HLO fmt --color=always a.hlo | grep -qF "${esc}[4mf32[2,3]{1,0}${esc}[0m"
