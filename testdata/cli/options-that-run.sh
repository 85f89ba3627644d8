# Options that name programs or libraries are accepted from the command line and from files named on it, not from the environment.
# stdout: lib: 2
# stdout: command: 2
# stdout: file of the environment: 2
# stdout: oracle: 2
# stdout: passed over: 0
# stdout: f32[2] {1, 2}
# stdout: f32[2] {1, 2}
# stderr: hlo: error: HLO_OPTIONS: '--custom-call-lib' is only allowed on the command line or in a file named there, since it runs a program
# stderr: hlo: error: usual.txt: '--custom-call' is only allowed on the command line or in a file named there, since it runs a program
# stderr: hlo: error: HLO_OPTIONS: '--oracle' is only allowed on the command line or in a file named there, since it runs a program
printf 'HloModule m\nENTRY e { x = f32[2] parameter(0)  ROOT y = f32[2] custom-call(x), custom_call_target="T" }\n' >m.hlo
echo "--custom-call=T='touch ran; cat'" >usual.txt
HLO_OPTIONS="--custom-call-lib $LIB" $HLO m.hlo '{1, 2}'; echo "lib: $?"
HLO_OPTIONS="--custom-call=T='touch ran; cat'" $HLO m.hlo '{1, 2}'; echo "command: $?"
HLO_OPTIONS=--options=usual.txt $HLO m.hlo '{1, 2}'; echo "file of the environment: $?"
HLO_OPTIONS='--oracle=touch\ ran' $HLO fuzz --runs=1; echo "oracle: $?"
HLO_OPTIONS="--custom-call-lib=$LIB" $HLO verify --quiet m.hlo; echo "passed over: $?"
! [ -e ran ] || echo 'something ran'
echo "--custom-call=T=identity" >usual.txt
$HLO m.hlo '{1, 2}' --options=usual.txt
$HLO m.hlo '{1, 2}' --custom-call=T=identity
