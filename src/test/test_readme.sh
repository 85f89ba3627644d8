#!/bin/sh
# Holds README.md to its word: runs every command that stands behind `$ ` in an indented block and compares
# what it prints, errors included, with the lines below it. `$ cat FILE` shows a file, which is written for the
# commands after it. Prints TAP.
#
#   test_readme.sh HLO SOURCE_ROOT
HLO=$1
case $HLO in /*) ;; *) HLO=$PWD/$HLO ;; esac
root=$(cd "$2" && pwd)
PATH=${HLO%/*}:$PATH
export PATH OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # MPI itself loses memory
unset NO_COLOR CI
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/work"
ln -s "$root/testdata" "$scratch/work/testdata"

# One example a file: NNN.sh with its command, NNN.want with what must come of it.
awk -v to="$scratch" '
    /^    \$ / { n++; file = sprintf("%s/%03d", to, n); print substr($0, 7) > (file ".sh"); printf "" > (file ".want"); on = 1; next }
    /^    / && on { print substr($0, 5) > (file ".want"); next }
    /^$/ && on { blank[file]++; print "" > (file ".want"); next }
    { on = 0 }' "$root/README.md"

# Empty lines at the end belong to the text around it and not to the example.
trimmed() { sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' "$1"; }

# Why an example cannot be run here; empty when it can.
hindrance() {
    case $1 in
    mpirun*) command -v mpirun >/dev/null && [ -f "${HLO%/*}/hlo-mpi.so" ] || echo "built without MPI" ;;
    *.onnx*) ! hlo import /dev/null 2>&1 | grep -q 'built without ONNX' || echo "built without ONNX" ;;
    esac
}

n=0
bad=0
echo "1..$(find "$scratch" -name '*.sh' | wc -l)"
for script in "$scratch"/*.sh; do
    n=$((n + 1))
    command=$(cat "$script")
    trimmed "${script%.sh}.want" >"$scratch/want"
    skip=$(hindrance "$command")
    case $command in
    "cat "*)
        cp "$scratch/want" "$scratch/work/${command#cat }"
        : >"$scratch/want"
        : >"$scratch/got"
        ;;
    *)
        [ -n "$skip" ] || (cd "$scratch/work" && sh -u "$script") >"$scratch/all" 2>&1 </dev/null
        trimmed "$scratch/all" >"$scratch/got"
        ;;
    esac
    if [ -n "$skip" ]; then
        echo "ok $n - README: $command # SKIP $skip"
    elif cmp -s "$scratch/want" "$scratch/got"; then
        echo "ok $n - README: $command"
    else
        bad=1
        echo "not ok $n - README: $command"
        diff "$scratch/want" "$scratch/got" | sed 's/^/# /'
    fi
done
exit $bad
