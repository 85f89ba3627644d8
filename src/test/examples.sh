# Runs examples of documents and compares their output: functions shared by test_readme.sh and
# test_manual.sh, which source this file.
#
# An example is a file NNN.sh with a command, and NNN.want with its expected output, including errors. Without NNN.want, only the
# exit status is checked: 0, 1 (difference) or 4 (failed run). `cat FILE` in an example creates the file for later commands.
# The caller sets HLO, n (number of tests so far), bad, and the directory `scratch`.
PATH=${HLO%/*}:$PATH
export PATH OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # ignores leaks of the MPI library
export HLO_HISTORY=
unset NO_COLOR CI

# Prints a line of TAP, and if STATUS is not 0 the file.
report() { # NAME STATUS FILE
    n=$((n + 1))
    if [ "$2" = 0 ]; then
        printf '%s\n' "ok $n - $1"
    else
        bad=1
        printf '%s\n' "not ok $n - $1"
        sed 's/^/# /' "$3"
    fi
}

# Trailing empty lines are not part of an example, nor is the sign of a NaN, which depends on the processor.
trimmed() { sed 's/-nan/nan/g' "$1" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'; }

# Prints why an example cannot be run, or nothing if it can.
skip_reason() {
    case $1 in
    mpirun*) command -v mpirun >/dev/null && [ -f "${HLO%/*}/hlo-mpi.so" ] || echo "built without MPI" ;;
    *.onnx*) ! hlo import /dev/null 2>&1 | grep -q 'built without ONNX' || echo "built without ONNX" ;;
    "hlo convert "*) ! echo 'name: "m"' | hlo verify - 2>&1 | grep -q 'built without protocol buffers' || echo "built without protocol buffers" ;;
    esac
}

run_example() { # LABEL SCRIPT DIRECTORY
    command=$(cat "$2")
    want=${2%.sh}.want
    skip=$(skip_reason "$command")
    if [ -n "$skip" ]; then
        n=$((n + 1))
        printf '%s\n' "ok $n - $1: $command # SKIP $skip"
        return
    fi
    case $command in
    "cat "*)
        trimmed "$want" >"$3/${command#cat }"
        report "$1: $command" 0
        return
        ;;
    esac
    (cd "$3" && sh -u "$2") >"$scratch/all" 2>&1 </dev/null
    status=$?
    trimmed "$scratch/all" >"$scratch/got"
    if [ -f "$want" ]; then
        trimmed "$want" >"$scratch/want"
        diff "$scratch/want" "$scratch/got" >"$scratch/diff"
        report "$1: $command" $? "$scratch/diff"
    else
        case $status in 0 | 1 | 4) status=0 ;; esac
        case $command in *"|"*) ! grep -q 'error:' "$scratch/got" || status=1 ;; esac # the status is that of the last command
        report "$1: $command" $status "$scratch/got"
    fi
}

run_examples() { # LABEL EXAMPLES WORKING_DIRECTORY
    for script in "$2"/*.sh; do
        run_example "$1" "$script" "$3"
    done
}
