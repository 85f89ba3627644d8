# bisect: the first pass after which a result differs; dumps that cannot be run are skipped; status 0 if all agree, 1 if one differs.
# stdout: first difference: after pass algsimp of simplification, or after the skipped pass before it
# stdout:   dir/module_0001.f.0002.simplification.after_algsimp.before_dce.txt
# stdout: 1 of 2 elements differ; worst errors: abs 0.5, rel 0.125, 1048576 ulp
# stdout:   element  expected  actual  abs    rel      ulp
# stdout:       {1}         4     4.5  0.5  0.125  1048576
# stdout: relative error      elements
# stdout:   none                     1  ########################################
# stdout:   up to 1e0                1  ########################################
# stdout: 6 dumps: 3 equal, 1 within the tolerance, 1 different, 1 skipped
# stdout:   reference                        before_optimizations
# stdout:   equal      0000  after_layout    pipeline-start
# stdout:   skipped    0001  simplification  dce                      unknown custom-call target 'unknown'; load it with --custom-call-lib=LIB.so, or replace its results with --custom-call 'unknown=zeros'
# stdout:   differs    0002  simplification  algsimp                  abs 0.5, rel 0.125
# stdout:   agrees                           0010.fusion              abs 4.77e-07, rel 1.19e-07
# stdout:   equal                            cpu_after_optimizations
# stdout: 1
# stdout: all results agree
# stdout: 0
# stdout: first difference: after pass algsimp of simplification
# stdout: 1
# stdout: first difference: in 0010.fusion
# stderr: -
mkdir dir
module() { printf 'HloModule f\nENTRY e { x = f32[2] parameter(0)\n c = f32[2] constant({1, %s})\n ROOT r = f32[2] %s }\n' "$1" "$2"; }
dump() { module "$2" "$3" >"dir/module_0001.f.$1.txt"; }
dump before_optimizations 2 'multiply(x, c)'
dump 0000.after_layout.after_pipeline-start.before_dce 2 'multiply(c, x)'
dump 0001.simplification.after_dce.before_algsimp 2 'custom-call(x, c), custom_call_target="unknown"'
dump 0002.simplification.after_algsimp.before_dce 2.25 'multiply(x, c)'
dump 0010.fusion 2.0000002 'multiply(x, c)'
dump cpu_after_optimizations 2 'multiply(x, c)'
$HLO bisect dir '{1, 2}'
$HLO bisect dir x='{1, 2}' >/dev/null; echo $?
$HLO bisect dir '{1, 2}' --rel=0.2 | head -1
$HLO bisect dir '{1, 2}' --rel=0.2 -q; echo $?
rm dir/*.0001.*
$HLO bisect dir '{1, 2}' | head -1
rm dir/*.0002.*
$HLO bisect dir --fake --ulp=1 >/dev/null; echo $?
$HLO bisect dir '{1, 2}' --abs=1e-9 | head -1
