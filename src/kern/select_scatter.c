/*
 * select-and-scatter: the gradient of pooling. Where no window reaches across a dimension (features), its
 * elements are worked on side by side; else element by element.
 *
 * Order: windows in row-major order of the source, in each row-major over its places; of two windows that
 * select one element the earlier is combined first.
 */
#include <stdlib.h>

#include "kern/window.h"

/* A recognised or called function of two elements of type t. */
struct pair_fn {
    kern_tile_fn *fn; /* NULL: call the body */
    const struct kern_body *body;
};

static void find_pair(struct pair_fn *p, const struct kern_body *body, enum dtype t)
{
    static const enum kern_direction direction[] = {KERN_GE, KERN_GT, KERN_LE, KERN_LT};
    p->body = body;
    p->fn = NULL;
    if (combine_opcode(body->combine))
        p->fn = kern_find_elementwise(combine_opcode(body->combine), t);
    else if (body->combine >= KERN_SELECT_GE)
        p->fn = kern_find_compare(direction[body->combine - KERN_SELECT_GE], false, t);
}

static bool apply_pair(const struct pair_fn *p, const void *a, const void *b, void *result)
{
    const void *args[2] = {a, b};
    if (!p->fn)
        return p->body->call(p->body->context, args, &result);
    p->fn(result, args, 1);
    return true;
}

/* The index of the selected element of the window at o in `at`; *found: there is one. */
static bool select_place(const struct view *x, const struct kern_window_dim *window, const int64_t *o,
                         const struct pair_fn *select, int64_t *at, bool *found)
{
    struct window_walk w;
    const char *best = NULL;
    uint8_t keep;
    for (window_start(&w, x, window, o); window_next(&w);) {
        const char *candidate = view_at(x, w.at);
        if (best && !apply_pair(select, best, candidate, &keep))
            return false;
        if (best && keep)
            continue;
        best = candidate;
        memcpy(at, w.at, sizeof *at * (size_t)x->rank);
    }
    *found = best != NULL;
    return true;
}

/* ---- many windows side by side ---- */

/* Windows that differ only in a dimension across which none reaches. */
struct lanes {
    int d;          /* that dimension; -1: there is none */
    int64_t out, x; /* strides along it */
    size_t width;   /* of an element of the result */
    kern_tile_fn *compare, *choose, *combine;
    struct loader source;
};

static int lane_dimension(const struct view *x, const struct view *source,
                          const struct kern_window_dim *window)
{
    int best = -1;
    for (int d = 0; d < x->rank; d++) {
        const struct kern_window_dim *w = &window[d];
        bool alone = w->size == 1 && w->stride == 1 && w->pad_low == 0 && w->base_dilation == 1;
        if (alone && source->dims[d] == x->dims[d] && x->dims[d] >= 8 &&
            (best < 0 || llabs(x->strides[d]) < llabs(x->strides[best])))
            best = d;
    }
    return best;
}

/* Where each lane's selection is in the result, as offsets from the lane's own elements. False: no place
 * of these windows is inside. */
static bool select_lanes(const struct lanes *l, const struct view *out, const struct view *x,
                         const struct kern_window_dim *window, const int64_t *o, int64_t n, int64_t *offset)
{
    char best[LOADER_ROOM] __attribute__((aligned(64))), room[LOADER_ROOM] __attribute__((aligned(64)));
    uint8_t keep[KERN_TILE];
    struct loader same = {dtype_bytes(x->dtype), dtype_bytes(x->dtype), NULL};
    struct window_walk w;
    bool found = false;
    for (window_start(&w, x, window, o); window_next(&w); found = true) {
        const void *candidate = loader_read(&same, room, view_at(x, w.at), l->x, n);
        int64_t at = view_at(out, w.at) - view_at(out, o);
        if (!found) {
            memcpy(best, candidate, (size_t)n * same.to);
            for (int64_t i = 0; i < n; i++)
                offset[i] = at;
            continue;
        }
        l->compare(keep, (const void *const[]){best, candidate}, n);
        l->choose(best, (const void *const[]){keep, best, candidate}, n);
        for (int64_t i = 0; i < n; i++)
            offset[i] = keep[i] ? offset[i] : at;
    }
    return found;
}

