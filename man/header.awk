# The header as part of a page: a section for each topic; comments as text, and below them what is declared.

# A line of C. Where it is long, a comment at its end goes to the next line.
function put_code(s,    at) {
    at = index(s, "/*")
    if (length(s) > 72 && at > 1) {
        put_folded(substr(s, 1, at - 1), "        ")
        put_folded("    " substr(s, at), "       ")
    } else {
        put_folded(s, "        ")
    }
}

# The comment and the declarations that were read. What is indented in a comment is an example.
function flush(    i) {
    if (said_lines) put_paragraph()
    for (i = 1; i <= said_lines; i++) {
        if (said[i] ~ /^    /) {
            open_display(" -offset indent")
        } else if (said[i] != "") {
            close_display()
        }
        if (displayed) print escape(substr(said[i], 5))
        else if (said[i] != "") put_text(said[i])
        else if (said[i + 1] !~ /^    /) put_paragraph()
    }
    close_display()
    if (code_lines) open_display(" -offset indent")
    for (i = 1; i <= code_lines; i++) put_code(code[i])
    close_display()
    code_lines = said_lines = 0
    delete said
}

/^#ifdef __cplusplus/ { skipping = 1 }
skipping { if (/^#endif/) skipping = 0; next }
/^#define HLO_VERSION/ { put_section("Handles, texts, statuses"); code[++code_lines] = $0 }
/^#/ { next }

/^\/\* ---- / {
    flush()
    title = $0
    sub(/^\/\* ---- /, "", title)
    sub(/ ----.*/, "", title)
    put_section(toupper(substr(title, 1, 1)) substr(title, 2))
    comment = !/\*\//
    next
}
/^\/\*/ && !begun { comment = head = begun = 1; next } # what opens the file is told by the page
/^\/\*/ {
    if (code_lines) flush()
    comment = 1
    sub(/^\/\* ?/, "")
}
comment {
    ended = sub(/ *\*\/ *$/, "")
    sub(/^ \* ?/, "")
    if (!head && ($0 != "" || (said_lines && !ended))) said[++said_lines] = $0
    if (ended) comment = head = 0
    next
}
/^$/ { if (code_lines) flush(); next }
{ code[++code_lines] = $0 }
END { flush() }
