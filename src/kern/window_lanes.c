/*
 * window_lanes: reduce-window (spec: ReduceWindow) where no window reaches across the dimension whose
 * elements lie side by side (features): the rows of elements under the places of a window are folded, as many
 * lanes as there are features. Nothing is padded: places outside have no row.
 *
 * Order and accumulation: row-major over the window, from init, in the type that reduce-window uses.
 */
#include "kern/extremes.h"
#include "kern/fold.h"
#include "kern/window.h"

/* out[i] = init, folded with rows[0][i], rows[1][i], ... */
typedef void rows_fn(void *out, const void *init, const void *const *rows, int count, int64_t n);

EXTREMES(float, int32_t, greater_f32, lesser_f32)
EXTREMES(double, int64_t, greater_f64, lesser_f64)
#define ADD(a, b) ((a) + (b))
#define GREATER(a, b) ((a) < (b) ? (b) : (a))
#define LESSER(a, b) ((b) < (a) ? (b) : (a))

/* Four rows at a time; FIRST is what a pass begins with. */
#define PASS(T, STEP, FIRST)                                                                                 \
    switch (now) {                                                                                           \
    case 1:                                                                                                  \
        for (int64_t i = 0; i < n; i++)                                                                      \
            out[i] = STEP(FIRST, a[i]);                                                                      \
        break;                                                                                               \
    case 2:                                                                                                  \
        for (int64_t i = 0; i < n; i++)                                                                      \
            out[i] = STEP(STEP(FIRST, a[i]), b[i]);                                                          \
        break;                                                                                               \
    case 3:                                                                                                  \
        for (int64_t i = 0; i < n; i++)                                                                      \
            out[i] = STEP(STEP(STEP(FIRST, a[i]), b[i]), c[i]);                                              \
        break;                                                                                               \
    default:                                                                                                 \
        for (int64_t i = 0; i < n; i++)                                                                      \
            out[i] = STEP(STEP(STEP(STEP(FIRST, a[i]), b[i]), c[i]), d[i]);                                  \
        break;                                                                                               \
    }
#define ROWS_OF(NAME, T, STEP)                                                                               \
    KERN_CLONES static void rows_##NAME(void *result, const void *init, const void *const *rows, int count,  \
                                        int64_t n)                                                           \
    {                                                                                                        \
        T *restrict out = result;                                                                            \
        const T start = *(const T *)init;                                                                    \
        for (int r = 0; r < count;) {                                                                        \
            const int now = count - r < 4 ? count - r : 4;                                                   \
            const T *a = rows[r], *b = rows[r + (now > 1)], *c = rows[r + 2 * (now > 2)],                    \
                    *d = rows[r + 3 * (now > 3)];                                                            \
            if (r == 0)                                                                                      \
                PASS(T, STEP, start)                                                                         \
            else                                                                                             \
                PASS(T, STEP, out[i])                                                                        \
            r += now;                                                                                        \
        }                                                                                                    \
        for (int64_t i = 0; count == 0 && i < n; i++)                                                        \
            out[i] = start;                                                                                  \
    }
ROWS_OF(add_f32, float, ADD)
ROWS_OF(max_f32, float, greater_f32)
ROWS_OF(min_f32, float, lesser_f32)
ROWS_OF(add_f64, double, ADD)
ROWS_OF(max_f64, double, greater_f64)
ROWS_OF(min_f64, double, lesser_f64)
ROWS_OF(add_s32, uint32_t, ADD)
ROWS_OF(max_s32, int32_t, GREATER)
ROWS_OF(min_s32, int32_t, LESSER)

/* NULL: fold.h has to do. */
static rows_fn *find_rows(enum kern_combine combine, enum dtype t)
{
    static rows_fn *const known[3][3] = {{rows_add_f32, rows_max_f32, rows_min_f32},
                                         {rows_add_f64, rows_max_f64, rows_min_f64},
                                         {rows_add_s32, rows_max_s32, rows_min_s32}};
    int type = t == DT_F32 ? 0 : t == DT_F64 ? 1 : t == DT_S32 ? 2 : -1;
    int which = combine == KERN_ADD ? 0 : combine == KERN_MAXIMUM ? 1 : combine == KERN_MINIMUM ? 2 : -1;
    return type < 0 || which < 0 ? NULL : known[type][which];
}

enum { MOST_PLACES = 128 }; /* in a window */

