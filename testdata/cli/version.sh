# --version is one line; with --verbose there is a line for each thing that it works with.
# stdout: hlo 0.1.0
# stdout: hlo instructions processors BLAS FFTW line editing
$HLO --version
echo $($HLO --version --verbose | sed 's/ 0.1.0$//; s/:.*//')
