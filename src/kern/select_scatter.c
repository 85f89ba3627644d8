/*
 * select_scatter.c: select-and-scatter, the gradient of pooling. Windows that are adjacent along a
 * dimension select in lanes; windows at its ends that have padding along it, one by one.
 *
 * Order: windows in row-major order of the source, within each row-major over its positions; if two
 * windows select the same element, the earlier one is combined first.
 */
#include <stdlib.h>

#include "kern/indexed.h"
#include "kern/plain/plain.h"
#include "kern/window.h"

/* ---- adjacent windows ---- */

/* Windows that differ only in their position along a dimension. Those in [from, limit) have no
 * padding along it. */
typedef void select_fn(void *best, int32_t *selected, const void *x, int32_t place, int64_t n);
struct lanes {
    int d; /* that dimension; -1: none */
    int64_t from, limit;
    int64_t out, x; /* bytes between windows in the result and in the operand */
    kern_tile_fn *compare, *choose;
    struct indexed_combiner combiner;
    select_fn *select; /* compares and selects in one step, in f32; may be NULL */
    struct loader candidate, source;
};

/* Sets the dimension and the windows without padding along it. */
static void set_dimension(struct lanes *l, int d, const struct view *x, const struct view *source,
                          const struct kern_window_dim *window)
{
    l->d = d;
    window_inside(&window[d], x->dims[d], source->dims[d], &l->from, &l->limit);
    l->x = x->strides[d] * window[d].stride;
}

/* Enough lanes, or the most there are; of these, windows that are closest together. Windows overlap
 * in order if they are adjacent in the source or have size 1 along the dimension. */
static void choose_dimension(struct lanes *l, const struct view *x, const struct view *source,
                             const struct kern_window_dim *window)
{
    enum { ENOUGH = 8 };
    int64_t most = -1;
    bool last = true; /* no later dimension has several windows */
    l->d = -1;
    for (int d = x->rank - 1; d >= 0; d--) {
        struct lanes other = *l;
        set_dimension(&other, d, x, source, window);
        const int64_t lanes = min_i64(max_i64(other.limit - other.from, 0), ENOUGH);
        const bool alone = window_is_trivial(&window[d], source->dims[d], x->dims[d]);
        if ((alone || last) && lanes >= most && (lanes > most || llabs(other.x) < llabs(l->x))) {
            *l = other;
            most = lanes;
        }
        last = last && source->dims[d] == 1;
    }
}

/* In lanes where the current best is not kept, x becomes the best and its position the selected
 * one. */
#define SELECT_OF(NAME, OP)                                                                        \
    KERN_CLONES static void select_##NAME(void *so_far, int32_t *restrict selected,                \
                                          const void *candidates, int32_t place, int64_t n)        \
    {                                                                                              \
        float *restrict best = so_far;                                                             \
        const float *restrict x = candidates;                                                      \
        for (int64_t i = 0; i < n; i++) {                                                          \
            selected[i] = best[i] OP x[i] ? selected[i] : place;                                   \
            best[i] = best[i] OP x[i] ? best[i] : x[i];                                            \
        }                                                                                          \
    }
SELECT_OF(ge, >=)
SELECT_OF(gt, >)
SELECT_OF(le, <=)
SELECT_OF(lt, <)

static void find_select(struct lanes *l, enum kern_combine select, enum dtype t)
{
    static select_fn *const known[] = {select_ge, select_gt, select_le, select_lt};
    bool in_f32 = dtype_is_float(t) && t != DT_F64 && select >= KERN_SELECT_GE;
    l->select = in_f32 ? known[select - KERN_SELECT_GE] : NULL;
    loader_init(&l->candidate, in_f32 ? DT_F32 : t, t);
}

/* Finds the position that each lane selects. */
static void select_lanes(const struct lanes *l, const char *const *places, int count, int64_t n,
                         int32_t *selected)
{
    char best[LOADER_BYTES] __attribute__((aligned(64))),
        scratch[LOADER_BYTES] __attribute__((aligned(64)));
    uint8_t keep[KERN_TILE];
    memcpy(best, loader_read(&l->candidate, scratch, places[0], l->x, n),
           (size_t)n * l->candidate.to);
    memset(selected, 0, (size_t)n * sizeof *selected);
    for (int32_t p = 1; p < count; p++) {
        const void *candidate = loader_read(&l->candidate, scratch, places[p], l->x, n);
        if (l->select) {
            l->select(best, selected, candidate, p, n);
            continue;
        }
        l->compare(keep, (const void *const[]){best, candidate}, n);
        l->choose(best, (const void *const[]){keep, best, candidate}, n);
        for (int64_t i = 0; i < n; i++)
            selected[i] = keep[i] ? selected[i] : p;
    }
}

/* Combines n values with the elements that lanes selected, in order. */
static void combine_lanes(const struct lanes *l, const struct view *out, const char *const *targets,
                          const int32_t *selected, const void *values, int64_t n)
{
    int64_t to[KERN_TILE], from[KERN_TILE];
    for (int64_t i = 0; i < n; i++) {
        to[i] = targets[selected[i]] - out->data + i * l->out;
        from[i] = i * (int64_t)dtype_bytes(out->dtype);
    }
    indexed_combine(&l->combiner, out->data, to, values, from, n, 1);
}

/* A part of the source: along dimension `d` (-1: all of it) only [from, limit). */
struct source_part {
    int d;
    int64_t from, limit;
};

