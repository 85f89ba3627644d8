/*
 * cumulative.c: reduce-window (spec: ReduceWindow) whose windows all start at the first element of
 * a line, or all end at the last one (prefix sums and the like), in one step per element.
 *
 * Order and accumulation: along the line, from the end that all windows share; sums of floats up to
 * f32 in double, everything else in the type that reduce uses. Of windows that end at the last
 * element the body gets the element first, so that an associative body sees elements in order. One
 * long line is divided into blocks, each of which starts with the reduction of all blocks before:
 * if the order does not matter, for sums of f64, and for all bodies that are not recognized.
 */
#include "kern/extremes.h"
#include "kern/lane_reducer.h"
#include "kern/tile.h"
#include "kern/window.h"

enum {
    LINES = 64, /* lanes, if their elements are not adjacent */
    SUMS = 4,
    FEW_LINES = 8,
    PART = 1 << 13 /* elements in a task */
};

/* Combines n times `lanes` packed values with the accumulators of the lanes, one after the other,
 * and stores the accumulators each time. */
typedef void scan_fn(void *out, const void *values, void *acc, int64_t n, int64_t lanes,
                     bool values_first);
struct cumulative {
    int n;
    const struct view *out, *x;
    /* lines run along `dimension` and are adjacent along `lane` (-1: there is one line) */
    int dimension, lane;
    bool from_end;
    struct lane_reducer reducer;
    char *storage;    /* of all workers */
    size_t bytes;     /* of one */
    bool sum_f32;     /* sums of f32 along packed lines */
    scan_fn *scan;    /* of a recognized combiner; or NULL */
    bool scans_rows;  /* all lines of a row at once: rows are packed, and short */
    bool scans_lines; /* one after the other: lines are packed, and a step takes a cycle */
    int64_t max;      /* lanes */
    /* lines in a panel, which come from `second`, or -1, and `across` along `lane`; 0: no panels;
     * and the bytes of a panel and its results */
    int64_t panel, across;
    int second;
    size_t panels;
};

/* Adjacent elements in lanes, with the strides of steps and lanes in bytes. */
struct lane_walk {
    const char **x;
    char **out;
    int64_t *x_steps, *out_steps, *x_lanes, *out_lanes;
};

static int64_t last_step(const struct cumulative *c)
{
    return c->from_end ? c->x->dims[c->dimension] - 1 : 0;
}

static size_t walk_bytes(int n) { return 6 * (size_t)n * sizeof(int64_t); }

/* A walk over the lines at index `at`. */
static struct lane_walk walk_lines(const struct cumulative *c, int worker, const int64_t *at)
{
    char *storage = c->storage + (size_t)worker * c->bytes + c->reducer.bytes;
    struct lane_walk w = {.x = (const char **)(void *)storage};
    const int64_t sign = c->from_end ? -1 : 1;
    w.out = (char **)(void *)(w.x + c->n);
    w.x_steps = (int64_t *)(void *)(w.out + c->n);
    w.out_steps = w.x_steps + c->n;
    w.x_lanes = w.out_steps + c->n;
    w.out_lanes = w.x_lanes + c->n;
    for (int k = 0; k < c->n; k++) {
        const struct view *x = &c->x[k], *out = &c->out[k];
        const int64_t last = last_step(c);
        w.x[k] = view_at(x, at) + last * x->strides[c->dimension];
        w.out[k] = view_at(out, at) + last * out->strides[c->dimension];
        w.x_steps[k] = sign * x->strides[c->dimension];
        w.out_steps[k] = sign * out->strides[c->dimension];
        w.x_lanes[k] = c->lane < 0 ? 0 : x->strides[c->lane];
        w.out_lanes[k] = c->lane < 0 ? 0 : out->strides[c->lane];
    }
    return w;
}

/* Reduces `steps` elements in each of `lanes` lanes; with `store`, stores every accumulator. */
static void run_steps(const struct cumulative *c, const struct lane_state *s, struct lane_walk *w,
                      int64_t steps, int64_t lanes, bool store)
{
    for (int64_t i = 0; i < steps; i++) {
        lane_step(&c->reducer, s, w->x, w->x_lanes, 0, lanes);
        for (int k = 0; k < c->n; k++) {
            if (store)
                lane_store(&c->reducer, s, k, w->out[k], w->out_lanes[k], lanes);
            w->x[k] += w->x_steps[k];
            w->out[k] += w->out_steps[k];
        }
    }
}

