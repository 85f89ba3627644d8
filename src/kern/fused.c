/*
 * fused.c: runs several tile kernels, and reductions, in one pass over their operands. (It has no
 * kernel of its own.) Each element is computed by the same kernels in the same order as with one
 * pass per kernel, so the bits are the same.
 *
 * The loop runs block by block: a block has about as many elements as a tile (fused_shape.c). Where
 * elements depend on a reduction of their row (the maximum that a softmax subtracts), a block
 * consists of whole rows, which stay in the caches from op to op. Views that are not packed along a
 * block are copied to tiles; views that repeat themselves are copied once per thread. The thread
 * pool distributes the blocks, in parts that depend on the shape alone. Rows that are reduced in
 * several blocks (reducer.h) are split into these.
 */
#include "kern/fused.h"
#include "kern/fused_view.h"

enum {
    SHARE = 1 << 15,              /* elements of a part, at most */
    MIN_SHARE = 1 << 11,          /* and at least */
    SHARE_TIME = 10000000,        /* of a part, if that allows it: picoseconds */
    MIN_PARALLEL_TIME = 16000000, /* of a loop that is worth threads */
    FEW_ROWS = 8,                 /* with fewer rows than this, long rows are split */
    FETCH_FROM = 1 << 19          /* bytes of a view that does not fit the nearest caches */
};

/* Access modes: how the elements of a view get to the ops. */
enum access_mode {
    ACCESS_IN_PLACE,
    ACCESS_SINGLE,    /* one element, of each row or of all */
    ACCESS_REPEATED,  /* the view repeats itself: its elements are in its tile, from the first on */
    ACCESS_IN_PIECES, /* each op reads the contiguous runs of a block in place, one after another */
    ACCESS_COPIED,
    ACCESS_PANEL, /* elements along a row are far apart: more than one block is copied at once */
    ACCESS_ROWS_IN_PLACE, /* a row value */
    ACCESS_ROWS_COPIED
};

struct loop {
    const struct kern_fused *f;
    struct fused_shape shape;
    const struct view *results;
    enum access_mode access_modes[KERN_FUSED_VIEWS];
    int64_t periods[KERN_FUSED_VIEWS]; /* of repeated views */
    struct fused_view views[KERN_FUSED_VIEWS], placed[KERN_FUSED_RESULTS];
    bool fetches[KERN_FUSED_VIEWS]; /* a large view that is read sequentially: prefetched */
    bool scatters[KERN_FUSED_RESULTS];
    bool in_pieces[KERN_FUSED_RESULTS]; /* scattered, run by run, by the op that makes it */
    bool streams[KERN_FUSED_RESULTS];
    /* a large result whose cache lines are prefetched for writing */
    bool claims[KERN_FUSED_RESULTS];
    bool any_panel;
    int64_t part_rows;                 /* rows of a task; 1 where rows are split */
    int64_t segments, segment_columns; /* per row */
    int64_t lane_tiles;                /* per row; 1 where it is cut into segments */
    size_t tile_bytes, view_tile_bytes, scratch_bytes;
    char *scratches;
    char *accumulators; /* accumulators of the segments */
    struct fused_reducer reducers[KERN_FUSED_REDUCERS];
};

/* Per-thread workspace. */
struct worker_scratch {
    bool ready; /* loop-invariant ops are done */
    char *tiles;
    struct fused_accumulators accumulators[KERN_FUSED_REDUCERS];
    struct fused_place places[KERN_FUSED_VIEWS], result_places[KERN_FUSED_RESULTS];
};

struct block {
    int64_t row, column, lane, rows, columns, lanes;
    bool last; /* of its rows */
};

/* ---- workspace: per thread a header, tiles of values, results and views (with room for a period
 * more), accumulators of reductions; then accumulators of segments ---- */

enum { LINE = 64 };

