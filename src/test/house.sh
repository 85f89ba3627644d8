#!/bin/sh
# Checks rules of the sources: layering of components, lengths of files and functions, sorted and
# documented tables, no mutable globals, equal productions in grammar and parser, golden cases of every
# op and every message. Prints TAP.
#
#   house.sh SOURCE_ROOT LIBHLO.a
root=$1
lib=$2
cd "$root" || exit 2
export LC_ALL=C # character ranges in patterns are ASCII
n=0
bad=0

# report NAME PROBLEMS: prints a TAP line; problems follow as comments
report() {
    n=$((n + 1))
    if [ -z "$2" ]; then
        echo "ok $n - $1"
    else
        bad=1
        echo "not ok $n - $1"
        printf '%s\n' "$2" | sed 's/^/# /'
    fi
}

# ---- layering: component -> components it may include ----
allowed() {
    case $1 in
    base) echo base ;;
    wire) echo base wire ;;
    diag | type | op) echo "base $1" ;;
    jit) echo base type jit ;;
    kern) echo base type kern ;;
    ir) echo base diag type op ir ;;
    infer) echo base diag type op ir infer ;;
    lower) echo base diag type op ir infer lower ;;
    text) echo base diag type op ir infer lower text ;;
    proto) echo base wire diag type op ir text proto ;;
    verify) echo base diag type op ir infer verify ;;
    edit) echo base diag type op ir text edit ;;
    plan) echo base diag type op jit kern ir plan ;;
    why) echo base diag type op ir plan why ;;
    eval) echo base diag type op jit kern ir plan eval ;;
    world) echo base diag type op jit kern ir plan eval world ;;
    io) echo base diag type op jit kern ir text proto plan eval world io ;;
    look) echo base diag type op ir text io look ;;
    api) echo base diag type op jit kern ir text verify edit plan why eval world io look proto api ;;
    repl) echo base text/token.h repl ;;
    lsp) echo base text/token.h repl/complete.h repl/syntax.h lsp ;;
    onnx) echo base wire onnx ;;
    cli) echo base repl lsp cli ;;
    esac
}
problems=$(for component in base wire diag type op jit kern ir infer lower text proto verify edit plan why eval world io look api onnx repl lsp cli; do
    [ -d src/$component ] || continue
    ok=" $(allowed $component) "
    grep -rHnE '^#include "' src/$component --include='*.c' --include='*.h' --include='*.inc' --include='*.def' |
        while IFS= read -r line; do
            target=$(printf '%s' "$line" | sed 's/.*#include "\([^"]*\)".*/\1/')
            case $target in
            hlo.h | hlo_advanced.h | hlo_scoped.h) case $component in look | api | cli | repl | lsp | onnx) continue ;; esac ;;
            esac
            into=${target%%/*}
            case $ok in
            *" $into "* | *" $target "*) ;;
            *) echo "$line: $component may not include $target" ;;
            esac
        done
done)
report "components include only lower layers" "$problems"

problems=$(grep -rlE '#include <(cblas|lapacke|fftw3|sleef)' src --include='*.[ch]' | grep -v '^src/kern/'
    grep -rl '#include <histedit' src --include='*.[ch]' | grep -v '^src/repl/'
    grep -rl '#include <mpi.h' src --include='*.[ch]' | grep -v '^src/world/mpi.c'
    grep -rl '#include <protobuf-c' src --include='*.[ch]' | grep -v '^src/wire/')
report "headers of libraries are included in one component only" "$problems"

problems=$(grep -rnE '(#include <(link|elf|malloc|linux/.*|sys/(signalfd|epoll|eventfd|prctl|event|sysctl|syscall))\.h>|"/proc/|__linux__|\b(madvise|mallopt|memrchr|pipe2|signalfd|sigtimedwait|dladdr1?|dlinfo|dl_iterate_phdr|pthread_condattr_setclock|pthread_getcpuclockid|sched_getaffinity|[a-z_]+_np)\()' src --include='*.[ch]' --include='*.inc' |
    grep -vE '^src/(base/system\.c|test/|fuzz/|bench/)')
report "calls specific to an operating system are in base/system.c" "$problems"

problems=$(for f in src/test/test_*.c; do
    name=${f##*/test_}
    grep -q "'${name%.c}'" src/test/meson.build || grep -q "test_${name%.c}" src/*/meson.build || echo "$f is not built"
done)
report "every test is built" "$problems"

# ---- sizes ----
problems=$(find src -name '*.c' -o -name '*.h' -o -name '*.inc' | while read -r f; do
    lines=$(wc -l <"$f")
    if [ "$lines" -gt 1500 ]; then
        echo "$f has $lines lines (limit 1500)"
    elif [ "$lines" -gt 900 ] && ! head -30 "$f" | grep -qi 'one file because'; then
        echo "$f has $lines lines: above 900, its first comment must say 'one file because ...'"
    fi
done)
report "files are short" "$problems"

problems=$(find src -name '*.c' -o -name '*.inc' | xargs awk '
    FNR == 1 { start = 0 }
    /^\{/ { start = FNR; name = prev }
    /^\}/ { if (start && FNR - start > 120) print FILENAME ":" start ": " FNR - start " lines: " name; start = 0 }
    /^[a-z]/ { prev = $0 }')
report "functions are short (120 lines at most)" "$problems"

problems=$(find src -name '*.c' -o -name '*.h' | while read -r f; do
    head -1 "$f" | grep -q '^/\*' || echo "$f does not start with a comment that describes its purpose"
done)
report "every file starts with a description" "$problems"

problems=$(grep -rnE '(TODO|FIXME|(^|[^X])XXX([^X]|$))' src grammar man 2>/dev/null | grep -v '^src/test/house.sh')
report "no TODO markers" "$problems"

# ---- one version: that of hlo.h, and of the Debian packages; the soname is that of the symbols ----
version=$(sed -n 's/^#define HLO_VERSION "\(.*\)"/\1/p' src/hlo.h)
problems=$(
    head -1 debian/changelog | grep -qF "hlo ($version) " || echo "debian/changelog is not of version $version"
    soversion=$(sed -n "s/.*soversion: '\([0-9]*\)'.*/\1/p" src/meson.build)
    head -1 debian/libhlo0.symbols | grep -qF "libhlo.so.$soversion libhlo$soversion " ||
        echo "debian/libhlo0.symbols is not of soversion '$soversion'"
)
report "packages have the version of hlo.h and the soname of the library" "$problems"

