# graph -o x.svg and x.html: well-formed, with nested boxes, values and links; other suffixes are errors.
# stderr: unknown format of 'out.png': expected .dot, .svg or .html, or use --to
# stderr: unknown format of 'out': expected .dot, .svg or .html, or use --to
# stderr: error: unknown format of 'out.png': expected .dot, .svg or .html
# stderr: ab.hlo has several modules; select one with --module
# stderr: invalid value 'png' for '--to': expected dot, svg or html
cp "$HERE/step.hlo" a.hlo
fail() {
    echo "$1"
    exit 1
}
# Fails unless the tags of a document are balanced and its text is escaped.
well_formed() {
    awk 'BEGIN { RS = "<" }
        NR == 1 || /^!DOCTYPE/ { next }
        { at = index($0, ">"); tag = substr($0, 1, at - 1); text = $0; gsub(/&#[0-9]+;/, "", text) }
        at == 0 || text ~ /&/ || gsub(/"/, "", tag) % 2 { print "malformed: <" $0; exit 1 }
        tag ~ /\/$/ { next }
        tag ~ /^\// { if (stack[n--] != substr(tag, 2)) { print "unbalanced: <" tag; exit 1 } next }
        { sub(/[ \n].*/, "", tag); stack[++n] = tag }
        END { exit n != 0 }' "$1" || fail "$1 is malformed"
    iconv -f UTF-8 -t UTF-8 "$1" >/dev/null || fail "$1 is not UTF-8"
}
want() {
    grep -qE -- "$2" "$1" || fail "$1 lacks: $2"
}
count() {
    test "$(grep -c -- "$2" "$1")" = "$3" || fail "$1: $(grep -c -- "$2" "$1") of $2"
}
$HLO graph a.hlo -o a.svg && $HLO graph a.hlo -o a.html || exit 1
well_formed a.svg
well_formed a.html
$HLO graph a.hlo --to=svg | cmp - a.svg || exit 1
want a.svg '^<svg xmlns="http://www.w3.org/2000/svg" width="[0-9]+" height="[0-9]+"'
count a.svg 'class="item node' 17
count a.svg 'class="item folds box"' 4
count a.svg 'class="tip"' 13
count a.svg '<script' 0
want a.svg '>dot f32\[4,2\]<'
want a.svg '>parameter\(1\) f32\[8,2\]<'
want a.svg '>ENTRY main<'
count a.html '<script' 1
count a.html 'class="mark"' 6
count a.html 'https\?://' 1 # the name space
! grep -q ' src=\| href="[^#]' a.html || fail 'a.html refers to other files'
# values of a run
$HLO graph a.hlo --values --fake=ones k=3 -o v.svg || exit 1
want v.svg 'class="value".*>8 ... 8, mean 8<'
count v.svg 'class="item node.* nan"' 0
$HLO graph a.hlo --values -o n.svg x='{{nan,0,0,0,0,0,0,0},{0,0,0,0,0,0,0,0},{0,0,0,0,0,0,0,0},{0,0,0,0,0,0,0,0}}' || exit 1
want n.svg 'class="item node product nan"'
want n.svg 'class="value".*>1 nan<'
$HLO graph a.hlo --around=d --width=1 --to=svg >d.svg || exit 1
count d.svg 'class="item node' 4
want d.svg 'class="item node product around"'
want d.svg '>calls sum<'
# computations with several callers are drawn once; what is far away is named; text is escaped
{
    printf 'neg { p = f32[] parameter(0)\n ROOT n = f32[] negate(p) }\nENTRY e { x0 = f32[] parameter(0)\n'
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39; do
        printf ' x%d = f32[] call(x%d), to_apply=neg\n' $i $((i - 1))
    done
    printf ' ROOT r = f32[] add(x39, x1), metadata={op_name="a<b & \\"c\\" \377\001" source_file="<&>.py" source_line=3} }\n'
} >b.hlo
$HLO graph b.hlo -o b.svg && $HLO graph b.hlo -o b.html || exit 1
well_formed b.svg
well_formed b.html
count b.svg 'class="item folds box"' 2
count b.svg '>calls neg<' 39
want b.svg '^<a href="#n[0-9]+"><text class="far".*>1 . x1</text></a>$'
want b.svg '>&#60;&#38;&#62;.py:3<'
{ echo 'HloModule a'; cat a.hlo; printf '\nHloModule b\n'; cat b.hlo; } | sed '2d' >ab.hlo
$HLO graph --module=b ab.hlo -o ab.svg || exit 1
$HLO graph ab.hlo >ab.dot && count ab.dot '^digraph' 2
$HLO graph ab.hlo --to=svg >ab.svg
test $? = 2 && test ! -s ab.svg || exit 1
$HLO graph a.hlo -o out.png
test $? = 2 || exit 1
test ! -e out.png || fail 'out.png exists'
$HLO graph a.hlo -o out
test $? = 2 || exit 1
$HLO graph a.hlo --to=png
test $? = 2 || exit 1
# the same at the prompt, of the text of the session
$HLO repl --norc a.hlo -c '.graph -o p.svg' -c '.graph d -o d.dot' -c '.save s.hlo' || exit 1
$HLO graph s.hlo -o s.svg
sed 's/s\.hlo/session/g' s.svg | cmp - p.svg || exit 1
$HLO graph s.hlo --around=d | sed 's/s\.hlo/session/g' | cmp - d.dot || exit 1
$HLO repl --norc a.hlo -c '.graph -o out.png'
test $? = 2 && test ! -e out.png
