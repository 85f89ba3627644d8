# Completions for bash, zsh and fish have the options of --help, command by command.
# stderr: expected bash, zsh or fish
export LC_ALL=C # for sort and character ranges
$HLO --completion=bash >bash.txt && $HLO --completion zsh >zsh.txt && $HLO --completion fish >fish.txt || exit 1
$HLO --help | sed -n 's/^  \([[:lower:]]*\)  *[[:upper:]].*\.$/\1/p' >commands.txt
test "$(wc -l <commands.txt)" -gt 15 || exit 1
while read -r c; do
    $HLO $c --help | sed -n 's/^  \(-[[:alpha:]], \|    \)--\([[:lower:]-]*\).*/\2/p' | sort >want.txt
    sed -n "s/^    $c) options='\(.*\)' ;;/\1/p" bash.txt | tr ' ' '\n' | sed -n 's/^--\([[:lower:]-]*\)=*$/\1/p' | sort >have.txt
    cmp want.txt have.txt || { echo "bash: $c"; exit 1; }
    sed -n "/^    $c)\$/,/^        ;;/p" zsh.txt | sed -n "s/^ *'\**--\([[:lower:]-]*\).*/\1/p" | sort >have.txt
    cmp want.txt have.txt || { echo "zsh: $c"; exit 1; }
    sed -n "s/^complete -c hlo -n '__fish_seen_subcommand_from $c' -l \([[:lower:]-]*\).*/\1/p" fish.txt | sort >have.txt
    cmp want.txt have.txt || { echo "fish: $c"; exit 1; }
done <commands.txt
for c in zsh fish; do
    ! command -v $c >/dev/null || $c -n $c.txt || exit 1
done
$HLO --completion=tcsh
test $? = 2
