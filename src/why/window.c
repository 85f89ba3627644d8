/*
 * Windows that slide: the elements in the window, and the value that folding begins with.
 */
#include "why/why_priv.h"

/* Where the text says nothing of a dimension, its windows are of one element. */
static struct window_dim dim_of(const struct window *window, int d)
{
    const struct window_dim one = {.size = 1, .stride = 1, .base_dilation = 1, .window_dilation = 1};
    return d < window->rank ? window->dims[d] : one;
}

static void reduce_window(struct why *w, const struct inst *i, const int64_t *index)
{
    const struct window window = inst_window(i);
    const int n = i->operand_count / 2;
    for (int k = 0; k < n; k++) {
        struct why_source *s = why_whole(w, i, k, 0, "window");
        bool empty = false;
        for (int d = 0; d < s->rank; d++) {
            const struct window_dim dim = dim_of(&window, d);
            const struct why_window at = why_window_at(&dim, s->count[d], index[d]);
            why_span(s, d, at.start, at.count, at.stride);
            empty |= at.count == 0;
        }
        if (empty)
            w->count--;
    }
    for (int k = n; k < i->operand_count; k++)
        why_whole(w, i, k, 0, "init");
}

/* The places of the result of sliding whose windows may hold element `at`: from the first to the last. */
static void windows_over(const struct window_dim *d, int64_t places, int64_t at, int64_t *first, int64_t *last)
{
    const int64_t from = at + d->pad_low - (d->size - 1) * d->window_dilation;
    *first = from > 0 ? (from + d->stride - 1) / d->stride : 0;
    *last = (at + d->pad_low) / d->stride;
    if (*last > places - 1)
        *last = places - 1;
}

/* An element gets what the windows say that have selected it: any that it lies in, by all elements of theirs. */
static void select_and_scatter(struct why *w, const struct inst *i, const int64_t *index)
{
    const struct window window = inst_window(i);
    const size_t before = w->count;
    bool empty = false;
    why_whole(w, i, 0, 0, "window");
    why_whole(w, i, 1, 0, "source");
    struct why_source *operand = &w->at[before], *source = &w->at[before + 1];
    for (int d = 0; d < operand->rank; d++) {
        const struct window_dim dim = dim_of(&window, d);
        const int64_t size = operand->count[d];
        int64_t first, last;
        windows_over(&dim, source->count[d], index[d], &first, &last);
        const int64_t low = why_clamp(first * dim.stride - dim.pad_low, 0, size);
        const int64_t high = why_clamp(last * dim.stride - dim.pad_low + (dim.size - 1) * dim.window_dilation + 1, low, size);
        empty |= last < first;
        why_span(operand, d, low, high - low, 1);
        why_span(source, d, first, last - first + 1, 1);
    }
    if (empty)
        w->count = before;
    why_whole(w, i, 2, 0, "init");
}

void why_window(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    (void)leaf;
    if (i->opcode == OP_REDUCE_WINDOW)
        reduce_window(w, i, index);
    else
        select_and_scatter(w, i, index);
}
