#!/bin/sh
# Checks the manual: no warnings of mandoc; options as in `hlo COMMAND --help`; commands of the prompt, environment variables,
# directives of golden tests and functions of the library as in the sources; every example of the pages and of
# `hlo COMMAND --help` runs. Prints TAP.
#
#   test_manual.sh HLO SOURCE_ROOT PAGE...     (pages as they are installed)
HLO=$1
case $HLO in /*) ;; *) HLO=$PWD/$HLO ;; esac
root=$(cd "$2" && pwd)
shift 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
pages=$scratch/pages
mkdir "$pages"
cp "$@" "$pages"
n=0
bad=0
. "$root/src/test/examples.sh"
log=$scratch/log

sorted() { LC_ALL=C sort -u; }

same() { # NAME EXPECTED ACTUAL
    LC_ALL=C comm -3 "$2" "$3" | sed 's/^	/only in the manual: /; t; s/^/not in the manual: /' >"$log"
    [ -s "$2" ] || echo "nothing to compare with" >>"$log"
    [ ! -s "$log" ]
    report "$1" $? "$log"
}

# ---- mandoc ----
for page in "$pages"/*; do
    mandoc -Tlint -Wwarning "$page" >"$log" 2>&1
    report "mandoc has no warnings for ${page##*/}" $? "$log"
done

# ---- options ----
# The page of a command has it in its synopsis. Options of all commands are in hlo.1, options of runs in hlo-run.1.
options_of_page() { sed -n 's/^\.It Fl /Fl /p' "$pages/$1" | grep -oE 'Fl (-[[:lower:]-]+|[[:alpha:]])( |$)' | sed 's/Fl //; s/ //' | sed 's/^-\(.\)/--\1/; t; s/^/-/' | sorted; }
options_of_command() { "$HLO" $1 --help | sed -n '/^usage:/,$p' | grep -oE '^  (-[[:alpha:]],|   ) --[[:lower:]-]+' | tr ', ' '\n\n' | grep . | sorted; }
commands=$("$HLO" --help | sed -n 's/^  \([[:lower:]]*\)  *[[:upper:]].*\.$/\1/p')
for command in $commands; do
    options_of_command $command
done | LC_ALL=C sort | uniq -c | awk -v all="$(echo "$commands" | wc -l)" '$1 == all { print $2 }' >"$scratch/general"
for page in "$pages"/*; do
    page=${page##*/}
    options_of_page "$page" >"$scratch/in.$page"
done
sed -n '/^\.Ss Options of all commands/,/^\.Ss Options of verify/p' "$pages/hlo.1" >"$pages/general.part"
options_of_page general.part >"$scratch/in.general"
rm "$pages/general.part"
{ cat "$scratch/general"; echo --completion; } | sorted >"$scratch/want"
same "options of all commands are those of hlo.1" "$scratch/want" "$scratch/in.general"
for command in $commands; do
    page=$(cd "$pages" && awk -v row=".Nm hlo Cm $command" '/^\.Sh/ { on = $2 == "SYNOPSIS" } on && $0 == row { print FILENAME }' *)
    if [ "$(echo "$page" | wc -w)" != 1 ]; then
        echo "in the synopsis of: ${page:-no page}" >"$log"
        report "hlo $command has a manual page" 1 "$log"
        continue
    fi
    options_of_command "$command" >"$scratch/help"
    cat "$scratch/help" >>"$scratch/helps.$page"
    LC_ALL=C comm -23 "$scratch/help" "$scratch/general" >"$scratch/own"
    grep -q '^\.Xr hlo-run 1' "$pages/$page" && cat "$scratch/in.hlo-run.1" "$scratch/in.$page" | sorted >"$scratch/have" || cp "$scratch/in.$page" "$scratch/have"
    LC_ALL=C comm -23 "$scratch/own" "$scratch/have" | sed 's/^/not in the manual: /' >"$log"
    [ -s "$scratch/help" ] && [ ! -s "$log" ]
    report "options of hlo $command are those of $page" $? "$log"
