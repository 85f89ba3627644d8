/*
 * recover.c: error recovery: finds the next instruction or computation after an error.
 *
 * Instructions mostly begin a line, and their continuation lines are indented further. So a line
 * that begins with `name =`, and is not indented further than the erroneous instruction, is the
 * next instruction, even within open brackets; within a line, only a `name =` outside all brackets
 * is.
 */
#include "text/parse.h"

struct diag_mark diags_mark(const struct diags *ds)
{
    return (struct diag_mark){ds->last, ds->errors, ds->warnings, ds->dropped, ds->kept_warnings};
}

void diags_rollback(struct diags *ds, struct diag_mark mark)
{
    ds->last = mark.last;
    if (mark.last)
        mark.last->next = NULL;
    else
        ds->first = NULL;
    ds->errors = mark.errors;
    ds->warnings = mark.warnings;
    ds->dropped = mark.dropped;
    ds->kept_warnings = mark.kept_warnings;
}

/* Iterates over tokens and their columns. */
struct walk {
    struct parser *p;
    size_t line; /* first byte of the current token's line */
    bool first;  /* the current token is the first of its line */
};

static struct walk walk_from(struct parser *p)
{
    size_t line = p->tok.span.begin;
    bool first = true;
    for (; line > 0 && p->text.ptr[line - 1] != '\n'; line--)
        first = first && (p->text.ptr[line - 1] == ' ' || p->text.ptr[line - 1] == '\t');
    return (struct walk){p, line, first};
}

static void step(struct walk *w)
{
    struct parser *p = w->p;
    size_t before = p->tok.span.begin; /* strings and dictionaries may contain line breaks */
    next(p);
    const char *newline =
        str_last((struct str){p->text.ptr + before, p->tok.span.begin - before}, '\n');
    w->first = newline && newline >= p->text.ptr + p->prev_end;
    if (newline)
        w->line = (size_t)(newline - p->text.ptr) + 1;
}

static size_t column(const struct walk *w) { return w->p->tok.span.begin - w->line; }

/* Whether `ROOT` or `name =` is next. */
static bool starts_instruction(const struct parser *p)
{
    if (p->tok.kind == TOK_ROOT)
        return true;
    return token_is_name(p->tok.kind) && peek(p) == TOK_EQUAL;
}

/* Whether `ENTRY` is next, or `name {` or `name (` in the first column. */
static bool starts_computation(const struct parser *p)
{
    if (p->tok.kind == TOK_ENTRY || p->tok.kind == TOK_HLO_MODULE)
        return true;
    enum token_kind ahead = token_is_name(p->tok.kind) ? peek(p) : TOK_EOF;
    return ahead == TOK_LBRACE || ahead == TOK_LPAREN;
}

void recover_instruction(struct parser *p, struct lex_state start)
{
    size_t error_at = p->tok.span.begin, error_line = walk_from(p).line;
    lex_restore(p, start);
    struct walk w = walk_from(p);
    bool own_line = w.first;
    size_t indent = column(&w);
    enum token_kind before = p->tok.kind;
    int braces = before == TOK_LBRACE;
    for (step(&w); p->tok.kind != TOK_EOF; before = p->tok.kind, step(&w)) {
        enum token_kind kind = p->tok.kind;
        if (kind == TOK_RBRACE && braces == 0)
            return;
        if (w.first && column(&w) == 0 && starts_computation(p))
            return;
        if (w.first && own_line && kind == TOK_RBRACE && column(&w) < indent)
            return;
        bool line =
            w.first && (own_line ? column(&w) <= indent && w.line >= error_line : braces == 0);
        bool ended = !w.first && braces == 0 && p->tok.span.begin >= error_at &&
                     (before == TOK_RPAREN || before == TOK_RBRACE);
        if ((line || ended) && starts_instruction(p))
            return;
        braces += (kind == TOK_LBRACE) - (kind == TOK_RBRACE);
    }
}

bool recover_body(struct parser *p)
{
    for (struct walk w = walk_from(p); p->tok.kind != TOK_EOF; step(&w)) {
        if (p->tok.kind == TOK_LBRACE && peek(p) != TOK_INT && peek(p) != TOK_COLON)
            return true;
        if (w.first && column(&w) == 0 && starts_computation(p))
            return false;
    }
    return false;
}

void recover_computation(struct parser *p)
{
    struct walk w = walk_from(p);
    for (step(&w); p->tok.kind != TOK_EOF; step(&w))
        if (w.first && column(&w) == 0 && starts_computation(p) && p->tok.kind != TOK_HLO_MODULE)
            return;
}

struct span find_definition(const struct parser *p, struct str name)
{
    struct parser ahead = {.text = p->text, .strict = p->strict, .at = p->at, .tok = p->tok};
    struct walk w = walk_from(&ahead);
    for (step(&w); ahead.tok.kind != TOK_EOF; step(&w)) {
        if (!token_is_name(ahead.tok.kind) || !str_eq(ahead.tok.s, name))
            continue;
        enum token_kind after = peek(&ahead);
        if (after == TOK_EQUAL || ((after == TOK_LPAREN || after == TOK_LBRACE) && column(&w) == 0))
            return ahead.tok.span;
    }
    return NO_SPAN;
}
