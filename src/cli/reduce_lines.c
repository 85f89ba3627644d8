/*
 * Reduces a text that the parser rejects line by line.
 */
#include "cli/reduce.h"

#include <stdlib.h>

struct lines {
    struct str *at;
    bool *gone;
    size_t count, capacity;
    struct arena arena;
};

static void split(struct lines *l, struct str text)
{
    while (text.len > 0)
        VEC_PUSH(&l->arena, l->at, l->count, l->capacity) = str_cut_line(&text);
    l->gone = ARENA_ARRAY(&l->arena, bool, l->count);
}

/* Writes the remaining lines, except those from `from` to `to`. */
static void join(struct buf *out, const struct lines *l, size_t from, size_t to)
{
    buf_reserve(out, 1);
    for (size_t k = 0; k < l->count; k++)
        if (!l->gone[k] && (k < from || k >= to))
            buf_str(out, l->at[k]);
}

static bool try_without(struct check *c, struct lines *l, size_t from, size_t to)
{
    bool some = false;
    for (size_t k = from; k < to; k++)
        some |= !l->gone[k];
    if (!some)
        return false;
    SCOPED_BUF text = {0};
    join(&text, l, from, to);
    bool bad = check_bad_text(c, buf_view(&text));
    for (size_t k = from; bad && k < to; k++)
        l->gone[k] = true;
    return bad;
}

/* Removes halves, quarters, ... single lines, until no line can be removed. */
static void sweep(struct check *c, struct lines *l, int64_t deadline)
{
    for (bool better = true; better;) {
        better = false;
        for (size_t size = l->count; size > 0; size /= 2)
            for (size_t from = 0; from < l->count; from += size) {
                if (was_interrupted() || now_ns() > deadline)
                    return;
                better |= try_without(c, l, from, from + size < l->count ? from + size : l->count);
            }
    }
}

bool reduce_lines(struct check *c, struct str text, double seconds, struct buf *out)
{
    struct lines l = {0};
    arena_init(&l.arena);
    bool bad = check_bad_text(c, text);
    if (bad) {
        split(&l, text);
        sweep(c, &l, now_ns() + (int64_t)(seconds * 1e9));
        join(out, &l, 0, 0);
    }
    arena_free(&l.arena);
    return bad;
}
