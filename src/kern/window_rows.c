/*
 * window_rows.c: reduce-window (spec: ReduceWindow) by any body with code on tiles, and by
 * recognized combiners: adjacent results along one dimension are lanes, and each element of the
 * window is combined into all of them whose windows have it inside the operand. Nothing is padded.
 * Reduce is reduce-window whose windows are all of the reduced dimensions.
 *
 * Order and accumulation: row-major over the window, from init.
 */
#include <stdlib.h>

#include "kern/lane_reducer.h"
#include "kern/window.h"

/* elements of a window that are combined at a time; from COPIED on, next to each other */
enum { INTERVAL = 32, COPIED = 8 };

struct window_rows {
    int n, rank, lane; /* lane: -1 if there is one lane */
    int inner;         /* the last dimension of the windows; -1: none, or its elements have holes */
    const struct view *out, *x;
    struct kern_window_dim window[VIEW_MAX_RANK];
    struct lane_reducer reducer;
    int64_t dims[VIEW_MAX_RANK]; /* of the tiles of results */
    int64_t tiles, piece;
    size_t bytes; /* storage of a worker */
    char *storage;
};

/* The storage of a worker: addresses of elements in lanes, their distances in bytes and those from
 * one element of a window to the next, and copies of them. */
struct lane_source {
    struct lane_state state;
    const char **at;
    int64_t *strides, *steps;
    char *block;
};

/* Of the lanes [first, first + count) those whose window has element k inside the operand. */
static void find_inside(const struct kern_window_dim *w, int64_t dim, int64_t k, int64_t *first,
                        int64_t *count)
{
    const int64_t shift = w->pad_low - k * w->window_dilation, limit = *first + *count;
    int64_t from = shift > 0 ? ratio_up(shift, w->stride) : 0,
            end = dim + shift > 0 ? ratio_up(dim + shift, w->stride) : 0;
    from = from > *first ? from : *first;
    end = end < limit ? end : limit;
    *first = from;
    *count = end - from;
}

/* Elements [from, limit) of the window at o, along a dimension, that may be inside the operand. */
static void find_range(const struct kern_window_dim *w, int64_t dim, int64_t o, int64_t *from,
                       int64_t *limit)
{
    const int64_t at = o * w->stride - w->pad_low, step = w->window_dilation,
                  end = (dim - 1) * w->base_dilation + 1;
    *from = at >= 0 ? 0 : ratio_up(-at, step);
    *limit = at >= end ? 0 : ratio_up(end - at, step);
    *limit = *limit < w->size ? *limit : w->size;
}

struct tile_walk {
    int64_t o[VIEW_MAX_RANK], k[VIEW_MAX_RANK], from[VIEW_MAX_RANK], limit[VIEW_MAX_RANK];
    int64_t first, lanes; /* the lanes of the tile */
};

static size_t block_bytes(const struct view *x)
{
    return INTERVAL * KERN_LANES * dtype_bytes(x->dtype);
}

/* Whether elements of lanes that are apart are copied to packed rows. */
static bool is_copied(const struct window_rows *r, const struct view *x)
{
    return r->inner >= 0 && r->window[r->inner].size >= COPIED && r->lane >= 0 &&
           x->strides[r->lane] * r->window[r->lane].stride != (int64_t)dtype_bytes(x->dtype);
}

/* Of the addresses, distances and steps of n operands. */
static size_t head_bytes(int n)
{
    enum { LINE = 64 };
    return (size_t)round_up(n * (int64_t)(2 * sizeof(int64_t) + sizeof(char *)), LINE);
}

static struct lane_source source_of(const struct window_rows *r, int worker)
{
    char *storage = r->storage + (size_t)worker * r->bytes;
    struct lane_source s = {.state = lane_state(&r->reducer, storage)};
    s.strides = (int64_t *)(void *)(storage + r->reducer.bytes);
    s.steps = s.strides + r->n;
    s.at = (const char **)(void *)(s.steps + r->n);
    s.block = (char *)s.strides + head_bytes(r->n);
    for (int k = 0; k < r->n; k++) {
        const struct view *x = &r->x[k];
        const int64_t width = (int64_t)dtype_bytes(x->dtype);
        const bool copied = is_copied(r, x);
        s.strides[k] = copied        ? width
                       : r->lane < 0 ? 0
                                     : x->strides[r->lane] * r->window[r->lane].stride;
        s.steps[k] = copied         ? KERN_LANES * width
                     : r->inner < 0 ? 0
                                    : x->strides[r->inner] * r->window[r->inner].window_dilation;
    }
    return s;
}

