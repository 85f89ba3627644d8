/*
 * repl/scan: what kind of entry is this, and does it end here?
 */
#include "repl/scan.h"

#include "hlo_advanced.h"

static char at_or_nul(struct str s, size_t at) { return at < s.len ? s.ptr[at] : '\0'; }

static struct str cut(struct str s, size_t begin, size_t end) { return (struct str){s.ptr + begin, end - begin}; }

static struct str rest(struct str s, size_t begin) { return cut(s, begin < s.len ? begin : s.len, s.len); }

/* ---- words, strings, comments, brackets ---- */

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("_.-%", c)) ||
           (unsigned char)c >= 0x80;
}

/* Past the comment at `at`; the same place where there is none; NOWHERE: it stays open. */
static size_t comment_end(struct str s, size_t at)
{
    if (at_or_nul(s, at) != '/' || (at_or_nul(s, at + 1) != '/' && at_or_nul(s, at + 1) != '*'))
        return at;
    bool line = s.ptr[at + 1] == '/';
    for (size_t i = at + 2; i < s.len; i++) {
        if (line && s.ptr[i] == '\n')
            return i;
        if (!line && s.ptr[i] == '*' && at_or_nul(s, i + 1) == '/')
            return i + 2;
    }
    return line ? s.len : NOWHERE;
}

size_t scan_blanks(struct str s, size_t at)
{
    for (;;) {
        while (at < s.len && char_is_blank(s.ptr[at]))
            at++;
        size_t end = comment_end(s, at);
        if (end == at || end == NOWHERE)
            return at;
        at = end;
    }
}

size_t scan_word(struct str s, size_t at)
{
    while (at < s.len && is_word_char(s.ptr[at]))
        at++;
    return at;
}

struct str scan_first_word(struct str s)
{
    size_t at = scan_blanks(s, 0);
    return cut(s, at, scan_word(s, at));
}

static size_t string_end(struct str s, size_t at)
{
    for (size_t i = at + 1; i < s.len; i++)
        if (s.ptr[i] == '\\')
            i++;
        else if (s.ptr[i] == '"')
            return i + 1;
    return NOWHERE;
}

/* One step on: past a string, a comment or a byte. */
static size_t step(struct str s, size_t at)
{
    if (s.ptr[at] == '"')
        return string_end(s, at);
    size_t end = comment_end(s, at);
    return end == at ? at + 1 : end;
}

static bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
static bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

size_t scan_group(struct str s, size_t at)
{
    int depth = 0;
    if (at < s.len && s.ptr[at] == '"')
        return string_end(s, at);
    while (at < s.len) {
        depth += opens(s.ptr[at]) ? 1 : closes(s.ptr[at]) ? -1 : 0;
        at = step(s, at);
        if (at == NOWHERE || depth <= 0)
            return at;
    }
    return NOWHERE;
}

static bool is_command_at(struct str s, size_t at)
{
    char c = at_or_nul(s, at), next = at_or_nul(s, at + 1);
    return c == '!' || (c == '.' && !(next >= '0' && next <= '9'));
}

static bool is_command(struct str s) { return is_command_at(s, scan_blanks(s, 0)); }

/* To the end of the string or comment that P is within, or of the text. */
static void go_on_within(struct scan_progress *p, struct str s)
{
    for (; p->at < s.len && p->within; p->at++) {
        const char c = s.ptr[p->at], next = at_or_nul(s, p->at + 1);
        if (p->within == SCAN_LINE_COMMENT && c == '\n') {
            p->within = SCAN_CODE;
            return;
        }
        const bool two = (p->within == SCAN_STRING && c == '\\') || (p->within == SCAN_COMMENT && c == '*' && next == '/');
        if ((p->within == SCAN_STRING && c == '"') || (p->within == SCAN_COMMENT && two))
            p->within = SCAN_CODE;
        p->at += two;
    }
}

static void go_on(struct scan_progress *p, struct str s)
{
    const char c = s.ptr[p->at], next = at_or_nul(s, p->at + 1);
    const bool comment = c == '/' && (next == '/' || next == '*');
    if (!p->begun && !comment && !char_is_blank(c)) {
        p->begun = true;
        p->command = is_command_at(s, p->at);
    }
    p->depth += opens(c) ? 1 : closes(c) ? -1 : 0;
    p->within = c == '"' ? SCAN_STRING : !comment ? SCAN_CODE : next == '/' ? SCAN_LINE_COMMENT : SCAN_COMMENT;
    p->at += comment ? 2 : 1;
}

bool scan_whole_on(struct scan_progress *p, struct str text)
{
    while (p->at < text.len && p->depth >= 0 && !p->command) {
        if (p->within)
            go_on_within(p, text);
        else
            go_on(p, text);
    }
    const bool open = p->depth > 0 || p->within == SCAN_STRING || p->within == SCAN_COMMENT;
    return p->command || p->depth < 0 || !open;
}

