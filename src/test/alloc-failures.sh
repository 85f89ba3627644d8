#!/bin/sh
# Injects allocation failures into each subcommand: the N-th allocation fails, alone or with all later ones, for every STEP-th N.
# Each run must end with a documented status and an out-of-memory error, or with its normal output, and leave no partially
# written file. Prints TAP; each line ends with the numbers of allocations, failures, and successful runs.
#
#   alloc-failures.sh HLO-OOM TESTDATA [STEP [PATTERN]]
#
# HLO_UNDER is a prefix of each command, for example valgrind -q --leak-check=full --error-exitcode=99.
hlo=$(realpath "$1")
testdata=$(realpath "$2")
step=${3:-1}
pattern=${4:-.}
LC_ALL=C
ASAN_OPTIONS=$ASAN_OPTIONS:exitcode=99:allocator_may_return_null=1
LSAN_OPTIONS=exitcode=99
UBSAN_OPTIONS=halt_on_error=1:exitcode=99
export LC_ALL ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS
unset HLO_OPTIONS HLO_FAIL_AT HLO_FAIL_ON
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
count=0
bad=0
total=0
total_clean=0

# ---- inputs ----

mkdir out state
HOME=$dir/state
XDG_STATE_HOME=$HOME
export HOME XDG_STATE_HOME
cat >add.hlo <<'END'
HloModule add

ENTRY main {
  x = f32[4] parameter(0)
  y = f32[4] constant({1, 2, 3, 4})
  ROOT z = f32[4] add(x, y)
}
END
sed 's/add(x, y)/subtract(x, y)/' add.hlo >sub.hlo
sed 's/add(x, y)/add(x, w)/' add.hlo >wrong.hlo
cat >step.hlo <<'END'
HloModule step

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

body {
  p = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  m = f32[8,8] get-tuple-element(p), index=1
  d = f32[8,8] dot(m, m), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[8,8] tanh(d)
  ROOT r = (s32[], f32[8,8]) tuple(next, t)
}

condition {
  p = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT less = pred[] compare(i, n), direction=LT
}

ENTRY main {
  x = f32[8,8] parameter(0)
  zero = s32[] constant(0)
  start = (s32[], f32[8,8]) tuple(zero, x)
  loop = (s32[], f32[8,8]) while(start), condition=condition, body=body
  m = f32[8,8] get-tuple-element(loop), index=1
  init = f32[] constant(0)
  sums = f32[8] reduce(m, init), dimensions={1}, to_apply=sum
  sorted = f32[8] sort(sums), dimensions={0}, to_apply={
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    ROOT less = pred[] compare(a, b), direction=LT
  }
  ROOT result = (f32[8,8], f32[8]) tuple(m, sorted)
}
END
cat >all.hlo <<'END'
HloModule all, replica_count=2

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY main {
  x = f32[2] parameter(0)
  r = f32[2] all-reduce(x), replica_groups={}, to_apply=sum
  ROOT p = f32[2] collective-permute(r), source_target_pairs={{0,1},{1,0}}
}
END
cat >feed.hlo <<'END'
HloModule feed

ENTRY main {
  t = token[] after-all()
  in = (f32[2], token[]) infeed(t)
  x = f32[2] get-tuple-element(in), index=0
  y = f32[2] negate(x)
  ROOT out = token[] outfeed(y, t), outfeed_shape=f32[2]
}
END
echo 'f32[2] {1, 2}' >items.txt
"$hlo" run add.hlo '{1, 2, 3, 4}' -o x.npy
"$hlo" run step.hlo --random -o two.npz
"$hlo" run step.hlo --random --save-bundle=bundle.npz >/dev/null
printf '%s' '{"x":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}' >header
size=$(wc -c <header)
{ printf "\\$(printf %o "$size")\\0\\0\\0\\0\\0\\0\\0"; cat header; printf '\0\0\200\077\0\0\200\077\0\0\200\077\0\0\200\077'; } >x.safetensors
echo 'shape { element_type: F32 dimensions: 4 layout { minor_to_major: 0 } } f32s: [1, 2, 3, 4]' | gzip >x.pbtxt
cat >script.repl <<'END'
a = f32[2] constant({1, 2})
b = f32[2] add(a, a)
.show b
c = f32[2] multiply(b,
  a)
.undo
.stats b
.run
END
while read -r message; do
    printf 'Content-Length: %d\r\n\r\n%s' "${#message}" "$message"
