#!/bin/sh
# Prints a page of the manual with these lines expanded:
#
#   @synopsis COMMAND   synopsis of a command with the options that the page describes
#   @operations         reference of the operations (hlo ops --mdoc)
#   @functions HEADER   declarations of a header with their comments, by section
#   @show FILE          contents of a file
#
#   page.sh SOURCE_ROOT PAGE HLO...     HLO: command that runs the program, such as `qemu-aarch64 hlo`
set -eu
export LC_ALL=C # in other locales, the capital of i is not always I
root=$1
page=$2
shift 2

# The options that the page describes, except those of all commands.
described() {
    sed '/^\.Ss Options of all commands/,/^\.El/d' "$page" | sed -n 's/^\.It //p' | grep -o 'Fl -[a-z-]*' | sed 's/Fl -//' | tr '\n' ' '
}

synopsis() { # COMMAND HLO...
    command=$1
    shift
    "$@" "$command" --help | awk -v command="$command" -v described="$(described)" '
        BEGIN { described = " " described }
        /^usage: / {
            usage = $0
            sub(/^usage: hlo [a-z]* */, "", usage)
            next
        }
        usage != "" && /^  (-[a-z], |    )--/ {
            letter = substr($0, 4, 1)
            name = $0
            sub(/^ *(-[a-z], )?--/, "", name)
            sub(/ .*/, "", name)
            value = name
            sub(/^[a-z-]*/, "", value)
            name = substr(name, 1, length(name) - length(value))
            if (!index(described, " " name " ")) { rest = 1; next }
            required = index(usage, "--" name) # part of the usage line: a required option
            line = (required ? "." : ".Op ") "Fl " (letter != " " ? letter " | " : "") "-" name
            if (value ~ /^\[@N\]/) { line = line " Ns Oo @ Ns Ar n Oc"; value = substr(value, 5) }
            if (value ~ /^\[=/) line = line " Ns Op = Ns Ar " tolower(substr(value, 3, length(value) - 3))
            else if (value != "") line = line " Ns = Ns Ar " tolower(substr(value, 2))
            options = options line "\n"
        }
        END {
            print ".Nm hlo Cm " command
            printf "%s", options
            if (rest) print ".Op Ar option ..."
            n = split(usage, word, " ")
            for (i = 1; i <= n; i++) {
                if (word[i] == "[OPTION...]" || word[i] ~ /^--/) continue
                optional = sub(/^\[/, "", word[i])
                many = sub(/\.\.\.\]?$/, "", word[i])
                if (!index(word[i], "[")) sub(/\]$/, "", word[i])
                print (optional ? ".Op Ar " : ".Ar ") tolower(word[i]) (many ? " ..." : "")
            }
        }'
}

while IFS= read -r line; do
    case $line in
    "@synopsis "*) synopsis "${line#@synopsis }" "$@" ;;
    @operations) "$@" ops --mdoc ;;
    "@functions "*) awk -f "$root/man/header.awk" "$root/${line#@functions }" ;;
    "@show "*)
        echo ".Bd -literal -offset indent"
        sed 's/\\/\\e/g; s/^[.'"'"']/\\\&&/' "$root/${line#@show }"
        echo ".Ed"
        ;;
    *) printf '%s\n' "$line" ;;
    esac
done <"$page"
