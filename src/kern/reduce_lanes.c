/*
 * reduce_lanes.c: reduce by any body with code on tiles, many results at once (spec: Reduce). Lanes
 * are adjacent results along one kept dimension; every step applies the body to the accumulators of
 * all of them and to the next element of each.
 *
 * Order and accumulation: for every result as by one call per element, row-major.
 */
#include "kern/lane_reducer.h"

enum { INTERVAL = 32 }; /* elements of a result that are copied next to each other at a time */

struct lane_reduction {
    /* number of operands; their dimension of the lanes; the last reduced one (-1: none) */
    int n, lane, inner;
    int out_lane; /* the lanes' dimension of the result */
    const bool *reduced;
    const struct view *out, *x;
    struct lane_reducer reducer;
    int64_t dims[VIEW_MAX_RANK]; /* of the tiles of results */
    int64_t tiles, piece;
    size_t bytes; /* storage of a worker */
    char *storage;
};

/* The storage of a worker: addresses and strides of elements in lanes, and copies of them. */
struct lane_source {
    struct lane_state state;
    const char **at;
    int64_t *strides;
    char **blocks;
};

static bool is_packed(const struct lane_reduction *f, int k)
{
    return f->x[k].strides[f->lane] == (int64_t)dtype_bytes(f->x[k].dtype);
}

static size_t block_bytes(const struct view *x)
{
    return INTERVAL * KERN_LANES * dtype_bytes(x->dtype);
}

static struct lane_source source_of(const struct lane_reduction *f, int worker)
{
    char *storage = f->storage + (size_t)worker * f->bytes;
    struct lane_source s = {.state = lane_state(&f->reducer, storage)};
    s.at = (const char **)(void *)(storage + f->reducer.bytes);
    s.strides = (int64_t *)(void *)(s.at + f->n);
    s.blocks = (char **)(void *)(s.strides + f->n);
    char *block = (char *)(s.blocks + f->n);
    for (int k = 0; k < f->n; k++) {
        s.blocks[k] = block;
        block += block_bytes(&f->x[k]);
    }
    return s;
}

/* Copies `count` elements of the innermost reduced dimension, of each of `lanes` results, to packed
 * rows. */
static void copy_block(const struct lane_reduction *f, int k, char *block, const char *at,
                       int64_t lanes, int64_t count)
{
    const struct view *x = &f->x[k];
    const int64_t width = (int64_t)dtype_bytes(x->dtype), dims[2] = {count, lanes},
                  from[2] = {x->strides[f->inner], x->strides[f->lane]},
                  to[2] = {KERN_LANES * width, width};
    kern_copy_block(block, at, dims, to, from, (size_t)width);
}

/* Elements [from, from + count) of the innermost reduced dimension; at[k]: the first ones. */
static void reduce_interval(const struct lane_reduction *f, struct lane_source *s,
                            const int64_t *position, int64_t lanes, int64_t count)
{
    for (int k = 0; k < f->n; k++) {
        const char *at = view_at(&f->x[k], position);
        const bool copy = f->inner >= 0 && !is_packed(f, k);
        if (copy)
            copy_block(f, k, s->blocks[k], at, lanes, count);
        s->at[k] = copy ? s->blocks[k] : at;
        s->strides[k] = copy ? (int64_t)dtype_bytes(f->x[k].dtype) : f->x[k].strides[f->lane];
    }
    for (int64_t r = 0; r < count; r++) {
        lane_step(&f->reducer, &s->state, s->at, s->strides, 0, lanes);
        for (int k = 0; k < f->n && f->inner >= 0; k++)
            s->at[k] += is_packed(f, k) ? f->x[k].strides[f->inner]
                                        : KERN_LANES * (int64_t)dtype_bytes(f->x[k].dtype);
    }
}

