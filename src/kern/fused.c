/*
 * fused.c: runs several tile kernels, and reductions of rows, in one pass over their operands. (It
 * has no kernel of its own.) Each element is computed by the same kernels in the same order as with
 * one pass per kernel, so the bits are the same.
 *
 * The loop runs block by block: a block is several rows, or a piece of one, with about as many
 * elements as a tile. Where elements depend on a reduction of their row (the maximum that a softmax
 * subtracts), a block consists of whole rows, which stay in the caches from op to op. Views that
 * are not packed along a block are gathered into tiles; repeated views are gathered once per
 * thread. The thread pool distributes the blocks, in parts that depend on the shape alone. Rows
 * that are reduced in several blocks (reducer.h) are split into these.
 */
#include "kern/fused.h"

enum {
    /* elements of a tile, where rows are reduced; more if a longer row must be whole */
    REDUCTION_TILE = 4 * KERN_TILE,
    SHARE = 1 << 15,             /* elements of a part */
    MIN_PARALLEL_WORK = 1 << 19, /* elements, times the work per element */
    FEW_ROWS = 8,                /* with fewer rows than this, long rows are split */
    FETCH_FROM = 1 << 19,        /* bytes of a view that does not fit the nearest caches */
    FAR_APART = 64,              /* bytes */
    PANEL_ROWS = 16,             /* rows whose elements in one column share a cache line */
    PANEL_BYTES = 1 << 20        /* maximum size of a panel */
};

/* Access modes: how the elements of a view get to the ops. */
enum access_mode {
    ACCESS_IN_PLACE,
    ACCESS_CONSTANT, /* loop-invariant: all blocks read the same elements, which are in the view's
                        tile */
    ACCESS_GATHERED,
    ACCESS_PANEL,         /* elements along a row are far apart: several rows are copied at once */
    ACCESS_ROWS_IN_PLACE, /* a row value */
    ACCESS_ROWS_GATHERED
};

struct loop {
    const struct kern_fused *f;
    const struct view *results, *views;
    struct nest outer, inner; /* of the views: starts of rows, and positions within a row */
    enum access_mode access_modes[KERN_FUSED_VIEWS];
    bool fetches[KERN_FUSED_VIEWS]; /* a large view that is read sequentially: prefetched */
    bool streams[KERN_FUSED_RESULTS];
    /* a large result whose cache lines are prefetched for writing */
    bool claims[KERN_FUSED_RESULTS];
    bool any_gathered, any_panel;
    int64_t rows, columns;
    int64_t block_rows, block_columns; /* one of them is 1, or all columns */
    int64_t part_rows;                 /* rows of a task; 1 where rows are split */
    int64_t segments, segment_columns; /* per row */
    size_t tile_bytes, scratch_bytes;
    char *scratches;
    char *accumulators; /* accumulators of the segments */
    struct fused_reducer reducers[KERN_FUSED_REDUCERS];
};

/* Per-thread workspace. */
struct worker_scratch {
    bool ready; /* loop-invariant ops are done */
    char *tiles;
    struct fused_accumulators accumulators[KERN_FUSED_REDUCERS];
    char *panels[KERN_FUSED_VIEWS];
};

struct block {
    int64_t row, column, rows, columns;
    bool last; /* of its rows */
};

/* ---- workspace: per thread a header, tiles of values, views and results, accumulators of
 * reductions; then accumulators of segments ---- */

enum { LINE = 64 };

