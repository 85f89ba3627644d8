#!/bin/sh
# Tests the prompt on a terminal of 80 by 24 provided by tmux: presses keys, and waits until the expected text is displayed, without
# fixed delays. Prints TAP.
#
#   test_prompt.sh HLO
HLO=$1
case $HLO in /*) ;; *) HLO=$PWD/$HLO ;; esac
poll_limit=3000 # polls of the screen, 20 ms apart
command -v tmux >/dev/null || { echo "Bail out! tmux is not installed"; exit 1; }
dir=$(mktemp -d) || exit 2
t() { tmux -u -S "$dir/socket" "$@"; }
trap 't kill-server 2>/dev/null; rm -rf "$dir"' EXIT
trap 'exit 2' INT TERM HUP
unset HLO_COLORS NO_COLOR CLICOLOR_FORCE FORCE_COLOR CI TMUX HLO_OPTIONS XDG_STATE_HOME XDG_CONFIG_HOME EDITOR VISUAL LESS HLO_PAGER PAGER
export LC_ALL=C.UTF-8 HOME="$dir" HLO
n=0
bad=0

# ---- the terminal ----

# The working directory with a few files.
mkdir "$dir/work"
cd "$dir/work" || exit 2
cat >add.hlo <<'END'
HloModule add_two

ENTRY main {
  lhs = f32[2] parameter(0)
  rhs = f32[2] parameter(1)
  ROOT total = f32[2] add(lhs, rhs)
}
END
cat >endless.hlo <<'END'
HloModule endless

forward {
  state = s32[] parameter(0)
  two = s32[] constant(2)
  ROOT next = s32[] add(state, two)
}

on {
  state = s32[] parameter(0)
  zero = s32[] constant(0)
  ROOT go = pred[] compare(state, zero), direction=NE
}

ENTRY main {
  start = s32[] constant(7)
  ROOT end = s32[] while(start), condition=on, body=forward
}
END

cat >counted.hlo <<'END'
HloModule counted

forward {
  state = (s32[], f32[1000,1000]) parameter(0)
  count = s32[] get-tuple-element(state), index=0
  one = s32[] constant(1)
  after = s32[] add(count, one)
  values = f32[1000,1000] get-tuple-element(state), index=1
  sines = f32[1000,1000] sine(values)
  ROOT next = (s32[], f32[1000,1000]) tuple(after, sines)
}

on {
  state = (s32[], f32[1000,1000]) parameter(0)
  count = s32[] get-tuple-element(state), index=0
  most = s32[] constant(100000000)
  ROOT go = pred[] compare(count, most), direction=LT
}

ENTRY main {
  zero = s32[] constant(0)
  values = f32[1000,1000] iota(), iota_dimension=0
  start = (s32[], f32[1000,1000]) tuple(zero, values)
  ROOT end = (s32[], f32[1000,1000]) while(start), condition=on, body=forward
}
END

# Runs the program in the terminal, then prints its status and the state of the terminal.
cat >"$dir/run" <<'END'
trap : INT
stty -g >../before
eval "$1"
echo "status $?"
stty -g >../after
cmp ../before ../after && echo "terminal restored"
exec sleep 10000
END
t -f /dev/null new-session -d -x 80 -y 24 'exec sleep 10000' || exit 2
t set -g history-limit 50
t set -g status off
t set -g escape-time 0

columns=80
start() { # [COMMAND]
    [ $columns = 80 ] || resize 80 24
    t respawn-pane -k "exec sh '$dir/run' '${1:-\$HLO}'"
}
resize() {
    columns=$1
    t clear-history
    t resize-window -x "$1" -y "$2"
}
key() { t send-keys "$@"; }
keys() { t send-keys -l -- "$1"; }
paste() { # as terminals do: with bracketed-paste marks if enabled
    t set-buffer -b text "$1"
    t paste-buffer -p -b text
}
enter() { keys "$1" && key Enter; }
screen() { t capture-pane -p | sed 's/ *$//' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'; }

# Waits until COMMAND succeeds; after a timeout, prints the screen.
until_holds() {
    polls=0
    until "$@"; do
        polls=$((polls + 1))
        if [ $polls -gt $poll_limit ]; then
            {
                echo "waited in vain: $*"
                screen
                t display-message -p 'cursor at #{cursor_x},#{cursor_y}'
            } >>"$dir/why"
            return 1
        fi
        sleep 0.02
    done
}
shows() { screen | grep -q -e "$1"; }
last_is() { [ "$(screen | tail -n 1)" = "$1" ]; }
cursor_is() { [ "$(t display-message -p '#{cursor_x},#{cursor_y}')" = "$1" ]; }
text_is() { [ "$(screen)" = "$1" ]; }
see() { until_holds shows "$1"; }         # a line that matches the pattern
last() { until_holds last_is "$1"; }      # the last line
cursor() { until_holds cursor_is "$1"; }  # column,row from 0
all() { until_holds text_is "$1"; }
unseen() { # text that would have been displayed by now
    shows "$1" || return 0
    { echo "not to be seen: $1"; screen; } >>"$dir/why"
    return 1
}
prompt() { last 'hlo>'; }
ends() { # Ctrl-D ends the program, status 0
    key C-d
    see '^status 0$' && see '^terminal restored$'
}

check() { # FUNCTION WORDS...
    n=$((n + 1))
    function=$1
    shift
    : >"$dir/why"
    if "$function"; then
        echo "ok $n - $*"
    else
        bad=1
        echo "not ok $n - $*"
        sed 's/^/# /' "$dir/why"
    fi
}

# ---- tests ----

first_line() {
    start
    prompt && [ "$(screen | grep -c .)" = 2 ] || return 1
    screen | head -n 1 | grep -q '^hlo [0-9.]*.*\.help' || return 1
    ends
}
check first_line "bare hlo on a terminal: prints version and .help hint only; Ctrl-D exits"

values() {
    start '$HLO repl add.hlo'
    prompt || return 1
    enter 'x = f32[2] {1, 2}'
    see '{1, 2}$' || return 1
    enter 'add(x, x)'
    see '{2, 4}$' && prompt || return 1
    enter '.quit'
    see '^status 0$' && see '^terminal restored$'
}
check values "an entry is printed with its value; .quit exits"

continued() {
    start && prompt || return 1
    enter 'x = f32[2] constant({1,'
    last '...>' || return 1
    enter '  2})'
    see '{1, 2}$' && prompt && ends
}
check continued "an entry continues until its brackets are closed"

whole_entry() {
    start && prompt || return 1
    enter 'y = f32[2,2] constant({'
    last '...>' || return 1
    enter '{1, 2},'
    enter '{3, 4}})'
    see '{ 3, 4 } }$' && prompt || return 1
    enter 'z = f32[] 5'
    see ' 5$' && prompt || return 1
    key C-l
    all 'hlo>' || return 1
    key Up Up
    all 'hlo> y = f32[2,2] constant({
{1, 2},
{3, 4}})' || return 1
    key Left Up Home Right BSpace BSpace # the beginning of its second line, and the end of the first
    all 'hlo> y = f32[2,2] constant({1, 2},
{3, 4}})' || return 1
    keys '{'
    key End Left Left
    keys '5'
    key Enter
    see '{ 1, 25 }' && prompt && ends
}
check whole_entry "Up recalls a multi-line entry as a whole, which is edited across lines"

previous_lines() {
    start && prompt || return 1
    enter 'y = f32[2,3] constant({'
    last '...>' || return 1
    enter '{1, 2},'
    last '...>' || return 1
    enter '{3, 4}'
    last '...>' || return 1
    key Up Up Up Home
    cursor 5,1 || return 1
    key Right Right Right Right Right Right Right Right Right Right
    keys '2'
    key Delete Down Down Down End
    enter '})'
    see '{ 3, 4 } }$' && prompt && ends
}
check previous_lines "Up recalls the previous lines of an unfinished entry"

down() {
    start && prompt || return 1
    enter 'z = f32[] 5'
    see ' 5$' && prompt || return 1
    keys 'half'
    key Down
    last 'hlo> half' || return 1
    key Up
    last 'hlo> z = f32[] 5' || return 1
    key Down
    last 'hlo> half' || return 1
    key C-c
    prompt && ends
}
check down "Down restores the entry being typed"

history() {
    start && prompt || return 1
    rm -f .hist
    start 'HLO_HISTORY=.hist $HLO' && prompt || return 1
    enter 'one = f32[] 1'
    see ' 1$' && prompt || return 1
    enter 'two = f32[2] constant({2,'
    enter '2})'
    see '{2, 2}$' && prompt || return 1
    enter ' secret = f32[] 3'
    see ' 3$' && prompt || return 1
    enter 'one = f32[] 1' # again
    until_holds not_before_prompt 2 && prompt && ends || return 1
    [ "$(stat -c %a .hist)" = 600 ] || return 1
    grep -q secret .hist && return 1
    start 'HLO_HISTORY=.hist $HLO' && prompt || return 1
    key Up
    last 'hlo> one = f32[] 1' || return 1
    key Up
    all "$(screen | head -n 1)
hlo> two = f32[2] constant({2,
2})" || return 1
    key Up # the oldest entry
    keys '.'
    all "$(screen | head -n 1)
hlo> two = f32[2] constant({2,
2})." || return 1
    key C-c
    prompt && ends
}
not_before_prompt() { [ "$(screen | grep -c ' 1$')" -ge "$1" ]; }
check history "the history is saved without duplicates, with mode 0600; entries with a leading blank are not"

default_history() {
    start && prompt || return 1
    enter 'kept = f32[] 4'
    see ' 4$' && prompt && ends || return 1
    grep -q 'kept = f32' "$HOME/.local/state/hlo/history" || return 1
    start 'XDG_STATE_HOME=$PWD/state $HLO' && prompt || return 1
    enter 'there = f32[] 4'
    see ' 4$' && prompt && ends || return 1
    grep -q 'there = f32' state/hlo/history
}
check default_history "the history is in ~/.local/state or \$XDG_STATE_HOME"

search() {
    printf 'first = f32[] 1\nsecond = f32[] 2\nthird = f32[] 3\n' >.hist
    start 'HLO_HISTORY=.hist $HLO' && prompt || return 1
    key C-r
    keys 'sec'
    see '^hlo> second = f32' || return 1
    key Enter
    see ' 2$' && prompt && ends
}
check search "Ctrl-R searches incrementally"

pasted() {
    start && prompt || return 1
    paste 'f {
	a = s32[] parameter(0)
	ROOT	r = s32[] add(a, a)
}
'
    until_holds shows '^}' || return 1
    unseen '^\.\.\.>' || return 1 # nothing was entered yet
    cursor 1,4 || return 1
    key Enter
    prompt || return 1
    enter 'v = s32[] 21'
    see ' 21$' && prompt || return 1
    enter 'call(v), to_apply=f'
    see ' 42$' && prompt && ends
}
check pasted "several pasted lines are one entry, with tabs as text"

plain_paste() { # by a terminal without bracketed paste: as if typed
    start && prompt || return 1
    t set-buffer -b text 'x = f32[2] constant({4,
6})
'
    t paste-buffer -b text
    see '^\.\.\.> 6})$' && see '{4, 6}$' && prompt && ends
}
check plain_paste "without bracketed paste, pasted text is read line by line"

cancel() {
    start && prompt || return 1
    keys 'add(x'
    last 'hlo> add(x' || return 1
    key C-c
    prompt && see 'add(x^C$' || return 1
    enter 'add(x,'
    last '...>' || return 1
    key C-c
    prompt && ends
}
check cancel "Ctrl-C discards the line immediately"

interrupted() {
    start '$HLO repl endless.hlo' && prompt || return 1
    enter '.run'
    until_holds works || return 1
    key C-c
    prompt && see 'interrupted' || return 1
    enter 'x = f32[2] {1, 2}'
    see '{1, 2}$' && prompt || return 1
    enter 'end'
    until_holds works || return 1
    key C-c C-c C-c
    prompt && ends
}
works() { # the line was read; keys send signals again
    stty -F "$(t display-message -p '#{pane_tty}')" -a | grep -qw -e '[^-]isig' -e '^isig'
}
check interrupted "Ctrl-C interrupts a run; the session continues"

stopped() {
    start '/bin/sh -i' || return 1
    keys '$HLO'
    key Enter
    prompt || return 1
    keys 'f32[2] {7, 8'
    last 'hlo> f32[2] {7, 8' || return 1
    key C-z
    see 'Stopped' || return 1
    enter 'fg'
    last 'hlo> f32[2] {7, 8' || return 1
    enter '}'
    see '{7, 8}$' && prompt || return 1
    key C-d
    until_holds not_last 'hlo>' || return 1
    enter 'exit'
    see '^status'
}
not_last() { ! last_is "$1"; }
check stopped "Ctrl-Z suspends the program, and fg resumes it"

terminated() {
    start 'sh -c "echo \$\$ >pid; exec \$HLO"' && prompt || return 1
    keys 'add(x'
    last 'hlo> add(x' || return 1
    kill -TERM "$(cat pid)"
    see 'status 143$' && see '^terminal restored$'
}
check terminated "a signal that ends the program restores the terminal"

calculator() {
    start '$HLO repl add.hlo' && prompt || return 1
    enter 'x = {1, 2}'
    see '^  x = s32\[2\]{0} constant({1, 2})$' && see '^x = s32\[2\] {1, 2}$' && prompt || return 1
    enter '.undo'
    see '^undone: x = {1, 2}$' && prompt || return 1
    enter '.undo' # the file remains
    see 'error: nothing to undo$' && prompt || return 1
    enter '.set lhs = {3, 4}'
    see '^lhs is set to f32\[2\] ' && prompt || return 1
    enter '.save saved.hlo'
    see '^saved to saved.hlo: ' && prompt || return 1
    enter '.history 2'
    see '^.save saved.hlo$' && see '^.history 2$' && prompt || return 1
    enter '.find nothing'
    see "^no instruction matches 'nothing'$" && prompt || return 1
    enter '.info'
    see '^total = f32\[2\]{0} add(lhs, rhs)$' && see '^operands  lhs, rhs$' && prompt || return 1
    enter '.reset'
    prompt || return 1
    enter '.ls'
    see '^no instructions$' && prompt || return 1
    enter 'ls'
    see "error: unknown name 'ls'; did you mean the command '.list'?$" && prompt || return 1
    enter '? find'
    see '^  .find RE ' && prompt || return 1
    enter 'exit'
    see '^status 0$'
}
check calculator "expressions show their HLO; .undo, .set and .save confirm; .history; ? and exit; empty lists say so"

# ---- completion ----

complete_commands() {
    start && prompt || return 1
    keys '.lo'
    key Tab
    cursor 11,1 || return 1 # "hlo> .load "
    key C-u
    prompt || return 1
    keys '.s'
    key Tab Tab
    see '^  \.save  *[^ ]' && see '^  \.step  *[^ ]' && last 'hlo> .s' || return 1
    key C-c
    prompt && ends
}
check complete_commands "Tab completes commands; twice lists them with descriptions"

complete_ops() {
    start && prompt || return 1
    keys 'x = f32[2] dynamic-u'
    key Tab
    last 'hlo> x = f32[2] dynamic-update-slice(' || return 1
    key C-u
    prompt || return 1
    keys 'x = bf1'
    key Tab
    last 'hlo> x = bf16[' || return 1
    key C-u
    prompt || return 1
    keys 'x = a'
    key Tab Tab
    see '^  after-all  ' && last 'hlo> x = a' || return 1
    key C-c
    prompt && ends
}
check complete_ops "Tab completes ops and types"

complete_attributes() {
    start && prompt || return 1
    keys 'dot(x, y), lhs_c'
    key Tab
    last 'hlo> dot(x, y), lhs_contracting_dims=' || return 1
    keys '{0}, rhs'
    key Tab Tab
    see '^  rhs_batch_dims  *list of integers' && last 'hlo> dot(x, y), lhs_contracting_dims={0}, rhs_' || return 1
    key C-u
    prompt || return 1
    keys 'compare(x, y), direction=N'
    key Tab
    last 'hlo> compare(x, y), direction=NE' || return 1
    key C-c
    prompt && ends
}
check complete_attributes "Tab completes the attributes of the current op, and their keywords"

complete_names() {
    start '$HLO repl add.hlo' && prompt || return 1
    keys 'add(lh'
    key Tab
    last 'hlo> add(lhs' || return 1
    keys ', %to'
    key Tab
    last 'hlo> add(lhs, %total' || return 1
    key C-u
    prompt || return 1
    enter 'left.1 = f32[3] {1, 2, 3}'
    see '{1, 2, 3}$' && prompt || return 1
    enter 'left.2 = s32[] 1'
    see ' 1$' && prompt || return 1
    keys 'negate(lef'
    key Tab
    last 'hlo> negate(left.' || return 1
    key Tab Tab
    see '^  left\.1  *f32\[3\]' && see '^  left\.2  *s32\[\]' && last 'hlo> negate(left.' || return 1
    key C-c
    prompt && ends
}
check complete_names "Tab completes names; twice lists them with shapes"

complete_computations() {
    start '$HLO repl endless.hlo' && prompt || return 1
    keys 'call(start), to_apply=for'
    key Tab
    last 'hlo> call(start), to_apply=forward' || return 1
    key Enter
    see ' 9$' && prompt && ends
}
check complete_computations "Tab completes computations"

complete_files() {
    start && prompt || return 1
    keys '.load ad'
    key Tab
    last 'hlo> .load add.hlo' || return 1
    key Enter
    prompt || return 1
    keys 'x = f32[2] @end'
    key Tab
    last 'hlo> x = f32[2] @endless.hlo' || return 1
    key C-c
    prompt && ends
}
check complete_files "Tab completes file names after .load and after @"

complete_many() {
    start && prompt || return 1
    keys 'x = '
    key Tab Tab
    see '(Tab again shows all' && last 'hlo> x =' || return 1
    key Tab
    see 'triangular-solve' && last 'hlo> x =' || return 1
    key C-c
    prompt && ends
}
check complete_many "more than a screenful of completions is shown if Tab is pressed again"

# ---- terminals ----

resized() {
    start && prompt || return 1
    keys 's32[18] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}'
    cursor 76,1 || return 1
    resize 40 12
    last ' 10, 11, 12, 13, 14, 15, 16, 17, 18}' && until_holds drawn_once || return 1
    resize 100 30
    last 'hlo> s32[18] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}' && until_holds drawn_once || return 1
    key Home
    keys 'x = '
    last 'hlo> x = s32[18] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}' && until_holds drawn_once || return 1
    key Enter
    see '^x = .*, 18}$' && prompt && ends
}
drawn_once() { [ "$(screen | grep -c '^hlo>')" = 1 ]; }
check resized "a line is redrawn when the window is resized"

utf8() {
    start 'LC_ALL= LANG=C $HLO' && prompt || return 1
    keys 'größe本 = f32[] 5'
    key Home Right Right Right Right Right Delete
    keys '日'
    all "$(screen | head -n 1)
hlo> größe日 = f32[] 5" || return 1
    key C-e BSpace
    keys '6'
    last 'hlo> größe日 = f32[] 6' || return 1
    key C-c
    prompt || return 1
    keys '// ää'
    key BSpace
    keys 'ö'
    key Enter
    see '^hlo> // äö$' && prompt && ends
}
check utf8 "multi-byte and double-width characters are edited correctly"

tall() {
    start && prompt || return 1
    paste "f {
  v0 = f32[] parameter(0)
$(i=0; while [ $i -lt 40 ]; do echo "  v$((i + 1)) = f32[] add(v$i, v0)"; i=$((i + 1)); done)
}"
    see '^(lines 22 to 43 of 43)$' && last '}' || return 1
    key Enter
    prompt || return 1
    key Up
    see '^(lines 22 to 43 of 43)$' && last '}' || return 1
    key Left
    i=0
    while [ $i -lt 41 ]; do
        key Up
        i=$((i + 1))
    done
    see '^(lines 1 to 22 of 43)$' && see '^  v0 = f32' || return 1
    key End BSpace BSpace BSpace
    see 'parameter$' || return 1
    keys '(0)'
    key Enter
    prompt || return 1
    enter 'v = f32[] 1'
    see ' 1$' && prompt || return 1
    enter 'call(v), to_apply=f'
    see ' 41$' && prompt && ends
}
check tall "an entry taller than the screen is scrolled"

dumb() {
    start 'TERM=dumb $HLO' && prompt || return 1
    keys 'x = f32[2] cx'
    key BSpace
    enter 'onstant({4,'
    last '...>' || return 1
    enter '6})'
    see '{4, 6}$' && prompt || return 1
    key C-c
    prompt && ends
}
check dumb "TERM=dumb: lines are edited by the terminal"

unknown_terminal() {
    start 'TERM=no-such-terminal $HLO' && prompt || return 1
    unseen 'No entry' || return 1
    keys 'x = f32[2] {4, 6'
    key Home Right Right Right Right Delete Delete Delete Delete Delete Delete
    keys 's32[2]'
    last 'hlo> x = s32[2] {4, 6' || return 1
    key End
    enter '}'
    see '{4, 6}$' && prompt && ends
}
check unknown_terminal "a terminal without terminfo entry is treated as an ANSI terminal"

colors() {
    start && prompt || return 1
    t capture-pane -p -e | grep -q "$(printf '\033')\[1mhlo>" || return 1
    for colorless in NO_COLOR=1 TERM=dumb; do
        start "$colorless \$HLO" && prompt || return 1
        enter 'f32[2] add(x)'
        see 'error' && prompt || return 1
        t capture-pane -p -e | grep -q "$(printf '\033')" && return 1
    done
    ends
}
check colors "colors, unless disabled"

vi() {
    echo 'bind -v' >"$HOME/.editrc"
    start && prompt || { rm -f "$HOME/.editrc"; return 1; }
    rm -f "$HOME/.editrc"
    keys 'x = f32[2] {1, 2}'
    last 'hlo> x = f32[2] {1, 2}' || return 1
    key Escape
    keys '0rz'
    last 'hlo> z = f32[2] {1, 2}' || return 1
    key Enter
    see '{1, 2}$' && prompt || return 1
    key Escape
    keys 'k'
    last 'hlo> z = f32[2] {1, 2}' || return 1
    key C-c
    prompt || return 1
    keys 'y = '
    last 'hlo> y =' || return 1
    paste 'f32[2] {3,
4'
    last '4' || return 1
    enter '}'
    see '{3, 4}$' && prompt || return 1
    paste "g {
  v0 = f32[] parameter(0)
$(i=0; while [ $i -lt 25 ]; do echo "  v$((i + 1)) = f32[] add(v$i, v0)"; i=$((i + 1)); done)
"
    last '  v25 = f32[] add(v24, v0)' || return 1
    enter ''
    enter '}'
    prompt || return 1
    enter 'v = f32[] 1'
    see ' 1$' && prompt || return 1
    enter 'g(v)'
    see ' 26$' && prompt && ends
}
check vi "~/.editrc is read: vi key bindings"

progress() {
    start "\$HLO run endless.hlo" && see '^[0-9.]* s: step [0-9]* of [0-9]*, end' || return 1
    key C-c
    see '^endless.hlo:.*interrupted' && see '^status 130$' && unseen ' s: step ' || return 1
    start "\$HLO run -q endless.hlo --timeout=1" && see '^status 5$' && unseen ' s: step ' || return 1
    printf '#!/bin/sh\nsleep 0.2\ngrep -q negate "$1"\n' >slow
    chmod +x slow
    {
        echo 'ENTRY main { v0 = f32[2] parameter(0)'
        for i in 0 1 2 3 4 5 6 7; do echo "  v$((i + 1)) = f32[2] add(v$i, v0)"; done
        echo '  ROOT r = f32[2] negate(v8) }'
    } >chain.hlo
    start '$HLO run counted.hlo' && see 's: step [0-9]* of [0-9]*, end, iteration [0-9]* of 100000000' || return 1
    key C-c
    see '^status 130$' || return 1
    start '$HLO reduce --check="./slow \$1" chain.hlo' && see '^[0-9.]* s: [0-9]* instructions, [0-9]* candidates' || return 1
    see '^status 0$' && unseen ' s: '
}
check progress "a long run or search displays its progress, and clears it at the end"

# ---- the pager ----

# With 24 lines: less waits if the output is taller, and exits at once if it is shorter.
pager() {
    start '$HLO ops'
    last ':' || return 1
    unseen 'status' || return 1
    key G
    see '^(END)$\|^ *xor ' || return 1
    key q
    see '^status 0$' && see '^terminal restored$' || return 1
    start '$HLO fmt add.hlo'
    see '^  ROOT %total' && see '^status 0$' || return 1
    start '$HLO ops abs | tail -n 1' # not a terminal
    see '^status 0$'
}
check pager "less is used for output taller than the screen, and exits at once otherwise"

pagers() {
    start 'HLO_PAGER="sed s/^/own:/" PAGER="sed s/^/usual:/" $HLO fmt add.hlo'
    see '^own:}$' && see '^status 0$' || return 1
    start 'PAGER="sed s/^/usual:/" $HLO fmt add.hlo'
    see '^usual:}$' && see '^status 0$' || return 1
    for none in HLO_PAGER= HLO_PAGER=cat TERM=dumb; do
        start "PAGER=false $none \$HLO fmt add.hlo"
        see '^}$' && see '^status 0$' || return 1
    done
    start 'PAGER=false $HLO fmt --no-pager add.hlo'
    see '^}$' && see '^status 0$' || return 1
    start 'HLO_PAGER=there-is-no-such-pager $HLO fmt add.hlo'
    see 'not found$' && see '^}$' && see '^status 0$'
}
check pagers "HLO_PAGER takes precedence over PAGER; no pager if disabled or missing"

# Presses q while the prompt of less is displayed: less may lose a key that comes at the same time as Ctrl-C, and a key that
# comes after less has ended is echoed.
quits_pager() {
    last_is ':' || last_is '(END)' || { shows '^status '; return; }
    key q
    sleep 0.2
    shows '^status '
}

# A result is paged with --full only, a trace with its messages.
paged_runs() {
    start 'PAGER=false $HLO run add.hlo --fake=ones'
    see '^f32\[2\] {2, 2}' && see '^status 0$' || return 1
    seq 200 >numbers
    echo "ENTRY main { ROOT x = s32[200,1] constant({ $(sed 's/.*/{&},/' numbers | tr -d '\n' | sed 's/,$//') }) }" >long.hlo
    start '$HLO run long.hlo --full' && last ':' || return 1
    unseen 'status' || return 1
    key C-c
    until_holds quits_pager && see '^terminal restored$' || return 1
    {
        echo 'ENTRY main { v0 = f32[] parameter(0)'
        for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do echo "  v$((i + 1)) = f32[] add(v$i, v0)"; done
        echo '  ROOT r = f32[] divide(v0, v0) }'
    } >many.hlo
    start '$HLO trace many.hlo 0 --stop-on=nan' && last ':' || return 1
    see '^instruction .* inf$' || return 1
    key G
    see "^many.hlo:.*nan" || return 1
    key q
    see '^status 4$' && see '^terminal restored$'
}
check paged_runs "long results and traces are paged; the exit status is that of the command"

