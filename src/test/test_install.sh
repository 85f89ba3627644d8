#!/bin/sh
# Installs into an empty directory and checks the result: each header compiles alone, as C11 and as C++17; a program can be built
# with pkg-config and runs; the shared library exports its public functions only. Prints TAP.
#
#   test_install.sh BUILD_FOLDER SOURCE_ROOT CC
build=$(cd "$1" && pwd)
root=$(cd "$2" && pwd)
cc=$3
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
to=$scratch/to
n=0
bad=0

report() { # NAME STATUS
    n=$((n + 1))
    if [ "$2" = 0 ]; then
        echo "ok $n - $1"
    else
        bad=1
        echo "not ok $n - $1"
        sed 's/^/# /' "$scratch/said"
    fi
}

prefix=$(meson introspect --buildoptions "$build" | tr '{' '\n' | sed -n 's/.*"name": "prefix", "value": "\([^"]*\)".*/\1/p')
sanitize=$(meson introspect --buildoptions "$build" | tr '{' '\n' | sed -n 's/.*"name": "b_sanitize", "value": "\([^"]*\)".*/\1/p')
flags=
[ "$sanitize" = none ] || flags=-fsanitize=$sanitize

DESTDIR=$to meson install --no-rebuild -C "$build" >"$scratch/said" 2>&1
report "install into a folder of its own" $?

headers=$(find "$to" -name 'hlo*.h')
cxx=
for word in c++ g++ clang++; do
    [ -n "$cxx" ] || ! command -v $word >/dev/null || cxx=$word
done
for name in hlo.h hlo_advanced.h; do
    header=$(find "$to" -name $name)
    "$cc" -std=c11 -Wall -Wextra -pedantic-errors -fsyntax-only -x c "$header" >"$scratch/said" 2>&1
    report "$name compiles alone as C11" $?
    if [ -n "$cxx" ]; then
        "$cxx" -std=c++17 -Wall -Wextra -pedantic-errors -fsyntax-only -x c++ "$header" >"$scratch/said" 2>&1
        report "$name compiles alone as C++17" $?
    fi
done

for words in "${cc} -std=c11 -Wall -Wextra -pedantic-errors -x c" ${cxx:+"$cxx -std=c++17 -Wall -Werror -pedantic-errors -x c++"}; do
    echo 'void plan(void); void plan(void) { struct hlo_run_options o = HLO_RUN_OPTIONS_INIT; o.threads = 1; (void)o; }' >"$scratch/init.c"
    $words -include "${headers%%
*}" -fsyntax-only "$scratch/init.c" >"$scratch/said" 2>&1 && [ ! -s "$scratch/said" ]
    report "option structs are initialized by their macros: ${words##* }" $?
done

pc=$(find "$to" -name hlo.pc)
export PKG_CONFIG_PATH="${pc%/*}" PKG_CONFIG_SYSROOT_DIR="$to"
{
    words=$(pkg-config --cflags --libs hlo) &&
        "$cc" -std=c11 $flags -o "$scratch/embed" "$root/src/test/embed.c" $words
} >"$scratch/said" 2>&1
report "a program is built by pkg-config" $?

lib=$(find "$to" -name 'libhlo.so.0')
LD_LIBRARY_PATH=${lib%/*} "$scratch/embed" >"$scratch/out" 2>"$scratch/said" && [ "$(cat "$scratch/out")" = 'f32[3]{0} {1, 4, 9}' ]
report "and runs" $?

nm -D --defined-only "$lib" | awk '{ print $3 }' | grep -v '^hlo_' | grep -vE '^(__asan|__ubsan|__sancov|__odr_asan|__tsan|__sanitizer|__start_|__stop_)' >"$scratch/said"
[ ! -s "$scratch/said" ]
report "the shared library gives its public functions and nothing else" $?

# All declared functions are exported.
nm -D --defined-only "$lib" | awk '{ print $3 }' | LC_ALL=C sort >"$scratch/have"
cat $headers | tr '\n' ' ' | sed 's,/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/,,g' | grep -oE '\bhlo_[a-z0-9_]+\(' | tr -d '(' | grep -v '_fn$' | LC_ALL=C sort -u >"$scratch/want"
LC_ALL=C comm -13 "$scratch/have" "$scratch/want" >"$scratch/said"
[ ! -s "$scratch/said" ]
report "every function of the headers is in the library" $?

[ -x "$to$prefix/bin/hlo" ] && "$to$prefix/bin/hlo" --version >"$scratch/said" 2>&1
report "the program is installed and starts" $?

missing=
for page in "$root"/man/*.[1-9]; do
    section=${page##*.}
    find "$to" -path "*/man$section/${page##*/}" | grep -q . || missing="$missing ${page##*/}"
done
for command in $("$to$prefix/bin/hlo" --help | sed -n 's/^  \([a-z]*\)  *[A-Z].*\.$/\1/p'); do
    find -L "$to" -name "hlo-$command.[15]" -type f | grep -q . || missing="$missing hlo-$command"
done
echo "not there:$missing" >"$scratch/said"
[ -z "$missing" ]
report "the manual is installed, and found by the name of each command" $?

echo "1..$n"
exit $bad