static size_t in_lines(size_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

static void sizes(const struct kern_fused *f, int64_t *rows, int64_t *columns)
{
    *rows = dims_elements(f->row_rank, f->dims);
    *columns = dims_elements(f->rank - f->row_rank, f->dims + f->row_rank);
}

/* Where rows are short, reductions are many ops on few elements: longer blocks are better. */
static int64_t full_tile(const struct kern_fused *f)
{
    return f->reducer_count > 0 ? REDUCTION_TILE : KERN_TILE;
}

static int64_t tile_elements(const struct kern_fused *f)
{
    int64_t rows, columns;
    sizes(f, &rows, &columns);
    const int64_t max = f->whole_rows && columns > full_tile(f) ? columns : full_tile(f);
    return rows < max && columns < max && rows * columns < max ? rows * columns : max;
}

static size_t tile_bytes(const struct kern_fused *f)
{
    return in_lines((size_t)tile_elements(f) * f->width);
}

/* For the accumulators of a reduction: there are no more rows than elements, nor than elements in a
 * tile. */
static size_t accumulator_bytes(const struct kern_fused *f)
{
    const int64_t n = tile_elements(f);
    return (size_t)(n < KERN_TILE ? n : KERN_TILE) * sizeof(union kern_element);
}

static size_t scratch_bytes(const struct kern_fused *f)
{
    return in_lines(sizeof(struct worker_scratch)) +
           (size_t)(f->tile_count + f->view_count + f->result_count) * tile_bytes(f) +
           (size_t)f->reducer_count * 2 * accumulator_bytes(f);
}

/* Of rows that may be split: a segment has at least a tile. */
static size_t most_segments(const struct kern_fused *f)
{
    int64_t rows, columns;
    sizes(f, &rows, &columns);
    return f->reducer_count == 0 || f->whole_rows || rows >= FEW_ROWS
               ? 0
               : (size_t)(rows * ratio_up(columns, KERN_TILE));
}

size_t kern_fused_workspace(const struct kern_fused *f, int worker_count)
{
    return (size_t)worker_count * scratch_bytes(f) +
           (size_t)f->reducer_count * most_segments(f) * sizeof(union kern_element);
}

static struct worker_scratch *scratch_of(const struct loop *l, int worker)
{
    return (struct worker_scratch *)(void *)(l->scratches + (size_t)worker * l->scratch_bytes);
}

static char *tile(const struct loop *l, const struct worker_scratch *s, int k)
{
    return s->tiles + (size_t)k * l->tile_bytes;
}

static char *view_tile(const struct loop *l, const struct worker_scratch *s, int k)
{
    return tile(l, s, l->f->tile_count + k);
}

static char *result_tile(const struct loop *l, const struct worker_scratch *s, int k)
{
    return tile(l, s, l->f->tile_count + l->f->view_count + k);
}

static char *segment_accumulator(const struct loop *l, int reducer, int64_t row, int64_t segment)
{
    return l->accumulators +
           (size_t)((reducer * l->rows + row) * l->segments + segment) * sizeof(union kern_element);
}

/* ---- the shape of the loop ---- */

/* The strides of a view along the loop's dimensions; returns its number of dimensions. */
static int lay_along(const struct kern_fused *f, const struct view *v, int64_t *strides)
{
    int rank = 0;
    for (int d = 0; d < v->rank; d++)
        if (v->dims[d] != 1)
            strides[rank++] = v->strides[d];
    for (int d = rank; d < f->rank; d++)
        strides[d] = 0;
    return rank;
}

static void make_nests(struct loop *l, bool *of_rows)
{
    const struct kern_fused *f = l->f;
    int64_t strides[KERN_FUSED_VIEWS][VIEW_MAX_RANK];
    nest_init(&l->outer, f->view_count);
    nest_init(&l->inner, f->view_count);
    for (int k = 0; k < f->view_count; k++) {
        const int rank = lay_along(f, &l->views[k], strides[k]);
        of_rows[k] = rank == f->row_rank && rank < f->rank && rank > 0;
    }
    for (int d = 0; d < f->rank; d++) {
        int64_t along[NEST_MAX_VIEWS];
        for (int k = 0; k < f->view_count; k++)
            along[k] = strides[k][d];
        nest_add(d < f->row_rank ? &l->outer : &l->inner, f->dims[d], along);
    }
    nest_merge(&l->outer);
    nest_merge(&l->inner);
    if (f->row_rank == f->rank &&
        l->outer.rank > 0) { /* rows are not needed: use the longest runs */
        struct nest *all = &l->outer;
        int64_t along[NEST_MAX_VIEWS];
        for (int k = 0; k < f->view_count; k++)
            along[k] = all->strides[k][all->rank - 1];
        nest_add(&l->inner, all->dims[all->rank - 1], along);
        all->rank--;
    }
    l->rows = nest_points(&l->outer);
    l->columns = nest_points(&l->inner);
}

/* Rows of a panel: several blocks. */
static int64_t panel_rows(const struct loop *l) { return PANEL_ROWS * l->block_rows; }

/* Columns of a segment. Reductions have blocks of their own, and all of them must agree. */
static int64_t choose_segment(const struct loop *l)
{
    const struct kern_fused *f = l->f;
    if (f->whole_rows || (f->reducer_count > 0 && l->rows >= FEW_ROWS))
        return l->columns;
    if (f->reducer_count == 0)
        return l->columns < 2 * SHARE ? l->columns : round_up(SHARE, l->block_columns);
    for (int k = 1; k < f->reducer_count; k++)
        if (l->reducers[k].block != l->reducers[0].block)
            return l->columns;
    return l->reducers[0].block;
}

static void choose_blocks(struct loop *l)
{
    const struct kern_fused *f = l->f;
    const int64_t tile = full_tile(f);
    l->block_columns = f->whole_rows ? l->columns : min_i64(l->columns, tile);
    l->block_rows = l->columns < tile ? min_i64(tile / l->columns, l->rows) : 1;
    l->segment_columns = choose_segment(l);
    l->segments = ratio_up(l->columns, l->segment_columns);
    l->part_rows = l->segments > 1 ? 1 : round_up(ratio_up(SHARE, l->columns), l->block_rows);
}

/* The initial values of reductions come from outside, so they are available before the loop. */
static void init_reducers(struct loop *l)
{
    const struct kern_fused *f = l->f;
    for (int k = 0; k < f->op_count && f->reducer_count > 0; k++) {
        const struct kern_fused_op *op = &f->ops[k];
        if (op->kind == KERN_FUSED_REDUCE)
            fused_reducer_init(&l->reducers[op->reducer_number], op->reducer,
                               l->views[op->args[1]].data, l->rows, l->columns);
    }
}

static bool is_zero(const struct nest *n, int k)
{
    for (int d = 0; d < n->rank; d++)
        if (n->strides[k][d] != 0)
            return false;
    return true;
}

/* Whether the points of a nest are contiguous. */
static bool is_packed(const struct nest *n, int k, size_t width)
{
    return n->rank == 0 || (n->rank == 1 && n->strides[k][0] == (int64_t)width);
}

static bool is_worth_a_panel(const struct loop *l, int k, size_t width)
{
    const struct nest *n = &l->inner;
    const int64_t stride = n->rank > 0 ? n->strides[k][n->rank - 1] : 0;
    return (stride >= FAR_APART || stride <= -FAR_APART) && l->rows >= PANEL_ROWS &&
           l->segments == 1 && l->columns >= PANEL_ROWS &&
           panel_rows(l) * l->columns * (int64_t)width <= PANEL_BYTES;
}

static enum access_mode choose_access_mode(const struct loop *l, int k, bool of_rows)
{
    const size_t width = dtype_bytes(l->views[k].dtype);
    if (of_rows)
        return is_packed(&l->outer, k, width) ? ACCESS_ROWS_IN_PLACE : ACCESS_ROWS_GATHERED;
    const bool same_rows = is_zero(&l->outer, k), packed = is_packed(&l->inner, k, width);
    if (same_rows && is_zero(&l->inner, k))
        return ACCESS_CONSTANT;
    if (packed && (l->block_rows == 1 || is_packed(&l->outer, k, (size_t)l->columns * width)))
        return ACCESS_IN_PLACE;
    if (same_rows && l->block_columns == l->columns)
        return ACCESS_CONSTANT;
    return is_worth_a_panel(l, k, width) ? ACCESS_PANEL : ACCESS_GATHERED;
}

/* Whether a result overlaps one of the views. */
static bool in_place(const struct loop *l, int result)
{
    for (int k = 0; k < l->f->view_count; k++)
        if (l->views[k].data == l->results[result].data)
            return true;
    return false;
}

/* A reduction alone runs sequentially as fast as the processor can prefetch; with several ops it
 * does not. */
static bool only_reduces(const struct kern_fused *f)
{
    for (int k = 0; k < f->op_count && f->reducer_count == 1; k++)
        if (!f->ops[k].rows) /* makes elements, not row values */
            return false;
    return f->reducer_count == 1;
}

static void loop_init(struct loop *l, const struct kern_fused *f, const struct view *results,
                      const struct view *views)
{
    bool of_rows[KERN_FUSED_VIEWS];
    l->f = f;
    l->results = results;
    l->views = views;
    make_nests(l, of_rows);
    if (l->rows * l->columns == 0)
        return;
    init_reducers(l);
    choose_blocks(l);
    l->any_gathered = l->any_panel = false;
    const bool fetches = !only_reduces(f);
    for (int k = 0; k < f->view_count; k++) {
        l->access_modes[k] = choose_access_mode(l, k, of_rows[k]);
        l->fetches[k] = fetches && l->access_modes[k] == ACCESS_IN_PLACE &&
                        (l->outer.rank == 0 || !is_zero(&l->outer, k)) &&
                        l->rows * l->columns * (int64_t)dtype_bytes(views[k].dtype) >= FETCH_FROM;
        l->any_panel |= l->access_modes[k] == ACCESS_PANEL;
        l->any_gathered |=
            l->access_modes[k] == ACCESS_GATHERED || l->access_modes[k] == ACCESS_ROWS_GATHERED;
    }
    if (l->any_panel)
        l->part_rows = round_up(l->part_rows, panel_rows(l));
    for (int r = 0; r < f->result_count; r++) {
        const size_t width = f->results[r].width;
        l->streams[r] = !f->results[r].rows &&
                        l->rows * l->columns >= COPY_STREAM_FROM / (int64_t)width &&
                        !in_place(l, r);
        l->claims[r] = !l->streams[r] && !f->results[r].rows && !in_place(l, r) &&
                       l->rows * l->columns >= FETCH_FROM / (int64_t)width;
    }
    l->tile_bytes = tile_bytes(f);
    l->scratch_bytes = scratch_bytes(f);
}

/* ---- rendezvous of views ---- */

#define FILL(W)                                                                                    \
    KERN_CLONES static void fill_##W(W *out, W x, int64_t n)                                       \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = x;                                                                            \
    }
