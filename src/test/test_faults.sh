#!/bin/sh
# Runs each subcommand under system faults: full or closed standard output, full disks, short and interrupted calls, little
# memory, missing libraries, huge sizes. Prints TAP.
#
#   test_faults.sh HLO SHIM TESTDATA    SHIM: shim_faults.so in the build directory
HLO=$1
shim=$2
data=$3
case $HLO in /*) ;; *) HLO=$PWD/$HLO ;; esac
case $shim in /*) ;; *) shim=$PWD/$shim ;; esac
case $data in /*) ;; *) data=$PWD/$data ;; esac
here=$(cd "${0%/*}" && pwd)
export HLO XDG_CONFIG_HOME=/nonexistent
unset NO_COLOR CLICOLOR_FORCE FORCE_COLOR CI TERM HLO_OPTIONS HLO_PAGER PAGER
# A sanitizer must be the first library, and needs more address space than a limit allows.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0"
sanitized=
"$HLO" --version >/dev/null 2>&1 && { (ulimit -v 4000000; exec "$HLO" --version) >/dev/null 2>&1 || sanitized=yes; }
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
export TMPDIR="$scratch/tmp"
mkdir "$scratch/work" "$TMPDIR"
cd "$scratch/work" || exit 2
count=0
bad=0

wrong() { printf '%s\n' "$*" | cut -c 1-300 >>../problems; }
report() {
    count=$((count + 1))
    if [ -s ../problems ]; then
        bad=1
        echo "not ok $count - $1"
        sed 's/^/# /' ../problems
    else
        echo "ok $count - $1"
    fi
    rm -f ../problems
}

# ---- commands ----

cat >m.hlo <<'END'
HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[3,4] parameter(0)
  z = f32[] constant(0)
  y = f32[3,4] add(x, x)
  s = f32[3] reduce(y, z), dimensions={1}, to_apply=add
  ROOT r = (f32[3], f32[3,4]) tuple(s, y)
}
END
sed 's/add(x, x)/multiply(x, x)/' m.hlo >other.hlo
sed '/ s = /d; s/ROOT r = .*/ROOT r = f32[3,4] negate(y)/' m.hlo >one.hlo
cat >golden.hlo <<'END'
// test: eval
// from: hand
// in x: f32[2] {1, 2}
// out: f32[2] {2, 5}
HloModule g
ENTRY e { x = f32[2] parameter(0)
  ROOT r = f32[2] add(x, x) }
END
cat >feed.hlo <<'END'
HloModule feed
ENTRY main {
  t = token[] after-all()
  f = (s32[], token[]) infeed(t)
  x = s32[] get-tuple-element(f), index=0
  u = token[] get-tuple-element(f), index=1
  o = token[] outfeed(x, u), outfeed_shape=s32[]
  ROOT r = s32[] negate(x)
}
END
echo 's32[] 7' >feed.txt
printf 'x = f32[2] constant({1, 2})\ny = add(x, x)\ny\n' >session
printf '{"id":1,"op":"run","module":"ENTRY e { ROOT c = f32[2] constant({1,2}) }"}\n' >requests
printf 'Content-Length: 43\r\n\r\n{"id":1,"method":"initialize","params":{}}\n' >messages
"$HLO" run m.hlo --random --save-bundle=in.npz --quiet || wrong "no bundle"

