# A .bin file contains an array of the type and shape of the parameter.
# stdout: f32[2,2] { { 1, 2 }, { 3, 4 } }
# stdout: s4[2] {-1, 7}
printf 'HloModule a\nENTRY e { ROOT p = f32[2,2] parameter(0) }\n' >a.hlo
printf '\000\000\200\077\000\000\000\100\000\000\100\100\000\000\200\100' >w.bin
$HLO run a.hlo p=@w.bin || exit 1
printf 'HloModule b\nENTRY e { ROOT p = s4[2] parameter(0) }\n' >b.hlo
printf '\377\007' >w.raw
$HLO run b.hlo @w.raw
