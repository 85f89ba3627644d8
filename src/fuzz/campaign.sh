#!/bin/sh
# Runs fuzz targets for SECONDS each: campaign.sh BUILD SECONDS [TARGET...]. Default: all targets.
# BUILD is a build directory of clang with -Db_sanitize=address,undefined -Db_lundef=false.
#   CAMPAIGN_JOBS  number of targets to run in parallel (2)
#   CAMPAIGN_SEED  makes inputs reproducible, as far as threads allow (default: random)
#   CAMPAIGN_SLOW  an input that takes more seconds is a finding (5)
#   CAMPAIGN_DIR   directory of corpora, logs and findings, reused by later campaigns (BUILD/campaign)
# Prints a table of all campaigns in that directory. Exit status 1: a finding, that is, a crash, a leak,
# excessive memory, or a slow input.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
testdata=$(cd "$here/../../testdata" && pwd)

# Writes a seed file for each line of standard input.
each_line() { # DIRECTORY
    mkdir -p "$1"
    awk -v directory="$1" 'length($0) { file = directory "/" NR; printf "%s", $0 >file; close(file) }'
}

# Writes seeds with a prefix.
with_head() { # DIRECTORY HEAD FILE...
    directory=$1 head=$2
    shift 2
    mkdir -p "$directory"
    for file; do
        { printf "$head"; cat "$file"; } >"$directory/$(printf %s "$head" | tr -c 'a-z0-9' _)-$(basename "$file")"
    done
}

# Modules that run quickly.
small() { find "$testdata" -name '*.hlo' -size -2k; }

# Prints the texts of a directive of golden tests.
directives() { grep -rhE "^// ($1)( [^:]*)?:" "$testdata" --include='*.hlo' | sed 's/^[^:]*: *//'; }

seeds() { # TARGET DIRECTORY: further seeds, and the names of what in testdata is one, on standard output
    mkdir -p "$2"
    case $1 in
    argument | literal) directives 'in|out|infeed' | sort -u | awk 'NR % 20 == 0' | each_line "$2"
        printf 'f32[3] {1, nan, -inf}\n[1:]' >"$2/slice" ;;
    command) for line in verify 'fmt --short' ls 'ls --json' 'find op=add' graph 'graph --values --to=html' cost 'plan --json' 'run --fake' 'run --random=3 --json' \
        'trace --fake --json' 'prof --fake --runs=1' annotate 'diff m.hlo --fake' 'reduce --check=nan --fake' 'extract x --fake' \
        'why r[0] --fake' 'import'; do
            with_head "$2" "$line\n" "$testdata"/run/*.hlo "$testdata"/fuzz/*.hlo
        done ;;
    dict) grep -rhoE 'backend_config=\{.*\}' "$testdata" | sed 's/^[^=]*=//' | sort -u | each_line "$2"
        grep -h '^{"id"' "$testdata/cli/serve.sh" | each_line "$2/requests" ;;
    dumps) printf '23:after\nmodule_0023.f.before_optimizations.txt\nmodule_0023.f.cpu_after_optimizations.txt.gz\nmodule_1.g.x.hlo\n' >"$2/1" ;;
    edit) with_head "$2" '1\n' $(small) ;;
    feed) directives infeed >"$2/all"
        printf 'f32[2] {1, 2}, 3\n(f32[2] {1, 2}, s4[] 3)\n// none\nbf16[<=4] {1, 2, 3}\n()\n' >"$2/valid" ;;
    file) for head in '\000' '\001' '\002' '\003' '\004' '\005' '\006' '\007'; do
            with_head "$2" "$head" "$testdata"/fuzz/*
        done ;;
    golden | run | threads) with_head "$2" '' $(small) ;;
    lsp) mkdir -p tools # the messages of the transcripts, which are printed instead of sent
        printf '#!/bin/sh\ncat\n' >tools/lsp_talk.sh
        chmod +x tools/lsp_talk.sh
        for script in "$testdata"/cli/lsp*.sh; do
            HLO=: HERE=$testdata/cli TOOLS=$PWD/tools sh "$script" >"$2/$(basename "$script")" || : # its status does not matter
            { printf '\001'; cat "$2/$(basename "$script")"; } >"$2/during-$(basename "$script")"
        done
        echo "$testdata/fuzz" ;;
    lex | print | verify) echo "$testdata" ;;
    npz) echo "$testdata/fuzz" ;;
    onnx) echo "$testdata/onnx" "$testdata/fuzz" ;;
    pbtxt) with_head "$2" '\000' "$testdata"/proto/[!r]*.pbtxt
        with_head "$2" '\002' "$testdata"/proto/run.pbtxt
        with_head "$2" '\004' "$testdata"/fuzz/*.pbtxt ;;
    proto) echo "$testdata/proto" "$testdata/fuzz" ;;
    snapshot) for head in '\000' '\001' '\002' '\003'; do
            with_head "$2" "$head" "$testdata"/fuzz/*.pb
        done ;;
    options) grep -rhE '^\$HLO ' "$testdata/cli" | sed 's/^\$HLO //; s/[<>|].*//' | sort -u | each_line "$2" ;;
    repl) for file in "$testdata"/cli/repl*.sh; do
            grep -v '^# \|HLO\|^EOF' "$file" >"$2/$(basename "$file")" || : # nothing is left of it
        done ;;
    serve) grep -h '^{"id"' "$testdata/cli/serve.sh" | sed 's/\$m/HloModule m\\nENTRY e { x = f32[2] parameter(0)  ROOT y = f32[2] add(x, x) }\\n/' |
        sed 's/\$[a-z]*/ENTRY e { ROOT c = s32[] constant(1) }/' >"$2/all"
        each_line "$2" <"$2/all" ;;
    why) with_head "$2" '\n' $(small) ;;
    write) with_head "$2" '' $(small)
        directives 'in|out' | sort -u | awk 'NR % 20 == 0' | each_line "$2/values"
        echo "$testdata/proto" "$testdata/fuzz" ;;
    esac
}