/* Result elements at the lanes' offsets, to and from packed storage. */
static void take(void *dst, char *at, const struct lanes *l, const int64_t *offset, int64_t n, bool back)
{
    for (int64_t i = 0; i < n; i++, at += l->out) {
        char *packed = (char *)dst + (size_t)i * l->width;
        if (l->width == 4 && back)
            *(kern_w4 *)(void *)(at + offset[i]) = *(kern_w4 *)(void *)packed;
        else if (l->width == 4)
            *(kern_w4 *)(void *)packed = *(kern_w4 *)(void *)(at + offset[i]);
        else if (back)
            memcpy(at + offset[i], packed, l->width);
        else
            memcpy(packed, at + offset[i], l->width);
    }
}

static void scatter_lanes(const struct lanes *l, const struct view *out, const struct view *x,
                          const struct view *source, const struct kern_window_dim *window)
{
    int64_t o[VIEW_MAX_RANK] = {0}, dims[VIEW_MAX_RANK], offset[KERN_TILE];
    char now[LOADER_ROOM] __attribute__((aligned(64))), room[LOADER_ROOM] __attribute__((aligned(64)));
    memcpy(dims, source->dims, sizeof dims);
    dims[l->d] = 1;
    do {
        for (int64_t i = 0; i < source->dims[l->d]; i += KERN_TILE) {
            int64_t n = source->dims[l->d] - i < KERN_TILE ? source->dims[l->d] - i : KERN_TILE;
            o[l->d] = i;
            if (!select_lanes(l, out, x, window, o, n, offset))
                continue;
            const void *values = loader_read(&l->source, room, view_at(source, o), source->strides[l->d], n);
            take(now, view_at(out, o), l, offset, n, false);
            l->combine(now, (const void *const[]){now, values}, n);
            take(now, view_at(out, o), l, offset, n, true);
        }
        o[l->d] = 0;
    } while (index_next(source->rank, dims, o));
}

/* ---- one window after the other ---- */

static bool scatter_one_by_one(const struct view *out, const struct view *x, const struct view *source,
                               const struct kern_window_dim *window, const struct pair_fn *choose,
                               const struct pair_fn *combine, const struct loader *narrow)
{
    int64_t o[VIEW_MAX_RANK] = {0}, at[VIEW_MAX_RANK];
    do {
        union kern_cell room, result;
        bool found;
        if (!select_place(x, window, o, choose, at, &found))
            return false;
        if (!found)
            continue;
        char *to = view_at(out, at);
        if (!apply_pair(combine, to, loader_read(narrow, &room, view_at(source, o), 0, 1), &result))
            return false;
        memcpy(to, &result, dtype_bytes(out->dtype));
    } while (index_next(source->rank, source->dims, o));
    return true;
}

/* spec: SelectAndScatter. In each window the first element is selected until select(selected, next) is
 * false; then out = scatter(out, source) at its place. */
bool kern_select_and_scatter(struct team *team, const struct view *out, const struct view *x, const struct view *source,
                             const void *init, const struct kern_window_dim *window,
                             const struct kern_body *select, const struct kern_body *scatter)
{
    struct pair_fn choose, combine;
    struct loader narrow;
    find_pair(&choose, select, x->dtype);
    find_pair(&combine, scatter, out->dtype);
    loader_init(&narrow, out->dtype, source->dtype);
    kern_fill(team, out, init);
    if (view_elements(source) == 0)
        return true;
    struct lanes l = {.d = lane_dimension(x, source, window),
                      .width = dtype_bytes(out->dtype),
                      .compare = choose.fn,
                      .combine = combine.fn,
                      .source = narrow};
    l.choose = kern_find_elementwise("select", x->dtype);
    if (l.d < 0 || !l.compare || !l.combine || !l.choose)
        return scatter_one_by_one(out, x, source, window, &choose, &combine, &narrow);
    l.out = out->strides[l.d];
    l.x = x->strides[l.d];
    scatter_lanes(&l, out, x, source, window);
    return true;
}
