# The directory for files of other programs is removed when a signal ends the command.
# stdout: reduce HUP 129
# stdout: reduce INT 130
# stdout: reduce QUIT 131
# stdout: reduce TERM 143
# stdout: fuzz HUP 129
# stdout: fuzz INT 130
# stdout: fuzz QUIT 131
# stdout: fuzz TERM 143
cat >m.hlo <<'END'
ENTRY e { x = f32[3] parameter(0)
  ROOT y = f32[3] negate(x) }
END
mkdir tmp
export TMPDIR="$PWD/tmp"
ulimit -c 0
ended() { # SIGNAL COMMAND...: waits for the directory and sends the signal to the program that created it
    by=$1
    shift
    env --default-signal=HUP,INT,QUIT,TERM "$HLO" "$@"
    echo "$1 $by $?"
    grep -q '[.]hlo$' found || exit 1
    ls "$TMPDIR"
}
for signal in HUP INT QUIT TERM; do
    ended $signal reduce m.hlo --random --check="ls $TMPDIR/hlo-*/* >found; kill -$signal \$PPID; sleep 0.1; :"
done
for signal in HUP INT QUIT TERM; do
    ended $signal fuzz m.hlo --runs=1 --oracle="ls $TMPDIR/hlo-*/* >found; kill -$signal \$PPID; sleep 0.1; :"
done