/* Finds elements of lanes in an interval of windows, the first of which is at p. */
static void find_elements(const struct window_rows *r, const struct lane_source *s,
                          const int64_t *p, int64_t lanes, int64_t count)
{
    char *block = s->block;
    for (int k = 0; k < r->n; k++) {
        const struct view *x = &r->x[k];
        s->at[k] = view_at(x, p);
        if (!is_copied(r, x))
            continue;
        const struct kern_window_dim *w = &r->window[r->inner];
        const int64_t dims[2] = {count, lanes}, to[2] = {s->steps[k], s->strides[k]},
                      from[2] = {x->strides[r->inner] * w->window_dilation,
                                 x->strides[r->lane] * r->window[r->lane].stride};
        kern_copy_block(block, s->at[k], dims, to, from, (size_t)s->strides[k]);
        s->at[k] = block;
        block += block_bytes(x);
    }
}

/* Combines an interval of elements of the window, from t->k, into the accumulators. */
static void combine(const struct window_rows *r, const struct tile_walk *t,
                    const struct lane_source *s)
{
    int64_t p[VIEW_MAX_RANK], first = t->first, lanes = t->lanes, count = 1;
    for (int d = 0; d < r->rank; d++) {
        const struct kern_window_dim *w = &r->window[d];
        if (d == r->lane) {
            find_inside(w, r->x->dims[d], t->k[d], &first, &lanes);
            p[d] = first * w->stride + t->k[d] * w->window_dilation - w->pad_low;
        } else if (!window_position(w, r->x->dims[d], t->o[d], t->k[d], &p[d])) {
            return;
        }
        if (d == r->inner)
            count = min_i64(INTERVAL, t->limit[d] - t->k[d]);
    }
    if (lanes <= 0)
        return;
    find_elements(r, s, p, lanes, count);
    for (int64_t i = 0; i < count; i++) {
        lane_step(&r->reducer, &s->state, s->at, s->strides, first - t->first, lanes);
        for (int k = 0; k < r->n; k++)
            s->at[k] += s->steps[k];
    }
}

static bool next_element(const struct window_rows *r, struct tile_walk *t)
{
    for (int d = r->rank - 1; d >= 0; d--) {
        t->k[d] += d == r->inner ? INTERVAL : 1;
        if (t->k[d] < t->limit[d])
            return true;
        t->k[d] = t->from[d];
    }
    return false;
}

/* False: no element of the windows is inside the operand. */
static bool start_walk(const struct window_rows *r, struct tile_walk *t)
{
    bool any = true;
    for (int d = 0; d < r->rank; d++) {
        const struct kern_window_dim *w = &r->window[d];
        int64_t from, limit;
        find_range(w, r->x->dims[d], d == r->lane ? t->first : t->o[d], &t->from[d], &t->limit[d]);
        if (d == r->lane) { /* the last lane has its first element inside earliest */
            find_range(w, r->x->dims[d], t->first + t->lanes - 1, &from, &limit);
            t->from[d] = min_i64(from, t->from[d]);
            t->limit[d] = limit > t->limit[d] ? limit : t->limit[d];
        }
        t->k[d] = t->from[d];
        any &= t->from[d] < t->limit[d];
    }
    return any;
}

static void reduce_tile(const struct window_rows *r, struct tile_walk *t,
                        const struct lane_source *s)
{
    const int64_t tile = r->lane < 0 ? 0 : t->o[r->lane];
    t->first = tile * KERN_LANES;
    t->lanes = r->lane < 0 ? 1 : min_i64(KERN_LANES, r->out->dims[r->lane] - t->first);
    lane_start(&r->reducer, &s->state, t->lanes);
    if (start_walk(r, t))
        do
            combine(r, t, s);
        while (next_element(r, t));
    if (r->lane >= 0)
        t->o[r->lane] = t->first;
    for (int k = 0; k < r->n; k++)
        lane_store(&r->reducer, &s->state, k, view_at(&r->out[k], t->o),
                   r->lane < 0 ? 0 : r->out[k].strides[r->lane], t->lanes);
    if (r->lane >= 0)
        t->o[r->lane] = tile;
}

static void reduce_tiles(void *context, int64_t part, int worker)
{
    const struct window_rows *r = context;
    const struct lane_source s = source_of(r, worker);
    int64_t from = part * r->piece, limit = min_i64(r->tiles, from + r->piece);
    struct tile_walk t;
    index_at(r->rank, r->dims, from, t.o);
    for (; from < limit; from++) {
        reduce_tile(r, &t, &s);
        index_next(r->rank, r->dims, t.o);
    }
}