# Commands with reproducible output.
cat >../print <<'END'
run m.hlo --random
run m.hlo --random --json
run m.hlo --bundle=in.npz
run feed.hlo --infeed=feed.txt --outfeed=-
run m.hlo --random --custom-call=none=cat
repl m.hlo -c '.run --random' -c y
repl <session
fmt m.hlo
test golden.hlo
ops dynamic-slice
ops --json
trace m.hlo --random --json --filter=none
why m.hlo 's[1]' --random
diff m.hlo other.hlo --random
extract m.hlo s --random
reduce --check='grep -q reduce' m.hlo --random
fuzz m.hlo --runs=3
fuzz m.hlo --runs=2 --oracle='oracle() { env ${preload:+LD_PRELOAD="$preload"} "$HLO" run $1 --inputs=$2 --output=$3; }; oracle'
ls m.hlo
find m.hlo op=add
graph m.hlo
cost m.hlo
plan m.hlo
annotate m.hlo
help run
--completion=bash
serve --stdio <requests
lsp <messages
END
# Commands that write OUT; `whole`: atomically and reproducibly.
cat >../write <<'END'
whole OUT.npz run m.hlo --random --output=OUT.npz
whole OUT.npy run one.hlo --random --output=OUT.npy
whole OUT.txt run m.hlo --random --output=OUT.txt
whole OUT.npz run m.hlo --random --save-bundle=OUT.npz
whole OUT.hlo extract m.hlo s --random --output=OUT.hlo
whole OUT.hlo reduce --check='grep -q reduce' m.hlo --random --output=OUT.hlo
whole OUT.dot graph m.hlo --output=OUT.dot
whole OUT.html graph m.hlo --output=OUT.html
whole OUT.npz fuzz m.hlo --oracle='exit 7; :' --save-bundle=OUT.npz
whole OUT.hlo repl m.hlo -c 'y2 = negate(y)' -c '.save OUT.hlo'
whole OUT.npy repl m.hlo -c '.run --random' -c '.mode npy' -c '.once OUT.npy' -c y
lines OUT.xml test golden.hlo --junit=OUT.xml
lines OUT.txt run m.hlo --random --trace-file=OUT.txt
lines OUT.txt run feed.hlo --infeed=feed.txt --outfeed=OUT.txt
lines OUT.txt trace m.hlo --random --output=OUT.txt
lines OUT.txt repl m.hlo -c '.run --random' -c '.once OUT.txt' -c y
lines OUT.txt repl m.hlo -c '.run --random' -c '.output OUT.txt' -c y
END
# Only the program has a preloaded library: other programs may be of another architecture.
hlo() { eval "timeout 60 env \${preload:+LD_PRELOAD=\"\$preload\"} \"\$HLO\" $*"; }
export preload=

# ---- standard output ----

closed_pipe() { # the reader exits before anything is written
    rm -f ../gone
    mkfifo ../gone
    {
        read -r _ <../gone
        hlo "$1" 2>../err </dev/null
        echo $? >../status
    } | {
        exec <&-
        echo now >../gone
    }
    until [ -s ../status ]; do sleep 0.02; done
}
while IFS= read -r command; do
    hlo "$command" >../want 2>../want_err </dev/null
    want=$?
    [ -s ../want ] || wrong "$command prints nothing"
    hlo "$command" >/dev/full 2>../err </dev/null
    status=$?
    [ $status != 0 ] && grep -q 'cannot write' ../err || wrong "$command >/dev/full: status $status, $(cat ../err)"
    rm -f ../status
    closed_pipe "$command"
    status=$(cat ../status)
    { [ "$status" = 141 ] || [ "$status" = "$want" ]; } && cmp -s ../want_err ../err ||
        wrong "$command, its output closed: status $status, $(cat ../err)"
done <../print
report "full or closed standard output: $(grep -c . ../print) commands"

# ---- disks ----

# A limit on the size of files simulates a full disk without privileges.
while read -r kind file command; do
    hlo "$command" >../out 2>../err </dev/null
    [ -s "$file" ] || wrong "$command writes nothing: $(cat ../err)"
    mv "$file" ../whole
    ls -A >../before
    (trap '' XFSZ; ulimit -f 0; hlo "$command" 2>&1 >/dev/null </dev/null; echo "status $?") 2>&1 | cat >../err
    grep -q 'File too large' ../err || wrong "$command: $(cat ../err)"
    grep -qE '^status (2|4)$' ../err || wrong "$command: $(grep '^status' ../err)"
    [ $kind = lines ] && rm -f "$file"
    ls -A | cmp -s ../before - || wrong "$command: left behind: $(ls -A | diff ../before - | grep '^[<>]')"
    hlo "$(printf '%s\n' "$command" | sed "s,$file,no/where/$file,")" >../out 2>../err </dev/null
    status=$?
    [ $status = 2 ] && grep -q "no/where/$file.*No such file" ../err || wrong "$command nowhere: status $status, $(cat ../err)"
    # A symbolic link is kept, and its target is replaced; a device is written to.
    echo old >target
    ln -s target "$file"
    hlo "$command" >../out 2>../err </dev/null
    [ -h "$file" ] && { [ $kind = lines ] || cmp -s target ../whole; } || wrong "$command through a link: $(ls -l "$file" target)"
    ln -sf /dev/full "$file"
    hlo "$command" >../out 2>../err </dev/null
    status=$?
    { [ $status = 2 ] || [ $status = 4 ]; } && grep -q 'No space left' ../err || wrong "$command to /dev/full: status $status, $(cat ../err)"
    rm -f "$file" target
