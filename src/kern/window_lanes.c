/*
 * window_lanes.c: reduce-window (spec: ReduceWindow) whose windows have size 1 along the dimension
 * of contiguous elements (features): the rows of features at the positions of a window are reduced,
 * with one lane per feature. Nothing is padded: positions outside the operand have no row. Adjacent
 * windows inside the operand have the same positions, at addresses that advance by one step.
 *
 * Order and accumulation: row-major over the window, from init, in the type that reduce-window
 * uses.
 */
#include "kern/window.h"

struct window_lanes {
    const struct view *out, *x;
    const struct kern_window_dim *window;
    int lane, inner; /* inner: the last dimension other than `lane` */
    struct window_reducer reducer;
    int64_t dims[VIEW_MAX_RANK]; /* of the result, but 1 along the lanes */
};

bool window_reducer_init(struct window_reducer *r, enum kern_combine combine, enum dtype t,
                         const void *init)
{
    const enum dtype work = combine_window_type(combine, t);
    r->init = init;
    if (!kern_find_elementwise(kern_combine_opcode(combine), work))
        return false;
    reducer_init(&r->reducer, combine, t, t, t, work, init);
    return true;
}

void window_reducer_run(const struct window_reducer *r, char *out, const char *const *rows,
                        int count, int64_t n)
{
    char acc[LOADER_BYTES] __attribute__((aligned(64)));
    const void *some[WINDOW_PLACES];
    const struct reducer *f = &r->reducer;
    const size_t width = dtype_bytes(f->x);
    for (int64_t i = 0; i < n; i += KERN_TILE) {
        int64_t lanes = n - i < KERN_TILE ? n - i : KERN_TILE;
        for (int k = 0; k < count; k++)
            some[k] = rows[k] + (size_t)i * width;
        if (window_reducer_is_direct(r)) {
            f->rows(out + (size_t)i * width, r->init, some, count, lanes);
            continue;
        }
        reducer_start(f, acc, lanes, true);
        reducer_rows(f, acc, some, count, lanes);
        reducer_store(f, out + (size_t)i * width, (int64_t)width, acc, lanes);
    }
}

/* The number of adjacent windows from the one at o on, along dimension d, that have the same
 * positions; 1 if that one extends beyond the operand. */
static int64_t count_inside(const struct window_lanes *l, int d, const int64_t *o)
{
    int64_t first, limit;
    window_inside(&l->window[d], l->x->dims[d], l->out->dims[d], &first, &limit);
    return o[d] < first ? 1 : max_i64(1, limit - o[d]);
}

static void run_windows(void *context, int64_t from, int64_t to, int worker)
{
    const struct window_lanes *l = context;
    const int d = l->inner;
    const int64_t step = l->x->strides[d] * l->window[d].stride, lanes = l->out->dims[l->lane];
    const char *rows[WINDOW_PLACES];
    int64_t o[VIEW_MAX_RANK];
    index_at(l->out->rank, l->dims, from, o);
    for (int64_t n; from < to; from += n) {
        const int count = window_places(l->x, l->window, o, rows);
        char *out = view_at(l->out, o);
        n = d == l->lane ? 1 : min_i64(count_inside(l, d, o), to - from);
        for (int64_t i = 0; i < n; i++, out += l->out->strides[d]) {
            window_reducer_run(&l->reducer, out, rows, count, lanes);
            for (int k = 0; k < count; k++)
                rows[k] += step;
        }
        o[d] += n - 1;
        index_next(l->out->rank, l->dims, o);
    }
}

static int find_lane(const struct view *out, const struct view *x,
                     const struct kern_window_dim *window)
{
    int64_t width = (int64_t)dtype_bytes(x->dtype);
    int lane = -1;
    for (int d = 0; d < x->rank; d++)
        if (window_is_trivial(&window[d], out->dims[d], x->dims[d]) && x->dims[d] >= 16 &&
            x->strides[d] == width && out->strides[d] == width)
            lane = d;
    return lane;
}

bool reduce_window_lanes(struct thread_pool *workers, const struct view *out, const struct view *x,
                         const void *init, const struct kern_window_dim *window,
                         enum kern_combine combine)
{
    enum { PART = 1 << 16 }; /* elements of the result in a task */
    struct window_lanes l = {
        .out = out, .x = x, .window = window, .lane = find_lane(out, x, window)};
    if (l.lane < 0 || !window_places_few(x->rank, window) ||
        !window_reducer_init(&l.reducer, combine, x->dtype, init))
        return false;
    memcpy(l.dims, out->dims, sizeof *l.dims * (size_t)out->rank);
    l.dims[l.lane] = 1;
    l.inner = l.lane < x->rank - 1 || x->rank == 1 ? x->rank - 1 : x->rank - 2;
    thread_pool_share(workers, dims_elements(out->rank, l.dims), PART / 4 / out->dims[l.lane] + 1,
                      run_windows, &l);
    return true;
}
