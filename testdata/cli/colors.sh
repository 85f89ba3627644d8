# HLO_COLORS: the colours of messages and of the lines they quote; an invalid colour is reported and not sent to the terminal.
# stderr: hlo: warning: invalid 'HLO_COLORS': expected attribute, caret, comment, error, help, keyword, name, note, number, operation, place, shape, string or warning, as in 'error=1;31:note=36'
printf 'HloModule a\nENTRY e {\n  ROOT p = f32[] paramter(0)\n}\n' >bad.hlo
esc=$(printf '\033')
see() { env "HLO_COLORS=$1" $HLO verify --color=always "$2" 2>&1; }
see 'error=4:place=' bad.hlo | grep -qF "${esc}[mbad.hlo:3:18:${esc}[0m ${esc}[4merror:${esc}[0m" || exit 1
see 'error=4' bad.hlo | grep -qF "${esc}[1mbad.hlo:3:18:${esc}[0m" || exit 1
see 'error=4' -- | grep -qF "${esc}[4merror:" || exit 1
see "error=4${esc}[2J" bad.hlo | grep -qF '[2J' && exit 1
# the line of a module, not that of an argument
see '' bad.hlo | grep -qF "  ${esc}[1;35mROOT${esc}[0m ${esc}[36mp${esc}[0m = ${esc}[32mf32[]${esc}[0m ${esc}[1mparamter${esc}[0m(${esc}[33m0${esc}[0m)" || exit 1
see shape=4:number= bad.hlo | grep -qF "= ${esc}[4mf32[]${esc}[0m ${esc}[1mparamter${esc}[0m(0)" || exit 1
sed 's/paramter/parameter/' bad.hlo >good.hlo
$HLO run --color=always good.hlo 'f32[] 1,' 2>&1 | grep -qxF 'f32[] 1,' || exit 1
env HLO_COLORS=error=4 $HLO verify bad.hlo 2>&1 | grep -qF "$esc" && exit 1
HLO_COLORS=blue $HLO verify --color=always bad.hlo
test $? = 3