static struct lane_state state_of(const struct cumulative *c, int worker)
{
    return lane_state(&c->reducer, c->storage + (size_t)worker * c->bytes);
}

static void run_lines(const struct cumulative *c, const int64_t *at, int64_t lines, int worker)
{
    const struct lane_state s = state_of(c, worker);
    struct lane_walk w = walk_lines(c, worker, at);
    lane_start(&c->reducer, &s, lines);
    run_steps(c, &s, &w, c->x->dims[c->dimension], lines, true);
}

#define COMBINE(op, type, T, formula)                                                              \
    static void op##_##type(void *out, const void *values, void *acc, int64_t n, int64_t lanes,    \
                            bool values_first)                                                     \
    {                                                                                              \
        const T *from = values;                                                                    \
        T *to = out, *all = acc, last = *all;                                                      \
        for (int64_t i = 0; lanes == 1 && i < n; i++) {                                            \
            const T x = values_first ? from[i] : last, y = values_first ? last : from[i];          \
            to[i] = last = (T)(formula);                                                           \
        }                                                                                          \
        if (lanes == 1)                                                                            \
            *all = last;                                                                           \
        for (int64_t i = 0; lanes > 1 && i < n; i++, from += lanes, to += lanes) {                 \
            TILE_LOOP                                                                              \
            for (int64_t j = 0; j < lanes; j++) {                                                  \
                const T x = values_first ? from[j] : all[j], y = values_first ? all[j] : from[j];  \
                to[j] = all[j] = (T)(formula);                                                     \
            }                                                                                      \
        }                                                                                          \
    }
#include "kern/combine.def"

static scan_fn *const scans[DT_COUNT][KERN_XOR + 1] = {
#define COMBINE(op, type, T, formula) [DT_##type][KERN_##op] = op##_##type,
#include "kern/combine.def"
};

/* run_lines() for recognized combiners: `lanes` adjacent lines from number `line` on, whose
 * elements are packed, or a single one: a tile of results is stored at once. */
static void scan_lines(const struct cumulative *c, const int64_t *at, int64_t line, int64_t lanes,
                       int worker)
{
    const struct lane_state s = state_of(c, worker);
    const struct lane_slot *slot = c->reducer.slots;
    const struct lane_walk w = walk_lines(c, worker, at);
    const int64_t x_stride = lanes > 1 ? w.x_lanes[0] : w.x_steps[0],
                  out_stride = lanes > 1 ? w.out_lanes[0] : w.out_steps[0];
    const char *x = w.x[0] + line * w.x_lanes[0];
    char *out = w.out[0] + line * w.out_lanes[0];
    lane_start(&c->reducer, &s, lanes);
    for (int64_t n = c->x->dims[c->dimension], some; n > 0; n -= some) {
        some = min_i64(n, KERN_LANES / lanes);
        const void *values = loader_read(&slot->in, s.scratch[0], x, x_stride, some * lanes);
        c->scan(s.next[0], values, s.acc[0], some, lanes, c->from_end);
        loader_write(&slot->out, out, out_stride, s.next[0], some * lanes);
        x += some * w.x_steps[0];
        out += some * w.out_steps[0];
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
        acc[j] = c->reducer.slots->init.f64;
    }
    int64_t n = c->x->dims[c->dimension], step = c->from_end ? -1 : 1, at = last_step(c);
    for (int64_t i = 0; i < n; i++, at += step)
        for (int j = 0; j < SUMS; j++) {
            acc[j] += (double)from[j][at];
            to[j][at] = (float)acc[j];
        }
}

