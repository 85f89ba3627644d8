# Colour: precedence of the option, NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR, TERM=dumb.
# stdout: yes no yes no yes yes no no
printf 'HloModule a\nENTRY e {\n  ROOT p = f32[] paramter(0)\n}\n' >bad.hlo
esc=$(printf '\033')
see() { if env "$@" bad.hlo 2>&1 | grep -q "$esc"; then printf yes; else printf no; fi; }
echo "$(see NO_COLOR=1 $HLO verify --color=always)" "$(see CLICOLOR_FORCE=1 $HLO verify --color=never)" \
    "$(see CLICOLOR_FORCE=1 $HLO verify)" "$(see CLICOLOR_FORCE=1 NO_COLOR=1 $HLO verify)" \
    "$(see FORCE_COLOR=1 TERM=dumb $HLO verify)" "$(see NO_COLOR= FORCE_COLOR=3 $HLO verify)" \
    "$(see CLICOLOR_FORCE=0 $HLO verify)" "$(see TERM=xterm $HLO verify --color=auto)"