# ---- no mutable globals: no symbols in .data or .bss of the library ----
if command -v objdump >/dev/null && [ -f "$lib" ]; then
    problems=$(objdump -t "$lib" | awk '$4 == ".data" || $4 == ".bss" || $3 == ".data" || $3 == ".bss" || $4 == "*COM*" {
        if ($NF !~ /^\./ && $0 ~ / O / ) print $NF }' | grep -vE '^(__|_ZZ|completed)')
    report "no mutable globals" "$problems"
fi

# ---- tables ----
for t in "op/op.def OP 2" "op/form.def FORM 2" "op/attr.def ATTR 2" "diag/msg_text.def MSG 1" "diag/msg_verify.def MSG 1" "diag/msg_run.def MSG 1"; do
    set -- $t
    if [ "$3" = 2 ]; then
        words=$(sed -n "s/^$2([A-Z0-9_]*, \"\([^\"]*\)\".*/\1/p" "src/$1")
    else
        words=$(sed -n "s/^$2(\([A-Z0-9_]*\),.*/\1/p" "src/$1")
    fi
    problems=$(printf '%s\n' "$words" | LC_ALL=C sort -c 2>&1)
    [ -n "$words" ] || problems="no rows found"
    report "src/$1 is sorted" "$problems"
done
problems=$(sed -n 's/^OP("\([^"]*\)", \([0-9]*\),.*/\1 \2/p' src/onnx/op.def | LC_ALL=C sort -c -k1,1 -k2,2n 2>&1)
report "src/onnx/op.def is sorted" "$problems"
# Names in backquotes in src/README.md, one per line. Capitals stand for names: FAMILY.c.
quoted=$(tr '\n' ' ' <src/README.md | grep -oE '`[^`]+`' | tr -d '`' | LC_ALL=C sort -u)
files='\.(c|h|def|inc|sh|py|md|hlo|ebnf)$'
problems=$(printf '%s\n' "$quoted" | grep -E "^[^ ]+$files" | grep -vE '[A-Z]{2}|/hypot\.' | while read -r f; do # hypot is an example
    case $f in
    */*) found=$(cd src && ls $f ../$f 2>/dev/null) ;;
    *) found=$(find src -name "$f") ;;
    esac
    [ -n "$found" ] || echo "src/README.md names $f"
done)
report "the files that src/README.md names exist" "$problems"
problems=$(find src -name '*.c' -o -name '*.h' -o -name '*.def' -o -name '*.inc' | xargs grep -hoE '[A-Za-z_][A-Za-z0-9_]*' |
        grep _ | LC_ALL=C sort -u >"${TMPDIR:-/tmp}/words.$$"
    printf '%s\n' "$quoted" | grep -vE "/|$files" | grep -oE '[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)+' | LC_ALL=C sort -u |
        LC_ALL=C comm -23 - "${TMPDIR:-/tmp}/words.$$" | sed 's/^/src\/README.md names /'
    rm -f "${TMPDIR:-/tmp}/words.$$")
report "the identifiers that src/README.md names exist" "$problems"
for header in hlo.h hlo_advanced.h; do
    problems=$(awk '/^ \*\/$/ { exit } /^ \*   / { print substr($0, 6) }' src/$header >"${TMPDIR:-/tmp}/sections.$$"
        sed -n 's/^\/\* ---- \(.*\) ----.*/\1/p' src/$header | diff "${TMPDIR:-/tmp}/sections.$$" - 2>&1
        rm -f "${TMPDIR:-/tmp}/sections.$$")
    report "$header starts with the list of its sections" "$problems"