/* Groups of lines are numbered row-major over the other dimensions, then along `lane`. */
static void run_bundles(void *context, int64_t from, int64_t to, int worker)
{
    const struct cumulative *c = context;
    const int64_t lanes = c->lane < 0 ? 1 : c->x->dims[c->lane], across = ratio_up(lanes, c->max);
    for (int64_t b = from; b < to; b++) {
        int64_t at[VIEW_MAX_RANK] = {0}, first = b % across * c->max, outer = b / across;
        for (int d = c->x->rank - 1; d >= 0; d--)
            if (d != c->dimension && d != c->lane) {
                at[d] = outer % c->x->dims[d];
                outer /= c->x->dims[d];
            }
        if (c->lane >= 0)
            at[c->lane] = first;
        int64_t count = min_i64(lanes - first, c->max);
        if (c->sum_f32)
            sum_lines_f32(c, view_at(c->out, at), view_at(c->x, at), count);
        else if (c->scans_rows)
            scan_lines(c, at, 0, count, worker);
        else if (c->scans_lines || (c->scan && count < FEW_LINES))
            for (int64_t line = 0; line < count; line++)
                scan_lines(c, at, line, 1, worker);
        else
            run_lines(c, at, count, worker);
    }
}

/* ---- panels: lines of two dimensions, packed ---- */

/* The greatest number of lines whose elements, packed with adjacent lanes, stay in a near cache
 * beside their results; 0: too few for it to pay off. */
static int64_t panel_lines(const struct cumulative *c)
{
    enum { BYTES = 256 << 10, LEAST = 32 };
    const int64_t width = (int64_t)dtype_bytes(c->x->dtype), length = c->x->dims[c->dimension];
    const int64_t lines = min_i64(BYTES / (length * width), KERN_LANES);
    return lines < LEAST ? 0 : lines;
}

/* The dimension whose lines join those of `lane` in a panel: the longest other one; or -1. */
static int find_second(const struct view *x, int dimension, int lane)
{
    int second = -1;
    for (int d = 0; d < x->rank; d++)
        if (d != dimension && d != lane && (second < 0 || x->dims[d] > x->dims[second]))
            second = d;
    return second;
}

/* If lanes are short or not adjacent, lines are better copied. */
static void choose_panels(struct cumulative *c)
{
    const struct view *x = c->x;
    const int64_t width = (int64_t)dtype_bytes(x->dtype);
    if (c->n > 1 || c->lane < 0 || c->sum_f32 || c->scans_rows || c->scans_lines ||
        (x->strides[c->lane] == width && x->dims[c->lane] >= LINES))
        return;
    c->second = find_second(x, c->dimension, c->lane);
    c->max = panel_lines(c);
    c->across = min_i64(x->dims[c->lane], c->max);
    if (c->max == 0 || x->dims[c->lane] > c->max)
        c->second = -1;
    const int64_t rows = c->second < 0 ? 1 : min_i64(x->dims[c->second], c->max / c->across);
    c->panel = rows * c->across;
    if (c->panel < SUMS * SUMS || c->max == 0)
        c->panel = 0;
}

/* The lines at index `at` as a view of three dimensions: steps, rows and lanes. */
static struct view lines_at(const struct cumulative *c, const struct view *x, const int64_t *at,
                            int64_t rows, int64_t lanes)
{
    return (struct view){.dtype = x->dtype,
                         .rank = 3,
                         .dims = {x->dims[c->dimension], rows, lanes},
                         .strides = {x->strides[c->dimension],
                                     c->second < 0 ? 0 : x->strides[c->second],
                                     x->strides[c->lane]},
                         .data = view_at(x, at)};
}

static void run_panel(const struct cumulative *c, const int64_t *at, int64_t rows, int64_t lanes,
                      int worker)
{
    static const int64_t origin[VIEW_MAX_RANK];
    const int64_t steps = c->x->dims[c->dimension],
                  bytes = steps * c->panel * (int64_t)dtype_bytes(c->x->dtype);
    char *storage = c->storage + (size_t)(worker + 1) * c->bytes - c->panels;
    const struct view from = lines_at(c, c->x, at, rows, lanes),
                      to = lines_at(c, c->out, at, rows, lanes);
    struct view x, out;
    struct cumulative packed = *c;
    view_dense(&x, from.dtype, 3, from.dims, storage);
    view_dense(&out, to.dtype, 3, to.dims, storage + bytes);
    kern_copy(NULL, &x, &from);
    packed.x = &x;
    packed.out = &out;
    packed.dimension = 0;
    packed.lane = 2; /* of all rows: these follow each other */
    run_lines(&packed, origin, rows * lanes, worker);
    kern_copy(NULL, &to, &out);
}

