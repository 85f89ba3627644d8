/*
 * window_rows.c: reduce-window (spec: ReduceWindow) by any body with code on tiles, and by
 * recognized combiners: adjacent results along one dimension are lanes, and each element of the
 * window is combined into all of them whose windows have it inside the operand. Nothing is padded.
 *
 * Order and accumulation: row-major over the window, from init.
 */
#include <stdlib.h>

#include "kern/lane_reducer.h"
#include "kern/window.h"

struct window_rows {
    int n, rank, lane; /* lane: -1 if there is one lane */
    const struct view *out, *x;
    struct kern_window_dim window[VIEW_MAX_RANK];
    struct lane_reducer reducer;
    int64_t dims[VIEW_MAX_RANK]; /* of the tiles of results */
    int64_t tiles, piece;
    char *storage;
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

/* Combines window element t->k into the accumulators. */
static void combine(const struct window_rows *r, const struct tile_walk *t,
                    const struct lane_state *s, const char **at, const int64_t *strides)
{
    int64_t p[VIEW_MAX_RANK], first = t->first, count = t->lanes;
    for (int d = 0; d < r->rank; d++) {
        const struct kern_window_dim *w = &r->window[d];
        if (d == r->lane) {
            find_inside(w, r->x->dims[d], t->k[d], &first, &count);
            p[d] = first * w->stride + t->k[d] * w->window_dilation - w->pad_low;
        } else if (!window_position(w, r->x->dims[d], t->o[d], t->k[d], &p[d])) {
            return;
        }
    }
    if (count <= 0)
        return;
    for (int k = 0; k < r->n; k++) {
        at[k] = r->x[k].data;
        for (int d = 0; d < r->rank; d++)
            at[k] += p[d] * r->x[k].strides[d];
    }
    lane_step(&r->reducer, s, at, strides, first - t->first, count);
}

static bool next_element(const struct window_rows *r, struct tile_walk *t)
{
    for (int d = r->rank - 1; d >= 0; d--) {
        if (++t->k[d] < t->limit[d])
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
                        const struct lane_state *s, const char **at, const int64_t *strides)
{
    const int64_t length = r->lane < 0 ? 1 : r->out->dims[r->lane];
    t->first = r->lane < 0 ? 0 : t->o[r->lane] * KERN_LANES;
    t->lanes = min_i64(KERN_LANES, length - t->first);
    lane_start(&r->reducer, s, t->lanes);
    if (start_walk(r, t))
        do
            combine(r, t, s, at, strides);
        while (next_element(r, t));
    for (int k = 0; k < r->n; k++) {
        const struct view *out = &r->out[k];
        char *to = out->data;
        for (int d = 0; d < r->rank; d++)
            to += (d == r->lane ? t->first : t->o[d]) * out->strides[d];
        lane_store(&r->reducer, s, k, to, r->lane < 0 ? 0 : out->strides[r->lane], t->lanes);
    }
}

static void reduce_tiles(void *context, int64_t part, int worker)
{
    const struct window_rows *r = context;
    const size_t pointers = (size_t)r->n * 2 * sizeof(void *);
    char *storage = r->storage + (size_t)worker * (r->reducer.bytes + pointers);
    const struct lane_state s = lane_state(&r->reducer, storage);
    const char **at = (const char **)(void *)(storage + r->reducer.bytes);
    int64_t *strides = (int64_t *)(void *)(at + r->n);
    int64_t from = part * r->piece, limit = min_i64(r->tiles, from + r->piece);
    struct tile_walk t;
    for (int k = 0; k < r->n; k++)
        strides[k] = r->lane < 0 ? 0 : r->x[k].strides[r->lane] * r->window[r->lane].stride;
    for (int64_t d = r->rank - 1, i = from; d >= 0; i /= r->dims[d--])
        t.o[d] = i % r->dims[d];
    for (; from < limit; from++) {
        reduce_tile(r, &t, &s, at, strides);
        index_next(r->rank, r->dims, t.o);
    }
}

/* Nanoseconds for each element, estimated, if results along d are lanes. */
static double lane_cost(const struct window_rows *r, int d)
{
    const int64_t lanes = min_i64(r->out->dims[d], KERN_LANES),
                  step = llabs(r->x->strides[d] * r->window[d].stride),
                  width = (int64_t)dtype_bytes(r->x->dtype);
    const double load = step == width ? 0.3 : step <= 64 ? 0.7 : 1.5;
    return 30.0 / (double)lanes + load;
}

static void choose_lanes(struct window_rows *r)
{
    double best = 0;
    r->lane = -1;
    for (int d = 0; d < r->rank; d++)
        if (r->window[d].base_dilation == 1 && (r->lane < 0 || lane_cost(r, d) < best)) {
            best = lane_cost(r, d);
            r->lane = d;
        }
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
    choose_lanes(&r);
    if (!lane_reducer_init(&r.reducer, n, out, x, init, acc, work, body))
        return false;
    for (int d = 0; d < r.rank; d++) {
        r.dims[d] = d == r.lane ? ratio_up(out->dims[d], KERN_LANES) : out->dims[d];
        r.tiles *= r.dims[d];
    }
    const int64_t lanes = r.lane < 0 ? 1 : min_i64(out->dims[r.lane], KERN_LANES);
    r.piece = PART / (lanes * window_elements(&r) + 1) + 1;
    r.storage = mem_alloc((size_t)thread_pool_size(workers) *
                          (r.reducer.bytes + (size_t)n * 2 * sizeof(void *)));
    if (r.storage)
        thread_pool_run(workers, ratio_up(r.tiles, r.piece), reduce_tiles, &r);
    mem_free(r.storage);
    lane_reducer_free(&r.reducer);
    return r.storage != NULL;
}