done
problems=$(find src grammar man -type f | sed 's,.*/,,' | LC_ALL=C sort -u >"${TMPDIR:-/tmp}/names.$$"
    grep -rhE '^ \*|/\*' src --include='*.c' --include='*.h' --include='*.inc' --include='*.def' |
        grep -oE '(^|[^<A-Za-z0-9_.*-])[a-z_0-9]{3,}\.(c|h|inc|def)([^A-Za-z0-9_(]|$)' | sed -E 's/^[^a-z0-9_]//; s/[^a-z]$//' |
        LC_ALL=C sort -u | LC_ALL=C comm -23 - "${TMPDIR:-/tmp}/names.$$" |
        grep -vxE 'c_api\.h|check\.h|mpi\.h' # other projects
    rm -f "${TMPDIR:-/tmp}/names.$$")
report "the files that comments name exist" "$problems"
report "op.def has the 133 opcodes of XLA" "$(c=$(grep -c '^OP(' src/op/op.def); [ "$c" -ge 133 ] || echo "$c rows")"

# ---- the reference ----
problems=$(grep -rnoE 'grammar/(text|shapes|values)\.md [0-9]+(\.[0-9]+)?' src testdata | grep -v '^src/test/house.sh' |
    while IFS=: read -r file line cited; do
        section=$(printf '%s' "${cited#* }" | sed 's/\./\\./g')
        grep -qE "^(#+ |\*\*)$section[ .]" "${cited% *}" || echo "$file:$line: there is no $cited"
    done)
report "the sections of grammar/ that are cited exist" "$problems"

problems=$(sed -n 's/^OP([A-Z0-9_]*, "\([^"]*\)".*/\1/p' src/op/op.def | while read -r op; do
    grep -q "^| $op |" grammar/shapes.md || echo "$op has no row in grammar/shapes.md 4"
done)
report "every op has a row in grammar/shapes.md" "$problems"

# ---- coverage by golden cases ----
problems=$(sed -n 's/^OP([A-Z0-9_]*, "\([^"]*\)".*/\1/p' src/op/op.def | while read -r op; do
    grep -rqE "[ =)}]$op\(" testdata --include='*.hlo' || echo "$op has no golden case in testdata/"
done)
report "every op has a golden case" "$problems"

