/*
 * highlight.c: HLO text in color, by the tokens of the lexer.
 */
#include "text/text.h"

#include "text/token.h"

enum { INK_NONE = INK_ALL };

struct highlighter {
    struct buf *out;
    struct str text;
    struct str sgr[INK_ALL];
    enum token_kind before; /* kind of the previous token */
};

/* Colors end at line ends, since a pager may begin with any line. */
static void put_colored(const struct highlighter *h, int ink, size_t from, size_t to)
{
    const struct str sgr = h->sgr[ink];
    struct str rest = {h->text.ptr + from, to - from};
    while (rest.len > 0) {
        struct str line = str_cut_line(&rest);
        const bool newline = line.ptr[line.len - 1] == '\n';
        line.len -= newline;
        if (sgr.len > 0 && line.len > 0)
            buf_printf(h->out, "\033[" STR_FMT "m" STR_FMT "\033[0m", STR_ARG(sgr), STR_ARG(line));
        else
            buf_str(h->out, line);
        if (newline)
            buf_putc(h->out, '\n');
    }
}

static void put_plain(const struct highlighter *h, size_t from, size_t to)
{
    buf_bytes(h->out, h->text.ptr + from, to - from);
}

/* Writes blanks and comments. */
static void put_gap(const struct highlighter *h, size_t from, size_t to)
{
    size_t at = from;
    while (at < to && h->text.ptr[at] != '/')
        at++;
    put_plain(h, from, at);
    put_colored(h, INK_COMMENT, at, to);
}

static char byte_at(const struct highlighter *h, size_t at)
{
    return at < h->text.len ? h->text.ptr[at] : '\0';
}

/* The end of a shape: dimensions and layout follow the element type without blanks. */
static size_t shape_end(const struct highlighter *h, size_t end)
{
    for (const char *open = "[{"; *open; open++) {
        const size_t group = byte_at(h, end) == *open ? text_group_end(h->text, end) : SIZE_MAX;
        if (group != SIZE_MAX)
            end = group;
    }
    return end;
}

/* The color of a token; INK_NONE: none. */
static int ink_of(const struct highlighter *h, const struct text_token *t)
{
    switch (t->kind) {
    case TOK_STRING: return INK_STRING;
    case TOK_DTYPE: return INK_SHAPE;
    case TOK_NAME: return INK_NAME;
    case TOK_ATTR_NAME: return INK_ATTRIBUTE;
    case TOK_IDENT:
        if (byte_at(h, t->end) == '(')
            return INK_OPERATION;
        return h->before == TOK_ATTR_NAME ? INK_NONE : INK_NAME;
    default:
        return token_is_keyword(t->kind)  ? INK_KEYWORD
               : token_is_number(t->kind) ? INK_NUMBER
                                          : (int)INK_NONE;
    }
}

void text_highlight(struct buf *out, struct str text, struct str colors)
{
    struct highlighter h = {.out = out, .text = text, .before = TOK_EOF};
    colors_read(h.sgr, INK_ALL, colors);
    for (size_t at = 0; at < text.len;) {
        const struct text_token t = text_token_at(text, at);
        const int ink = ink_of(&h, &t);
        size_t end = ink == INK_SHAPE ? shape_end(&h, t.end) : t.end;
        if (end <= t.begin && t.begin < text.len) /* no token of the language */
            end = t.begin + 1;
        put_gap(&h, at, t.begin);
        if (ink == INK_NONE)
            put_plain(&h, t.begin, end);
        else
            put_colored(&h, ink, t.begin, end);
        h.before = t.kind;
        at = end;
    }
}
