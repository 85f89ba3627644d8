/*
 * repl/syntax: kinds of entries, and parts of texts.
 */
#include "repl/syntax.h"

static struct str cut(struct str s, size_t begin, size_t end)
{
    return (struct str){s.ptr + begin, end - begin};
}

static struct str rest(struct str s, size_t begin)
{
    return cut(s, begin < s.len ? begin : s.len, s.len);
}

static char char_at(struct str s, size_t at) { return at < s.len ? s.ptr[at] : '\0'; }

/* ---- tokens ---- */

bool syntax_is_word(struct text_token t)
{
    return t.kind != TOK_EOF && t.kind != TOK_ERROR && t.s.len > 0 && char_is_letter(t.s.ptr[0]);
}

/* Without an attached `=` or `:`. */
static bool is_plain(struct str s, struct text_token t)
{
    return syntax_is_word(t) && t.s.ptr + t.s.len == s.ptr + t.end;
}

size_t syntax_skip(struct str s, size_t at) { return text_token_at(s, at).begin; }

struct str syntax_first_word(struct str s)
{
    struct text_token t = text_token_at(s, 0);
    return syntax_is_word(t) ? t.s : STR("");
}

/* ---- ends of entries ---- */

static bool is_command_at(struct str s, size_t at)
{
    char c = char_at(s, at), after = char_at(s, at + 1);
    return c == '!' || (c == '.' && !char_is_digit(after));
}

/* Finds the first byte that is neither blank nor comment. An unterminated comment is skipped once
 * it is closed. */
static void find_first(struct syntax_progress *p, struct str text)
{
    if (p->begun || p->nesting.within == '*')
        return;
    p->first = syntax_skip(text, p->first);
    p->begun = p->first < text.len &&
               !(char_at(text, p->first) == '/' && char_at(text, p->first + 1) == '*');
    p->command = p->begun && is_command_at(text, p->first);
}

bool syntax_complete_so_far(struct syntax_progress *p, struct str text)
{
    struct text_nesting *n = &p->nesting;
    find_first(p, text);
    if (!p->command)
        text_nest(text, n);
    find_first(p, text);
    return p->command || n->depth < 0 || (n->depth == 0 && (!n->within || n->within == '/'));
}

bool syntax_complete(struct str text)
{
    return syntax_complete_so_far(&(struct syntax_progress){0}, text);
}

/* READ_OTHER: all brackets are closed. */
static enum reading_kind balance(struct str s)
{
    struct syntax_progress p = {.begun = true};
    bool complete = syntax_complete_so_far(&p, s);
    return p.nesting.depth < 0 ? READ_UNOPENED : complete ? READ_OTHER : READ_UNCLOSED;
}

/* ---- shapes and operations ---- */

size_t syntax_shape_end(struct str s, size_t at)
{
    struct text_token t = text_token_at(s, at);
    size_t end = NOWHERE;
    if (t.kind == TOK_LPAREN)
        end = text_group_end(s, t.begin);
    if (t.kind != TOK_DTYPE || char_at(s, t.end) != '[' ||
        (end = text_group_end(s, t.end)) == NOWHERE)
        return end == NOWHERE ? at : end;
    size_t layout = char_at(s, end) == '{' ? text_group_end(s, end) : end;
    return layout == NOWHERE ? end : layout;
}

/* Returns `word` of `word (`. */
static struct str called(struct str s, size_t at)
{
    struct text_token t = text_token_at(s, at);
    bool call = is_plain(s, t) && text_token_at(s, t.end).kind == TOK_LPAREN;
    return call ? cut(s, t.begin, t.end) : STR("");
}

/* The op in the text after `name =`. */
static struct str op_of(struct str right)
{
    struct str op = called(right, 0);
    size_t begin = syntax_skip(right, 0), end = syntax_shape_end(right, begin);
    return op.len == 0 && end > begin ? called(right, end) : op;
}

static bool is_literal(struct str s)
{
    size_t begin = syntax_skip(s, 0);
    char c = char_at(s, begin);
    return syntax_shape_end(s, begin) > begin || c == '{' || c == '@' || c == '-' ||
           char_is_digit(c);
}

