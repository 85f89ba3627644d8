# The grammar as part of a page: a section for each topic, comments as text, productions as they stand.
# What opens the file, up to the first topic, is a section too.
BEGIN { put_section("Grammar") }
/^\(\* ---- / {
    close_display()
    title = $0
    sub(/^\(\* ---- /, "", title)
    sub(/ ----.*/, "", title)
    put_section("Grammar: " title)
    comment = !/\*\)/ # the last topic is one comment
    next
}
/^ *\(\*/ {
    close_display()
    put_paragraph()
    comment = 1
    sub(/^ *\(\* */, "")
}
comment {
    ended = sub(/ *\*\) *$/, "")
    if (/^     /) { # comments are indented by three blanks; what is deeper is a table
        open_display(" -compact")
        put_folded(substr($0, 4), "        ")
    } else {
        close_display()
        sub(/^ +/, "")
        if ($0 == "") put_paragraph()
        else put_text($0)
    }
    comment = !ended
    next
}
/^$/ { next }
{
    open_display(" -compact")
    put_folded($0, "        ")
}
END { close_display() }
