/*
 * reduce_lanes.c: vectorized reduce by any body on many results at once (spec: Reduce). Lanes are
 * adjacent results along one kept dimension; every step applies the body to the accumulators of all
 * of them and to the next element of each.
 *
 * Order and accumulation: for every result as by one call per element, row-major.
 */
#include "kern/nest.h"

enum {
    INTERVAL = 32
}; /* elements of the innermost reduced dimension that are loaded into lanes at a time */

struct lane_slot {
    char *acc, *next,
        *values; /* KERN_LANES elements of the accumulator type; INTERVAL times as many values */
    size_t width;
    enum dtype acc_type;
    const struct view *x, *out;
    struct loader narrow;
};
struct lane_reducer {
    /* number of operands; their dimension of the lanes; the last reduced one (-1: none) */
    int n, lane, inner;
    int out_lane; /* the lanes' dimension of the result */
    const bool *reduced;
    const void *const *init;
    const struct kern_body *body;
    struct lane_slot *slots;
    const void **args;
    void **results;
};

/* Copies elements [r, r + count) of the innermost reduced dimension, for `lanes` results, to packed
 * rows. */
static void load_interval(const struct lane_slot *s, const struct lane_reducer *f,
                          const int64_t *at, int64_t lanes, int64_t count)
{
    int64_t element = (int64_t)s->width;
    struct view from = {.dtype = s->x->dtype, .rank = 2, .data = view_at(s->x, at)},
                to = {.dtype = s->acc_type, .rank = 2};
    from.dims[0] = to.dims[0] = count;
    from.strides[0] = f->inner < 0 ? 0 : s->x->strides[f->inner];
    from.dims[1] = to.dims[1] = lanes;
    from.strides[1] = s->x->strides[f->lane];
    to.strides[0] = KERN_LANES * element;
    to.strides[1] = element;
    to.data = s->values;
    kern_convert_view(NULL, &to, &from);
}

static bool reduce_interval(struct lane_reducer *f, const int64_t *at, int64_t lanes, int64_t count)
{
    for (int k = 0; k < f->n; k++)
        load_interval(&f->slots[k], f, at, lanes, count);
    for (int64_t r = 0; r < count; r++) {
        for (int k = 0; k < f->n; k++) {
            struct lane_slot *s = &f->slots[k];
            f->args[k] = s->acc;
            f->args[f->n + k] = s->values + (size_t)r * KERN_LANES * s->width;
            f->results[k] = s->next;
        }
        if (!f->body->call_lanes(f->body->lanes_context, f->args, f->results))
            return false;
        for (int k = 0; k < f->n; k++) {
            struct lane_slot *s = &f->slots[k];
            char *swap = s->acc;
            s->acc = s->next;
            s->next = swap;
        }
    }
    return true;
}

/* Reduces all elements of the results at `at`, which is unchanged afterwards. */
static bool reduce_lanes_at(struct lane_reducer *f, int64_t *at, int64_t lanes)
{
    const struct view *x = f->slots[0].x;
    int64_t sizes[VIEW_MAX_RANK], start[VIEW_MAX_RANK],
        inner = f->inner < 0 ? 1 : x->dims[f->inner];
    memcpy(start, at, sizeof *at * (size_t)x->rank);
    for (int d = 0; d < x->rank; d++) {
        sizes[d] = f->reduced[d] && d != f->inner ? x->dims[d] : 1;
        if (f->reduced[d])
            at[d] = 0;
    }
    int64_t r[VIEW_MAX_RANK] = {0};
    do {
        for (int d = 0; d < x->rank; d++)
            at[d] = start[d] + r[d];
        for (int64_t i = 0; i < inner; i += INTERVAL) {
            if (f->inner >= 0)
                at[f->inner] = i;
            if (!reduce_interval(f, at, lanes, inner - i < INTERVAL ? inner - i : INTERVAL))
                return false;
        }
    } while (index_next(x->rank, sizes, r));
    memcpy(at, start, sizeof *at * (size_t)x->rank);
    return true;
}

static void start_lanes(struct lane_reducer *f)
{
    for (int k = 0; k < f->n; k++) {
        struct lane_slot *s = &f->slots[k];
        kern_pack(s->acc, f->init[k], 0, s->width, KERN_LANES);
    }
}

static void store_lanes(const struct lane_reducer *f, const int64_t *o, int64_t lanes)
{
    for (int k = 0; k < f->n; k++) {
        const struct lane_slot *s = &f->slots[k];
        loader_write(&s->narrow, view_at(s->out, o), s->out->strides[f->out_lane], s->acc, lanes);
    }
}

static bool reduce_all(struct lane_reducer *f)
{
    const struct view *x = f->slots[0].x, *out = f->slots[0].out;
    int64_t at[VIEW_MAX_RANK] = {0}, o[VIEW_MAX_RANK] = {0}, sizes[VIEW_MAX_RANK];
    memcpy(sizes, out->dims, sizeof *sizes * (size_t)out->rank);
    sizes[f->out_lane] = 1;
    do {
        for (int64_t i = 0; i < out->dims[f->out_lane]; i += KERN_LANES) {
            int64_t left = out->dims[f->out_lane] - i,
                    lanes = left < KERN_LANES ? left : KERN_LANES;
            o[f->out_lane] = i;
            for (int d = 0, kept = 0; d < x->rank; d++)
                at[d] = f->reduced[d] ? 0 : o[kept++];
            start_lanes(f);
            if (!reduce_lanes_at(f, at, lanes))
                return false;
            store_lanes(f, o, lanes);
        }
        o[f->out_lane] = 0;
    } while (index_next(out->rank, sizes, o));
    return true;
}

/* Chooses the longest kept dimension, which fills the lanes best. */
static void choose_lanes(struct lane_reducer *f, const struct view *x)
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
    int64_t max = 0;
    for (int d = 0; d < out->rank; d++)
        max = out->dims[d] > max ? out->dims[d] : max;
    return body->call_lanes && max >= 16;
}

bool reduce_by_lanes(int n, const struct view *out, const struct view *x, const void *const *init,
                     const enum dtype *acc, const bool *reduced, const struct kern_body *body)
{
    struct lane_reducer f = {.n = n, .reduced = reduced, .init = init, .body = body};
    size_t count = (size_t)n,
           bytes = count * (sizeof *f.slots + 2 * sizeof *f.args + sizeof *f.results) + 64, used;
    for (int k = 0; k < n; k++)
        bytes += (INTERVAL + 2) * KERN_LANES * dtype_bytes(acc[k]);
    char *scratch = mem_zalloc(bytes);
    if (!scratch)
        return false;
    f.slots = (struct lane_slot *)(void *)scratch;
    f.args = (const void **)(f.slots + count);
    f.results = (void **)(f.args + 2 * count);
    used = ((size_t)((char *)(f.results + count) - scratch) + 63) & ~(size_t)63;
    for (int k = 0; k < n; k++) {
        struct lane_slot *s = &f.slots[k];
        *s = (struct lane_slot){
            .width = dtype_bytes(acc[k]), .acc_type = acc[k], .x = &x[k], .out = &out[k]};
        s->acc = scratch + used;
        s->next = s->acc + KERN_LANES * s->width;
        s->values = s->next + KERN_LANES * s->width;
        used += (INTERVAL + 2) * KERN_LANES * s->width;
        loader_init(&s->narrow, out[k].dtype, acc[k]);
    }
    choose_lanes(&f, x);
    bool ok = reduce_all(&f);
    mem_free(scratch);
    return ok;
}