/* In f32[2]{1, 2} the braces contain values, although they look like a layout. */
size_t syntax_literal_values(struct str s)
{
    struct text_token t = text_token_at(s, 0);
    size_t end = syntax_shape_end(s, 0), values = syntax_skip(s, end);
    if (t.kind != TOK_DTYPE || end == 0)
        return 0;
    return values < s.len ? values : text_group_end(s, t.end);
}

/* ---- kinds ---- */

/* Reads the tokens up to `=`, if nothing separates them: a name, or text that the parser will
 * reject as one. */
static bool read_instruction(struct reading *r)
{
    struct str s = r->text;
    size_t begin = syntax_skip(s, syntax_shape_end(s, 0)), end = begin;
    struct text_token t = text_token_at(s, begin);
    for (; t.begin == end && !token_opens(t.kind) && t.kind != TOK_EQUAL && t.kind != TOK_ATTR_NAME;
         t = text_token_at(s, end)) {
        if (t.kind == TOK_EOF || t.kind == TOK_STRING || t.kind == TOK_COMMA)
            return false;
        end = t.end;
    }
    if (t.kind == TOK_ATTR_NAME && t.begin == end)
        end = t.end - 1;
    else if (t.kind != TOK_EQUAL || end == begin)
        return false;
    if (char_at(s, t.end) == '=' || strchr("!<>", s.ptr[end - 1])) /* a comparison */
        return false;
    r->name = rest(cut(s, begin, end), char_at(s, begin) == '%' && end > begin + 1);
    r->right = rest(s, syntax_skip(s, t.end));
    r->op = op_of(r->right);
    return true;
}

/* name { ... = ... }, name (...) -> ... */
static bool read_computation(struct reading *r)
{
    struct str s = r->text;
    struct text_token name = text_token_at(s, 0), open = text_token_at(s, name.end);
    size_t end = token_opens(open.kind) ? text_group_end(s, open.begin) : NOWHERE;
    if (!is_plain(s, name) || end == NOWHERE)
        return false;
    r->name = name.s;
    return open.kind == TOK_LBRACE ||
           (open.kind == TOK_LPAREN && text_token_at(s, end).kind == TOK_ARROW);
}

/* NAME, COMPUTATION/NAME, and for a tuple NAME[1][0,:4] */
static bool read_name(struct reading *r)
{
    struct str s = r->text;
    struct text_token t = text_token_at(s, 0);
    while (is_plain(s, t) && char_at(s, t.end) == '/')
        t = text_token_at(s, t.end + 1);
    size_t at = t.end;
    if (!is_plain(s, t))
        return false;
    while (at != NOWHERE && char_at(s, at) == '[')
        at = text_group_end(s, at);
    if (at != s.len)
        return false;
    r->name = rest(cut(s, 0, t.end), s.ptr[0] == '%');
    r->index = rest(s, t.end);
    return true;
}

static enum reading_kind kind_of(struct reading *r)
{
    enum token_kind first = text_token_at(r->text, 0).kind;
    if (first == TOK_HLO_MODULE || first == TOK_ENTRY)
        return READ_MODULE;
    if (read_instruction(r))
        return READ_INSTRUCTION;
    if (read_computation(r))
        return READ_COMPUTATION;
    r->name = STR("");
    r->right = r->text;
    r->op = op_of(r->text);
    if (r->op.len)
        return READ_EXPRESSION;
    if (is_literal(r->text))
        return READ_LITERAL;
    return read_name(r) ? READ_NAME : READ_OTHER;
}

/* Whether one of several computations is the entry computation. */
static bool has_entry(struct str text)
{
    SCOPED_ARENA a = arena_make();
    struct syntax_module m;
    bool entry = false;
    if (syntax_module(&a, text, &m))
        for (size_t i = 0; i < m.count; i++)
            entry |= m.computations[i].entry;
    return entry;
}

