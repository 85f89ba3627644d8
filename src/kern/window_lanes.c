/*
 * window_lanes.c: reduce-window (spec: ReduceWindow) whose windows have size 1 along the dimension
 * of contiguous elements (features): the rows of features at the positions of a window are reduced,
 * with one lane per feature. Nothing is padded: positions outside the operand have no row.
 *
 * Order and accumulation: row-major over the window, from init, in the type that reduce-window
 * uses.
 */
#include "kern/reducer.h"
#include "kern/window.h"

struct window_lanes {
    const struct view *out, *x;
    const struct kern_window_dim *window;
    int lane;
    struct reducer reducer;
    const void *init;
    int64_t dims[VIEW_MAX_RANK]; /* of the result, but 1 along the lanes */
    int64_t windows, piece;
};

static void reduce_places(const struct window_lanes *l, char *out, const char *const *rows,
                          int count, int64_t n)
{
    char acc[LOADER_BYTES] __attribute__((aligned(64)));
    const void *some[WINDOW_PLACES];
    size_t width = dtype_bytes(l->x->dtype);
    for (int64_t i = 0; i < n; i += KERN_TILE) {
        int64_t lanes = n - i < KERN_TILE ? n - i : KERN_TILE;
        for (int r = 0; r < count; r++)
            some[r] = rows[r] + (size_t)i * width;
        if (l->reducer.rows && !l->reducer.in.convert) {
            l->reducer.rows(out + (size_t)i * width, l->init, some, count, lanes);
            continue;
        }
        reducer_start(&l->reducer, acc, lanes, true);
        reducer_rows(&l->reducer, acc, some, count, lanes);
        reducer_store(&l->reducer, out + (size_t)i * width, (int64_t)width, acc, lanes);
    }
}

static void lanes_part(void *context, int64_t part, int worker)
{
    const struct window_lanes *l = context;
    const char *rows[WINDOW_PLACES];
    int64_t o[VIEW_MAX_RANK], from = part * l->piece, left = l->windows - from;
    for (int64_t d = l->out->rank - 1, w = from; d >= 0; w /= l->dims[d--])
        o[d] = w % l->dims[d];
    for (int64_t k = left < l->piece ? left : l->piece; k > 0; k--) {
        int count = window_places(l->x, l->window, o, rows);
        reduce_places(l, view_at(l->out, o), rows, count, l->out->dims[l->lane]);
        index_next(l->out->rank, l->dims, o);
    }
}

static int find_lane(const struct view *out, const struct view *x,
                     const struct kern_window_dim *window)
{
    int64_t width = (int64_t)dtype_bytes(x->dtype);
    int lane = -1;
    for (int d = 0; d < x->rank; d++) {
        const struct kern_window_dim *w = &window[d];
        bool alone =
            w->size == 1 && w->stride == 1 && w->pad_low == 0 && out->dims[d] == x->dims[d];
        if (alone && x->dims[d] >= 16 && x->strides[d] == width && out->strides[d] == width)
            lane = d;
    }
    return lane;
}

bool reduce_window_lanes(struct thread_pool *workers, const struct view *out, const struct view *x,
                         const void *init, const struct kern_window_dim *window,
                         enum kern_combine combine)
{
    enum { PART = 1 << 16 }; /* elements of the result in a task */
    enum dtype t = x->dtype, work = combine_window_type(combine, t);
    struct window_lanes l = {
        .out = out, .x = x, .window = window, .lane = find_lane(out, x, window), .init = init};
    if (l.lane < 0 || !window_places_few(x->rank, window) ||
        !kern_find_elementwise(kern_combine_opcode(combine), work))
        return false;
    reducer_init(&l.reducer, combine, t, t, t, work, init);
    memcpy(l.dims, out->dims, sizeof *l.dims * (size_t)out->rank);
    l.dims[l.lane] = 1;
    l.windows = view_elements(out) / out->dims[l.lane];
    l.piece = PART / 4 / out->dims[l.lane] + 1;
    thread_pool_run(workers, ratio_up(l.windows, l.piece), lanes_part, &l);
    return true;
}