static size_t in_lines(size_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

static size_t tile_bytes(const struct kern_fused *f, const struct fused_shape *s)
{
    return in_lines((size_t)s->tile * f->width);
}

/* Blocks may start anywhere in the period of a view that repeats itself. */
static size_t view_tile_bytes(const struct kern_fused *f, const struct fused_shape *s)
{
    return tile_bytes(f, s) + in_lines(KERN_TILE * f->width);
}

static size_t tiles_bytes(const struct kern_fused *f, const struct fused_shape *s)
{
    return (size_t)(f->tile_count + f->result_count) * tile_bytes(f, s) +
           (size_t)f->view_count * view_tile_bytes(f, s);
}

static size_t accumulator_bytes(const struct fused_shape *s)
{
    return in_lines((size_t)s->accumulators * sizeof(union kern_element));
}

static size_t scratch_bytes(const struct kern_fused *f, const struct fused_shape *s)
{
    return in_lines(sizeof(struct worker_scratch)) + tiles_bytes(f, s) +
           (size_t)f->reducer_count * 2 * accumulator_bytes(s);
}

/* Of all row values, where rows may be split: a segment has at least a tile. */
static size_t most_segments(const struct kern_fused *f, const struct fused_shape *s)
{
    return f->reducer_count == 0 || f->whole_rows || s->rows >= FEW_ROWS ||
                   s->block_lanes < s->lanes
               ? 0
               : (size_t)(s->rows * s->lanes * ratio_up(s->columns, KERN_TILE));
}

size_t kern_fused_workspace(const struct kern_fused *f, int worker_count)
{
    struct fused_shape s;
    fused_shape_init(&s, f, dims_elements(f->rank, f->dims));
    return s.rows == 0
               ? 0
               : (size_t)worker_count * scratch_bytes(f, &s) +
                     (size_t)f->reducer_count * most_segments(f, &s) * sizeof(union kern_element);
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
    return tile(l, s, l->f->tile_count + l->f->result_count) + (size_t)k * l->view_tile_bytes;
}

static char *result_tile(const struct loop *l, const struct worker_scratch *s, int k)
{
    return tile(l, s, l->f->tile_count + k);
}

static char *segment_accumulators(const struct loop *l, int reducer, int64_t row, int64_t segment)
{
    return l->accumulators +
           (size_t)(((reducer * l->shape.rows + row) * l->segments + segment) * l->shape.lanes) *
               sizeof(union kern_element);
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

/* Elements of the longest contiguous run of all views that have elements of their own. */
static int64_t common_run(const struct kern_fused *f, int64_t strides[][VIEW_MAX_RANK])
{
    int64_t run = 1;
    for (int d = f->rank - 1; d >= 0; d--) {
        run *= f->dims[d];
        for (int k = 0; k < f->view_count && d > 0; k++)
            if (strides[k][d - 1] != strides[k][d] * f->dims[d])
                return run;
    }
    return run;
}

/* Chooses the dimensions, in the order of the loop, that a value has. */
static int choose_dims(const struct kern_fused *f, const int *order, bool of_rows,
                       const int64_t *strides, int64_t *dims, int64_t *chosen)
{
    int logical[VIEW_MAX_RANK], count = 0, rank = 0;
    for (int d = 0; d < f->rank; d++)
        logical[d] = of_rows && f->reduced[d] ? -1 : count++;
    for (int d = 0; d < f->rank; d++) {
        if (logical[order[d]] < 0)
            continue;
        dims[rank] = f->dims[order[d]];
        chosen[rank++] = strides[logical[order[d]]];
    }
    return rank;
}

static void place_views(struct loop *l, const struct view *views, bool *of_rows)
{
    const struct kern_fused *f = l->f;
    int order[VIEW_MAX_RANK];
    int64_t strides[KERN_FUSED_VIEWS][VIEW_MAX_RANK], dims[VIEW_MAX_RANK], chosen[VIEW_MAX_RANK];
    fused_shape_order(f, order);
    for (int k = 0; k < f->view_count; k++) {
        const int rank = lay_along(f, &views[k], strides[k]);
        of_rows[k] = rank == f->row_rank && rank < f->rank && rank > 0;
        const int n = choose_dims(f, order, of_rows[k], strides[k], dims, chosen);
        fused_view_init(&l->views[k], &views[k], n, dims, chosen);
    }
    fused_shape_init(&l->shape, f, f->row_rank == f->rank ? common_run(f, strides) : 1);
    for (int r = 0; r < f->result_count && l->shape.rows > 0; r++) {
        int64_t along[VIEW_MAX_RANK];
        lay_along(f, &l->results[r], along);
        const int n = choose_dims(f, order, f->results[r].rows, along, dims, chosen);
        fused_view_init(&l->placed[r], &l->results[r], n, dims, chosen);
    }
}

/* Elements of a part. */
static int64_t share_of(const struct kern_fused *f)
{
    const int64_t share = SHARE_TIME / f->cost;
    return share > SHARE ? SHARE : share < MIN_SHARE ? MIN_SHARE : share;
}

/* Columns of a segment. Reductions have blocks of their own, and all of them must agree. */
static int64_t choose_segment(const struct loop *l)
{
    const struct kern_fused *f = l->f;
    const struct fused_shape *s = &l->shape;
    if (f->whole_rows || (f->reducer_count > 0 && s->rows >= FEW_ROWS) || s->block_lanes < s->lanes)
        return s->columns;
    if (f->reducer_count == 0)
        return s->columns * s->lanes < 2 * share_of(f)
                   ? s->columns
                   : round_up(ratio_up(share_of(f), s->lanes), s->block_columns);
    for (int k = 1; k < f->reducer_count; k++)
        if (l->reducers[k].block != l->reducers[0].block)
            return s->columns;
    return l->reducers[0].block;
}

static void choose_parts(struct loop *l)
{
    const struct fused_shape *s = &l->shape;
    l->segment_columns = choose_segment(l);
    l->segments = ratio_up(s->columns, l->segment_columns);
    l->lane_tiles = ratio_up(s->lanes, s->block_lanes);
    l->part_rows = l->segments > 1 || l->lane_tiles > 1
                       ? 1
                       : round_up(ratio_up(share_of(l->f), s->columns * s->lanes), s->block_rows);
    for (int k = 0; k < l->f->view_count; k++)
        if (l->access_modes[k] == ACCESS_PANEL && l->part_rows > 1)
            l->part_rows =
                round_up(l->part_rows, ratio_up(l->views[k].panel, s->columns * s->lanes));
}

/* The initial values of reductions come from outside, so they are available before the loop. */
static void init_reducers(struct loop *l, const struct view *views)
{
    const struct kern_fused *f = l->f;
    for (int k = 0; k < f->op_count && f->reducer_count > 0; k++) {
        const struct kern_fused_op *op = &f->ops[k];
        if (op->kind == KERN_FUSED_REDUCE)
            fused_reducer_init(&l->reducers[op->reducer_number], f, op->reducer,
                               views[op->args[1]].data);
    }
}

/* Whether the elements of each block are consecutive. */
static bool is_consecutive(const struct fused_shape *s)
{
    return s->block_lanes == s->lanes || s->block_columns == 1;
}

/* Whether the elements of each block are contiguous in a view. */
static bool is_contiguous(const struct loop *l, const struct fused_view *v)
{
    const struct fused_shape *s = &l->shape;
    const int64_t run = fused_view_run(v), line = s->lanes, row = s->columns * line;
    if (!is_consecutive(s) || run == 1)
        return false;
    if (v->rank == 1)
        return true;
    if (s->block_rows > 1)
        return false;
    if (run % row == 0 || (s->block_columns == 1 && run % line == 0))
        return true;
    const int64_t block = s->block_columns * line;
    return l->segments == 1 && s->block_lanes == line && row % run == 0 && run % block == 0;
}

/* Whether the contiguous runs of an array are long enough for an op to process each by itself. */
static bool has_pieces(const struct loop *l, const struct fused_view *v)
{
    enum { PIECE = 64, VECTOR = 16 };
    const int64_t run = fused_view_run(v);
    return v->rank > 1 && is_consecutive(&l->shape) &&
           run >= (run % VECTOR == 0 ? PIECE : 2 * PIECE);
}

static bool is_elementwise(const struct kern_fused_op *op)
{
    return op->kind == KERN_FUSED_NATIVE ||
           (op->kind == KERN_FUSED_APPLY && op->by_row == 0 && !op->rows);
}

static bool reads_in_pieces(const struct loop *l, int view)
{
    const struct kern_fused *f = l->f;
    bool ok = has_pieces(l, &l->views[view]);
    for (int k = 0; k < f->op_count && ok; k++) {
        const struct kern_fused_op *op = &f->ops[k];
        const bool reduces = op->kind == KERN_FUSED_REDUCE && l->shape.lanes == 1 &&
                             !l->reducers[op->reducer_number].down;
        for (int j = 0; j < op->arg_count && !reduces; j++)
            ok &= op->args[j] != view || is_elementwise(op);
    }
    return ok;
}

static enum access_mode choose_access_mode(struct loop *l, int k, bool of_rows)
{
    struct fused_view *v = &l->views[k];
    const struct fused_shape *s = &l->shape;
    const int64_t period = l->periods[k] = fused_view_period(v);
    if (s->one_row && l->f->single[k])
        return ACCESS_SINGLE;
    if (of_rows)
        return v->rank == 1 && fused_view_run(v) > 1 ? ACCESS_ROWS_IN_PLACE : ACCESS_ROWS_COPIED;
    if (period == 1)
        return l->f->untiled[k] ? ACCESS_SINGLE : ACCESS_REPEATED;
    if (is_contiguous(l, v))
        return ACCESS_IN_PLACE;
    if (is_consecutive(s) && period <= KERN_TILE && v->rank > 1 && v->strides[0] == 0)
        return ACCESS_REPEATED;
    if (reads_in_pieces(l, k))
        return ACCESS_IN_PIECES;
    fused_view_use_panels(v, s->tile);
    return v->panel_dim >= 0 ? ACCESS_PANEL : ACCESS_COPIED;
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

/* Whether the op that makes a result is elementwise. */
static bool writes_in_pieces(const struct loop *l, int result)
{
    bool ok = has_pieces(l, &l->placed[result]);
    for (int k = 0; k < l->f->op_count && ok; k++)
        for (int j = 0; j < l->f->ops[k].out_count; j++)
            ok &= l->f->ops[k].outs[j].result != result || is_elementwise(&l->f->ops[k]);
    return ok;
}

static void choose_results(struct loop *l, int64_t elements)
{
    for (int r = 0; r < l->f->result_count; r++) {
        const int64_t width = l->placed[r].width;
        const bool rows = l->f->results[r].rows, large = elements * width >= FETCH_FROM;
        l->scatters[r] = !rows && elements > 1 && !is_contiguous(l, &l->placed[r]);
        l->in_pieces[r] = l->scatters[r] && writes_in_pieces(l, r);
        l->streams[r] =
            !rows && !l->scatters[r] && elements >= COPY_STREAM_FROM / width && !in_place(l, r);
        l->claims[r] = !rows && !l->scatters[r] && !l->streams[r] && large && !in_place(l, r);
    }
}

static void loop_init(struct loop *l, const struct kern_fused *f, const struct view *results,
                      const struct view *views)
{
    bool of_rows[KERN_FUSED_VIEWS];
    l->f = f;
    l->results = results;
    place_views(l, views, of_rows);
    const int64_t elements = l->shape.rows * l->shape.columns * l->shape.lanes;
    if (elements == 0)
        return;
    init_reducers(l, views);
    l->segments = ratio_up(l->shape.columns, choose_segment(l));
    l->any_panel = false;
    const bool fetches = !only_reduces(f);
    for (int k = 0; k < f->view_count; k++) {
        l->access_modes[k] = choose_access_mode(l, k, of_rows[k]);
        l->fetches[k] = fetches && l->access_modes[k] == ACCESS_IN_PLACE &&
                        l->views[k].strides[0] != 0 && elements * l->views[k].width >= FETCH_FROM;
        l->any_panel |= l->access_modes[k] == ACCESS_PANEL;
    }
    choose_parts(l);
    choose_results(l, elements);
    l->tile_bytes = tile_bytes(f, &l->shape);
    l->view_tile_bytes = view_tile_bytes(f, &l->shape);
    l->scratch_bytes = scratch_bytes(f, &l->shape);
}

/* ---- elements of views and results ---- */

static int64_t elements_of(const struct block *b) { return b->rows * b->columns * b->lanes; }

/* Row values. */
static int64_t values_of(const struct block *b) { return b->rows * b->lanes; }

static int64_t first_value(const struct loop *l, const struct block *b)
{
    return b->row * l->shape.lanes + b->lane;
}

static int64_t first_element(const struct loop *l, const struct block *b)
{
    return (b->row * l->shape.columns + b->column) * l->shape.lanes + b->lane;
}

/* Copies a period, and then as many elements as a block has, so that a block may start anywhere in
 * a period. */
static void copy_repeated(const struct loop *l, struct worker_scratch *s, int k)
{
    const struct fused_view *v = &l->views[k];
    const int64_t period = l->periods[k], count = l->shape.tile + (period > 1 ? period : 0);
    char *to = view_tile(l, s, k);
    if (period == 1) {
        repeat_runs(to, 0, v->data, 0, 1, (size_t)v->width, count);
        return;
    }
    fused_view_read(v, &s->places[k], to, 0, period);
    for (int64_t done = period; done < count; done *= 2)
        memcpy(to + done * v->width, to, (size_t)(min_i64(done, count - done) * v->width));
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

/* Whether the elements of a block are consecutive. */
static bool are_consecutive(const struct loop *l, const struct block *b)
{
    return b->lanes == l->shape.lanes || b->columns == 1;
}

/* Copies the elements of a block, lanes by lanes where these are some of their row. Returns their
 * address. */
static char *copy_block(const struct loop *l, struct worker_scratch *s, int k,
                        const struct block *b)
{
    const struct fused_view *v = &l->views[k];
    const int64_t first = first_element(l, b);
    const bool whole = b->lanes == l->shape.lanes;
    const int64_t count = whole ? 1 : b->columns, n = whole ? elements_of(b) : b->lanes;
    char *to = view_tile(l, s, k),
         *at = are_consecutive(l, b) ? fused_view_in_place(v, &s->places[k], first, elements_of(b))
                                     : NULL;
    for (int64_t j = 0; j < count && !at; j++)
        fused_view_read(v, &s->places[k], to + j * n * v->width, first + j * l->shape.lanes, n);
    return at ? at : to;
}

static char *panel_block(const struct loop *l, struct worker_scratch *s, int k,
                         const struct block *b)
{
    char *to = view_tile(l, s, k);
    if (b->lanes == l->shape.lanes && s->places[k].panel)
        return fused_view_read_panel(&l->views[k], &s->places[k], to, first_element(l, b),
                                     elements_of(b));
    return copy_block(l, s, k, b);
}

/* The address of a view's elements of a block; they are copied there if necessary. */
static char *read_view(const struct loop *l, struct worker_scratch *s, int k, const struct block *b)
{
    const struct fused_view *v = &l->views[k];
    char *to = view_tile(l, s, k);
    switch (l->access_modes[k]) {
    case ACCESS_SINGLE:
    case ACCESS_IN_PLACE: return fused_view_at(v, &s->places[k], first_element(l, b));
    case ACCESS_REPEATED:
        return l->periods[k] > 1 ? to + first_element(l, b) % l->periods[k] * v->width : to;
    case ACCESS_IN_PIECES: return NULL;
    case ACCESS_COPIED: return copy_block(l, s, k, b);
    case ACCESS_PANEL: return panel_block(l, s, k, b);
    case ACCESS_ROWS_IN_PLACE: return v->data + first_value(l, b) * v->width;
    default: fused_view_read(v, &s->places[k], to, first_value(l, b), values_of(b)); return to;
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

/* The address of a result's elements of this block, which are contiguous. */
static char *result_at(const struct run *r, int result)
{
    const struct loop *l = r->l;
    const struct fused_view *v = &l->placed[result];
    if (l->f->results[result].rows)
        return v->data + first_value(l, &r->b) * v->width;
    return fused_view_at(v, &r->s->result_places[result], first_element(l, &r->b));
}

static void start_run(struct run *r, const struct loop *l, struct worker_scratch *s)
{
    r->l = l;
    r->s = s;
    for (int t = 0; t < l->f->tile_count; t++)
        r->at[l->f->view_count + t] = tile(l, s, t);
}

static void read_views(struct run *r)
{
    const struct loop *l = r->l;
    for (int k = 0; k < l->f->view_count; k++) {
        r->at[k] = read_view(l, r->s, k, &r->b);
        if (l->fetches[k])
            fetch_next(r->at[k], elements_of(&r->b) * l->views[k].width);
    }
}

/* The address where the ops store a result. */
static char *place_result(const struct run *r, int k)
{
    const struct loop *l = r->l;
    char *at = NULL;
    if (l->in_pieces[k])
        return NULL;
    if (l->scatters[k] && are_consecutive(l, &r->b))
        at = fused_view_in_place(&l->placed[k], &r->s->result_places[k], first_element(l, &r->b),
                                 elements_of(&r->b));
    else if (!l->scatters[k] && !l->streams[k])
        at = result_at(r, k);
    return at ? at : result_tile(l, r->s, k);
}

static void place_results(struct run *r)
{
    const struct loop *l = r->l;
    for (int k = 0; k < l->f->result_count; k++) {
        char *at = place_result(r, k);
        r->at[l->f->view_count + l->f->tile_count + k] = at;
        if (l->claims[k])
            claim(at, elements_of(&r->b) * l->placed[k].width);
    }
}

static void repeat(const struct run *r, const struct kern_fused_op *op, char *out)
{
    const struct block *b = &r->b;
    const int64_t line = b->lanes * op->outs->width, row = b->columns * line;
    const char *x = r->at[op->args[0]];
    if (b->lanes == 1) {
        repeat_runs(out, row, x, line, b->rows, op->outs->width, b->columns);
        return;
    }
    for (int64_t k = 0; k < b->rows; k++)
        copy_runs(out + k * row, line, x + k * line, 0, b->columns, line);
}

/* Reduces a view that is read in pieces: tile by tile, copied only where a tile has several. */
static void reduce_pieces(const struct run *r, int view, const struct fused_reducer *f,
                          struct fused_accumulators c)
{
    const struct block *b = &r->b;
    const struct fused_view *v = &r->l->views[view];
    struct fused_place *p = &r->s->places[view];
    for (int64_t row = 0; row < b->rows; row++) {
        const int64_t first = first_element(r->l, b) + row * b->columns;
        for (int64_t j = 0; j < b->columns; j += KERN_TILE) {
            const int64_t n = min_i64(KERN_TILE, b->columns - j);
            char *x = fused_view_in_place(v, p, first + j, n);
            if (!x) {
                x = view_tile(r->l, r->s, view);
                fused_view_read(v, p, x, first + j, n);
            }
            fused_reducer_rows(f, &c, x, 1, b->column + j, n, 1);
        }
        c.last += f->reducer.width;
        c.before += f->reducer.width;
    }
}

static void reducer(const struct run *r, const struct kern_fused_op *op, char *out)
{
    const struct block *b = &r->b;
    const struct fused_reducer *f = &r->l->reducers[op->reducer_number];
    const struct fused_accumulators *c = &r->s->accumulators[op->reducer_number];
    const char *x = r->at[op->args[0]];
    if (x)
        fused_reducer_rows(f, c, x, b->rows, b->column, b->columns, b->lanes);
    else
        reduce_pieces(r, op->args[0], f, *c);
    if (b->last)
        fused_reducer_finish(f, c, out, values_of(b), r->l->shape.columns);
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

/* The address of element `done` of a block in a value: a view or a result without address has it in
 * its array, where a run ends after at most *n elements. */
static void *piece_at(const struct run *r, int value, int64_t done, int64_t step, int64_t *n)
{
    const struct loop *l = r->l;
    const int result = value - l->f->view_count - l->f->tile_count;
    const struct fused_view *v = result < 0 ? &l->views[value] : &l->placed[result];
    struct fused_place *p = result < 0 ? &r->s->places[value] : &r->s->result_places[result];
    if (r->at[value])
        return r->at[value] + done * step;
    char *at = fused_view_at(v, p, first_element(l, &r->b) + done);
    *n = min_i64(*n, v->dims[v->rank - 1] - p->index[v->rank - 1]);
    return at;
}

/* An elementwise op on n elements; with `of_row`, on a block of one row. */
static void apply(const struct run *r, const struct kern_fused_op *op, bool of_row, int64_t n)
{
    void *at[KERN_FUSED_VIEWS + 2 * KERN_FUSED_OPS];
    const uint8_t *args = of_row ? op->row_args : op->args;
    for (int64_t done = 0, some; done < n; done += some) {
        some = n - done;
        for (int k = 0; k < op->arg_count; k++)
            at[k] = piece_at(r, args[k], done, of_row ? op->row_steps[k] : op->steps[k], &some);
        for (int k = 0; k < op->out_count; k++)
            at[op->arg_count + k] = piece_at(r, op->outs[k].value, done, op->outs[k].width, &some);
        if (of_row)
            op->of_row(at, some);
        else if (op->kind == KERN_FUSED_NATIVE)
            op->native(at, some);
        else
            op->fn(at[op->arg_count], (const void *const *)at, some);
    }
}

/* Moves a result's elements of this block from its tile to the array. */
static void move_result(const struct run *r, const struct kern_fused_out *o, int64_t n)
{
    const struct loop *l = r->l;
    const char *from = r->at[o->value];
    if (l->streams[o->result])
        copy_stream(result_at(r, o->result), from, n * o->width);
    if (!l->scatters[o->result] || !from || from != result_tile(l, r->s, o->result))
        return;
    const struct fused_view *v = &l->placed[o->result];
    const int64_t first = first_element(l, &r->b);
    const bool whole = r->b.lanes == l->shape.lanes;
    const int64_t count = whole ? 1 : r->b.columns, some = whole ? n : r->b.lanes;
    for (int64_t j = 0; j < count; j++, from += some * v->width)
        fused_view_write(v, &r->s->result_places[o->result], from, first + j * l->shape.lanes,
                         some);
}

static void run_kind(const struct run *r, const struct kern_fused_op *op, char *out, int64_t n)
{
    switch ((enum kern_fused_kind)op->kind) {
    case KERN_FUSED_APPLY: op->by_row ? apply_by_row(r, op, out) : apply(r, op, false, n); break;
    case KERN_FUSED_REPEAT: repeat(r, op, out); break;
    case KERN_FUSED_REDUCE: reducer(r, op, out); break;
    case KERN_FUSED_NATIVE: apply(r, op, false, n); break;
    }
}

static void run_op(const struct run *r, const struct kern_fused_op *op)
{
    const int64_t n = op->rows ? values_of(&r->b) : elements_of(&r->b);
    char *out = r->at[op->outs->value];
    const bool one_row = r->l->shape.one_row;
    if (one_row && op->omitted)
        return;
    if (one_row && op->of_row)
        apply(r, op, true, n);
    else
        run_kind(r, op, out, n);
    for (int k = 0; k < op->out_count; k++)
        if (op->outs[k].result >= 0)
            move_result(r, &op->outs[k], n);
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
    const struct fused_shape *shape = &l->shape;
    struct run r;
    start_run(&r, l, s);
    r.b = (struct block){
        .rows = shape->block_rows, .columns = shape->block_columns, .lanes = shape->block_lanes};
    s->ready = true;
    for (int k = 0; k < f->result_count; k++)
        s->result_places[k].position = -1;
    for (int k = 0; k < f->view_count; k++) {
        struct fused_place *p = &s->places[k];
        r.at[k] = view_tile(l, s, k);
        p->position = -1;
        p->panel = NULL;
        p->panel_count = 0;
        if (l->access_modes[k] == ACCESS_REPEATED)
            copy_repeated(l, s, k);
        if (l->access_modes[k] == ACCESS_PANEL)
            p->panel = mem_alloc((size_t)(l->views[k].panel * l->views[k].width));
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
        memcpy(segment_accumulators(l, k, row, segment), s->accumulators[k].last,
               (size_t)l->shape.lanes * l->reducers[k].reducer.width);
}

/* Rows, some columns of a row, or some lanes of a row. */
struct part {
    int64_t row, end_row, segment, column, end_column, lane, lanes;
};

static struct part part_of(const struct loop *l, int64_t number)
{
    const struct fused_shape *s = &l->shape;
    const int64_t per_row = l->segments > 1 ? l->segments : l->lane_tiles;
    const int64_t within = number % per_row;
    struct part p = {
        .row = number / per_row * l->part_rows, .end_column = s->columns, .lanes = s->lanes};
    p.end_row = min_i64(p.row + l->part_rows, s->rows);
    if (l->segments > 1) {
        p.segment = within;
        p.column = within * l->segment_columns;
        p.end_column = min_i64(p.column + l->segment_columns, s->columns);
    } else if (l->lane_tiles > 1) {
        p.lane = within * s->block_lanes;
        p.lanes = min_i64(s->block_lanes, s->lanes - p.lane);
    }
    return p;
}

static void run_part(void *context, int64_t number, int worker)
{
    const struct loop *l = context;
    const struct fused_shape *shape = &l->shape;
    struct worker_scratch *s = scratch_of(l, worker);
    const struct part p = part_of(l, number);
    const bool cut = l->segments > 1;
    struct run r;
    if (!s->ready)
        make_ready(l, s);
    start_run(&r, l, s);
    for (int k = 0; k < l->f->reducer_count; k++)
        s->accumulators[k].from = p.column;
    r.b.lane = p.lane;
    r.b.lanes = p.lanes;
    for (r.b.row = p.row; r.b.row < p.end_row; r.b.row += r.b.rows) {
        r.b.rows = min_i64(shape->block_rows, p.end_row - r.b.row);
        for (r.b.column = p.column; r.b.column < p.end_column; r.b.column += r.b.columns) {
            r.b.columns = min_i64(shape->block_columns, p.end_column - r.b.column);
            r.b.last = !cut && r.b.column + r.b.columns == shape->columns;
            read_views(&r);
            run_block(&r);
        }
    }
    if (cut)
        keep_segment(l, s, p.row, p.segment);
    copy_stream_end();
}

/* Combines the results of a row's segments, in order. */
static void join_segments(const struct run *r, const struct kern_fused_op *op, char *out)
{
    const struct loop *l = r->l;
    const int64_t lanes = l->shape.lanes;
    const struct fused_reducer *f = &l->reducers[op->reducer_number];
    char *accumulators = segment_accumulators(l, op->reducer_number, r->b.row, 0);
    for (int64_t j = 1; j < l->segments; j++)
        reducer_join(&f->reducer, accumulators,
                     segment_accumulators(l, op->reducer_number, r->b.row, j), lanes);
    const struct fused_accumulators c = {.last = accumulators};
    fused_reducer_finish(f, &c, out, lanes, 0);
}

/* Computes the row values, after all segments. */
static void finish_rows(const struct loop *l)
{
    struct worker_scratch *s = scratch_of(l, 0);
    struct run r;
    if (!s->ready)
        make_ready(l, s);
    start_run(&r, l, s);
    r.b = (struct block){.rows = 1, .lanes = l->shape.lanes, .last = true};
    for (r.b.row = 0; r.b.row < l->shape.rows; r.b.row++) {
        read_views(&r);
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

static void divide_workspace(struct loop *l, int worker_count, char *workspace)
{
    const struct kern_fused *f = l->f;
    const size_t bytes = accumulator_bytes(&l->shape);
    l->scratches = workspace;
    l->accumulators = l->scratches + (size_t)worker_count * l->scratch_bytes;
    for (int m = 0; m < worker_count; m++) {
        struct worker_scratch *s = scratch_of(l, m);
        s->ready = false;
        s->tiles = (char *)s + in_lines(sizeof *s);
        char *accumulators = s->tiles + tiles_bytes(f, &l->shape);
        for (int k = 0; k < f->reducer_count; k++, accumulators += 2 * bytes)
            s->accumulators[k] = (struct fused_accumulators){accumulators, accumulators + bytes, 0};
    }
}

void kern_run_fused(struct thread_pool *workers, const struct kern_fused *f,
                    const struct view *results, const struct view *views, void *workspace)
{
    struct loop l;
    const int worker_count = thread_pool_size(workers);
    loop_init(&l, f, results, views);
    const int64_t rows = l.shape.rows, elements = rows * l.shape.columns * l.shape.lanes;
    if (elements == 0)
        return;
    divide_workspace(&l, worker_count, workspace);
    const int64_t per_row = l.segments > 1 ? l.segments : l.lane_tiles;
    const int64_t parts = per_row > 1 ? rows * per_row : ratio_up(rows, l.part_rows);
    const bool worth = elements >= MIN_PARALLEL_TIME / f->cost;
    thread_pool_run(worth ? workers : NULL, parts, run_part, &l);
    if (l.segments > 1 && f->row_rank < f->rank)
        finish_rows(&l);
    for (int m = 0; m < worker_count && l.any_panel; m++)
        for (int k = 0; k < f->view_count && scratch_of(&l, m)->ready; k++)
            mem_free(scratch_of(&l, m)->places[k].panel);
}
