#!/bin/sh
# The steps of action.yml, on a runner with Debian or Ubuntu.
#
#   action.sh install DIRECTORY     builds the archive of tarball.sh in DIRECTORY, unless a cache has restored
#                                   it, and adds the program to the search path of later steps
#   action.sh test                  runs golden tests: $TESTS, with $OPTIONS and a report to $JUNIT
set -eu
here=$(cd "$(dirname "$0")" && pwd)
case $1 in
install)
    to=$2
    as_root=$([ "$(id -u)" = 0 ] || echo sudo)
    if [ ! -x "$to/hlo/bin/hlo" ]; then
        $as_root apt-get update
        # shellcheck disable=SC2046 # names of packages
        $as_root apt-get install -y --no-install-recommends $("$here/tarball.sh" --packages)
        "$here/tarball.sh" "$to"
    fi
    echo "$to/hlo/bin" >>"$GITHUB_PATH"
    echo "version=$("$to/hlo/bin/hlo" --version | sed 's/^hlo //')" >>"$GITHUB_OUTPUT"
    ;;
test)
    # shellcheck disable=SC2086 # lists
    exec hlo test $OPTIONS --junit="$JUNIT" $TESTS
    ;;
esac
