#!/bin/sh
# Installs into an empty directory and checks the result: each header compiles alone, as C11 and as C++17; a program can be built
# with pkg-config and runs; the shared library exports its public functions only. Prints TAP.
#
#   test_install.sh BUILD SOURCE_ROOT CC...      CC: the compiler, and options such as --sysroot
build=$(cd "$1" && pwd)
root=$(cd "$2" && pwd)
shift 2
cc=$*
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
        sed 's/^/# /' "$scratch/log"
    fi
}

prefix=$(meson introspect --buildoptions "$build" | tr '{' '\n' | sed -n 's/.*"name": "prefix", "value": "\([^"]*\)".*/\1/p')
sanitize=$(meson introspect --buildoptions "$build" | tr '{' '\n' | sed -n 's/.*"name": "b_sanitize", "value": "\([^"]*\)".*/\1/p')
flags=
[ "$sanitize" = none ] || flags=-fsanitize=$sanitize

DESTDIR=$to meson install --no-rebuild -C "$build" >"$scratch/log" 2>&1
report "meson install into DESTDIR" $?

headers=$(find "$to" -name 'hlo*.h')
cxx=
for word in c++ g++ clang++; do
    [ -n "$cxx" ] || ! command -v $word >/dev/null || cxx=$word
done
for name in hlo.h hlo_advanced.h; do
    header=$(find "$to" -name $name)
    $cc -std=c11 -Wall -Wextra -pedantic-errors -fsyntax-only -x c "$header" >"$scratch/log" 2>&1
    report "$name compiles alone as C11" $?
    if [ -n "$cxx" ]; then
        "$cxx" -std=c++17 -Wall -Wextra -pedantic-errors -fsyntax-only -x c++ "$header" >"$scratch/log" 2>&1
        report "$name compiles alone as C++17" $?
    fi
done

for words in "$cc -std=c11 -Wall -Wextra -pedantic-errors -x c" ${cxx:+"$cxx -std=c++17 -Wall -Werror -pedantic-errors -x c++"}; do
    echo 'void plan(void); void plan(void) { struct hlo_run_options o = HLO_RUN_OPTIONS_INIT; o.threads = 1; (void)o; }' >"$scratch/init.c"
    $words -include "${headers%%
*}" -fsyntax-only "$scratch/init.c" >"$scratch/log" 2>&1 && [ ! -s "$scratch/log" ]
    report "option structs are initialized by their macros: ${words##* }" $?
done

pc=$(find "$to" -name hlo.pc)
export PKG_CONFIG_PATH="${pc%/*}" PKG_CONFIG_SYSROOT_DIR="$to"
{
    words=$(pkg-config --cflags --libs hlo) &&
        $cc -std=c11 $flags -o "$scratch/embed" "$root/src/test/embed.c" $words
} >"$scratch/log" 2>&1
report "a program is built with pkg-config" $?

lib=$(find "$to" -name 'libhlo.so.0')
LD_LIBRARY_PATH=${lib%/*} "$scratch/embed" >"$scratch/out" 2>"$scratch/log" && [ "$(cat "$scratch/out")" = 'f32[3]{0} {1, 4, 9}' ]
report "the program runs" $?

nm -D --defined-only "$lib" | awk '{ print $3 }' | grep -v '^hlo_' | grep -vE '^(__asan|__ubsan|__sancov|__odr_asan|__tsan|__sanitizer|__start_|__stop_)' >"$scratch/log"
[ ! -s "$scratch/log" ]
report "the shared library exports only public functions" $?

# All declared functions are exported.
nm -D --defined-only "$lib" | awk '{ print $3 }' | LC_ALL=C sort >"$scratch/have"
cat $headers | tr '\n' ' ' | sed 's,/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/,,g' | grep -oE '\bhlo_[a-z0-9_]+\(' | tr -d '(' | grep -v '_fn$' | LC_ALL=C sort -u >"$scratch/want"
LC_ALL=C comm -13 "$scratch/have" "$scratch/want" >"$scratch/log"
[ ! -s "$scratch/log" ]
report "the shared library exports every function of the headers" $?

# Functions that are removed or changed require another soname, and with it another name of this file.
sed -n 's/^ \(hlo_.*\)@Base.*/\1/p' "$root/debian/libhlo0.symbols" | LC_ALL=C sort >"$scratch/listed"
grep '^hlo_' "$scratch/have" | diff "$scratch/listed" - >"$scratch/log"
report "the exported functions are those in debian/libhlo0.symbols" $?

[ -x "$to$prefix/bin/hlo" ] && "$to$prefix/bin/hlo" --version >"$scratch/log" 2>&1
report "the program is installed and starts" $?

missing=
for page in "$root"/man/*.[1-9]; do
    section=${page##*.}
    find "$to" -path "*/man$section/${page##*/}" | grep -q . || missing="$missing ${page##*/}"
done
for command in $("$to$prefix/bin/hlo" --help | sed -n 's/^  \([[:lower:]]*\)  *[[:upper:]].*\.$/\1/p'); do
    find -L "$to" -name "hlo-$command.[15]" -type f | grep -q . || missing="$missing hlo-$command"
done
echo "missing:$missing" >"$scratch/log"
[ -z "$missing" ]
report "the manual is installed, with a page for each command" $?

echo "1..$n"
exit $bad
