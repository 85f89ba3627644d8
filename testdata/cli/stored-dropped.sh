# hlo convert writes only the module of a snapshot or a bundle, with a warning; a module alone has none.
# needs: proto
# stdout: HloModule m, entry_computation_layout={(f32[2]{0})->f32[2]{0}}
# stderr: run.pbtxt: warning: stored arguments and results are dropped: only the module is written
# stderr: run.npz: warning: stored arguments and results are dropped: only the module is written
$HLO convert "$HERE/../proto/run.pbtxt" -o m.pb || exit 1
$HLO convert m.pb -o n.pbtxt 2>&1 | grep . && exit 1
printf 'HloModule m\nENTRY e { x = f32[2] parameter(0)  ROOT y = f32[2] negate(x) }\n' >n.hlo
$HLO run n.hlo '{1, 2}' --save-bundle=run.npz >text
$HLO convert run.npz --to=hlo | head -n 1
