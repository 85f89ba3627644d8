/*
 * comments.c: the comments of a text, each attached to an item of its module: the instruction or
 * computation that it precedes, contains it, or ends on its line.
 */
#include "text/text_priv.h"

#include <stdlib.h>

/* An instruction, the beginning of a computation, or its closing brace. */
struct anchor {
    struct span span;
    bool ends; /* a comment on the line where the span ends belongs to the item */
};

static int compare_anchors(const void *a, const void *b)
{
    const struct anchor *x = a, *y = b;
    return (x->span.begin > y->span.begin) - (x->span.begin < y->span.begin);
}

/* The items of the text in its order. Items made by lowering have the span of what they are for. */
static struct anchor *anchors_of(struct arena *a, const struct module *m, int *count)
{
    int most = 0, n = 0;
    for (int k = 0; k < m->computation_count; k++)
        most += 2 + m->computations[k]->inst_count;
    struct anchor *out = ARENA_ARRAY(a, struct anchor, most + 1);
    for (int k = 0; k < m->computation_count; k++) {
        const struct computation *c = m->computations[k];
        if (!c->span.end)
            continue;
        out[n++] = (struct anchor){{c->span.begin, c->span.begin}, false};
        out[n++] = (struct anchor){{c->span.end - 1, c->span.end}, true};
        for (int i = 0; i < c->inst_count; i++)
            if (c->insts[i]->span.end)
                out[n++] = (struct anchor){c->insts[i]->span, true};
    }
    qsort(out, (size_t)n, sizeof *out, compare_anchors);
    *count = n;
    return out;
}

/* Whether it is one of those that XLA prints, the position of an operand or an element: `index=5`,
 * `i0=1`. */
static bool is_position(struct str comment)
{
    const char *s = comment.ptr + 2;
    if (comment.len < 7 || comment.ptr[1] != '*' || *s++ != 'i')
        return false;
    s += strspn(s, "ndex0123456789");
    if (*s++ != '=')
        return false;
    return s + strspn(s, "0123456789") + 2 == comment.ptr + comment.len;
}

/* `anchors` up to `*next` begin at or before the comment. */
static void attach(struct comment *c, struct str text, size_t at, const struct anchor *anchors,
                   int count, int *next)
{
    while (*next < count && anchors[*next].span.begin <= at)
        ++*next;
    const struct anchor *before = *next ? &anchors[*next - 1] : NULL;
    c->anchor = *next < count ? anchors[*next].span.begin : COMMENTS_AT_END;
    if (!before)
        return;
    size_t end = before->span.end;
    if (end > at)
        c->anchor = before->span.begin;
    else if (before->ends && !memchr(text.ptr + end, '\n', at - end))
        c->anchor = before->span.begin, c->trailing = true;
}

/* Adds the comments between two tokens. */
static void add_between(struct comments *out, struct arena *a, struct str text, struct span gap,
                        const struct anchor *anchors, int count, int *next)
{
    bool blank_line = false;
    size_t line = gap.begin ? SIZE_MAX : 0;
    for (size_t at = gap.begin; at < gap.end; at++) {
        if (text.ptr[at] == '\n') {
            blank_line = blank_line || line == at;
            line = at + 1;
        }
        const char *begin = text.ptr + at, *end = lex_comment_end(begin, text.ptr + text.len);
        if (!end)
            continue;
        struct comment c = {.text = str_trim((struct str){begin, (size_t)(end - begin)}),
                            .after_blank_line = blank_line};
        if (gap.begin == 0)
            c.anchor = COMMENTS_AT_BEGIN;
        else
            attach(&c, text, at, anchors, count, next);
        if (!is_position(c.text))
            VEC_PUSH(a, out->at, out->count, out->capacity) = c;
        blank_line = false;
        at = line = (size_t)(end - text.ptr) - 1;
    }
}

struct comments comments_of(struct arena *a, const struct module *m)
{
    struct comments out = {0};
    struct str text = m->source.text;
    int count, next = 0;
    struct anchor *anchors = anchors_of(a, m, &count);
    for (size_t at = 0; at < text.len;) {
        struct text_token token = text_token_at(text, at);
        struct span gap = {(uint32_t)at, (uint32_t)token.begin};
        add_between(&out, a, text, gap, anchors, count, &next);
        at = token.end;
    }
    return out;
}

/* The first comment whose anchor is at least this one. */
static int first_at(const struct comments *c, uint32_t anchor)
{
    int low = 0;
    BISECT(low, c->count, middle, c->at[middle].anchor < anchor);
    return low;
}

void comments_print_before(struct buf *out, struct comments *c, uint32_t anchor, const char *indent)
{
    bool first = true;
    for (int k = first_at(c, anchor); k < c->count && c->at[k].anchor == anchor; k++) {
        struct comment *comment = &c->at[k];
        if (comment->trailing || comment->printed)
            continue;
        if (comment->after_blank_line && !first)
            buf_putc(out, '\n');
        buf_puts(out, indent);
        buf_str(out, comment->text);
        buf_putc(out, '\n');
        comment->printed = true;
        first = false;
    }
}

void comments_print_after(struct buf *out, struct comments *c, uint32_t anchor)
{
    for (int k = first_at(c, anchor); k < c->count && c->at[k].anchor == anchor; k++) {
        struct comment *comment = &c->at[k];
        if (!comment->trailing || comment->printed)
            continue;
        buf_puts(out, "  ");
        buf_str(out, comment->text);
        comment->printed = true;
    }
}