paged_lists() {
    start '$HLO repl many.hlo' && prompt || return 1
    enter '.list'
    last ':' || return 1
    t capture-pane -p -e | grep -q "$(printf '\033')\[1madd" || return 1
    t capture-pane -p | grep -q 'v1 = f32\[\] add(v0, v0)' || return 1
    key q
    prompt || return 1
    enter '.list 1,2'
    see '    2  v1 = f32\[\] add(v0, v0)$' && prompt && ends || return 1
    start '$HLO repl --no-pager many.hlo' && prompt || return 1
    enter '.list'
    see ' ROOT r = ' && prompt && ends
}
check paged_lists "long lists of the prompt are paged, in color; leaving the pager returns to the prompt"

# The line of computations is longer than 80 columns.
wrapped_help() {
    start '$HLO repl --norc' && prompt || return 1
    enter '.help'
    last ':' || return 1
    see '^  f { p = f32.* call$' && see '^ \{32\}it with f(a) or use to_apply=f$' || return 1
    key q
    prompt && ends
}
check wrapped_help "the introduction of .help is wrapped to the width of the terminal"

language_server() {
    start '$HLO lsp' && see '^hlo: reading messages of an editor from the terminal; see hlo-lsp(1)$' && ends
}
check language_server "hlo lsp on a terminal tells what it reads"

echo "1..$n"
exit $bad