FILL(kern_w1)
FILL(kern_w2)
FILL(kern_w4)
FILL(kern_w8)
#undef FILL

/* Fills n elements with one. */
static void fill(void *out, const void *x, size_t width, int64_t n)
{
    switch (width) {
    case 1: fill_kern_w1(out, *(const kern_w1 *)x, n); break;
    case 2: fill_kern_w2(out, *(const kern_w2 *)x, n); break;
    case 4: fill_kern_w4(out, *(const kern_w4 *)x, n); break;
    case 8: fill_kern_w8(out, *(const kern_w8 *)x, n); break;
    default: kern_pack(out, x, 0, width, n); break;
    }
}

/* Gathers columns of a row that starts at `from`. */
static void gather_row(const struct loop *l, int k, char *to, const char *from, int64_t column,
                       int64_t count)
{
    const struct nest *n = &l->inner;
    const size_t width = dtype_bytes(l->views[k].dtype);
    const int last = n->rank - 1;
    if (last < 0) {
        memcpy(to, from, width);
        return;
    }
    const int64_t stride = n->strides[k][last];
    for (int64_t done = 0; done < count;) {
        int64_t rest = column + done;
        const int64_t at = rest % n->dims[last], some = min_i64(n->dims[last] - at, count - done);
        const char *run = from + at * stride;
        rest /= n->dims[last];
        for (int d = last - 1; d >= 0; rest /= n->dims[d--])
            run += rest % n->dims[d] * n->strides[k][d];
        if (stride == 0)
            fill(to + (size_t)done * width, run, width, some);
        else
            kern_pack(to + (size_t)done * width, run, stride, width, some);
        done += some;
    }
}

