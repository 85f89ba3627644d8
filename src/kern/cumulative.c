/*
 * cumulative.c: reduce-window (spec: ReduceWindow) whose windows all start at the first element of
 * a line, or all end at the last one (prefix sums and the like), in one step per element.
 *
 * Order and accumulation: along the line, from the end that all windows share; sums of floats up to
 * f32 in double, everything else in the type that reduce uses.
 */
#include "kern/window.h"

enum { LINES = 64, SUMS = 4 };

struct cumulative {
    const struct view *out, *x;
    /* lines run along `dimension` and are adjacent along `lane` (-1: there is one line) */
    int dimension, lane;
    bool from_end;
    kern_tile_fn *fn;
    size_t width; /* of the work type */
    struct loader in, narrow;
    union kern_element init; /* in the work type */
    bool sum_f32;            /* sums of f32 along packed lines */
    int64_t bundles, piece;  /* groups of adjacent lines: in total, and in one task */
};

static int64_t last_step(const struct cumulative *c)
{
    return c->from_end ? c->x->dims[c->dimension] - 1 : 0;
}

/* Reduces `lines` adjacent lines, one step of all at a time. */
static void run_lines(const struct cumulative *c, char *out, const char *x, int64_t lines)
{
    char acc[LINES * sizeof(union kern_element)] __attribute__((aligned(64))),
        scratch[LOADER_BYTES] __attribute__((aligned(64)));
    int d = c->dimension;
    int64_t n = c->x->dims[d], xs = c->x->strides[d], os = c->out->strides[d];
    int64_t x_lane = c->lane < 0 ? 0 : c->x->strides[c->lane],
            out_lane = c->lane < 0 ? 0 : c->out->strides[c->lane];
    x += last_step(c) * xs;
    out += last_step(c) * os;
    kern_pack(acc, c->init.bytes, 0, c->width, lines);
    for (int64_t i = 0; i < n; i++) {
        const void *values = loader_read(&c->in, scratch, x, x_lane, lines);
        c->fn(acc, (const void *const[]){acc, values}, lines);
        loader_write(&c->narrow, out, out_lane, acc, lines);
        x += c->from_end ? -xs : xs;
        out += c->from_end ? -os : os;
    }
}

/* run_lines() for sums of f32 along packed lines: a few lines at a time, whose additions are
 * independent. */
static void sum_lines_f32(const struct cumulative *c, char *out, const char *x, int64_t lines)
{
    float *to[SUMS];
    const float *from[SUMS];
    double acc[SUMS];
    for (int64_t j = 0; j < SUMS; j++) {
        int64_t line = j < lines ? j : 0;
        to[j] = (float *)(void *)(out + (c->lane < 0 ? 0 : line * c->out->strides[c->lane]));
        from[j] =
            (const float *)(const void *)(x + (c->lane < 0 ? 0 : line * c->x->strides[c->lane]));
        acc[j] = c->init.f64;
    }
    int64_t n = c->x->dims[c->dimension], step = c->from_end ? -1 : 1, at = last_step(c);
    for (int64_t i = 0; i < n; i++, at += step)
        for (int j = 0; j < SUMS; j++) {
            acc[j] += (double)from[j][at];
            to[j][at] = (float)acc[j];
        }
}

/* Groups of lines are numbered row-major over the other dimensions, then along `lane`. */
static void run_part(void *context, int64_t part, int worker)
{
    const struct cumulative *c = context;
    int64_t lanes = c->lane < 0 ? 1 : c->x->dims[c->lane], max = c->sum_f32 ? SUMS : LINES;
    int64_t across = ratio_up(lanes, max), from = part * c->piece, left = c->bundles - from;
    for (int64_t b = from; b < from + (left < c->piece ? left : c->piece); b++) {
        int64_t at[VIEW_MAX_RANK] = {0}, first = b % across * max, outer = b / across;
        for (int d = c->x->rank - 1; d >= 0; d--)
            if (d != c->dimension && d != c->lane) {
                at[d] = outer % c->x->dims[d];
                outer /= c->x->dims[d];
            }
        if (c->lane >= 0)
            at[c->lane] = first;
        int64_t count = lanes - first < max ? lanes - first : max;
        if (c->sum_f32)
            sum_lines_f32(c, view_at(c->out, at), view_at(c->x, at), count);
        else
            run_lines(c, view_at(c->out, at), view_at(c->x, at), count);
    }
}

static void run_all(struct thread_pool *workers, struct cumulative *c)
{
    enum { PART = 1 << 15 }; /* elements */
    int64_t lanes = c->lane < 0 ? 1 : c->x->dims[c->lane], max = c->sum_f32 ? SUMS : LINES;
    int64_t length = c->x->dims[c->dimension], lines = view_elements(c->x) / length;
    c->bundles = ratio_up(lanes, max) * (lines / lanes);
    c->piece = PART / (length * max) + 1;
    thread_pool_run(workers, ratio_up(c->bundles, c->piece), run_part, c);
}

/* Finds the only dimension with windows of more than one element, which must share an end. */
static bool find_dimension(struct cumulative *c, const struct kern_window_dim *window)
{
    c->dimension = -1;
    for (int d = 0; d < c->x->rank; d++) {
        const struct kern_window_dim *w = &window[d];
        if (w->stride != 1 || w->base_dilation != 1 || c->out->dims[d] != c->x->dims[d])
            return false;
        if (w->size == 1 && w->pad_low == 0)
            continue;
        bool from_start = w->pad_low == w->size - 1, from_end = w->pad_low == 0;
        if (c->dimension >= 0 || w->window_dilation != 1 || w->size < c->x->dims[d] ||
            (!from_start && !from_end))
            return false;
        c->dimension = d;
        c->from_end = !from_start;
    }
    return c->dimension >= 0;
}

/* The dimension along which lines are adjacent: the longest other one, the last of equally long
 * ones. */
static int find_lane(const struct view *x, int dimension)
{
    int lane = -1;
    for (int d = 0; d < x->rank; d++)
        if (d != dimension && (lane < 0 || x->dims[d] >= x->dims[lane] || x->dims[d] >= LINES))
            lane = d;
    return lane;
}

bool reduce_cumulative(struct thread_pool *workers, const struct view *out, const struct view *x,
                       const void *init, const struct kern_window_dim *window,
                       enum kern_combine combine)
{
    enum dtype t = x->dtype, work = combine_work_type(combine, t);
    struct cumulative c = {
        .out = out, .x = x, .fn = kern_find_elementwise(kern_combine_opcode(combine), work)};
    bool rounds = dtype_is_float(t) || dtype_is_complex(t);
    struct loader start;
    union kern_element element;
    if (!c.fn || !find_dimension(&c, window) || (c.from_end && rounds && combine == KERN_MULTIPLY))
        return false;
    c.width = dtype_bytes(work);
    c.lane = find_lane(x, c.dimension);
    loader_init(&c.in, work, t);
    loader_init(&c.narrow, t, work);
    loader_init(&start, work, t);
    memcpy(&c.init, loader_read(&start, &element, init, 0, 1), c.width);
    c.sum_f32 = t == DT_F32 && combine == KERN_ADD &&
                x->strides[c.dimension] == (int64_t)sizeof(float) &&
                out->strides[c.dimension] == (int64_t)sizeof(float);
    run_all(workers, &c);
    return true;
}
