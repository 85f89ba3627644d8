/*
 * plain reduce, reduce-window and select-and-scatter: acc = f(acc, x) from init over the positions
 * of a result element, row-major.
 */
#include "kern/plain/reducer.h"
#include "kern/plain/plain.h"
#include "kern/window.h"

/* spec: Reduce */
bool plain_reduce(struct thread_pool *workers, int n, const struct view *out, const struct view *x,
                  const void *const *init, const enum dtype *acc, const bool *reduced,
                  const struct kern_body *body)
{
    int64_t o[VIEW_MAX_RANK] = {0}, sizes[VIEW_MAX_RANK], r[VIEW_MAX_RANK] = {0}, at[VIEW_MAX_RANK];
    struct plain_reducer f;
    bool nothing = false;
    if (view_elements(out) == 0)
        return true;
    if (!plain_reducer_init(&f, combine_work_type(body->combine, *acc), n, out, x, acc, body))
        return false;
    for (int d = 0; d < x->rank; d++) {
        sizes[d] = reduced[d] ? x->dims[d] : 1;
        nothing |= sizes[d] == 0;
    }
    bool ok = true;
    do {
        plain_reducer_start(&f, init);
        bool more = !nothing;
        while (more && ok) {
            for (int d = 0, kept = 0; d < x->rank; d++)
                at[d] = reduced[d] ? r[d] : o[kept++];
            ok = plain_reducer_value(&f, x, at);
            more = index_next(x->rank, sizes, r);
        }
        plain_reducer_store(&f, out, o);
    } while (ok && index_next(out->rank, out->dims, o));
    plain_reducer_free(&f);
    return ok;
}

/* The operand index under element k of the window at o; false in padding and the holes of dilation.
 */
static bool window_place(const struct view *x, const struct kern_window_dim *window,
                         const int64_t *o, const int64_t *k, int64_t *p)
{
    for (int d = 0; d < x->rank; d++) {
        const struct kern_window_dim *w = &window[d];
        p[d] = o[d] * w->stride + k[d] * w->window_dilation - w->pad_low;
        if (p[d] < 0 || p[d] % w->base_dilation != 0 || p[d] / w->base_dilation >= x->dims[d])
            return false;
        p[d] /= w->base_dilation;
    }
    return true;
}

static bool window_sizes(const struct view *x, const struct kern_window_dim *window, int64_t *sizes)
{
    bool any = view_elements(x) > 0;
    for (int d = 0; d < x->rank; d++) {
        sizes[d] = window[d].size;
        any &= sizes[d] > 0;
    }
    return any;
}

/* The only line of an array: elements [from, limit) from its end; with `out`, stores the results.
 */
static bool reduce_interval(struct plain_reducer *f, const struct view *out, const struct view *x,
                            int d, int64_t from, int64_t limit)
{
    bool ok = true;
    for (int64_t i = from; i < limit && ok; i++) {
        int64_t o[VIEW_MAX_RANK] = {0};
        o[d] = f->values_first ? x->dims[d] - 1 - i : i;
        if (!out && i == from)
            plain_reducer_load(f, x, o);
        else
            ok = plain_reducer_value(f, x, o);
        if (out)
            plain_reducer_store(f, out, o);
    }
    return ok;
}

static void set_accumulators(struct plain_reducer *f, const union kern_element *from)
{
    for (int k = 0; k < f->n; k++)
        f->slots[k].acc = from[k];
}

static void get_accumulators(const struct plain_reducer *f, union kern_element *to)
{
    for (int k = 0; k < f->n; k++)
        to[k] = f->slots[k].acc;
}

/* A long line in blocks: each starts with the reduction of all blocks before. */
static bool reduce_blocks(struct plain_reducer *f, const struct view *out, const struct view *x,
                          const void *const *init, int d)
{
    const int64_t n = x->dims[d], size = cumulative_block(n), blocks = CUMULATIVE_BLOCKS;
    union kern_element *totals = mem_alloc((size_t)((blocks + 1) * f->n) * sizeof *totals),
                       *start = totals ? totals + blocks * f->n : NULL;
    bool ok = totals != NULL;
    for (int64_t b = 0; b < blocks && ok; b++) {
        ok = reduce_interval(f, NULL, x, d, b * size, (b + 1) * size);
        get_accumulators(f, totals + b * f->n);
    }
    plain_reducer_start(f, init);
    for (int64_t b = 0; b < blocks && ok; b++) {
        get_accumulators(f, start);
        ok = reduce_interval(f, out, x, d, b * size, b + 1 < blocks ? (b + 1) * size : n);
        set_accumulators(f, start);
        ok = ok && plain_reducer_join(f, totals + b * f->n);
    }
    mem_free(totals);
    return ok;
}

