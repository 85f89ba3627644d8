# Converts the pages of grammar/operations to initializers of op_docs (doc.c): NAME.md becomes the
# element [OP_NAME]. A page has a title `# NAME(OPERANDS)`, the rule, optionally a section
# `## Implementations differ`, and a section of examples: shell blocks that run a module written
# between <<'END' and END, followed by its result in comments. The words after `sh` are element types
# that may be substituted in the example.

function fail(message) {
    print FILENAME ":" FNR ": " message > "/dev/stderr"
    failed = 1
    exit 1
}

# Quotes a line of text as a C string.
function quoted(s) {
    gsub(/[\\"]/, "\\\\&", s)
    return "\n        \"" s "\\n\""
}

# Appends a line to a text, without leading and trailing blank lines.
function add(name, s) {
    if (s == "") {
        blank[name] = text[name] != ""
        return
    }
    text[name] = text[name] (blank[name] ? quoted("") : "") quoted(s)
    blank[name] = 0
}

function member(name, value) { return "\n    ." name " = " (value == "" ? "\"\"" : value) "," }

function end_page() {
    if (page == "")
        return
    if (text["rule"] == "" || examples == "")
        fail(page " has no rule or no example")
    print "[OP_" page "] = {" member("form", "\"" form "\"") member("rule", text["rule"]) \
        member("differences", text["differences"]) member("script", text["script"]) \
        "\n    .examples = (const struct op_example[]){" examples "\n        {0}},\n},"
}

function begin_example(    n, word) {
    n = split($0, word, " ")
    args = module = result = ""
    types = ""
    for (i = 2; i <= 4; i++)
        types = types (i <= n ? "\"" word[i] "\", " : "NULL, ")
    place = "command"
}

# The arguments are in single quotes, of which the last pair encloses END.
function read_command(    n, part, i) {
    n = split(command, part, "'")
    for (i = 2; i + 2 < n; i += 2)
        args = args quoted(part[i])
    place = "module"
}

function end_example() {
    sub(/\\n"$/, "\"", result)
    examples = examples "\n        {" types (args == "" ? "\"\"" : args) "," module "," result "},"
    place = "examples"
}

FNR == 1 {
    end_page()
    page = FILENAME
    sub(/.*\//, "", page)
    sub(/\.md$/, "", page)
    form = $0
    if (index($0, "# " page "(") != 1 || !sub(/^[^(]*\(/, "", form) || !sub(/\)$/, "", form))
        fail("expected the title `# " page "(OPERANDS)`")
    page = toupper(page)
    gsub(/-/, "_", page)
    split("", text)
    split("", blank)
    examples = ""
    place = "rule"
    next
}
/^## Implementations differ$/ { place = "differences"; next }
/^## Examples?$/ { place = "examples"; next }
/^##/ { fail("unknown section") }
place == "examples" {
    if (/^```sh/)
        begin_example()
    else if ($0 == "")
        add("script", "")
    else
        fail("expected a block of shell")
    command = ""
    next
}
/^```$/ { end_example(); next }
place == "rule" || place == "differences" { add(place, $0); next }
{ add("script", $0) }
place == "command" && (/^hlo run/ || command != "") {
    command = command $0
    if (!sub(/\\$/, "", command))
        read_command()
    next
}
place == "command" { next }
place == "module" && /^END$/ { place = "result"; next }
place == "module" { module = module quoted($0); next }
place == "result" { sub(/^# /, ""); result = result quoted($0); next }
END {
    if (!failed)
        end_page()
}