dictionary() {
    case $1 in
    argument | command | options) echo options ;;
    golden) echo test ;;
    repl) echo repl ;;
    esac
    echo text
}

run_one() { # TARGET
    mkdir -p corpus-"$1"
    rm -rf seeds-"$1"
    more=$(seeds "$1" "seeds-$1")
    for of in $(dictionary "$1"); do
        "$build/hlo" ops --dict="$of"
    done >"$1.dict"
    start=$(date +%s)
    fixed= seed=0
    if [ "${CAMPAIGN_SEED:-}" ]; then
        seed=$CAMPAIGN_SEED
        # Hash tables are seeded by addresses. Not every container allows disabling their randomization.
        ! setarch -R true 2>/dev/null || fixed="setarch -R"
    fi
    # With many features, the entropic schedule takes ten times as long as the inputs.
    # shellcheck disable=SC2086 # directories without blanks in their names
    TMPDIR=$PWD/tmp $fixed "$build/src/fuzz/fuzz_$1" -max_total_time="$seconds" -seed="$seed" -timeout=$((5 * ${CAMPAIGN_SLOW:-5})) -report_slow_units="${CAMPAIGN_SLOW:-5}" -rss_limit_mb=4096 \
        -max_len=16384 -entropic=0 -dict="$1.dict" -artifact_prefix="$PWD/found/$1-" -print_final_stats=1 \
        "corpus-$1" "seeds-$1" $more >"$1.log" 2>&1 </dev/null ||
        { echo "fuzz_$1 ended with status $?: $PWD/$1.log"; tail -n 40 "$1.log"; } >&2
    rm -rf "seeds-$1" "$1.dict"
    done=$(sed -n 's/^stat::number_of_executed_units: *//p' "$1.log")
    echo "$1 $(($(date +%s) - start)) ${done:-0} $(sed -n 's/.* cov: \([0-9]*\) ft: \([0-9]*\) .*/\1 \2/p' "$1.log" | tail -1)" >>history
}

table() {
    printf '| target | executions | seconds | corpus | cov | ft | findings |\n|---|---|---|---|---|---|---|\n'
    cut -d' ' -f1 history | sort -u | while read -r name; do
        awk -v name="$name" -v corpus="$(find "corpus-$name" -type f | wc -l)" -v found="$(find found -name "$name-*" | wc -l)" '
            $1 == name { took += $2; n += $3; if ($4) { cov = $4; ft = $5 } }
            END { printf "| %s | %d | %d | %d | %d | %d | %d |\n", name, n, took, corpus, cov, ft, found }' history
    done
}

main() {
    build=$(cd "$1" && pwd)
    seconds=$2
    shift 2
    if [ "${CAMPAIGN_ONE:-}" ]; then
        run_one "$1"
        exit 0
    fi
    ninja -C "$build" hlo fuzz >/dev/null
    [ $# -gt 0 ] || set -- $(cd "$build/src/fuzz" && for target in fuzz_*; do [ -x "$target" ] && [ -f "$target" ] && echo "${target#fuzz_}"; done)
    export CAMPAIGN_DIR="${CAMPAIGN_DIR:-$build/campaign}"
    mkdir -p "$CAMPAIGN_DIR/tmp" "$CAMPAIGN_DIR/found"
    cd "$CAMPAIGN_DIR"
    # Failed allocations are tested as well.
    export ASAN_OPTIONS="${ASAN_OPTIONS:-allocator_may_return_null=1:max_allocation_size_mb=1024}" UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    export CAMPAIGN_ONE=1
    for target; do echo "$target"; done | xargs -P "${CAMPAIGN_JOBS:-2}" -n 1 sh "$here/campaign.sh" "$build" "$seconds"
    rm -rf tmp
    table
    [ -z "$(ls found)" ]
}
main "$@"