/* Reduces all elements of a tile of results, the first of which is at `start`. */
static void reduce_tile(const struct lane_reduction *f, struct lane_source *s, const int64_t *start,
                        int64_t lanes)
{
    const struct view *x = f->x;
    int64_t sizes[VIEW_MAX_RANK], r[VIEW_MAX_RANK] = {0}, at[VIEW_MAX_RANK],
                                  inner = f->inner < 0 ? 1 : x->dims[f->inner];
    for (int d = 0; d < x->rank; d++)
        sizes[d] = f->reduced[d] && d != f->inner ? x->dims[d] : 1;
    lane_start(&f->reducer, &s->state, lanes);
    do {
        for (int d = 0; d < x->rank; d++)
            at[d] = start[d] + r[d];
        for (int64_t i = 0; i < inner; i += INTERVAL) {
            if (f->inner >= 0)
                at[f->inner] = i;
            reduce_interval(f, s, at, lanes, min_i64(INTERVAL, inner - i));
        }
    } while (index_next(x->rank, sizes, r));
}

static void reduce_tiles(void *context, int64_t part, int worker)
{
    const struct lane_reduction *f = context;
    struct lane_source s = source_of(f, worker);
    int64_t o[VIEW_MAX_RANK], at[VIEW_MAX_RANK] = {0}, rank = f->out->rank, from = part * f->piece;
    for (int64_t d = rank - 1, i = from; d >= 0; i /= f->dims[d--])
        o[d] = i % f->dims[d];
    for (int64_t left = min_i64(f->tiles - from, f->piece); left > 0; left--) {
        int64_t tile = o[f->out_lane], first = tile * KERN_LANES,
                lanes = min_i64(KERN_LANES, f->out->dims[f->out_lane] - first);
        o[f->out_lane] = first;
        for (int d = 0, kept = 0; d < f->x->rank; d++)
            at[d] = f->reduced[d] ? 0 : o[kept++];
        reduce_tile(f, &s, at, lanes);
        for (int k = 0; k < f->n; k++)
            lane_store(&f->reducer, &s.state, k, view_at(&f->out[k], o),
                       f->out[k].strides[f->out_lane], lanes);
        o[f->out_lane] = tile;
        index_next((int)rank, f->dims, o);
    }
}

/* Chooses the longest kept dimension, which fills the lanes best. */
static void choose_lanes(struct lane_reduction *f, const struct view *x)
{
    int64_t max = 0;
    f->inner = -1;
    for (int d = 0, kept = 0; d < x->rank; d++) {
        if (f->reduced[d]) {
            f->inner = d;
            continue;
        }
        int64_t n = x->dims[d] < KERN_LANES ? x->dims[d] : KERN_LANES;
        if (n >= max) {
            max = n;
            f->lane = d;
            f->out_lane = kept;
        }
        kept++;
    }
}

bool lanes_apply(const struct view *out, const struct kern_body *body)
{
    return body->lanes && view_elements(out) > 1;
}

bool reduce_by_lanes(struct thread_pool *workers, int n, const struct view *out,
                     const struct view *x, const void *const *init, const enum dtype *acc,
                     const bool *reduced, const struct kern_body *body)
{
    enum { PART = 1 << 14 }; /* elements that are combined in a task */
    struct lane_reduction f = {.n = n, .reduced = reduced, .out = out, .x = x, .tiles = 1};
    choose_lanes(&f, x);
    if (!lane_reducer_init(&f.reducer, n, out, x, init, acc, DT_INVALID, body))
        return false;
    for (int d = 0; d < out->rank; d++) {
        f.dims[d] = d == f.out_lane ? ratio_up(out->dims[d], KERN_LANES) : out->dims[d];
        f.tiles *= f.dims[d];
    }
    f.piece = PART / ratio_up(view_elements(x), f.tiles) + 1;
    f.bytes = f.reducer.bytes + (size_t)n * 3 * sizeof(void *);
    for (int k = 0; k < n; k++)
        f.bytes += block_bytes(&x[k]);
    f.storage = mem_alloc((size_t)thread_pool_size(workers) * f.bytes);
    if (f.storage)
        thread_pool_run(workers, ratio_up(f.tiles, f.piece), reduce_tiles, &f);
    mem_free(f.storage);
    lane_reducer_free(&f.reducer);
    return f.storage != NULL;
}
