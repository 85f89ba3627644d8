#!/bin/sh
# Injects faults at random points; test_faults.sh has the reproducible ones. Signals while files are written: each file must be
# complete or unchanged, with no other files left in its directory. Files that change, grow and shrink while in use: the run must
# end with a result or an error.
#
#   faults-long.sh HLO SHIM N [SEED]    SHIM: shim_faults.so; N of each kind; prints a line for each kind
HLO=$1
shim=$2
n=$3
seed=${4:-1}
case $HLO in /*) ;; *) HLO=$PWD/$HLO ;; esac
case $shim in /*) ;; *) shim=$PWD/$shim ;; esac
export HLO XDG_CONFIG_HOME=/nonexistent
unset HLO_OPTIONS
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0"
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
export TMPDIR="$scratch/tmp"
mkdir "$scratch/work" "$TMPDIR"
cd "$scratch/work" || exit 2
bad=0

random() { # LIMIT: sets r to a number below it
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    r=$((seed / 65536 % $1))
}
wrong() {
    bad=$((bad + 1))
    printf '%s\n' "$*" | cut -c 1-300
}

cat >m.hlo <<'END'
HloModule m
ENTRY e {
  x = f32[1000000] parameter(0)
  y = f32[1000000] add(x, x)
  z = f32[1000000] negate(y)
  ROOT r = (f32[1000000], f32[1000000]) tuple(y, z)
}
END
sed 's/1000000/4/g' m.hlo >small.hlo
cat >commands <<'END'
o.npz run m.hlo --random --output=o.npz
o.npz run m.hlo --random --save-bundle=o.npz
o.txt run m.hlo --random --output=o.txt
o.hlo extract m.hlo y --random --output=o.hlo
o.hlo reduce --check='sleep 0.01; grep -q negate' small.hlo --random --output=o.hlo
o.npz fuzz small.hlo --oracle='sleep 0.01; exit 7; :' --save-bundle=o.npz
o.hlo repl small.hlo -c 'w = negate(z)' -c '.save o.hlo'
END
k=0
while read -r file command; do
    k=$((k + 1))
    began=$(date +%s%N)
    eval "\"\$HLO\" $command" >/dev/null 2>&1 </dev/null
    echo $((($(date +%s%N) - began) / 1000000 + 2)) >../took.$k
    mv "$file" ../whole.$k || exit 2
done <commands
kinds=$k

i=0
ended=0
while [ $i -lt "$n" ]; do
    i=$((i + 1))
    random $kinds
    k=$((r + 1))
    line=$(sed -n ${k}p commands)
    file=${line%% *}
    command=${line#* }
    random 2
    old=$r
    [ $old = 0 ] || echo old >"$file"
    random 2
    preload=
    [ $r = 0 ] || preload="LD_PRELOAD='$shim' FAULTS=nameless"
    random 4
    signal=$(echo INT TERM HUP QUIT | cut -d ' ' -f $((r + 1)))
    random $(($(cat ../took.$k) * 1000))
    moment=$(printf '0.%06d' $r)
    # Background processes ignore signals: this restores the default. The shell does not report killed processes.
    eval "exec env --default-signal=INT,QUIT $preload \"\$HLO\" $command" >/dev/null 2>../err </dev/null &
    pid=$!
    sleep "$moment"
    kill -s $signal $pid 2>/dev/null
    wait $pid 2>/dev/null
    status=$?
    [ $status -gt 128 ] && ended=$((ended + 1))
    case $status in 0 | 1 | 129 | 130 | 131 | 143) ;; *) wrong "$command, $signal after $moment s: status $status, $(cat ../err)" ;; esac
    if [ -e "$file" ]; then
        # An interrupted search prints its best result so far.
        { [ $old = 1 ] && [ "$(head -c 4 "$file")" = old ]; } || cmp -s "$file" ../whole.$k ||
            { [ $signal-${command%% *} = INT-reduce ] && "$HLO" verify "$file"; } || wrong "$command, $signal after $moment s: incomplete file"
    elif [ $old = 1 ]; then
        wrong "$command, $signal after $moment s: the previous file is gone"
    fi
    rm -f "$file"
    # Check commands started by reduce end by themselves.
    left=$(ls -A . "$TMPDIR" | grep -E 'hlo-') && wrong "$command, $signal after $moment s: left behind: $left"
    rm -rf .hlo-* "$TMPDIR"/hlo-*
done 2>/dev/null
echo "signals: $n sent, $ended ended a run, $bad failures"
all=$bad

# ---- files modified while in use ----
cat >slow.hlo <<'END'
HloModule slow
add { a = f32[] parameter(0) b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
body { p = (s32[], f32[1000000], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[1000000] get-tuple-element(p), index=1
  s = f32[] get-tuple-element(p), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  t = f32[] reduce(x, s), dimensions={0}, to_apply=add
  ROOT r = (s32[], f32[1000000], f32[]) tuple(j, x, t) }
more { p = (s32[], f32[1000000], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(100)
  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY e {
  x = f32[1000000] parameter(0)
  z = s32[] constant(0)
  s = f32[] constant(0)
  t = (s32[], f32[1000000], f32[]) tuple(z, x, s)
  w = (s32[], f32[1000000], f32[]) while(t), condition=more, body=body
  ROOT r = f32[] get-tuple-element(w), index=2
}
END
bad=0
messages=0
i=0
"$HLO" run m.hlo --random --save-bundle=../in.npz --quiet || exit 2
printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000,), }" >../x.npy
head -c 4000000 /dev/zero >>../x.npy
while [ $i -lt "$n" ]; do
    i=$((i + 1))
    cp ../x.npy ../in.npz slow.hlo ./ 2>/dev/null
    cp slow.hlo text.hlo
    random 3
    case $r in
    0) file=x.npy command='run slow.hlo @x.npy' ;;
    1) file=in.npz command='run m.hlo --bundle=in.npz' ;;
    2) file=text.hlo command='run text.hlo @x.npy' ;;
    esac
    "$HLO" $command >/dev/null 2>../err </dev/null &
    pid=$!
    random 30
    sleep "0.0$(printf '%02d' $r)"
    random 4
    case $r in
    0) : >$file ;;
    1) random 4000000; truncate -s $r $file ;;
    2) head -c 100000 /dev/urandom | dd of=$file conv=notrunc status=none ;;
    3) head -c 100000 /dev/urandom >>$file ;;
    esac
    wait $pid
    status=$?
    case $status in
    0) ;;
    1 | 2 | 3 | 4 | 5) [ -s ../err ] || wrong "$command: status $status without a message"; messages=$((messages + 1)) ;;
    *) wrong "$command: status $status, $(cat ../err)" ;;
    esac
done 2>/dev/null
echo "modified files: $n runs, $messages ended with an error, $bad failures"
[ $((all + bad)) = 0 ]
