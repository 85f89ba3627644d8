# Options from HLO_OPTIONS and from files: the command line takes precedence; options of other commands are ignored.
# stdout: f32[2] {1, 1}
# stdout: f32[2] {0, 0}
# stdout: f32[2] {1, 1}
# stdout: HloModule m, entry_computation_layout={(f32[2]{0})->f32[2]{0}}
# stdout: f32[2] {3, 3}
# stdout: it is green: 2
# stdout: deep: 2
# stdout: no quote: 2
# stderr: hlo: error: HLO_OPTIONS: unknown option 'm.hlo'
# stderr: unknown option '--fakes'; did you mean '--fake'?
# stderr: hlo: error: options.txt: option files nested more than 8 deep
# stderr: hlo: error: wrong.txt: unterminated quote
# stderr: hlo: error: cannot read option file 'nowhere.txt': No such file or directory
# status: 2
printf 'HloModule m\nENTRY e { x = f32[2] parameter(0)  ROOT y = f32[2] copy(x) }\n' >m.hlo
export HLO_OPTIONS='--fake=ones --runs 7 --tap'
$HLO m.hlo
$HLO m.hlo --fake=zeros
printf '# usual\n--fake=ones   # none given\n--color=never' >usual.txt
HLO_OPTIONS= $HLO run --options=usual.txt m.hlo
$HLO fmt m.hlo | head -1
printf "%s" "--inputs='my \"in.npy'" >in.txt
HLO_OPTIONS= $HLO m.hlo '{3, 3}' -o 'my "in.npy'
HLO_OPTIONS= $HLO m.hlo --options in.txt
HLO_OPTIONS='m.hlo' $HLO m.hlo; echo it is green: $?
HLO_OPTIONS='--fakes' $HLO m.hlo
echo '--options=options.txt' >options.txt
HLO_OPTIONS= $HLO m.hlo --options=options.txt; echo deep: $?
echo '"' >wrong.txt
$HLO m.hlo --options=wrong.txt; echo no quote: $?
$HLO m.hlo --options=nowhere.txt
