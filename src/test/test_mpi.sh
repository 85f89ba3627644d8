#!/bin/sh
# Compares runs distributed over processes (--world=mpi) with the same runs on threads. Prints TAP.
#
#   test_mpi.sh HLO TESTDATA
HLO=$1
data=$2
case $HLO in /*) ;; *) HLO=$PWD/$HLO ;; esac
case $data in /*) ;; *) data=$PWD/$data ;; esac
command -v mpirun >/dev/null || { echo "1..0 # SKIP no mpirun"; exit 0; }
unset NO_COLOR CI TERM
# Allow root, more ranks than cores, and containers in which processes cannot read each other's memory; ignore leaks of
# the MPI library.
ranks() { n=$1; shift; mpirun --allow-run-as-root --oversubscribe -n "$n" "$@"; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
count=0
bad=0

# report NAME: prints a line of TAP; the file `problems` contains the problems
report() {
    count=$((count + 1))
    if [ -s problems ]; then
        bad=1
        echo "not ok $count - $1"
        sed 's/^/# /' problems
    else
        echo "ok $count - $1"
    fi
    rm -f problems
}
wrong() { echo "$*" >>problems; }
same() { cmp -s "$1" "$2" || { wrong "$1 and $2 differ"; diff "$1" "$2" | head -20 >>problems; }; }
# Diagnostics of hlo, without mpirun's remarks about the exit status.
diagnostics() { sed '/^-----/,$d' "$1"; }

# on_both NAME RANKS ARG...: checks that status, output and messages are the same on threads and on RANKS ranks
on_both() {
    name=$1
    n=$2
    shift 2
    "$HLO" run "$@" >threads.out 2>threads.err <input
    status=$?
    ranks "$n" "$HLO" run --world=mpi "$@" >ranks.out 2>ranks.raw <input
    got=$?
    diagnostics ranks.raw >ranks.err
    [ "$got" = "$status" ] || wrong "exit status $got, on threads $status"
    same threads.out ranks.out
    same threads.err ranks.err
    report "$name, $n ranks"
}
: >input

cat >sums.hlo <<'END'
HloModule sums, replica_count=4, num_partitions=2
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY main {
  x = f32[30000] parameter(0)
  s = f32[30000] all-reduce(x), channel_id=1, replica_groups={{7,1,5,3},{0,2,4,6}}, use_global_device_ids=true, to_apply=add
  p = f32[30000] collective-permute(s), channel_id=2, source_target_pairs={{0,1},{1,0}}
  g = f32[120000] all-gather(p), dimensions={0}
  t = f32[30000] slice(g), slice={[45000:75000]}
  few = f32[8] slice(x), slice={[0:8]}
  h = f32[2] reduce-scatter(few), dimensions={0}, to_apply=add
  a = f32[8] all-to-all(few), dimensions={0}
  ROOT r = (f32[30000], f32[30000], f32[2], f32[8]) tuple(s, t, h, a)
}
END
"$HLO" run sums.hlo --random=3 --output=threads.npz || wrong "the run on threads failed"
for n in 1 2 3 8 9; do
    ranks $n "$HLO" run sums.hlo --random=3 --world=mpi --output=ranks.npz || wrong "exit status $?"
    cmp threads.npz ranks.npz >>problems 2>&1
    rm -f ranks.npz
    report "bitwise identical results, $n ranks"
done

cat >uneven.hlo <<'END'
HloModule uneven, replica_count=3
add {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] add(a, b)
}
first {
  x = s32[] parameter(0)
  ROOT y = s32[] negate(x)
}
other {
  x = s32[] parameter(0)
  ROOT y = s32[] all-reduce(x), to_apply=add
}
ENTRY main {
  x = s32[] parameter(0)
  r = u32[] replica-id()
  zero = u32[] constant(0)
  is_first = pred[] compare(r, zero), direction=EQ
  ROOT out = s32[] conditional(is_first, x, x), true_computation=first, false_computation=other
}
END
for n in 1 2 3 4; do on_both "a deadlock is reported" $n uneven.hlo 5; done

cat >feeds.hlo <<'END'
HloModule feeds, replica_count=3
add {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] add(a, b)
}
ENTRY main {
  t = token[] after-all()
  f = (s32[], token[]) infeed(t)
  x = s32[] get-tuple-element(f), index=0
  u = token[] get-tuple-element(f), index=1
  s = s32[] all-reduce(x), to_apply=add
  o = token[] outfeed(s, u), outfeed_shape=s32[]
  ROOT r = s32[] negate(s)
}
END
echo 's32[] 7' >input
echo 's32[] 100' >one
for n in 2 3 4; do on_both "feeds from standard input and to standard output" $n feeds.hlo --infeed=- --infeed@1=one --outfeed=-; done
on_both "no feeds" 3 feeds.hlo
: >input
for n in 2 3; do on_both "a participant fails at the end of its infeed" $n feeds.hlo --infeed=- --infeed@1=one --outfeed=-; done
on_both "a malformed infeed item" 2 feeds.hlo --infeed=uneven.hlo

cat >long.hlo <<'END'
HloModule long, replica_count=2
body {
  p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = s32[] get-tuple-element(p), index=1
  s = s32[] collective-permute(x), source_target_pairs={{0,1},{1,0}}
  y = s32[] add(i, s)
  ROOT t = (s32[], s32[]) tuple(i, y)
}
more {
  p = (s32[], s32[]) parameter(0)
  ROOT t = pred[] constant(true)
}
ENTRY main {
  x = s32[] parameter(0)
  t = (s32[], s32[]) tuple(x, x)
  ROOT w = (s32[], s32[]) while(t), condition=more, body=body
}
END
on_both "the step limit is exceeded" 2 long.hlo 1 --max-steps=1000
on_both "mismatched arguments are reported once" 3 sums.hlo 5
on_both "a missing file is reported once" 3 nothing.hlo
on_both "a rejected module is reported once" 2 one
on_both "several modules in a file" 2 "$data/collective/ids-values.hlo" --random

ranks 1 "$HLO" run uneven.hlo 5 --replicas=2 --world=mpi : -n 1 "$HLO" run nothing.hlo 5 --replicas=2 --world=mpi >out 2>err
[ $? = 2 ] || wrong "exit status $?"
grep -q '^hlo: on rank 1:$' err || wrong "the rank is not reported"
grep -q 'nothing.hlo' err || wrong "the error is not reported"
report "a failed rank ends the others"

cp sums.hlo input
on_both "a module from standard input" 3 - --random=3
echo 'ENTRY main { ' >input
on_both "a rejected module from standard input" 3 -
: >input

"$HLO" run sums.hlo --random=3 --world=mpi --output=alone.npz || wrong "exit status $?"
cmp threads.npz alone.npz >>problems 2>&1
report "without mpirun"

cp "$HLO" alone
./alone run uneven.hlo 5 --world=mpi >out 2>err
grep -qE 'libopenmpi-dev|deadlock' err || { wrong "the message does not name the package to install"; cat err >>problems; }
report "without hlo-mpi.so, unless one is installed"

for n in 3 8; do
    threads=$("$HLO" test "$data/collective" "$data/io" | tail -1)
    ranks $n "$HLO" test --world=mpi "$data/collective" "$data/io" >out 2>err || { wrong "exit status $?"; cat out err >>problems; }
    [ "$(tail -1 out)" = "$threads" ] || wrong "$(tail -1 out); on threads: $threads"
    report "golden tests, $n ranks"
done
echo "1..$count"
exit $bad