static void gather_once(const struct loop *l, const struct worker_scratch *s, int k)
{
    const size_t width = dtype_bytes(l->views[k].dtype), row = (size_t)l->block_columns * width;
    char *to = view_tile(l, s, k);
    if (is_zero(&l->inner, k)) {
        fill(to, l->views[k].data, width, l->block_rows * l->block_columns);
        return;
    }
    gather_row(l, k, to, l->views[k].data, 0, l->columns);
    for (int64_t r = 1; r < l->block_rows; r++)
        memcpy(to + (size_t)r * row, to, row);
}

/* Moves to the start of a row. */
static void walk_to(struct nest_walk *w, const struct loop *l, int64_t row)
{
    char *at[NEST_MAX_VIEWS];
    for (int k = 0; k < l->f->view_count; k++)
        at[k] = l->views[k].data;
    nest_start(w, &l->outer, l->outer.rank, at);
    for (int d = l->outer.rank - 1; d >= 0; row /= l->outer.dims[d--]) {
        w->index[d] = row % l->outer.dims[d];
        for (int k = 0; k < l->f->view_count; k++)
            w->at[k] += w->index[d] * l->outer.strides[k][d];
    }
}

static bool has_panel(const struct loop *l, const struct worker_scratch *s, int k)
{
    return l->access_modes[k] == ACCESS_PANEL && s->panels[k];
}