static void run_panel_part(void *context, int64_t part, int worker)
{
    const struct cumulative *c = context;
    const struct view *x = c->x;
    int64_t at[VIEW_MAX_RANK] = {0};
    const int64_t rows = c->panel / c->across, lanes = x->dims[c->lane],
                  columns = ratio_up(lanes, c->across);
    at[c->lane] = part % columns * c->across;
    part /= columns;
    int64_t some = 1;
    if (c->second >= 0) {
        const int64_t groups = ratio_up(x->dims[c->second], rows);
        at[c->second] = part % groups * rows;
        some = min_i64(rows, x->dims[c->second] - at[c->second]);
        part /= groups;
    }
    for (int d = x->rank - 1; d >= 0; d--)
        if (d != c->dimension && d != c->lane && d != c->second) {
            at[d] = part % x->dims[d];
            part /= x->dims[d];
        }
    run_panel(c, at, some, min_i64(c->across, lanes - at[c->lane]), worker);
}

static void run_panels(struct thread_pool *workers, struct cumulative *c)
{
    const struct view *x = c->x;
    const int64_t rows = c->panel / c->across;
    int64_t parts = ratio_up(x->dims[c->lane], c->across);
    for (int d = 0; d < x->rank; d++)
        if (d == c->second)
            parts *= ratio_up(x->dims[d], rows);
        else if (d != c->dimension && d != c->lane)
            parts *= x->dims[d];
    thread_pool_run(workers, parts, run_panel_part, c);
}

/* ---- all lines ---- */

static void run_all(struct thread_pool *workers, struct cumulative *c)
{
    int64_t lanes = c->lane < 0 ? 1 : c->x->dims[c->lane];
    int64_t length = c->x->dims[c->dimension], lines = view_elements(c->x) / length;
    const bool adjacent =
        c->lane >= 0 && c->x->strides[c->lane] == (int64_t)dtype_bytes(c->x->dtype);
    c->max = c->scans_lines ? 1 : c->sum_f32 ? SUMS : adjacent ? KERN_LANES : LINES;
    thread_pool_share(workers, ratio_up(lanes, c->max) * (lines / lanes),
                      PART / (length * min_i64(lanes, c->max)) + 1, run_bundles, c);
}

/* ---- one long line, in blocks ---- */

enum { GROUP = 32 }; /* blocks that are lanes of one task */
struct blocks {
    const struct cumulative *c;
    int64_t size; /* of a block; the elements after the last one are left */
    bool store;
    /* by operand, then by block: its reduction, then its initial value, in the work type */
    char **carries;
};

/* A walk over blocks from number `first` on. */
static struct lane_walk walk_blocks(const struct blocks *b, int worker, int64_t first)
{
    const int64_t origin[VIEW_MAX_RANK] = {0};
    struct lane_walk w = walk_lines(b->c, worker, origin);
    for (int k = 0; k < b->c->n; k++) {
        w.x_lanes[k] = b->size * w.x_steps[k];
        w.out_lanes[k] = b->size * w.out_steps[k];
        w.x[k] += first * w.x_lanes[k];
        w.out[k] += first * w.out_lanes[k];
    }
    return w;
}

/* The value of a block in the carries of operand k. */
static char *carry_of(const struct blocks *b, int k, int64_t block)
{
    return b->carries[k] + (size_t)block * b->c->reducer.slots[k].width;
}