struct reading syntax_read(struct str text)
{
    size_t first = syntax_skip(text, 0);
    struct reading r = {.text = str_trim(rest(text, first))};
    if (r.text.len == 0)
        return r;
    r.kind = is_command_at(text, first) ? READ_COMMAND : balance(r.text);
    if (r.kind != READ_OTHER)
        return r;
    r.quiet = r.text.ptr[r.text.len - 1] == ';';
    if (r.quiet)
        r.text = str_trim(cut(r.text, 0, r.text.len - 1));
    struct text_token t = text_token_at(r.text, 0);
    r.root = t.kind == TOK_ROOT && text_token_at(r.text, t.end).kind != TOK_EQUAL;
    if (r.root)
        r.text = rest(r.text, syntax_skip(r.text, t.end));
    r.kind = r.text.len ? kind_of(&r) : READ_OTHER;
    if (r.kind == READ_COMPUTATION && has_entry(r.text))
        r.kind = READ_MODULE;
    return r;
}

/* ---- modules ---- */

bool syntax_attribute(struct str s, size_t at, struct str *name, size_t *end)
{
    struct text_token comma = text_token_at(s, at), word = text_token_at(s, comma.end),
                      value = text_token_at(s, word.end);
    if (word.kind != TOK_ATTR_NAME && value.kind == TOK_EQUAL)
        value = text_token_at(s, value.end);
    else if (word.kind != TOK_ATTR_NAME)
        return false;
    *name = word.s;
    *end = token_opens(value.kind) ? text_group_end(s, value.begin) : value.end;
    while (*end < s.len && strchr("[{", s.ptr[*end])) /* shape=f32[2]{0} */
        *end = text_group_end(s, *end);
    return comma.kind == TOK_COMMA && value.kind != TOK_EOF && value.kind != TOK_ERROR &&
           *end != NOWHERE;
}

static size_t attributes_end(struct str s, size_t at)
{
    struct str name;
    for (size_t end; syntax_attribute(s, at, &name, &end);)
        at = end;
    return at;
}

/* The end of the tables of stack frames: keywords, and rows of a number and a string or braces. */
static size_t tables_end(struct str s, size_t at)
{
    for (;;) {
        struct text_token t = text_token_at(s, at);
        if (t.kind == TOK_INT)
            t.end = text_group_end(s, syntax_skip(s, t.end));
        else if (t.kind != TOK_FILE_NAMES && t.kind != TOK_FUNCTION_NAMES &&
                 t.kind != TOK_FILE_LOCATIONS && t.kind != TOK_STACK_FRAMES)
            return at;
        if (t.end == NOWHERE)
            return NOWHERE;
        at = t.end;
    }
}

static size_t header_end(struct str s)
{
    struct text_token t = text_token_at(s, 0);
    if (t.kind != TOK_HLO_MODULE)
        return t.begin;
    size_t at = attributes_end(s, text_token_at(s, t.end).end);
    at = tables_end(s, at);
    return at == NOWHERE ? NOWHERE : syntax_skip(s, at);
}

/* The braces of a computation contain a `=`; others are layouts. */
static size_t body_begin(struct str s, size_t at)
{
    for (;;) {
        struct text_token t = text_token_at(s, at);
        size_t end = token_opens(t.kind) ? text_group_end(s, t.begin) : t.end;
        if (t.kind == TOK_EOF || end == NOWHERE)
            return NOWHERE;
        if (t.kind == TOK_LBRACE && memchr(s.ptr + t.begin, '=', end - t.begin))
            return t.begin;
        at = end;
    }
}

bool syntax_module(struct arena *a, struct str text, struct syntax_module *out)
{
    size_t at = header_end(text), capacity = 0;
    *out = (struct syntax_module){0};
    if (at == NOWHERE)
        return false;
    out->header = cut(text, 0, at);
    while ((at = syntax_skip(text, at)) < text.len) {
        size_t open = body_begin(text, at);
        struct text_token name = text_token_at(text, at);
        bool entry = name.kind == TOK_ENTRY;
        if (entry)
            name = text_token_at(text, name.end);
        if (open == NOWHERE || !syntax_is_word(name))
            return false;
        size_t close = text_group_end(text, open), end = attributes_end(text, close);
        struct syntax_computation *c = &VEC_PUSH(a, out->computations, out->count, capacity);
        *c = (struct syntax_computation){cut(text, at, end), name.s, cut(text, open + 1, close - 1),
                                         cut(text, close, end), entry};
        at = end;
    }
    return out->count > 0;
}