bool scan_whole(struct str text) { return scan_whole_on(&(struct scan_progress){0}, text); }

/* READ_OTHER: all is closed. */
static enum reading_kind balance(struct str s)
{
    struct scan_progress p = {.begun = true};
    const bool whole = scan_whole_on(&p, s);
    return p.depth < 0 ? READ_UNOPENED : whole ? READ_OTHER : READ_UNCLOSED;
}

/* ---- shapes and operations ---- */

static bool is_dtype(struct str word)
{
    const char *name;
    for (size_t i = 0; (name = hlo_dtype_name(i)); i++)
        if (str_is(word, name))
            return true;
    return false;
}

/* Past the shape at `at`, with its layout; the same place where there is none. */
static size_t shape_end(struct str s, size_t at)
{
    size_t end = at;
    if (at_or_nul(s, at) == '(') {
        end = scan_group(s, at);
        return end == NOWHERE ? at : end;
    }
    size_t word = scan_word(s, at);
    if (at_or_nul(s, word) != '[' || !is_dtype(cut(s, at, word)) || (end = scan_group(s, word)) == NOWHERE)
        return at;
    size_t layout = at_or_nul(s, end) == '{' ? scan_group(s, end) : end;
    return layout == NOWHERE ? end : layout;
}

/* `word (` */
static struct str called(struct str s, size_t at)
{
    size_t begin = scan_blanks(s, at), end = scan_word(s, begin);
    return end > begin && at_or_nul(s, scan_blanks(s, end)) == '(' ? cut(s, begin, end) : STR("");
}

/* The op of what may stand behind `name =`. */
static struct str scan_op(struct str right)
{
    struct str op = called(right, 0);
    size_t begin = scan_blanks(right, 0), end = shape_end(right, begin);
    if (op.len == 0 && end > begin)
        op = called(right, end);
    return op;
}

static bool is_literal(struct str s)
{
    size_t begin = scan_blanks(s, 0);
    char c = at_or_nul(s, begin);
    return shape_end(s, begin) > begin || c == '{' || c == '@' || c == '-' || (c >= '0' && c <= '9');
}

/* In f32[2]{1, 2} the braces hold values, though they look like a layout. */
size_t scan_literal_shape(struct str s)
{
    size_t dims = scan_word(s, 0), end = shape_end(s, 0);
    if (at_or_nul(s, dims) != '[' || end == 0)
        return 0;
    return scan_blanks(s, end) < s.len ? scan_blanks(s, end) : scan_group(s, dims);
}

/* ---- kinds ---- */

static struct str without_percent(struct str name) { return name.len > 1 && name.ptr[0] == '%' ? rest(name, 1) : name; }

/* [shape] name = */
static bool read_instruction(struct reading *r)
{
    struct str s = r->text;
    size_t at = scan_blanks(s, shape_end(s, 0)), end = scan_word(s, at), equal = scan_blanks(s, end);
    if (end == at || at_or_nul(s, equal) != '=')
        return false;
    r->name = without_percent(cut(s, at, end));
    r->right = rest(s, scan_blanks(s, equal + 1));
    r->op = scan_op(r->right);
    return true;
}

/* name { ... = ... }, name (...) -> ... */
static bool read_computation(struct reading *r)
{
    struct str s = r->text;
    size_t word = scan_word(s, 0), at = scan_blanks(s, word), end;
    if (word == 0 || !opens(at_or_nul(s, at)) || (end = scan_group(s, at)) == NOWHERE)
        return false;
    r->name = without_percent(cut(s, 0, word));
    if (s.ptr[at] == '{')
        return true;
    end = scan_blanks(s, end);
    return s.ptr[at] == '(' && at_or_nul(s, end) == '-' && at_or_nul(s, end + 1) == '>';
}

static bool read_name(struct reading *r)
{
    struct str s = r->text;
    size_t word = scan_word(s, 0), at = word;
    while (at_or_nul(s, word) == '/') /* COMPUTATION/NAME */
        word = at = scan_word(s, word + 1);
    while (at_or_nul(s, at) == '[' && scan_group(s, at) != NOWHERE) /* of a tuple: [1][0,:4] */
        at = scan_group(s, at);
    if (word == 0 || at != s.len || (s.ptr[0] >= '0' && s.ptr[0] <= '9') || s.ptr[0] == '-')
        return false;
    r->name = without_percent(cut(s, 0, word));
    r->index = rest(s, word);
    return true;
}

static enum reading_kind kind_of(struct reading *r)
{
    struct str word = scan_first_word(r->text);
    if (str_is(word, "HloModule") || str_is(word, "ENTRY"))
        return READ_MODULE;
    if (read_instruction(r))
        return READ_INSTRUCTION;
    if (read_computation(r))
        return READ_COMPUTATION;
    r->name = STR("");
    r->right = r->text;
    r->op = scan_op(r->text);
    if (r->op.len)
        return READ_EXPRESSION;
    if (is_literal(r->text))
        return READ_LITERAL;
    return read_name(r) ? READ_NAME : READ_OTHER;
}

