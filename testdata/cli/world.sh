# --world: threads is the default; values other than threads and mpi are errors.
# status: 2
# stdout: s32[] 3
# stderr: hlo: error: invalid value 'elsewhere' for '--world': expected threads or mpi
cat >m.hlo <<'END'
ENTRY main {
  x = s32[] parameter(0)
  ROOT y = s32[] negate(x)
}
END
$HLO run m.hlo --world=threads -- -3 || exit 1
$HLO run m.hlo --world=elsewhere 3