done
for page in "$scratch"/helps.*; do
    page=${page##*/helps.}
    cat "$scratch/helps.$page" "$scratch/general" "$scratch/in.general" | sorted >"$scratch/help"
    LC_ALL=C comm -13 "$scratch/help" "$scratch/in.$page" | sed 's/^/no command of this page has it: /' >"$log"
    [ ! -s "$log" ]
    report "options of $page are options of its commands" $? "$log"
done
"$HLO" --completion fish | sed -n "s/^complete -c hlo -n \('[[:lower:]_ ]*'\|[[:lower:]_]*\) -l \([[:lower:]-]*\).*/--\2/p" | sorted >"$scratch/have"
cat "$scratch"/helps.* "$scratch/in.general" | grep '^--' | sorted >"$scratch/want"
same "options of completions are those of the manual" "$scratch/want" "$scratch/have"

# ---- other tables ----
words_of_page() { sed -n "s/^\\.It $1 //p" "$pages/$2" | tr ' ' '\n'; } # the first words of its lists
sed -n 's/^COMMAND("\([^"]*\)", "\([^"]*\)".*/\1|\2/p' "$root/src/repl/command.def" | tr '|' '\n' | grep . | sed 's/^/./' | sorted >"$scratch/want"
words_of_page Ic hlo-repl.1 | grep '^\.[[:lower:]?]' | sorted >"$scratch/have"
same "commands of the prompt are those of hlo-repl.1" "$scratch/want" "$scratch/have"

find "$root/src" -name '*.c' ! -path '*/test/*' ! -path '*/bench/*' ! -path '*/fuzz/*' -print0 | xargs -0 grep -hoE '(getenv|setenv|is_set|is_forced)\("[[:upper:]_]+"' |
    sed 's/.*"\(.*\)"/\1/' | sorted >"$scratch/want"
for page in "$pages"/*; do words_of_page Ev "${page##*/}"; done | grep -E '^[[:upper:]_]+$' | sorted >"$scratch/have"
LC_ALL=C comm -23 "$scratch/want" "$scratch/have" >"$log"
[ -s "$scratch/want" ] && [ ! -s "$log" ]
report "every environment variable is documented" $? "$log"

tr '\n' ' ' <"$root/src/cli/golden.c" | grep -oE '\{"[[:lower:]-]+", offsetof' | sed 's/{"\(.*\)".*/\1/' | sorted >"$scratch/want"
sed -n 's/^\.It Cm \([[:lower:]-]*\).*:.*/\1/p' "$pages/hlo-test.5" | sorted >"$scratch/have"
same "directives are those of hlo-test.5" "$scratch/want" "$scratch/have"

cat "$root/src/hlo.h" "$root/src/hlo_advanced.h" | tr '\n' ' ' | grep -oE '\bhlo_[[:lower:]0-9_]+\(' | tr -d '(' | sorted >"$scratch/want"
grep -oE '\bhlo_[[:lower:]0-9_]+\(' "$pages/libhlo.3" | tr -d '(' | sorted >"$scratch/have"
same "functions are those of libhlo.3" "$scratch/want" "$scratch/have"

# ---- examples of the pages ----
for page in "$pages"/*; do
    name=${page##*/}
    mkdir "$scratch/examples.$name" "$scratch/work.$name"
    awk -v to="$scratch/examples.$name" '
        function plain(s) { sub(/^\\&/, "", s); gsub(/\\e/, "\\", s); return s }
        /^\.Dl \$ / { n++; file = sprintf("%s/%03d", to, n); print plain(substr($0, 7)) > (file ".sh"); close(file ".sh"); next }
        /^\.Bd -literal/ { shown = 1; on = 0; next }
        /^\.Ed/ { shown = on = 0; next }
        shown && /^\$ / { n++; file = sprintf("%s/%03d", to, n); print plain(substr($0, 3)) > (file ".sh"); printf "" > (file ".want"); on = 1; next }
        on { print plain($0) > (file ".want") }' "$page"
    [ ! -f "$scratch/examples.$name/001.sh" ] || run_examples "$name" "$scratch/examples.$name" "$scratch/work.$name"
done