static char *panel_at(const struct loop *l, const struct worker_scratch *s, int k,
                      const struct block *b)
{
    const int64_t row = b->row % panel_rows(l);
    return s->panels[k] + (row * l->columns + b->column) * (int64_t)dtype_bytes(l->views[k].dtype);
}

/* Copies evenly spaced rows of a view, starting at `row`, the position of `w`, to the panel. */
static void copy_to_panel(const struct loop *l, const struct worker_scratch *s, int k,
                          const struct nest_walk *w, int64_t row, int64_t rows)
{
    struct view x = {.dtype = l->views[k].dtype, .rank = 1 + l->inner.rank, .data = w->at[k]}, out;
    const int64_t width = (int64_t)dtype_bytes(x.dtype);
    const int outer = l->outer.rank - 1;
    x.dims[0] = rows;
    x.strides[0] = l->outer.strides[k][outer];
    for (int d = 0; d < l->inner.rank; d++) {
        x.dims[1 + d] = l->inner.dims[d];
        x.strides[1 + d] = l->inner.strides[k][d];
    }
    view_dense(&out, x.dtype, x.rank, x.dims,
               s->panels[k] + row % panel_rows(l) * l->columns * width);
    kern_copy(NULL, &out, &x);
}

static void fill_panels(const struct loop *l, const struct worker_scratch *s, int64_t row,
                        int64_t end)
{
    const int64_t evenly = l->outer.dims[l->outer.rank - 1];
    for (int64_t next; row < end; row = next) {
        struct nest_walk w;
        walk_to(&w, l, row);
        next = min_i64(end, row - row % evenly + evenly);
        for (int k = 0; k < l->f->view_count; k++)
            if (has_panel(l, s, k))
                copy_to_panel(l, s, k, &w, row, next - row);
    }
}

/* Prefetches the next block, which usually follows in memory, while the ops process this one. */
static void fetch_next(const char *at, int64_t bytes)
{
    for (int64_t k = 0; k < bytes; k += LINE)
        __builtin_prefetch(at + bytes + k, 0, 2);
}

/* Prefetches the cache lines of a result for writing, before its ops run. */
static void claim(const char *at, int64_t bytes)
{
    for (int64_t k = 0; k < bytes; k += LINE)
        __builtin_prefetch(at + k, 1, 2);
}

/* Gathers the views for a block whose rows start at the position of `w`, and moves `w` past
 * them. */