done <../write
[ -z "$(ls -A "$TMPDIR")" ] || wrong "temporary files are left: $(ls -A "$TMPDIR")"
report "full disks, missing directories, links: $(grep -c . ../write) commands"

# ---- short and interrupted calls ----

preloaded() { # FAULTS COMMAND
    (export FAULTS="$1"; preload=$shim; hlo "$2") </dev/null
}
while IFS= read -r command; do
    hlo "$command" >../want 2>../want_err </dev/null
    want=$?
    preloaded "short interrupt" "$command" >../out 2>../err
    status=$?
    [ $status = $want ] && cmp -s ../want ../out && cmp -s ../want_err ../err ||
        wrong "$command, short and interrupted: status $status, expected $want; $(diff ../want ../out | head -3) $(head -3 ../err)"
done <../print
report "short or interrupted reads and writes: $(grep -c . ../print) commands"
while read -r kind file command; do
    hlo "$command" >../out 2>../err </dev/null
    mv "$file" ../whole
    preloaded "nameless short interrupt" "$command" >../out 2>../err
    { [ $kind = lines ] && [ -s "$file" ]; } || cmp -s "$file" ../whole || wrong "$command: unexpected file: $(cat ../err)"
    rm -f "$file"
    ls -A | grep -q '^\.hlo-' && wrong "$command: left behind: $(ls -A)"
done <../write
report "no unnamed temporary files: $(grep -c . ../write) commands"

# ---- libraries ----

