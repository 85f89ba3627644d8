#!/bin/sh
# Checks the examples of README.md: runs every command after `$ ` in an indented block, and compares its output, including errors,
# with the following lines. Prints TAP.
#
#   test_readme.sh HLO SOURCE_ROOT
HLO=$1
case $HLO in /*) ;; *) HLO=$PWD/$HLO ;; esac
root=$(cd "$2" && pwd)
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
n=0
bad=0
. "$root/src/test/examples.sh"
mkdir "$scratch/work" "$scratch/examples"
ln -s "$root/testdata" "$scratch/work/testdata"

awk -v to="$scratch/examples" '
    /^    \$ / { n++; file = sprintf("%s/%03d", to, n); print substr($0, 7) > (file ".sh"); printf "" > (file ".want"); on = 1; next }
    /^    / && on { print substr($0, 5) > (file ".want"); next }
    /^$/ && on { print "" > (file ".want"); next }
    { on = 0 }' "$root/README.md"

run_examples README "$scratch/examples" "$scratch/work"
echo "1..$n"
exit $bad
