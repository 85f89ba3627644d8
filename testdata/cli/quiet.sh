# --quiet: no results, no warnings; errors, the reason of a difference and the status remain. --version --verbose lists the dependencies.
# stdout: status 0
# stdout: status 1
# stdout: hlo: b.npz: result differs: element {1} is 3, expected 2; 1 of 2 differ; worst errors: abs 1 at {1}, rel 0.5, 4194304 ulp
# stdout: status 3
# stdout: hlo 0.1.0
# stdout: one screen
# stdout: one screen
# stdout: f32[2] {1, 2}
# stderr: bad.hlo:2:32: error: instruction 'x' is not defined above
# stderr: hlo: run time 0....
printf 'HloModule m\nENTRY e { x = f32[2] parameter(0)  ROOT y = f32[2] copy(x) }\n' >m.hlo
printf 'HloModule m, frobnicate=true\nENTRY e { x = f32[2] parameter(0)  ROOT y = f32[2] copy(x) }\n' >odd.hlo
printf 'HloModule m\nENTRY e { ROOT y = f32[2] copy(x) }\n' >bad.hlo
$HLO run -q odd.hlo '{1, 2}' 2>log.txt; echo status $?
[ -s log.txt ] && cat log.txt
$HLO m.hlo '{1, 2}' --save-bundle=b.npz >/dev/null
$HLO run m.hlo '{1, 3}' --expect=b.npz --quiet 2>log.txt; echo status $?
[ -s log.txt ] && cat log.txt
$HLO verify -q bad.hlo; echo status $?
$HLO --version --verbose >about.txt
head -1 about.txt
for line in instructions processors BLAS FFTW; do grep -q "^$line: ." about.txt || echo no $line; done
for args in '' run; do
    [ "$($HLO $args -h | wc -l)" -le 24 ] && $HLO $args -h | sed -n '3,6p' | grep -qc '^  hlo' && echo one screen
done
$HLO run -v m.hlo '{1, 2}'