for file in linalg/cholesky.hlo linalg/custom-householder.hlo linalg/custom-tridiagonal-perturbed.hlo fft/lengths.hlo; do
    [ -f "$data/$file" ] || file=${file%/*}
    preloaded library "test $data/$file" >../out 2>../err || wrong "$file: $(tail -1 ../out) $(cat ../err)"
done
preloaded library "repl m.hlo -c '.run --random' -c y" >../out 2>../err || wrong "the prompt: $(cat ../err)"
preloaded library "--version --verbose" >../out 2>../err || wrong "--version: $(cat ../err)"
report "no optional library can be loaded"

# ---- sizes ----

cat >big.hlo <<'END'
ENTRY e {
  x = f32[1048576,1048576] parameter(0)
  y = f32[1048576,1048576] negate(x)
  ROOT s = f32[1048576,1048576] add(y, x)
}
END
cat >zero.hlo <<'END'
add { a = f32[] parameter(0) b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[0,1099511627776] parameter(0)
  n = f32[] constant(0)
  y = f32[0,1099511627776] negate(x)
  z = f32[1099511627776,0] transpose(y), dimensions={1,0}
  d = f32[0,0] dot(x, z), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[0] reduce(y, n), dimensions={1}, to_apply=add
  ROOT r = (f32[0,1099511627776], f32[0], f32[0,0]) tuple(y, s, d)
}
END
sed 's/1048576,1048576/4611686018427387904,4/g' big.hlo >beyond.hlo
for module in big zero beyond; do
    while IFS= read -r command; do
        hlo "$command" >../out 2>../err </dev/null
        status=$?
        case $status in
        0 | 1) ;;
        2 | 3 | 4) grep -q 'error: ' ../err || wrong "$command, $module: status $status without a message" ;;
        *) wrong "$command, $module: status $status, $(head -3 ../err)" ;;
        esac
    done <<END
run $module.hlo --random
run $module.hlo --fake --plain --max-memory=1G
run $module.hlo --random --output=out.npz
repl $module.hlo -c '.run --random' -c y
verify $module.hlo
fmt $module.hlo
trace $module.hlo --random
why $module.hlo 's[0]' --random
diff $module.hlo $module.hlo --random
extract $module.hlo s --random
reduce --check=plain $module.hlo --random
fuzz $module.hlo --runs=2
ls $module.hlo
find $module.hlo op=add
graph $module.hlo
cost $module.hlo
plan $module.hlo
prof $module.hlo --random
bench $module.hlo
annotate $module.hlo
END
done
report "arrays of 0, 2^40 and more than 2^63 elements: 20 commands"

# ---- names of files ----

while IFS= read -r name; do
    name=$(printf -- "$name")
    cp m.hlo "./$name"
    for command in 'run -- "$name" --random' 'run m.hlo --random --output="./o$name.npz"' 'run m.hlo --bundle="./o$name.npz"' \
        'ls --json -- "$name"' 'fmt -i -- "$name"' 'trace m.hlo --random --dump="./d$name"' 'run "./$name/no"' 'run -- "$name.none"'; do
        eval "\"\$HLO\" $command" >../out 2>../err </dev/null
        status=$?
        [ $status -le 2 ] || wrong "$command: status $status, $(cat ../err)"
    done
    rm -rf "./$name" "./o$name.npz" "./d$name"
done <<'END'
a\012b
a\377\200b
-x.hlo
--help
a b'c"d
\303\274.hlo
%%s%%n
$(exit).hlo
END
ln -s loop loop
mkdir directory
for command in 'run loop' 'verify directory' 'run m.hlo --inputs=loop' 'run m.hlo @loop' 'test loop' 'run m.hlo/x' 'import loop' 'run m.hlo --random --output=directory'; do
    hlo "$command" >../out 2>../err </dev/null
    status=$?
    [ $status = 2 ] && [ -s ../err ] || wrong "$command: status $status, $(cat ../err)"
done
chmod 000 directory
if [ "$(id -u)" != 0 ]; then
    for command in 'run directory/m.hlo' 'run m.hlo --inputs=directory/x.npz' 'test directory' 'run m.hlo --random --output=directory/o.npz'; do
        hlo "$command" >../out 2>../err </dev/null
        status=$?
        [ $status = 2 ] && [ -s ../err ] || wrong "$command: status $status, $(cat ../err)"
    done
fi
chmod 700 directory
report "file names with unusual bytes, cyclic links, unreadable directories"

# ---- memory ----

cat >work.hlo <<'END'
HloModule work
add { a = f32[] parameter(0) b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
less { p = f32[] parameter(0) q = f32[] parameter(1)
  ROOT l = pred[] compare(p, q), direction=LT }
ENTRY e {
  x = f32[256,256] parameter(0)
  z = f32[] constant(0)
  o = f32[256,256] sort(x), dimensions={1}, to_apply=less
  t = f32[256,256] transpose(x), dimensions={1,0}
  d = f32[256,256] dot(x, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  h = f32[256,256] cholesky(d), lower=true
  c = c64[256,256] complex(x, o)
  f = c64[256,256] fft(c), fft_type=FFT, fft_length={256}
  g = f32[256,256] real(f)
  u = f32[] reduce(o, z), dimensions={0,1}, to_apply=add
  v = f32[] reduce(h, z), dimensions={0,1}, to_apply=add
  w = f32[] reduce(g, z), dimensions={0,1}, to_apply=add
  ROOT r = (f32[], f32[], f32[]) tuple(u, v, w)
}
END
limits="$(seq -s " " 12000 250 14000) 16000 20000 30000 60000 200000"
[ -z "$sanitized" ] || limits=
started=0
for limit in $limits; do # kB
    (ulimit -v $limit; hlo --version) >/dev/null 2>&1 || continue # too small to load the program
    started=$((started + 1))
    for command in 'run work.hlo --random' 'run work.hlo --random --plain' 'trace work.hlo --random' 'diff work.hlo work.hlo --random' 'verify work.hlo'; do
        (ulimit -v $limit; hlo "$command" >../out 2>../err </dev/null)
        status=$?
        case $status in
        0) ;;
        4 | 5) [ -s ../err ] || wrong "$command in $limit kB: status $status without a message" ;;
        *) wrong "$command in $limit kB: status $status, $(head -3 ../err)" ;;
        esac
    done
done
[ -z "$limits" ] || [ $started -ge 4 ] || wrong "only $started of these limits allow a start: $limits kB"
if [ -z "$sanitized" ]; then
    (ulimit -s 500 && ulimit -v 300000 && hlo 'run m.hlo --random' >../out 2>../err </dev/null) || wrong "small stack: $(cat ../err)"
fi
for limit in 1 64k 600k 1M 100M; do
    hlo "run work.hlo --random --max-memory=$limit" >../out 2>../err </dev/null
    status=$?
    case $limit-$status in 100M-0 | *-5) ;; *) wrong "--max-memory=$limit: status $status, $(head -3 ../err)" ;; esac
done
report "little memory: ${limits:-"no address space limit, because of sanitizers;"} --max-memory"

echo "1..$count"
exit $bad