/* Moves an index of the source to the next one of a part; dimensions whose size in `dims` is 1 are
 * not stepped through. */
static bool next_in_part(const struct source_part *p, int rank, const int64_t *dims, int64_t *o)
{
    for (int d = rank - 1; d >= 0; d--) {
        bool cut = d == p->d && dims[d] > 1;
        if (++o[d] < (cut ? p->limit : dims[d]))
            return true;
        o[d] = cut ? p->from : 0;
    }
    return false;
}

static void scatter_lanes(const struct lanes *l, const struct view *out, const struct view *x,
                          const struct view *source, const struct kern_window_dim *window,
                          const struct source_part *part)
{
    int64_t o[VIEW_MAX_RANK] = {0}, dims[VIEW_MAX_RANK];
    int32_t selected[KERN_TILE];
    const char *places[WINDOW_PLACES], *targets[WINDOW_PLACES];
    int64_t first = part->d == l->d ? part->from : 0,
            limit = part->d == l->d ? part->limit : source->dims[l->d];
    char scratch[LOADER_BYTES] __attribute__((aligned(64)));
    memcpy(dims, source->dims, sizeof dims);
    dims[l->d] = 1;
    if (part->d >= 0)
        o[part->d] = part->from;
    do {
        for (int64_t i = first, n; i < limit; i += n) {
            const bool inside = i >= l->from && i < l->limit;
            n = inside ? min_i64(min_i64(limit, l->limit) - i, KERN_TILE) : 1;
            o[l->d] = i;
            int count = window_places(x, window, o, places);
            if (window_places(out, window, o, targets) == 0)
                continue;
            select_lanes(l, places, count, n, selected);
            const void *values =
                loader_read(&l->source, scratch, view_at(source, o), source->strides[l->d], n);
            combine_lanes(l, out, targets, selected, values, n);
        }
        o[l->d] = 0;
    } while (next_in_part(part, source->rank, dims, o));
}

/* ---- shared by threads ---- */

struct scatter_task {
    const struct view *out, *x, *source;
    const struct kern_window_dim *window;
    struct lanes lanes;
    int cut;       /* the dimension along which the source is split; -1: one part */
    int64_t piece; /* size of a part along it */
};

static void scatter_part(void *context, int64_t from, int64_t limit, int worker)
{
    const struct scatter_task *t = context;
    const struct source_part p = {t->cut, from, limit};
    scatter_lanes(&t->lanes, t->out, t->x, t->source, t->window, &p);
}

/* Splits the source along a dimension in which windows do not overlap, so that parts do not
 * either. */
static void cut_source(struct scatter_task *t)
{
    enum {
        PART = 1 << 12,
        LANES_FROM = 64
    }; /* elements of the source in a task; minimum number of lanes in a task */
    int64_t max = 1, all = view_elements(t->source);
    for (int d = 0; d < t->source->rank; d++) {
        const struct kern_window_dim *w = &t->window[d];
        int64_t grain = d == t->lanes.d ? LANES_FROM : 1, pieces = t->source->dims[d] / grain;
        bool apart = w->base_dilation == 1 && (w->size - 1) * w->window_dilation < w->stride;
        if (!apart || pieces <= max)
            continue;
        int64_t requested = all / PART < pieces ? all / PART : pieces;
        max = pieces;
        t->cut = requested > 1 ? d : -1;
        t->piece = requested > 1 ? ratio_up(pieces, requested) * grain : 1;
    }
}

/* Sets the kernels of the lanes; false: there are none for these bodies. */
static bool find_kernels(struct lanes *l, const struct kern_body *select,
                         const struct kern_body *scatter, enum dtype x, const struct view *out)
{
    static const enum kern_direction direction[] = {KERN_GE, KERN_GT, KERN_LE, KERN_LT};
    if (select->combine < KERN_SELECT_GE ||
        !indexed_combiner_init(&l->combiner, scatter->combine, out))
        return false;
    l->compare = kern_find_compare(direction[select->combine - KERN_SELECT_GE], false, x);
    l->choose = kern_find_elementwise("select", x);
    find_select(l, select->combine, x);
    return l->compare && l->choose;
}

/* spec: SelectAndScatter. In each window the first element is selected until select(selected, next)
 * is false; then out = scatter(out, source) at its position. */
bool kern_select_and_scatter(struct thread_pool *workers, const struct view *out,
                             const struct view *x, const struct view *source, const void *init,
                             const struct kern_window_dim *window, const struct kern_body *select,
                             const struct kern_body *scatter)
{
    struct scatter_task t = {
        .out = out, .x = x, .source = source, .window = window, .cut = -1, .piece = 1};
    struct lanes *l = &t.lanes;
    choose_dimension(l, x, source, window);
    if (l->d < 0 || !window_places_few(x->rank, window) ||
        !find_kernels(l, select, scatter, x->dtype, out))
        return plain_select_and_scatter(NULL, out, x, source, init, window, select, scatter);
    loader_init(&l->source, out->dtype, source->dtype);
    l->out = out->strides[l->d] * window[l->d].stride;
    kern_fill(workers, out, init);
    if (view_elements(source) == 0)
        return true;
    cut_source(&t);
    thread_pool_share(workers, t.cut < 0 ? 1 : source->dims[t.cut], t.piece, scatter_part, &t);
    return true;
}
