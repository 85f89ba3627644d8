#!/bin/sh
# Prints a syntax file with the words of the language in place of @OPERATIONS@, @ATTRIBUTES@, @TYPES@ and
# @KEYWORDS@, from the tables of the sources. Words are separated by `|`, as alternatives of a regular
# expression, longer ones before their prefixes.
#
#   expand.sh SOURCE_ROOT TEMPLATE
set -eu
export LC_ALL=C # in other locales, ranges of letters and their order differ
src=$1/src

# The words of a macro: those of its second argument.
words() { # MACRO FILE...
    macro=$1
    shift
    sed -n "s/^$macro([A-Z0-9_]*, \"'\{0,1\}\([A-Za-z][A-Za-z0-9_-]*\)'\{0,1\}\".*/\1/p" "$@"
}

list() { sort -ru | tr '\n' '|' | sed 's/|$//'; }

sed -e "s/@OPERATIONS@/$({ words OP "$src/op/op.def"; words FORM "$src/op/form.def"; } | list)/" \
    -e "s/@ATTRIBUTES@/$(words ATTR "$src/op/attr.def" | list)/" \
    -e "s/@TYPES@/$(words DTYPE "$src/type/dtype.def" | list)/" \
    -e "s/@KEYWORDS@/$(grep -E "\"'[A-Z]" "$src/text/token.def" | words TOKEN | list)/" "$2"
