#!/bin/sh
# Checks the syntax files for editors: the grammar is JSON and has all words of the tables, and Vim, if it is
# installed, colors a module by its syntax file. Prints TAP.
#
#   test_editors.sh HLO SOURCE_ROOT HLO.VIM HLO.TMLANGUAGE.JSON
HLO=$1
root=$2
syntax=$3
grammar=$4
[ -f "$syntax" ] && [ -f "$grammar" ] || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
n=0
bad=0

report() { # NAME PROBLEMS
    n=$((n + 1))
    if [ -z "$2" ]; then
        echo "ok $n - $1"
    else
        bad=1
        echo "not ok $n - $1"
        printf '%s\n' "$2" | sed 's/^/# /'
    fi
}

# The language server reads JSON; well-formed JSON that is no request is an invalid one.
answer=$(tr -d '\n' <"$grammar" | sed '$s/$/\n/' | "$root/src/test/lsp_talk.sh" "$HLO" lsp)
case $answer in
*"expected 'method'"*) report "the grammar is JSON" "" ;;
*) report "the grammar is JSON" "$answer" ;;
esac

problems=$(
    {
        "$HLO" ops --json | grep -oE '^\{"name":"[a-z0-9-]+"' | sed 's/.*:"//; s/"//'
        sed -n 's/^ATTR([A-Z0-9_]*, "\([^"]*\)".*/\1/p' "$root/src/op/attr.def"
        sed -n 's/^DTYPE([A-Z0-9_]*, "\([^"]*\)".*/\1/p' "$root/src/type/dtype.def"
        echo HloModule
        echo ENTRY
    } | while read -r word; do
        for file in "$syntax" "$grammar"; do
            grep -qE "[(|]$word[|)]" "$file" || echo "${file##*/} lacks $word"
        done
    done
    grep -H '@[A-Z]*@' "$syntax" "$grammar"
)
report "the syntax files have all words" "$problems"

vim=$(command -v vim || command -v nvim)
if [ -z "$vim" ] || ! "$vim" --version | grep -q '+syntax\|^NVIM'; then
    echo "ok $((n + 1)) - Vim colors a module # SKIP no Vim with syntax files"
    echo "1..$((n + 1))"
    exit $bad
fi
cat >"$scratch/m.hlo" <<'END'
ENTRY %main { // comment
  ROOT %y = f32[2]{0} dynamic-slice(%x, 1), dynamic_slice_sizes={2}, metadata={op_name="add(dot)"}
}
END
cat >"$scratch/check.vim" <<END
set nocompatible
syntax on
edit $scratch/m.hlo
source $syntax
let s:out = []
for [s:line, s:word] in [[1, 'ENTRY'], [1, '%main'], [1, '// c'], [2, 'ROOT'], [2, '%y'], [2, 'f32'], [2, 'dynamic-slice('], [2, '%x'], [2, 'dynamic_slice_sizes'], [2, 'add']]
  let s:column = stridx(getline(s:line), s:word) + 1
  call add(s:out, s:word . ' ' . synIDattr(synID(s:line, s:column, 1), 'name'))
endfor
call writefile(s:out, '$scratch/out')
qall!
END
"$vim" -es -u NONE -i NONE -n -S "$scratch/check.vim" </dev/null >"$scratch/log" 2>&1
cat >"$scratch/want" <<'END'
ENTRY hloKeyword
%main hloName
// c hloComment
ROOT hloKeyword
%y hloDefinition
f32 hloType
dynamic-slice( hloOperation
%x hloName
dynamic_slice_sizes hloAttribute
add hloString
END
report "Vim colors a module" "$(diff "$scratch/want" "$scratch/out" 2>&1; cat "$scratch/log")"
echo "1..$n"
exit $bad