# Prints "OP KIND" for each `// case: KIND [OP...]` of golden tests; OP defaults to the name of the
# file. Reports ops that the test does not contain.
cases() {
    find testdata -name '*.hlo' | LC_ALL=C sort | xargs awk '
        function flush(   k, n, op, parts) {
            for (k = 1; k <= count; k++) {
                n = split(lines[k], parts, " ")
                for (op = 2; op <= (n > 1 ? n : 2); op++) {
                    name = n > 1 ? parts[op] : stem
                    if (index(text, " " name "(")) print name, parts[1]
                    else print "absent", file ": " name > "/dev/stderr"
                }
            }
            count = 0; text = ""
        }
        FNR == 1 { flush(); file = FILENAME; stem = file; sub(/.*\//, "", stem); sub(/\.hlo$/, "", stem) }
        /^\/\/ -----/ { flush() }
        /^\/\/ case: / { lines[++count] = substr($0, 10) }
        !/^\/\// { text = text " " $0 }
        END { flush() }'
}
problems=$(tmp=${TMPDIR:-/tmp}/cases.$$
    cases 2>&1 >"$tmp" | sed 's/^absent /the test does not contain the op of its case: /'
    sed -n 's/^OP([A-Z0-9_]*, "\([^"]*\)".*/\1/p' src/op/op.def | while read -r op; do
        for kind in value edge rejection; do
            grep -qx "$op $kind" "$tmp" || echo "$op has no golden case of $kind"
        done
    done
    rm -f "$tmp")
report "every op has golden cases of value, edge and rejection" "$problems"

problems=$(sed -n 's/^FORM([A-Z0-9_]*, "\([^"]*\)".*/\1/p' src/op/form.def | while read -r form; do
    grep -rqE "[ =)}]$(printf '%s' "$form" | sed 's/-/[-_]/g')\(" testdata --include='*.hlo' || echo "$form has no golden case in testdata/"
done)
report "every builder form has a golden case" "$problems"

problems=$(sed -n 's/^MSG(\([A-Z0-9_]*\),.*/\1/p' src/diag/msg_*.def | while read -r id; do
    file=$(printf '%s' "$id" | tr 'A-Z_' 'a-z-')
    [ -n "$(find testdata -name "$file.hlo" -o -name "$file.sh" -o -name "$file-*.hlo" | head -1)" ] || echo "$file has no golden case"
done)
report "every message has a golden case" "$problems"

# ---- kernels cite the specification ----
problems=$(find src/kern -name '*.c' | while read -r f; do
    grep -q 'spec:' "$f" || tr -s '\n *' ' ' <"$f" | grep -q 'no kernel of its own' || echo "$f names no heading of the specification (spec:)"
done)
report "kernels cite the heading of the specification" "$problems"

# ---- grammar and parser: the comment above a parse function is its production, word for word ----
# Prints one line per production, with single blanks and without `(* ... *)`.
productions() {
    tr '\n' ' ' | awk '{ while ((b = index($0, "(*")) > 0) {
        e = index(substr($0, b), "*)")
        $0 = substr($0, 1, b - 1) (e ? substr($0, b + e + 1) : "")
    } print }' | tr ';' '\n' | sed 's/[[:space:]][[:space:]]*/ /g; s/^ //; s/ $//' |
        grep -E '^[a-z][a-z0-9_]* = ' | LC_ALL=C sort -u
}
if [ -f grammar/hlo.ebnf ]; then
    tmp=${TMPDIR:-/tmp}/house.$$
    productions <grammar/hlo.ebnf >"$tmp.a"
    cat src/text/*.c | awk '/^\/\* [a-z][a-z0-9_]* = / { on = 1 }
        on { line = $0; end = index(line, "*/"); sub(/^\/\* /, "", line); sub(/^ \* /, " ", line)
             if (end) { sub(/\*\/.*/, "", line); print line " ;"; on = 0 } else print line }' | productions >"$tmp.b"
    problems=$(LC_ALL=C comm -23 "$tmp.a" "$tmp.b" | sed 's/^/only in the grammar: /'
        LC_ALL=C comm -13 "$tmp.a" "$tmp.b" | sed 's/^/only in src\/text: /')
    [ -s "$tmp.a" ] || problems="no productions found"
    rm -f "$tmp.a" "$tmp.b"
    report "grammar and parser have the same productions" "$problems"
else
    report "grammar/hlo.ebnf exists" "missing"
fi

echo "1..$n"
exit $bad
