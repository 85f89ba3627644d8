/*
 * token.c: tokens and bracket nesting of incomplete text.
 */
#include "text/text_priv.h"

struct text_token text_token_at(struct str text, size_t at)
{
    struct parser p = {.text = text, .at = at};
    if (!text.ptr)
        p.text.ptr = "";
    next(&p);
    size_t begin = p.at < text.len || p.tok.kind != TOK_EOF ? (size_t)p.tok.span.begin : text.len;
    return (struct text_token){p.tok.kind, begin, p.at, p.tok.s};
}

/* Advances to the end of the string or comment, or of the text. */
static void nest_within(struct str text, struct text_nesting *n)
{
    const char *s = text.ptr + n->at, *end = text.ptr + text.len, *close = NULL;
    if (n->within == '/') {
        close = memchr(s, '\n', (size_t)(end - s));
    } else if (n->within == '*') {
        close = memmem(s, (size_t)(end - s), "*/", 2);
        close = close ? close + 2 : NULL;
    } else {
        while (s < end && *s != n->within)
            s += *s == '\\' ? 2 : 1;
        close = s < end ? s + 1 : NULL;
        end = s < end ? end : s; /* past an escape at the end */
    }
    n->at = (size_t)((close ? close : end) - text.ptr);
    n->within = close ? '\0' : n->within;
}

/* The end of a string in single quotes on one line; otherwise the quote is an apostrophe. */
static size_t quoted_end(struct str text, size_t at)
{
    size_t end = at + 1;
    while (end < text.len && text.ptr[end] != '\'' && text.ptr[end] != '\n')
        end += text.ptr[end] == '\\' ? 2 : 1;
    return end < text.len && text.ptr[end] == '\'' ? end + 1 : at + 1;
}

/* Consumes a bracket, the beginning of a string or a comment, or another byte. */
static void nest_next(struct str text, struct text_nesting *n)
{
    char c = text.ptr[n->at], after = n->at + 1 < text.len ? text.ptr[n->at + 1] : '\0';
    n->depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    if (c == '\'') {
        n->at = quoted_end(text, n->at);
        return;
    }
    if (c == '"')
        n->within = c;
    else if (c == '/' && (after == '/' || after == '*'))
        n->within = after;
    n->at += n->within == '/' || n->within == '*' ? 2 : 1;
}

static void nest_once(struct str text, struct text_nesting *n)
{
    if (n->within)
        nest_within(text, n);
    else
        nest_next(text, n);
}

void text_nest(struct str text, struct text_nesting *n)
{
    while (n->at < text.len && n->depth >= 0)
        nest_once(text, n);
}

size_t text_group_end(struct str text, size_t at)
{
    struct text_nesting n = {.at = at};
    do {
        if (n.at >= text.len)
            return SIZE_MAX;
        nest_once(text, &n);
    } while (n.depth > 0 || n.within);
    return n.at;
}