static void run_blocks(void *context, int64_t part, int worker)
{
    const struct blocks *b = context;
    const struct lane_reducer *f = &b->c->reducer;
    const struct lane_state s = state_of(b->c, worker);
    struct lane_walk w = walk_blocks(b, worker, part * GROUP);
    for (int k = 0; k < f->n; k++) {
        const struct lane_slot *slot = &f->slots[k];
        const void *first = carry_of(b, k, part * GROUP);
        if (!b->store) {
            first = loader_read(&slot->in, s.scratch[k], w.x[k], w.x_lanes[k], GROUP);
            w.x[k] += w.x_steps[k];
        }
        memcpy(s.acc[k], first, GROUP * slot->width);
    }
    run_steps(b->c, &s, &w, b->store ? b->size : b->size - 1, GROUP, b->store);
    for (int k = 0; k < f->n; k++)
        memcpy(carry_of(b, k, part * GROUP), s.acc[k], GROUP * f->slots[k].width);
}

/* Turns the reductions of blocks into initial values. */
static void join_blocks(const struct blocks *b)
{
    const struct lane_reducer *f = &b->c->reducer;
    const struct lane_state s = state_of(b->c, 0);
    lane_start(f, &s, 1);
    for (int64_t block = 0; block < CUMULATIVE_BLOCKS; block++) {
        for (int k = 0; k < f->n; k++) {
            memcpy(s.scratch[k], carry_of(b, k, block), f->slots[k].width);
            memcpy(carry_of(b, k, block), s.acc[k], f->slots[k].width);
        }
        lane_join(f, &s, s.scratch, 1);
    }
}

static void run_tail(const struct blocks *b)
{
    const struct lane_reducer *f = &b->c->reducer;
    const struct lane_state s = state_of(b->c, 0);
    struct lane_walk w = walk_blocks(b, 0, CUMULATIVE_BLOCKS);
    for (int k = 0; k < f->n; k++)
        memcpy(s.acc[k], carry_of(b, k, CUMULATIVE_BLOCKS - 1), f->slots[k].width);
    run_steps(b->c, &s, &w, b->c->x->dims[b->c->dimension] - CUMULATIVE_BLOCKS * b->size, 1, true);
}

int64_t cumulative_block(int64_t n)
{
    enum { UNIT = 64, POWER = 1024 };
    const int64_t size = n / CUMULATIVE_BLOCKS / UNIT * UNIT;
    return size % POWER == 0 ? size - UNIT : size;
}

static bool run_in_blocks(struct thread_pool *workers, const struct cumulative *c)
{
    size_t bytes = (size_t)c->n * sizeof(char *);
    for (int k = 0; k < c->n; k++)
        bytes += CUMULATIVE_BLOCKS * c->reducer.slots[k].width;
    struct blocks b = {.c = c, .carries = mem_alloc(bytes)};
    if (!b.carries)
        return false;
    char *at = (char *)(b.carries + c->n);
    for (int k = 0; k < c->n; k++) {
        b.carries[k] = at;
        at += CUMULATIVE_BLOCKS * c->reducer.slots[k].width;
    }
    b.size = cumulative_block(c->x->dims[c->dimension]);
    thread_pool_run(workers, CUMULATIVE_BLOCKS / GROUP, run_blocks, &b);
    join_blocks(&b);
    b.store = true;
    thread_pool_run(workers, CUMULATIVE_BLOCKS / GROUP, run_blocks, &b);
    run_tail(&b);
    mem_free(b.carries);
    return true;
}

/* ---- the choice ---- */

int window_shared_end(const struct view *out, const struct view *x,
                      const struct kern_window_dim *window, bool *from_end)
{
    int dimension = -1;
    for (int d = 0; d < x->rank; d++) {
        const struct kern_window_dim *w = &window[d];
        if (w->stride != 1 || w->base_dilation != 1 || out->dims[d] != x->dims[d])
            return -1;
        if (w->size == 1 && w->pad_low == 0)
            continue;
        bool from_start = w->pad_low == w->size - 1, to_end = w->pad_low == 0;
        if (dimension >= 0 || w->window_dilation != 1 || w->size < x->dims[d] ||
            (!from_start && !to_end))
            return -1;
        dimension = d;
        *from_end = !from_start;
    }
    return dimension;
}

/* The dimension along which lines are adjacent: one of packed elements, unless it is short, or the
 * longest other one, the last of equally long ones. */