static void gather(const struct loop *l, const struct worker_scratch *s, const struct block *b,
                   struct nest_walk *w, char **at)
{
    const struct kern_fused *f = l->f;
    for (int k = 0; k < f->view_count; k++) {
        const size_t width = dtype_bytes(l->views[k].dtype);
        at[k] = l->access_modes[k] == ACCESS_IN_PLACE        ? w->at[k] + b->column * (int64_t)width
                : l->access_modes[k] == ACCESS_ROWS_IN_PLACE ? w->at[k]
                : has_panel(l, s, k)                         ? panel_at(l, s, k, b)
                                                             : view_tile(l, s, k);
        if (l->fetches[k])
            fetch_next(at[k], b->rows * b->columns * (int64_t)width);
    }
    const bool stays =
        b->column + b->columns < l->columns; /* the next block belongs to the same row */
    for (int64_t r = 0; r < b->rows; r++) {
        for (int k = 0; k < f->view_count && (l->any_gathered || l->any_panel); k++) {
            const size_t width = dtype_bytes(l->views[k].dtype);
            char *to = view_tile(l, s, k);
            if (l->access_modes[k] == ACCESS_GATHERED ||
                (l->access_modes[k] == ACCESS_PANEL && !s->panels[k]))
                gather_row(l, k, to + (size_t)(r * b->columns) * width, w->at[k], b->column,
                           b->columns);
            else if (l->access_modes[k] == ACCESS_ROWS_GATHERED)
                memcpy(to + (size_t)r * width, w->at[k], width);
        }
        if (!stays)
            nest_step(w);
    }
}

/* ---- ops ---- */

struct run {
    const struct loop *l;
    struct worker_scratch *s;
    char *at[KERN_FUSED_VIEWS + KERN_FUSED_OPS +
             KERN_FUSED_RESULTS]; /* addresses of views, tiles and results */
    struct block b;
};

/* The address of a result's elements of this block. */
static char *result_at(const struct run *r, int result)
{
    const struct kern_fused_result *x = &r->l->f->results[result];
    const int64_t element = x->rows ? r->b.row : r->b.row * r->l->columns + r->b.column;
    return r->l->results[result].data + element * (int64_t)x->width;
}

static void start_run(struct run *r, const struct loop *l, struct worker_scratch *s)
{
    r->l = l;
    r->s = s;
    for (int t = 0; t < l->f->tile_count; t++)
        r->at[l->f->view_count + t] = tile(l, s, t);
}

static void place_results(struct run *r)
{
    const struct kern_fused *f = r->l->f;
    for (int k = 0; k < f->result_count; k++) {
        char *at = r->l->streams[k] ? result_tile(r->l, r->s, k) : result_at(r, k);
        r->at[f->view_count + f->tile_count + k] = at;
        if (r->l->claims[k])
            claim(at, r->b.rows * r->b.columns * (int64_t)f->results[k].width);
    }
}

static void repeat(const struct run *r, const struct kern_fused_op *op, char *out)
{
    const char *x = r->at[op->args[0]];
    const size_t width = op->outs->width;
    for (int64_t k = 0; k < r->b.rows; k++)
        fill(out + (size_t)(k * r->b.columns) * width, x + (size_t)k * width, width, r->b.columns);
}

static void reducer(const struct run *r, const struct kern_fused_op *op, char *out)
{
    const struct fused_reducer *f = &r->l->reducers[op->reducer_number];
    const struct fused_accumulators *c = &r->s->accumulators[op->reducer_number];
    fused_reducer_rows(f, c, r->at[op->args[0]], r->b.rows, r->b.column, r->b.columns);
    if (r->b.last)
        fused_reducer_finish(f, c, out, r->b.rows, r->l->columns);
}

/* Combines elements with single elements of their rows; operands have the width of the result. */
static void apply_by_row(const struct run *r, const struct kern_fused_op *op, char *out)
{
    const size_t width = op->outs->width, row = (size_t)r->b.columns * width;
    const void *args[KERN_MAX_ARGS];
    for (int64_t j = 0; j < r->b.rows; j++) {
        for (int k = 0; k < op->arg_count; k++)
            args[k] = r->at[op->args[k]] + (size_t)j * (op->by_row >> k & 1 ? width : row);
        op->fn(out + (size_t)j * row, args, r->b.columns);
    }
}