/* Nanoseconds for each element, estimated, if results along d are lanes. */
static double lane_cost(const struct window_rows *r, int d)
{
    const int64_t lanes = min_i64(r->out->dims[d], KERN_LANES),
                  step = llabs(r->x->strides[d] * r->window[d].stride),
                  width = (int64_t)dtype_bytes(r->x->dtype);
    const bool copied = r->inner >= 0 && r->inner != d && r->window[r->inner].size >= COPIED;
    const double load = step == width ? 0.3 : copied ? 0.5 : step <= 64 ? 0.7 : 1.5;
    return 30.0 / (double)lanes + load;
}

static void choose_dims(struct window_rows *r)
{
    double best = 0;
    r->lane = r->inner = -1;
    for (int d = 0; d < r->rank; d++)
        if (r->window[d].size > 1)
            r->inner = r->window[d].base_dilation == 1 ? d : -1;
    for (int d = 0; d < r->rank; d++)
        if (r->window[d].base_dilation == 1 && (r->lane < 0 || lane_cost(r, d) < best)) {
            best = lane_cost(r, d);
            r->lane = d;
        }
    if (r->inner == r->lane)
        r->inner = -1;
}

static int64_t window_elements(const struct window_rows *r)
{
    double n = 1;
    for (int d = 0; d < r->rank; d++)
        n *= (double)min_i64(r->window[d].size, r->x->dims[d]);
    return n > 1e9 ? 1000000000 : (int64_t)n;
}

bool reduce_window_rows(struct thread_pool *workers, int n, const struct view *out,
                        const struct view *x, const void *const *init, const enum dtype *acc,
                        enum dtype work, const struct kern_window_dim *window,
                        const struct kern_body *body)
{
    enum { PART = 1 << 14 }; /* elements that are combined in a task */
    struct window_rows r = {.n = n, .rank = x->rank, .out = out, .x = x, .tiles = 1};
    memcpy(r.window, window, sizeof *window * (size_t)x->rank);
    choose_dims(&r);
    if (!lane_reducer_init(&r.reducer, n, out, x, init, acc, work, body))
        return false;
    for (int d = 0; d < r.rank; d++) {
        r.dims[d] = d == r.lane ? ratio_up(out->dims[d], KERN_LANES) : out->dims[d];
        r.tiles *= r.dims[d];
    }
    const int64_t lanes = r.lane < 0 ? 1 : min_i64(out->dims[r.lane], KERN_LANES);
    r.piece = PART / (lanes * window_elements(&r) + 1) + 1;
    r.bytes = r.reducer.bytes + head_bytes(n);
    for (int k = 0; r.inner >= 0 && k < n; k++)
        r.bytes += block_bytes(&x[k]);
    r.storage = mem_alloc((size_t)thread_pool_size(workers) * r.bytes);
    if (r.storage)
        thread_pool_run(workers, ratio_up(r.tiles, r.piece), reduce_tiles, &r);
    mem_free(r.storage);
    lane_reducer_free(&r.reducer);
    return r.storage != NULL;
}

bool lanes_apply(const struct view *out, const struct kern_body *body)
{
    return body->lanes && view_elements(out) > 1;
}

bool reduce_by_lanes(struct thread_pool *workers, int n, const struct view *out,
                     const struct view *x, const void *const *init, const enum dtype *acc,
                     const bool *reduced, const struct kern_body *body)
{
    struct kern_window_dim window[VIEW_MAX_RANK];
    struct view one, *results = n == 1 ? &one : mem_alloc((size_t)n * sizeof *results);
    for (int d = 0, kept = 0; results && d < x->rank; d++) {
        window[d] = (struct kern_window_dim){.size = reduced[d] ? x->dims[d] : 1,
                                             .stride = 1,
                                             .base_dilation = 1,
                                             .window_dilation = 1};
        for (int k = 0; k < n; k++) {
            results[k].dims[d] = reduced[d] ? 1 : out[k].dims[kept];
            results[k].strides[d] = reduced[d] ? 0 : out[k].strides[kept];
        }
        kept += !reduced[d];
    }
    for (int k = 0; results && k < n; k++) {
        results[k].data = out[k].data;
        results[k].dtype = out[k].dtype;
        results[k].rank = x->rank;
    }
    const bool done =
        results && reduce_window_rows(workers, n, results, x, init, acc, DT_INVALID, window, body);
    if (results != &one)
        mem_free(results);
    return done;
}