done >messages <<'END'
{"id":1,"method":"initialize","params":{"initializationOptions":{"fake":"ones"}}}
{"method":"textDocument/didOpen","params":{"textDocument":{"uri":"u","version":1,"text":"ENTRY e { x = f32[2] parameter(0)  ROOT y = f32[2] add(x, x) }"}}}
{"method":"textDocument/didChange","params":{"textDocument":{"uri":"u","version":2},"contentChanges":[{"range":{"start":{"line":0,"character":51},"end":{"line":0,"character":54}},"text":"mul\nx"}]}}
{"method":"textDocument/didSave","params":{"textDocument":{"uri":"u"}}}
{"method":"textDocument/didChange","params":{"textDocument":{"uri":"u","version":3},"contentChanges":[{"text":"ENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = add(x, x)\n}\n"}]}}
{"id":2,"method":"textDocument/hover","params":{"textDocument":{"uri":"u"},"position":{"line":2,"character":7}}}
{"id":3,"method":"textDocument/completion","params":{"textDocument":{"uri":"u"},"position":{"line":2,"character":15}}}
{"id":4,"method":"textDocument/rename","params":{"textDocument":{"uri":"u"},"position":{"line":2,"character":7},"newName":"z"}}
{"id":5,"method":"textDocument/formatting","params":{"textDocument":{"uri":"u"}}}
{"id":6,"method":"workspace/executeCommand","params":{"command":"hlo.why","arguments":["u",0]}}
END
cat >requests.json <<'END'
{"id": 1, "method": "load", "params": {"text": "ENTRY main { x = f32[2] parameter(0)\n ROOT y = f32[2] negate(x) }"}}
{"id": 2, "method": "run", "params": {"module": 1, "args": ["{1, 2}"]}}
{"id": 3, "method": "nonsense"}
END

# ---- one run ----

fail() {
    bad_here=$((bad_here + 1))
    [ "$bad_here" -le 5 ] && problems="$problems
#   $1: $2"
}

# is_unchanged: output and files equal those without a failure
is_unchanged() {
    [ "$varies" ] || [ "$text" = "$expected" ] || return 1
    files_whole && [ "$(ls out)" = "$expected_files" ]
}

