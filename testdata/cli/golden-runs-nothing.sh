# A golden test, a module and a bundle can neither start a command nor load a library; the command line can.
# stdout: a command: 1
# stdout: a harmless end: 1
# stdout: nothing: 1
# stdout: a library: 1
# stdout: of the command line: 0
# stdout: a target that is a path: 4
# stdout: a bundle: 4
# stderr: expected NAME=identity or NAME=zeros
golden() { # NAME DIRECTIVE TARGET [OPTION]
    printf '// test: eval\n// from: hand\n// in: f32[2] {1, 2}\n// out: f32[2] {1, 2}\n// %s\n' "$2" >t.hlo
    printf 'ENTRY e { x = f32[2] parameter(0)  ROOT y = f32[2] custom-call(x), custom_call_target="%s" }\n' "$3" >>t.hlo
    $HLO test t.hlo ${4:+"$4"} >log 2>&1; echo "$1: $?"
    grep expected log >&2
}
golden 'a command' 'custom-call: T=touch ran; cat' T
golden 'a harmless end' 'custom-call: T=touch ran #=identity' T
golden 'nothing' 'custom-call: T=' T
golden 'a library' "custom-call-lib: $LIB" bytes_of
[ ! -e ran ] || echo 'a test ran it'
golden 'of the command line' '' T '--custom-call=T=touch did; cat'
[ -e did ] || echo 'the command line is not heeded'
sed 's/"T"/".\/T.so"/' t.hlo >path.hlo
cp "$LIB" T.so
$HLO run path.hlo '{1, 2}'; echo "a target that is a path: $?"
$HLO run t.hlo '{1, 2}' --custom-call=T=identity --save-bundle=b.npz >/dev/null
$HLO run b.npz --bundle=b.npz; echo "a bundle: $?"
