# --version prints one line; with --verbose, one more per dependency.
# stdout: hlo 0.1.0
# stdout: hlo 0.1.0
# stdout: hlo instructions processors BLAS FFTW line editing
$HLO --version
$HLO -V
echo $($HLO --version --verbose | sed 's/ 0.1.0$//; s/:.*//')