static void apply(const struct run *r, const struct kern_fused_op *op, char *out, int64_t n)
{
    const void *args[KERN_MAX_ARGS];
    for (int k = 0; k < op->arg_count; k++)
        args[k] = r->at[op->args[k]];
    op->fn(out, args, n);
}

static void run_native(const struct run *r, const struct kern_fused_op *op, int64_t n)
{
    void *tiles[KERN_FUSED_VIEWS + 2 * KERN_FUSED_OPS];
    for (int k = 0; k < op->arg_count; k++)
        tiles[k] = r->at[op->args[k]];
    for (int k = 0; k < op->out_count; k++)
        tiles[op->arg_count + k] = r->at[op->outs[k].value];
    op->native(tiles, n);
}

static void run_op(const struct run *r, const struct kern_fused_op *op)
{
    const int64_t n = op->rows ? r->b.rows : r->b.rows * r->b.columns;
    char *out = r->at[op->outs->value];
    switch ((enum kern_fused_kind)op->kind) {
    case KERN_FUSED_APPLY: op->by_row ? apply_by_row(r, op, out) : apply(r, op, out, n); break;
    case KERN_FUSED_REPEAT: repeat(r, op, out); break;
    case KERN_FUSED_REDUCE: reducer(r, op, out); break;
    case KERN_FUSED_NATIVE: run_native(r, op, n); break;
    }
    for (int k = 0; k < op->out_count; k++) {
        const struct kern_fused_out *o = &op->outs[k];
        if (o->result >= 0 && r->l->streams[o->result])
            copy_stream(result_at(r, o->result), r->at[o->value], n * o->width);
    }
}

static void run_block(struct run *r)
{
    const struct kern_fused *f = r->l->f;
    const struct kern_fused_op *end = f->ops + f->op_count;
    place_results(r);
    for (const struct kern_fused_op *op = f->ops; op < end; op++)
        if (!op->invariant && (r->b.last || !op->late))
            run_op(r, op);
}

static void make_ready(const struct loop *l, struct worker_scratch *s)
{
    const struct kern_fused *f = l->f;
    struct run r;
    start_run(&r, l, s);
    r.b = (struct block){.rows = l->block_rows, .columns = l->block_columns};
    s->ready = true;
    for (int k = 0; k < f->view_count; k++) {
        r.at[k] = view_tile(l, s, k);
        s->panels[k] = NULL;
        if (l->access_modes[k] == ACCESS_CONSTANT)
            gather_once(l, s, k);
        if (l->access_modes[k] == ACCESS_PANEL) /* fallback without memory: gather */
            s->panels[k] =
                mem_alloc((size_t)(panel_rows(l) * l->columns) * dtype_bytes(l->views[k].dtype));
    }
    for (int k = 0; k < f->op_count; k++)
        if (f->ops[k].invariant)
            run_op(&r, &f->ops[k]);
}

/* ---- parts ---- */

static void keep_segment(const struct loop *l, const struct worker_scratch *s, int64_t row,
                         int64_t segment)
{
    for (int k = 0; k < l->f->reducer_count; k++)
        memcpy(segment_accumulator(l, k, row, segment), s->accumulators[k].last,
               l->reducers[k].reducer.width);
}