# ---- examples of --help, with files of the names that they use ----
fixtures() { # DIRECTORY
    cd "$1" || exit 2
    mkdir -p testdata/io
    cp "$root"/testdata/onnx/double.onnx model.onnx
    printf '// test: eval\n// from: hand\n// out: s32[] 3\nENTRY main { ROOT r = s32[] constant(3) }\n' | tee testdata/io/a.hlo testdata/reduce.hlo >testdata/new.hlo
    cat >add.hlo <<'END'
ENTRY main {
  x = f32[3] parameter(0)
  y = f32[3] parameter(1)
  ROOT sum = f32[3] add(x, y)
}
END
    cat >step.hlo <<'END'
HloModule step

condition {
  c = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(c), index=0
  ten = s32[] constant(10)
  ROOT less = pred[] compare(i, ten), direction=LT
}

body {
  b = (s32[], f32[2]) parameter(0)
  j = s32[] get-tuple-element(b), index=0
  one = s32[] constant(1)
  next = s32[] add(j, one)
  v = f32[2] get-tuple-element(b), index=1
  add.7 = f32[2] add(v, v)
  ROOT t = (s32[], f32[2]) tuple(next, add.7)
}

ENTRY main {
  x = f32[2] parameter(0)
  l = f32[2] log(x), metadata={op_name="jit(f)/log" source_file="model.py" source_line=12}
  dot.3 = f32[] dot(l, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  d = f32[2] broadcast(dot.3), dimensions={}
  zero = s32[] constant(0)
  first = (s32[], f32[2]) tuple(zero, d)
  w = (s32[], f32[2]) while(first), condition=condition, body=body
  o = f32[2] get-tuple-element(w), index=1
  ROOT r = f32[2] multiply(o, l)
}
END
    for name in a before crash model module right; do
        cp step.hlo $name.hlo
    done
    mkdir dumps
    for phase in before_optimizations cpu_after_optimizations; do
        cp step.hlo dumps/module_0001.jit_step.$phase.txt
    done
    for name in after b wrong; do
        sed 's/ROOT r = f32\[2\] multiply(o, l)/ROOT r = f32[2] subtract(o, l)/' step.hlo >$name.hlo
    done
    sed 's/multiply(o, l)/multiply(o, k)/; s/^  ROOT r = /  k = f32[2] constant({...})\n&/' step.hlo >dump.txt
    cat >sum.hlo <<'END'
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY main {
  x = f32[2] parameter(0)
  ROOT r = f32[2] all-reduce(x), replica_groups={}, to_apply=add
}
END
    cat >loop.hlo <<'END'
ENTRY main {
  start = token[] after-all()
  in = (f32[2], token[]) infeed(start)
  x = f32[2] get-tuple-element(in), index=0
  then = token[] get-tuple-element(in), index=1
  out = token[] outfeed(x, then), outfeed_shape=f32[2]
  ROOT r = f32[2] negate(x)
}
END
    echo 'f32[2] {1, 2}' >items.txt
    echo 'ENTRY main { ROOT x = f32[2] constant({2, -1}) }' >x.txt
    "$HLO" run x.txt -o x.npy
    "$HLO" run model.hlo --fake --save-bundle=weights.npz >nothing.txt
    printf '#!/bin/sh\n! grep -q dot "$1" || echo assertion\n' >compile
    printf '#!/bin/sh\nexec hlo run "$1" --inputs="$2" --output="$3"\n' >run-elsewhere.sh
    chmod +x compile run-elsewhere.sh
    mkdir bin
    for tool in jq dot; do # programs after a pipe in an example are optional
        command -v $tool >bin/path || printf '#!/bin/sh\ncat >/dev/null\n' >bin/$tool
    done
    chmod +x bin/*
    case ${1##*/} in
    diff | bisect)
        "$HLO" run step.hlo --fake --save-bundle=in.npz >nothing.txt
        ;;
    run | import) # arguments of two kinds
        sed -i 's/^  l = /  lr = f32[] parameter(1)\n&/' step.hlo
        "$HLO" run step.hlo --fake --save-bundle=in.npz >nothing.txt
        ;;
    why)
        sed 's/add[.]7/y/g' step.hlo >loop.hlo
        sed -i 's/^  l = /  out = f32[2,3] broadcast(x), dimensions={0}\n  loss = f32[] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n  below = f32[] constant(-1)\n  odd = f32[] sqrt(below)\n&/' step.hlo
        "$HLO" run step.hlo --fake --save-bundle=in.npz >nothing.txt
        cat >dump.txt <<'END'
pair {
  p = f32[2,5] parameter(0)
  n = f32[2,5] negate(p)
  ROOT t = (f32[2,5], f32[2,5]) tuple(p, n)
}
ENTRY main {
  x = f32[2,5] parameter(0)
  ROOT fusion.7 = (f32[2,5], f32[2,5]) fusion(x), kind=kLoop, calls=pair
}
END
        ;;
    serve) echo '{"id": 1, "op": "run", "module": "ENTRY main { ROOT r = s32[] constant(3) }"}' >requests.jsonl ;;
    esac
}
for command in $commands; do
    mkdir "$scratch/help.$command" "$scratch/examples.$command" "$scratch/fixtures.$command"
    work=$scratch/fixtures.$command/$command
    mkdir "$work"
    (fixtures "$work")
    "$HLO" $command --help | sed '/^usage:/,$d' | awk -v to="$scratch/examples.$command" '
        /^  (hlo|mpirun) / { file = sprintf("%s/%03d.sh", to, ++n); print substr($0, 3) > file; close(file) }'
    if [ ! -f "$scratch/examples.$command/001.sh" ]; then
        echo "no example" >"$log"
        report "hlo $command --help has an example" 1 "$log"
        continue
    fi
    PATH=$PATH:$work/bin run_examples "hlo $command --help" "$scratch/examples.$command" "$work"
done
echo "1..$n"
exit $bad