# files_whole: files equal those without a failure, except the times in the index of a trace, the
# results in the bundle of a failed run, and the end of its outfeed
files_whole() {
    for f in out/*; do
        [ -e "$f" ] || continue
        [ "$f" = out/index.csv ] || cmp -s "$f" "expected/${f#out/}" ||
            { [ "$f" = out/b.npz ] && [ "$("$hlo" fmt "$f")" = "$("$hlo" fmt expected/b.npz)" ]; } ||
            { [ "$f" = out/fed.txt ] && head -n "$(wc -l <"$f")" expected/fed.txt | cmp -s - "$f"; } || return 1
    done
}

# run_once N ON ARG...: lets the N-th allocation fail, and all later ones if ON is 1; sets `reached`
# if the command makes that many
run_once() {
    at=$1 on=$2
    shift 2
    rm -rf out/* report err text
    HLO_FAIL_AT=$at HLO_FAIL_ON=$on HLO_FAIL_REPORT=$dir/report $HLO_UNDER "$hlo" "$@" <"$input" >text 2>err
    status=$?
    text=$(tr -d '\0' <text)
    reached=
    while read -r _ failed; do [ "$failed" -gt 0 ] && reached=1; done <report 2>/dev/null
    [ -e report ] || reached=1
}

check() {
    case $status in
    99) fail "$1" "a leak or an invalid access" ;;
    0 | 1 | 2 | 3 | 4 | 5)
        if grep -qiE 'memory|Cannot allocate' err text; then
            if [ "$status" = 0 ] && [ "$expected_status" = 0 ]; then
                is_unchanged || fail "$1" "status 0, but different output"
            fi
            files_whole || fail "$1" "a file is incomplete"
        elif [ "$status" != "$expected_status" ]; then
            fail "$1" "status $status: $(head -c 200 err | head -1)"
        elif ! is_unchanged; then
            fail "$1" "different output without an error"
        fi
        ;;
    *) fail "$1" "status $status: $(head -c 200 err | head -1)" ;;
    esac
}

# inject NAME ARG...: tests each allocation of `hlo ARG...`, with standard input from $input; set $varies
# if its output is not reproducible
inject() {
    name=$1
    shift
    printf '%s' "$name" | grep -qE "$pattern" || return 0
    count=$((count + 1))
    run_once 0 0 "$@"
    expected=$text expected_status=$status expected_files=$(ls out)
    rm -rf expected
    cp -r out expected
    allocations=$(cut -d' ' -f1 report | sort -n | tail -1)
    runs=0 bad_here=0 problems=
    if grep -qi 'memory' err || [ "$status" -gt 5 ]; then
        fail 0 "status $status without a failure: $(head -1 err)"
    fi
    for on in 0 1; do
        at=1
        while :; do
            run_once "$at" "$on" "$@"
            [ "$reached" ] || break
            runs=$((runs + 1))
            check "$at$([ $on = 1 ] && echo ' and all later')"
            at=$((at + step))
        done
    done
    total=$((total + runs))
    total_clean=$((total_clean + runs - bad_here))
    ok=ok
    [ "$bad_here" = 0 ] || ok='not ok' bad=1
    echo "$ok $count - $name: $allocations allocations, $runs failures, $((runs - bad_here)) clean$problems"
    input=/dev/null varies=
}

input=/dev/null varies=

inject 'run' run add.hlo '{1, 2, 3, 4}'
inject 'run step' run step.hlo --random
inject 'run --plain' run --plain step.hlo --random
inject 'run --threads' run step.hlo --random --threads=2
inject 'run --json' run step.hlo --random --json
inject 'run @x.npy' run add.hlo @x.npy -o out/z.npy
inject 'run --inputs' run add.hlo --inputs=x.safetensors -o out/z.npz
inject 'run --bundle' run --bundle=bundle.npz step.hlo
inject 'run --save-bundle' run step.hlo --fake --save-bundle=out/b.npz
inject 'run -o text' run step.hlo --fake -o out/z.txt
inject 'run wrong' run wrong.hlo
inject 'run collective' run all.hlo '{1, 2}'
input=items.txt
inject 'run feed' run feed.hlo --infeed=- --outfeed=out/fed.txt
inject 'run .onnx' run "$testdata/onnx/double.onnx" '{1, 2}'
inject 'repl' repl --norc -c 'a = f32[2] constant({1, 2})' -c 'b = f32[2] add(a, a)' -c b
input=script.repl
inject 'repl script' repl --norc
inject 'repl module' repl --norc step.hlo --random -c .run -c '.stats m' -c '.break t' -c .run -c .where -c .continue
inject 'verify' verify step.hlo
inject 'verify wrong' verify wrong.hlo
inject 'verify proto' verify "$testdata/proto/attributes.pbtxt"
inject 'run proto' run "$testdata/proto/add.pbtxt" '{{1, 2, 3}, {4, 5, 6}}'
inject 'fmt proto' fmt "$testdata/proto/old.pbtxt"
inject 'run snapshot' run "$testdata/proto/run.pbtxt"
inject 'run container' run "$testdata/fuzz/container.pb"
inject 'run literal' run add.hlo @x.pbtxt
inject 'repl snapshot' repl --norc "$testdata/proto/run.pbtxt" -c .run
inject 'fmt' fmt step.hlo
inject 'test' test "$testdata/control"
inject 'ops' ops add
inject 'ops --json' ops --json
varies=1
inject 'trace' trace step.hlo --random
varies=1
inject 'trace --dump' trace step.hlo --random --dump=out
inject 'why' why step.hlo 'sums[1]' --random
inject 'diff' diff add.hlo sub.hlo
inject 'extract' extract step.hlo d@1 --random -o out/d.hlo
inject 'reduce' reduce sub.hlo --check=nan --random -o out/small.hlo
inject 'fuzz' fuzz step.hlo --runs=4
inject 'ls' ls step.hlo
inject 'find' find step.hlo dot
inject 'graph' graph step.hlo
inject 'graph --to' graph step.hlo --to=html --values
inject 'cost' cost step.hlo
inject 'plan' plan step.hlo
varies=1
inject 'prof' prof step.hlo --random -n 2
varies=1
inject 'bench' bench step.hlo --random -n 2
inject 'annotate' annotate step.hlo
inject 'import' import "$testdata/onnx/double.onnx"
input=requests.json
inject 'serve' serve --stdio
input=messages
inject 'lsp' lsp
inject 'completion' --completion=bash

echo "1..$count"
echo "# $total failures, $total_clean clean"
exit $bad
