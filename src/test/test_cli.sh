#!/bin/sh
# Runs the transcripts below a directory, or a single one, and prints TAP.
#
#   test_cli.sh HLO TESTDATA
#
# A transcript is a shell script that starts with comments:
#
#   # description
#   # status: 3                  exit status of its last command (default: 0)
#   # stdout: a line             all such lines are its complete standard output, if there are any
#   # stderr: some words         the end of a line of its standard error; with a final `...`, any part of a line;
#                                `# stderr: -`: standard error is empty
#   # needs: onnx                skipped if the program was built without it; or `proto`
#
# It runs in an empty directory, with the program in $HLO, the directory of the transcript in $HERE, this directory in $TOOLS, and
# the library of src/test/custom_calls.c in $LIB. It does not sleep, but waits for conditions by $TOOLS/await.sh or
# $TOOLS/signal_when.sh.
HLO=$1
data=$2
case $HLO in /*) ;; *) HLO=$PWD/$HLO ;; esac
case $data in /*) ;; *) data=$PWD/$data ;; esac
LIB=${HLO%/*}/src/test/custom_calls.so
TOOLS=$(cd "${0%/*}" && pwd)
XDG_CONFIG_HOME=/nonexistent # ignore the user's rc file
export HLO HERE LIB TOOLS XDG_CONFIG_HOME
unset HLO_COLORS NO_COLOR CLICOLOR_FORCE FORCE_COLOR CI TERM HLO_OPTIONS HLO_PAGER PAGER
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
without_proto=$(echo 'name: "m"' | $HLO verify - 2>&1 | grep 'built without protocol buffers')
n=0
bad=0

field() { sed -n "s/^# $2: \{0,1\}//p" "$1"; }

# has_line WORDS FILE: whether a line ends in the words; or contains them, if they end in `...`.
has_line() {
    case $1 in
    *...) grep -qF -- "${1%...}" "$2" && return ;;
    esac
    WORDS=$1 awk '{ at = length($0) - length(ENVIRON["WORDS"]) + 1 }
        at > 0 && substr($0, at) == ENVIRON["WORDS"] { found = 1 }
        END { exit !found }' "$2"
}

# Prints the differences from the expectations; nothing if there are none.
judge() {
    want=$(field "$1" status)
    if [ "$status" != "${want:-0}" ]; then
        echo "exit status $status, expected ${want:-0}; standard error and output end in:"
        tail -n 20 "$scratch/err"
        tail -n 20 "$scratch/out"
    fi
    if grep -q '^# stdout:' "$1" && [ "$(field "$1" stdout)" != "$(cat "$scratch/out")" ]; then
        echo "standard output is:"
        cat "$scratch/out"
    fi
    field "$1" stderr | while IFS= read -r words; do
        if [ "$words" = - ]; then
            [ ! -s "$scratch/err" ] || echo "standard error is not empty"
        else
            has_line "$words" "$scratch/err" || echo "standard error lacks: $words"
        fi
    done
}

scripts=$(find "$data" -name '*.sh' | LC_ALL=C sort)
echo "1..$(printf '%s\n' "$scripts" | grep -c .)"
for script in $scripts; do
    n=$((n + 1))
    HERE=$(dirname "$script")
    if [ "$(field "$script" needs)" = onnx ] && $HLO import /dev/null 2>&1 | grep -q 'built without ONNX'; then
        echo "ok $n - ${script#"$data"/} # SKIP built without ONNX"
        continue
    fi
    if [ "$(field "$script" needs)" = proto ] && [ -n "$without_proto" ]; then
        echo "ok $n - ${script#"$data"/} # SKIP built without protocol buffers"
        continue
    fi
    rm -rf "$scratch/work"
    mkdir "$scratch/work"
    (cd "$scratch/work" && sh -u "$script" >"$scratch/out" 2>"$scratch/err" </dev/null)
    status=$?
    problems=$(judge "$script")
    if [ -z "$problems" ]; then
        echo "ok $n - ${script#"$data"/}: $(sed -n '1s/^# //p' "$script")"
    else
        bad=1
        echo "not ok $n - ${script#"$data"/}: $(sed -n '1s/^# //p' "$script")"
        printf '%s\n' "$problems" | sed 's/^/# /'
        sed 's/^/# stderr: /' "$scratch/err"
    fi
done
exit $bad