static void run_part(void *context, int64_t part, int worker)
{
    const struct loop *l = context;
    struct worker_scratch *s = scratch_of(l, worker);
    struct run r;
    struct nest_walk w;
    if (!s->ready)
        make_ready(l, s);
    const bool cut = l->segments > 1;
    const int64_t segment = cut ? part % l->segments : 0;
    const int64_t first_row = cut ? part / l->segments : part * l->part_rows;
    const int64_t first_column = segment * l->segment_columns;
    const int64_t end_row = min_i64(first_row + l->part_rows, l->rows);
    const int64_t end_column = min_i64(first_column + l->segment_columns, l->columns);
    start_run(&r, l, s);
    for (int k = 0; k < l->f->reducer_count; k++)
        s->accumulators[k].from = first_column;
    walk_to(&w, l, first_row);
    for (r.b.row = first_row; r.b.row < end_row; r.b.row += r.b.rows) {
        r.b.rows = min_i64(l->block_rows, end_row - r.b.row);
        if (l->any_panel && r.b.row % panel_rows(l) == 0)
            fill_panels(l, s, r.b.row, min_i64(r.b.row + panel_rows(l), end_row));
        for (r.b.column = first_column; r.b.column < end_column; r.b.column += r.b.columns) {
            r.b.columns = min_i64(l->block_columns, end_column - r.b.column);
            r.b.last = !cut && r.b.column + r.b.columns == l->columns;
            gather(l, s, &r.b, &w, r.at);
            run_block(&r);
        }
    }
    if (cut)
        keep_segment(l, s, first_row, segment);
    copy_stream_end();
}

/* Combines the results of a row's segments, in order. */
static void join_segments(const struct run *r, const struct kern_fused_op *op, char *out)
{
    const struct loop *l = r->l;
    const struct reducer *f = &l->reducers[op->reducer_number].reducer;
    char *accumulator = segment_accumulator(l, op->reducer_number, r->b.row, 0);
    for (int64_t j = 1; j < l->segments; j++)
        reducer_join(f, accumulator, segment_accumulator(l, op->reducer_number, r->b.row, j), 1);
    reducer_store(f, out, 0, accumulator, 1);
}

/* Computes the row values, after all segments. */
static void finish_rows(const struct loop *l)
{
    struct worker_scratch *s = scratch_of(l, 0);
    struct run r;
    struct nest_walk w;
    if (!s->ready)
        make_ready(l, s);
    walk_to(&w, l, 0);
    start_run(&r, l, s);
    r.b = (struct block){.rows = 1, .column = l->columns, .last = true};
    for (r.b.row = 0; r.b.row < l->rows; r.b.row++) {
        gather(l, s, &r.b, &w, r.at);
        place_results(&r);
        for (int k = 0; k < l->f->op_count; k++) {
            const struct kern_fused_op *op = &l->f->ops[k];
            if (op->kind == KERN_FUSED_REDUCE)
                join_segments(&r, op, r.at[op->outs->value]);
            else if (op->rows && !op->invariant)
                run_op(&r, op);
        }
    }
}

void kern_run_fused(struct thread_pool *workers, const struct kern_fused *f,
                    const struct view *results, const struct view *views, void *workspace)
{
    struct loop l;
    const int worker_count = thread_pool_size(workers);
    loop_init(&l, f, results, views);
    if (l.rows * l.columns == 0)
        return;
    l.scratches = workspace;
    l.accumulators = l.scratches + (size_t)worker_count * l.scratch_bytes;
    for (int m = 0; m < worker_count; m++) {
        struct worker_scratch *s = scratch_of(&l, m);
        s->ready = false;
        s->tiles = (char *)s + in_lines(sizeof *s);
        char *accumulators =
            s->tiles + (size_t)(f->tile_count + f->view_count + f->result_count) * l.tile_bytes;
        for (int k = 0; k < f->reducer_count; k++, accumulators += 2 * accumulator_bytes(f))
            s->accumulators[k] =
                (struct fused_accumulators){accumulators, accumulators + accumulator_bytes(f), 0};
    }
    const int64_t parts = l.segments > 1 ? l.rows * l.segments : ratio_up(l.rows, l.part_rows);
    const bool worth = l.rows * l.columns * (f->op_count + 2) >= MIN_PARALLEL_WORK;
    thread_pool_run(worth ? workers : NULL, parts, run_part, &l);
    if (l.segments > 1 && f->row_rank < f->rank)
        finish_rows(&l);
    for (int m = 0; m < worker_count && l.any_panel; m++)
        for (int k = 0; k < f->view_count && scratch_of(&l, m)->ready; k++)
            mem_free(scratch_of(&l, m)->panels[k]);
}