static int find_lane(const struct view *x, int dimension)
{
    enum { FEW = 4 };
    int lane = -1;
    for (int d = x->rank - 1; d >= 0; d--)
        if (d != dimension && x->dims[d] >= FEW && x->strides[d] == (int64_t)dtype_bytes(x->dtype))
            return d;
    for (int d = 0; d < x->rank; d++)
        if (d != dimension && (lane < 0 || x->dims[d] >= x->dims[lane] || x->dims[d] >= LINES))
            lane = d;
    return lane;
}

/* Whether the elements of each step are packed, and the steps of all lines follow each other. */
static bool has_packed_rows(const struct cumulative *c, const struct view *v)
{
    const int64_t width = (int64_t)dtype_bytes(v->dtype);
    return v->strides[c->lane] == width && v->strides[c->dimension] == v->dims[c->lane] * width;
}

static bool has_packed_lines(const struct cumulative *c, const struct view *v)
{
    return v->strides[c->dimension] == (int64_t)dtype_bytes(v->dtype);
}

static void choose_scan(struct cumulative *c, scan_fn *scan, enum dtype work)
{
    c->scan = scan;
    c->scans_rows = scan && !c->from_end && c->lane >= 0 && c->x->dims[c->lane] <= KERN_LANES / 2 &&
                    has_packed_rows(c, c->x) && has_packed_rows(c, c->out);
    c->scans_lines =
        scan && !dtype_is_float(work) && has_packed_lines(c, c->x) && has_packed_lines(c, c->out);
}

static bool run(struct thread_pool *workers, struct cumulative *c, bool in_blocks)
{
    c->panel = 0;
    if (!in_blocks)
        choose_panels(c);
    c->panels = (size_t)(c->panel * c->x->dims[c->dimension]) *
                (dtype_bytes(c->x->dtype) + dtype_bytes(c->out->dtype));
    c->bytes = c->reducer.bytes + walk_bytes(c->n) + c->panels;
    c->bytes = (c->bytes + 63) & ~(size_t)63;
    c->storage = mem_alloc((size_t)thread_pool_size(workers) * c->bytes);
    if (!c->storage)
        return false;
    bool ok = true;
    if (in_blocks)
        ok = run_in_blocks(workers, c);
    else if (c->panel > 0)
        run_panels(workers, c);
    else
        run_all(workers, c);
    mem_free(c->storage);
    return ok;
}

bool reduce_cumulative(struct thread_pool *workers, int n, const struct view *out,
                       const struct view *x, const void *const *init, const enum dtype *acc,
                       const struct kern_window_dim *window, const struct kern_body *body)
{
    struct cumulative c = {.n = n, .out = out, .x = x};
    c.dimension = window_shared_end(out, x, window, &c.from_end);
    if (c.dimension < 0)
        return false;
    const bool known = n == 1 && kern_combine_opcode(body->combine);
    const enum dtype work = body->combine == KERN_MULTIPLY
                                ? combine_window_type(body->combine, *acc)
                                : combine_work_type(body->combine, *acc);
    const bool any_order = known && combine_order_free(body->combine, *acc, work);
    const int64_t length = x->dims[c.dimension];
    if (c.from_end && !any_order && length < WINDOW_END_FROM)
        return false;
    if (!lane_reducer_init(&c.reducer, n, out, x, init, acc, work, body))
        return false;
    c.reducer.values_first = c.from_end;
    c.lane = find_lane(x, c.dimension);
    c.sum_f32 = known && *acc == DT_F32 && body->combine == KERN_ADD && has_packed_lines(&c, x) &&
                has_packed_lines(&c, out);
    if (known)
        choose_scan(&c, scans[work][body->combine], work);
    /* Scans are faster than blocks, and have the same bits if no combination is rounded. */
    const bool exact =
        !dtype_is_float(work) || body->combine == KERN_MAXIMUM || body->combine == KERN_MINIMUM;
    const bool divisible = !known || (any_order && !(exact && c.scan)) ||
                           (body->combine == KERN_ADD && *acc == DT_F64);
    const bool ok = run(workers, &c, divisible && cumulative_is_long(x, c.dimension));
    lane_reducer_free(&c.reducer);
    return ok;
}
