# Converts a C header to mdoc: a subsection for each section of the header, comments as text, and below
# each comment the declarations that it describes as a literal display.

# Escapes a line of text that must not be parsed as a macro.
function escape(s) { gsub(/\\/, "\\e", s); sub(/^[.']/, "\\\\\\&&", s); return s }

# Starts a paragraph, except at the start of a section.
function put_paragraph() { if (!fresh) print ".Pp"; fresh = 1 }

function put_section(title) { print ".Ss " title; fresh = 1 }

# Writes text with one sentence per line.
function put_text(s,    at, line) {
    while (match(s, /[.?!][)]? +[A-Z]/)) {
        at = RSTART + RLENGTH - 1
        line = substr(s, 1, at - 1)
        sub(/ +$/, "", line)
        print escape(line)
        s = substr(s, at)
    }
    print escape(s)
    fresh = 0
}

function open_display() { if (!displayed) print ".Bd -literal -offset indent"; displayed = 1 }
function close_display() { if (displayed) { print ".Ed"; fresh = 0 } displayed = 0 }

# Writes a line of a display, broken at a blank before column 72; continuation lines start with INDENT.
function put_folded(s, indent,    at, k) {
    while (length(s) > 72) {
        at = 0
        for (k = 40; k <= 72; k++)
            if (substr(s, k, 1) == " ") at = k
        if (!at) break
        print escape(substr(s, 1, at - 1))
        s = indent substr(s, at + 1)
    }
    print escape(s)
}

# Writes a line of C. The trailing comment of a long line is moved to the next line.
function put_code(s,    at) {
    at = index(s, "/*")
    if (length(s) > 72 && at > 1) {
        put_folded(substr(s, 1, at - 1), "        ")
        put_folded("    " substr(s, at), "       ")
    } else {
        put_folded(s, "        ")
    }
}

# Writes the current comment and its declarations. Indented lines of a comment are an example.
function flush(    i) {
    if (comment_lines) put_paragraph()
    for (i = 1; i <= comment_lines; i++) {
        if (text[i] ~ /^    /) open_display()
        else if (text[i] != "") close_display()
        if (displayed) print escape(substr(text[i], 5))
        else if (text[i] != "") put_text(text[i])
        else if (text[i + 1] !~ /^    /) put_paragraph()
    }
    close_display()
    if (code_lines) open_display()
    for (i = 1; i <= code_lines; i++) put_code(code[i])
    close_display()
    code_lines = comment_lines = 0
    delete text
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
/^\/\*/ && !begun { comment = head = begun = 1; next } # the introduction is part of the page itself
/^\/\*/ {
    if (code_lines) flush()
    comment = 1
    sub(/^\/\* ?/, "")
}
comment {
    ended = sub(/ *\*\/ *$/, "")
    sub(/^ \* ?/, "")
    if (!head && ($0 != "" || (comment_lines && !ended))) text[++comment_lines] = $0
    if (ended) comment = head = 0
    next
}
/^$/ { if (code_lines) flush(); next }
{ code[++code_lines] = $0 }
END { flush() }
