# The grammar as part of a page: a section for each topic, comments as text, productions as they stand.
# What opens the file, up to the first topic, is a section too.
BEGIN { put_section("Grammar") }

# What stands on several lines, a row of a table or a production, is put together and folded anew.
function put_rest() {
    if (rest != "") put_folded(rest, indent)
    rest = ""
}
function add(s, to) {
    open_display(" -compact")
    indent = to
    sub(/^ +/, rest == "" ? "" : " ", s)
    rest = rest s
}
function end_display() {
    put_rest()
    close_display()
}

/^\(\* ---- / {
    end_display()
    title = $0
    sub(/^\(\* ---- /, "", title)
    sub(/ ----.*/, "", title)
    put_section("Grammar: " title)
    comment = !/\*\)/ # the last topic is one comment
    next
}
/^ *\(\*/ {
    end_display()
    put_paragraph()
    comment = 1
    sub(/^ *\(\* */, "")
}
comment {
    ended = sub(/ *\*\) *$/, "")
    if (/^     /) { # comments are indented by three blanks; what is deeper is a table
        if (/^     [^ ]/) put_rest()
        add($0, "            ")
    } else {
        end_display()
        sub(/^ +/, "")
        if (/^A test holds this file/) dropped = 1 # what is for those who change it
        if ($0 == "") dropped = 0
        if (dropped) next
        if ($0 == "") put_paragraph()
        else put_text($0)
    }
    comment = !ended
    next
}
/^$/ { next }
{
    add($0, "    ")
    if (/;( \(\*.*\*\))?$/) put_rest()
}
END { end_display() }
