# Usage errors of hlo convert: no file, no or unknown formats, several modules.
# stdout: HloModule b, entry_computation_layout={()->s32[]}
# stdout:
# stdout: ENTRY %e () -> s32[] {
# stdout:   ROOT %c = s32[] constant(2)
# stdout: }
# stderr: hlo: error: no file given
# stderr: hlo: error: no format given: use --to, or -o with a file name
# stderr: hlo: error: unknown format of 'x.xyz': expected .hlo, .pb or .pbtxt, or use --to
# stderr: hlo: error: invalid value 'xyz' for '--to': expected hlo, pb or pbtxt
# stderr: hlo: error: extra argument 'two.hlo'
# stderr: hlo: error: cannot write a module to 'x.npy'
# stderr: hlo: error: 'two.hlo' has 2 modules; select one with --module=N
printf 'HloModule a\nENTRY e { ROOT c = s32[] constant(1) }\n// -----\nHloModule b\nENTRY e { ROOT c = s32[] constant(2) }\n' >two.hlo
$HLO convert
$HLO convert two.hlo
$HLO convert two.hlo -o x.xyz
$HLO convert two.hlo --to=xyz
$HLO convert two.hlo two.hlo --to=hlo
$HLO convert two.hlo -o x.npy
$HLO convert two.hlo --to=hlo
$HLO convert two.hlo --to=hlo --module=2
