# What grammar.awk and header.awk share: lines of text and of code as lines of mdoc.

# A line that is no macro.
function escape(s) { gsub(/\\/, "\\e", s); sub(/^[.']/, "\\\\\\&&", s); return s }

# A paragraph begins, but for the first one of a section.
function put_paragraph() { if (!fresh) print ".Pp"; fresh = 1 }

function put_section(title) { print ".Ss " title; fresh = 1 }

# A line of text: each sentence begins a line.
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

function open_display(offset) { if (!displayed) print ".Bd -literal" offset; displayed = 1 }
function close_display() { if (displayed) { print ".Ed"; fresh = 0 } displayed = 0 }

# A line of a display, folded between words after 72 columns; from the second line on behind INDENT.
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