struct reading scan_read(struct str text)
{
    size_t at = scan_blanks(text, 0);
    struct reading r = {.text = str_trim(rest(text, at))};
    if (r.text.len == 0)
        return r;
    r.kind = READ_COMMAND;
    if (is_command(text))
        return r;
    r.kind = balance(r.text);
    if (r.kind != READ_OTHER)
        return r;
    r.quiet = r.text.ptr[r.text.len - 1] == ';';
    if (r.quiet)
        r.text = str_trim(cut(r.text, 0, r.text.len - 1));
    struct str word = scan_first_word(r.text);
    size_t after = scan_blanks(r.text, word.len);
    r.root = str_is(word, "ROOT") && at_or_nul(r.text, after) != '=';
    if (r.root)
        r.text = rest(r.text, after);
    r.kind = r.text.len ? kind_of(&r) : READ_OTHER;
    if (r.kind == READ_COMPUTATION) { /* those behind it may have the mark of a module */
        struct arena a;
        struct scan_module m;
        arena_init(&a);
        if (scan_module(&a, r.text, &m))
            for (size_t i = 0; i < m.count; i++)
                r.kind = m.computations[i].entry ? READ_MODULE : r.kind;
        arena_free(&a);
    }
    return r;
}

/* ---- modules ---- */

/* Past `, name=value` as often as it stands there. */
static size_t attributes_end(struct str s, size_t at)
{
    for (;;) {
        size_t comma = scan_blanks(s, at), name, equal, value, end;
        if (at_or_nul(s, comma) != ',')
            return at;
        name = scan_blanks(s, comma + 1);
        equal = scan_blanks(s, scan_word(s, name));
        if (at_or_nul(s, equal) != '=')
            return at;
        value = scan_blanks(s, equal + 1);
        char c = at_or_nul(s, value);
        end = opens(c) || c == '"' ? scan_group(s, value) : scan_word(s, value);
        if (end == NOWHERE || end == value)
            return at;
        at = end;
    }
}

/* Past the tables of stack frames: words with rows of a number and a string or braces. */
static size_t tables_end(struct str s, size_t at)
{
    static const char *const tables[] = {"FileNames", "FunctionNames", "FileLocations", "StackFrames"};
    for (;;) {
        size_t begin = scan_blanks(s, at), end = scan_word(s, begin), i = 0;
        while (i < COUNT_OF(tables) && !str_is(cut(s, begin, end), tables[i]))
            i++;
        bool row = at_or_nul(s, begin) >= '0' && at_or_nul(s, begin) <= '9';
        if (i == COUNT_OF(tables) && !row)
            return at;
        at = end;
        if (row && (at = scan_group(s, scan_blanks(s, end))) == NOWHERE)
            return NOWHERE;
    }
}

static size_t header_end(struct str s)
{
    size_t at = scan_blanks(s, 0), end = scan_word(s, at);
    if (!str_is(cut(s, at, end), "HloModule"))
        return at;
    at = attributes_end(s, scan_word(s, scan_blanks(s, end)));
    at = tables_end(s, at);
    return at == NOWHERE ? NOWHERE : scan_blanks(s, at);
}

/* The braces of a computation are those with an `=` in them: others are layouts. */
static size_t body_begin(struct str s, size_t at)
{
    while (at < s.len) {
        if (!opens(s.ptr[at]) && s.ptr[at] != '"') {
            at = step(s, at);
            if (at == NOWHERE)
                return NOWHERE;
            continue;
        }
        size_t end = scan_group(s, at);
        if (end == NOWHERE)
            return NOWHERE;
        if (s.ptr[at] == '{' && memchr(s.ptr + at, '=', end - at))
            return at;
        at = end;
    }
    return NOWHERE;
}

bool scan_module(struct arena *a, struct str text, struct scan_module *out)
{
    size_t at = header_end(text), capacity = 0;
    *out = (struct scan_module){0};
    if (at == NOWHERE)
        return false;
    out->header = cut(text, 0, at);
    while ((at = scan_blanks(text, at)) < text.len) {
        size_t open = body_begin(text, at), name = at, word = scan_word(text, at);
        if (open == NOWHERE || word == at)
            return false;
        bool entry = str_is(cut(text, at, word), "ENTRY");
        if (entry) {
            name = scan_blanks(text, word);
            word = scan_word(text, name);
        }
        size_t close = scan_group(text, open), end = attributes_end(text, close);
        struct scan_computation *c = &VEC_PUSH(a, out->computations, out->count, capacity);
        *c = (struct scan_computation){cut(text, at, end), without_percent(cut(text, name, word)), cut(text, open + 1, close - 1),
                                       cut(text, close, end), entry};
        at = end;
    }
    return out->count > 0;
}