struct window_lanes {
    const struct view *out, *x;
    const struct kern_window_dim *window;
    int lane;
    rows_fn *rows;
    struct fold fold; /* where there is no such function */
    const void *init;
    int64_t dims[VIEW_MAX_RANK]; /* of the result, one along the lanes */
    int64_t windows, piece;
};

/* The rows under the window at o, in order; how many there are. */
static int find_places(const struct window_lanes *l, const int64_t *o, const char **rows)
{
    int count = 1;
    rows[0] = l->x->data;
    for (int d = 0; d < l->x->rank && count > 0; d++) {
        const struct kern_window_dim *w = &l->window[d];
        int64_t stride = l->x->strides[d], step = w->window_dilation, at = o[d] * w->stride - w->pad_low;
        int64_t first = at >= 0 ? 0 : (-at + step - 1) / step, limit = w->size;
        if (at + (limit - 1) * step >= l->x->dims[d])
            limit = at >= l->x->dims[d] ? 0 : (l->x->dims[d] - at + step - 1) / step;
        if (first >= limit)
            return 0;
        int places = (int)(limit - first);
        for (int k = count - 1; k >= 0; k--) {
            const char *row = rows[k] + (at + first * step) * stride;
            for (int j = places - 1; j >= 0; j--)
                rows[k * places + j] = row + j * step * stride;
        }
        count *= places;
    }
    return count;
}

static void fold_places(const struct window_lanes *l, char *out, const char *const *rows, int count,
                        int64_t n)
{
    char acc[LOADER_ROOM] __attribute__((aligned(64)));
    const void *some[MOST_PLACES];
    size_t width = dtype_bytes(l->x->dtype);
    for (int64_t i = 0; i < n; i += KERN_TILE) {
        int64_t lanes = n - i < KERN_TILE ? n - i : KERN_TILE;
        for (int r = 0; r < count; r++)
            some[r] = rows[r] + (size_t)i * width;
        if (l->rows) {
            l->rows(out + (size_t)i * width, l->init, some, count, lanes);
            continue;
        }
        fold_start(&l->fold, acc, lanes, true);
        fold_rows(&l->fold, acc, some, count, lanes);
        fold_store(&l->fold, out + (size_t)i * width, (int64_t)width, acc, lanes);
    }
}

static void lanes_part(void *context, int64_t part, int member)
{
    const struct window_lanes *l = context;
    const char *rows[MOST_PLACES];
    int64_t o[VIEW_MAX_RANK], from = part * l->piece, left = l->windows - from;
    for (int64_t d = l->out->rank - 1, w = from; d >= 0; w /= l->dims[d--])
        o[d] = w % l->dims[d];
    for (int64_t k = left < l->piece ? left : l->piece; k > 0; k--) {
        int count = find_places(l, o, rows);
        fold_places(l, view_at(l->out, o), rows, count, l->out->dims[l->lane]);
        index_next(l->out->rank, l->dims, o);
    }
}

static int find_lane(const struct view *out, const struct view *x, const struct kern_window_dim *window)
{
    int64_t places = 1, width = (int64_t)dtype_bytes(x->dtype);
    int lane = -1;
    for (int d = 0; d < x->rank; d++) {
        const struct kern_window_dim *w = &window[d];
        bool alone = w->size == 1 && w->stride == 1 && w->pad_low == 0 && out->dims[d] == x->dims[d];
        if (w->base_dilation != 1 || !mul_i64(places, w->size, &places) || places > MOST_PLACES)
            return -1;
        if (alone && x->dims[d] >= 16 && x->strides[d] == width && out->strides[d] == width)
            lane = d;
    }
    return lane;
}

bool reduce_window_lanes(struct team *team, const struct view *out, const struct view *x, const void *init,
                         const struct kern_window_dim *window, enum kern_combine combine)
{
    enum { PART = 1 << 16 }; /* elements of the result */
    enum dtype t = x->dtype, work = combine_window_type(combine, t);
    struct window_lanes l = {.out = out,
                             .x = x,
                             .window = window,
                             .lane = find_lane(out, x, window),
                             .rows = find_rows(combine, t),
                             .init = init};
    if (l.lane < 0 || !kern_find_elementwise(combine_opcode(combine), work))
        return false;
    fold_init(&l.fold, combine, t, t, t, work, init);
    memcpy(l.dims, out->dims, sizeof *l.dims * (size_t)out->rank);
    l.dims[l.lane] = 1;
    l.windows = view_elements(out) / out->dims[l.lane];
    l.piece = PART / 4 / out->dims[l.lane] + 1;
    team_run(team, (l.windows + l.piece - 1) / l.piece, lanes_part, &l);
    return true;
}