/* All windows of a line along dimension d share an end: one step for each element, from there. */
static bool reduce_lines(struct plain_reducer *f, const struct view *out, const struct view *x,
                         const void *const *init, int d, bool from_end)
{
    int64_t o[VIEW_MAX_RANK] = {0}, lines[VIEW_MAX_RANK];
    bool ok = true;
    memcpy(lines, out->dims, sizeof lines);
    lines[d] = 1;
    f->values_first = f->called && from_end;
    if (f->called && cumulative_is_long(x, d))
        return reduce_blocks(f, out, x, init, d);
    do {
        plain_reducer_start(f, init);
        for (int64_t i = 0; i < x->dims[d] && ok; i++) {
            o[d] = from_end ? x->dims[d] - 1 - i : i;
            ok = plain_reducer_value(f, x, o);
            plain_reducer_store(f, out, o);
        }
        o[d] = 0;
    } while (ok && index_next(out->rank, lines, o));
    return ok;
}

/* spec: ReduceWindow */
bool plain_reduce_window(struct thread_pool *workers, int n, const struct view *out,
                         const struct view *x, const void *const *init, const enum dtype *acc,
                         const struct kern_window_dim *window, const struct kern_body *body)
{
    int64_t o[VIEW_MAX_RANK] = {0}, sizes[VIEW_MAX_RANK], k[VIEW_MAX_RANK] = {0}, p[VIEW_MAX_RANK];
    struct plain_reducer f;
    if (view_elements(out) == 0)
        return true;
    if (!plain_reducer_init(&f, combine_window_type(body->combine, *acc), n, out, x, acc, body))
        return false;
    bool ok = true, any = window_sizes(x, window, sizes), from_end = false;
    const int line =
        any && body->combine != KERN_TAKE_VALUE ? window_shared_end(out, x, window, &from_end) : -1;
    if (line >= 0 && (!from_end || x->dims[line] >= WINDOW_END_FROM)) {
        ok = reduce_lines(&f, out, x, init, line, from_end);
        plain_reducer_free(&f);
        return ok;
    }
    do {
        plain_reducer_start(&f, init);
        do { /* padding and holes contribute nothing */
            if (any && window_place(x, window, o, k, p))
                ok = plain_reducer_value(&f, x, p);
        } while (any && ok && index_next(x->rank, sizes, k));
        plain_reducer_store(&f, out, o);
    } while (ok && index_next(out->rank, out->dims, o));
    plain_reducer_free(&f);
    return ok;
}

/* The comparison that a body is; NULL: it is called. */
static kern_tile_fn *find_compare(const struct kern_body *select, enum dtype t)
{
    static const enum kern_direction direction[] = {KERN_GE, KERN_GT, KERN_LE, KERN_LT};
    return select->combine < KERN_SELECT_GE
               ? NULL
               : kern_find_compare(direction[select->combine - KERN_SELECT_GE], false, t);
}

/* select(a, b): whether a stays selected. */
static bool select_first(const struct kern_body *select, kern_tile_fn *compare, const void *a,
                         const void *b, bool *keep)
{
    uint8_t answer = 0;
    const void *args[2] = {a, b};
    void *results[1] = {&answer};
    bool ok = true;
    if (compare)
        compare(&answer, args, 1);
    else
        ok = select->call(select->context, args, results);
    *keep = answer != 0;
    return ok;
}

/* spec: SelectAndScatter */
bool plain_select_and_scatter(struct thread_pool *workers, const struct view *out,
                              const struct view *x, const struct view *source, const void *init,
                              const struct kern_window_dim *window, const struct kern_body *select,
                              const struct kern_body *scatter)
{
    int64_t o[VIEW_MAX_RANK] = {0}, sizes[VIEW_MAX_RANK], k[VIEW_MAX_RANK] = {0}, p[VIEW_MAX_RANK],
            best[VIEW_MAX_RANK];
    struct plain_reducer f;
    kern_tile_fn *compare = find_compare(select, x->dtype);
    bool ok = true;
    kern_fill(NULL, out, init);
    if (view_elements(source) == 0 || !window_sizes(x, window, sizes))
        return true;
    if (!plain_reducer_init(&f, out->dtype, 1, out, source, NULL, scatter))
        return false;
    do {
        bool found = false, keep = false;
        do {
            if (!window_place(x, window, o, k, p))
                continue;
            ok = !found || select_first(select, compare, view_at(x, best), view_at(x, p), &keep);
            if (!found || !keep)
                memcpy(best, p, sizeof p);
            found = true;
        } while (ok && index_next(x->rank, sizes, k));
        if (!ok || !found)
            continue;
        plain_reducer_start_at(&f, out, best);
        ok = plain_reducer_value(&f, source, o);
        plain_reducer_store(&f, out, best);
    } while (ok && index_next(source->rank, source->dims, o));
    plain_reducer_free(&f);
    return ok;
}
