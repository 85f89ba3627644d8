# Colour only on request, or on a terminal without NO_COLOR.
printf 'HloModule a\nENTRY e {\n  ROOT p = f32[] paramter(0)\n}\n' >bad.hlo
esc=$(printf '\033')
$HLO verify --color=always bad.hlo 2>&1 | grep -q "$esc" || exit 1
NO_COLOR=1 $HLO verify --color=always bad.hlo 2>&1 | grep -q "$esc" || exit 1
$HLO verify bad.hlo 2>&1 | grep -q "$esc" && exit 1
$HLO verify --color=never bad.hlo 2>&1 | grep -q "$esc" && exit 1
exit 0
