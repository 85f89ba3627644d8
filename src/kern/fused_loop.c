/*
 * fused_loop.c: how a fused loop runs: its blocks, the parts that threads run, how each array is
 * read and written, and the workspace (no kernel of its own). All of it depends on shapes and
 * strides alone, not on the number of threads.
 */
#include "kern/fused.h"
#include "kern/schedule.h"

enum {
    SHARE = 1 << 15,              /* elements of a part, at most */
    MIN_SHARE = 1 << 11,          /* and at least */
    SHARE_TIME = 10000000,        /* of a part, if that allows it: picoseconds */
    MIN_PARALLEL_TIME = 16000000, /* of a loop that is worth threads */
    FEW_ROWS = 8,                 /* with fewer rows than this, long rows are split */
    MANY_BLOCKS = 4,              /* of a part of a view that is worth a copy of its period */
    FETCH_FROM = 1 << 19          /* bytes of a view that does not fit the nearest caches */
};

/* ---- workspace: per thread a header, tiles of values, results and views (with room for a period
 * more), accumulators of reductions; then accumulators of segments ---- */

static size_t in_lines(size_t bytes) { return (bytes + FUSED_LINE - 1) / FUSED_LINE * FUSED_LINE; }

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
    return in_lines(sizeof(struct fused_scratch)) + tiles_bytes(f, s) +
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

struct fused_scratch *fused_scratch_of(const struct fused_loop *l, int worker)
{
    return (struct fused_scratch *)(void *)(l->scratches + (size_t)worker * l->scratch_bytes);
}

char *fused_tile(const struct fused_loop *l, const struct fused_scratch *s, int k)
{
    return s->tiles + (size_t)k * l->tile_bytes;
}

char *fused_view_tile(const struct fused_loop *l, const struct fused_scratch *s, int k)
{
    return fused_tile(l, s, l->f->tile_count + l->f->result_count) + (size_t)k * l->view_tile_bytes;
}

char *fused_result_tile(const struct fused_loop *l, const struct fused_scratch *s, int k)
{
    return fused_tile(l, s, l->f->tile_count + k);
}

char *fused_segment(const struct fused_loop *l, int reducer, int64_t row, int64_t segment)
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

static void place_views(struct fused_loop *l, const struct view *views, bool *of_rows)
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
static int64_t choose_segment(const struct fused_loop *l)
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

static void choose_parts(struct fused_loop *l)
{
    const struct fused_shape *s = &l->shape;
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
static void init_reducers(struct fused_loop *l, const struct view *views)
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
static bool is_contiguous(const struct fused_loop *l, const struct fused_view *v)
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

/* Whether the contiguous runs of an array are long enough for an op to process each by itself.
 * Where they are not whole vectors, machine code processes the rest of a run as one more vector,
 * except of narrow elements, and tile kernels one by one. */
static bool has_pieces(const struct fused_loop *l, const struct fused_view *v,
                       const struct kern_fused_op *op)
{
    enum { PIECE = 64, BYTES = 128, VECTOR = 16, NARROW = 2 };
    const int64_t line = is_consecutive(&l->shape) ? INT64_MAX : l->shape.block_lanes,
                  run = min_i64(fused_view_run(v), line);
    const int64_t least = max_i64(PIECE, BYTES / v->width);
    const bool in_vectors =
        run % VECTOR == 0 || (op->kind == KERN_FUSED_NATIVE && v->width > NARROW);
    return run >= (in_vectors ? least : 2 * least);
}

/* Whether the lanes of each column are contiguous in a view. */
static bool has_lines(const struct fused_loop *l, const struct fused_view *v)
{
    return l->shape.lanes == 1 || fused_view_run(v) % l->shape.lanes == 0;
}

static bool is_elementwise(const struct kern_fused_op *op)
{
    return !op->rows && (op->kind == KERN_FUSED_NATIVE || op->kind == KERN_FUSED_APPLY);
}

static bool reads_in_pieces(const struct fused_loop *l, int view)
{
    const struct kern_fused *f = l->f;
    const struct fused_view *v = &l->views[view];
    bool ok = true;
    for (int k = 0; k < f->op_count && ok; k++) {
        const struct kern_fused_op *op = &f->ops[k];
        const bool reduces = op->kind == KERN_FUSED_REDUCE && has_lines(l, v) &&
                             !l->reducers[op->reducer_number].down;
        for (int j = 0; j < op->arg_count && ok; j++)
            ok = op->args[j] != view || ((reduces || is_elementwise(op)) && has_pieces(l, v, op));
    }
    return ok;
}

static enum access_mode choose_access_mode(struct fused_loop *l, int k, bool of_rows)
{
    struct fused_view *v = &l->views[k];
    const struct fused_shape *s = &l->shape;
    const int64_t period = l->periods[k] = fused_view_period(v, KERN_TILE, &l->spans[k]);
    const bool whole = l->spans[k] == dims_elements(v->rank, v->dims);
    if (s->by_rows && l->f->single[k])
        return ACCESS_SINGLE;
    if (of_rows)
        return v->rank == 1 && fused_view_run(v) > 1 ? ACCESS_ROWS_IN_PLACE : ACCESS_ROWS_COPIED;
    if (period == 1 && whole)
        return l->f->untiled[k] ? ACCESS_SINGLE : ACCESS_REPEATED;
    if (is_contiguous(l, v))
        return ACCESS_IN_PLACE;
    if (is_consecutive(s) && period > 0 && (whole || l->spans[k] >= MANY_BLOCKS * s->tile))
        return ACCESS_REPEATED;
    if (reads_in_pieces(l, k))
        return ACCESS_IN_PIECES;
    fused_view_use_panels(v, s->tile);
    return v->panel_dim >= 0 ? ACCESS_PANEL : ACCESS_COPIED;
}

/* Whether a result overlaps one of the views. */
static bool in_place(const struct fused_loop *l, int result)
{
    for (int k = 0; k < l->f->view_count; k++)
        if (l->views[k].data == l->results[result].data)
            return true;
    return false;
}

/* Whether the op that makes a result is elementwise. */
static bool writes_in_pieces(const struct fused_loop *l, int result)
{
    for (int k = 0; k < l->f->op_count; k++)
        for (int j = 0; j < l->f->ops[k].out_count; j++)
            if (l->f->ops[k].outs[j].result == result)
                return is_elementwise(&l->f->ops[k]) &&
                       has_pieces(l, &l->placed[result], &l->f->ops[k]);
    return false;
}

static void choose_results(struct fused_loop *l, int64_t elements)
{
    for (int r = 0; r < l->f->result_count; r++) {
        const int64_t width = l->placed[r].width;
        const bool rows = l->f->results[r].rows;
        l->scatters[r] = !rows && elements > 1 && !is_contiguous(l, &l->placed[r]);
        l->in_pieces[r] = l->scatters[r] && writes_in_pieces(l, r);
        l->streams[r] =
            !rows && !l->scatters[r] && elements >= COPY_STREAM_FROM / width && !in_place(l, r);
    }
}

/* Which views are prefetched, and when. */
static void choose_fetches(struct fused_loop *l, int64_t elements)
{
    const struct kern_fused *f = l->f;
    const struct kern_fused_op *last = &f->ops[f->op_count - 1];
    for (int k = 0; k < f->view_count; k++) {
        const bool is_large = elements * l->views[k].width >= FETCH_FROM;
        l->fetches[k] = is_large && l->access_modes[k] == ACCESS_IN_PIECES &&
                        l->views[k].rank > 1 && l->views[k].strides[0] != 0;
        l->fetches_next[k] = is_large && l->access_modes[k] == ACCESS_IN_PLACE;
    }
    l->fetcher = f->whole_rows && l->shape.by_rows && last->of_row ? last : NULL;
}

void fused_loop_init(struct fused_loop *l, const struct kern_fused *f, const struct view *results,
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
    l->segment_columns = choose_segment(l);
    l->segments = ratio_up(l->shape.columns, l->segment_columns);
    l->any_panel = false;
    for (int k = 0; k < f->view_count; k++) {
        l->access_modes[k] = choose_access_mode(l, k, of_rows[k]);
        l->any_panel |= l->access_modes[k] == ACCESS_PANEL;
    }
    choose_fetches(l, elements);
    choose_parts(l);
    choose_results(l, elements);
    l->tile_bytes = tile_bytes(f, &l->shape);
    l->view_tile_bytes = view_tile_bytes(f, &l->shape);
    l->scratch_bytes = scratch_bytes(f, &l->shape);
}

void fused_divide_workspace(struct fused_loop *l, int worker_count, char *workspace)
{
    const struct kern_fused *f = l->f;
    const size_t bytes = accumulator_bytes(&l->shape);
    l->scratches = workspace;
    l->accumulators = l->scratches + (size_t)worker_count * l->scratch_bytes;
    for (int m = 0; m < worker_count; m++) {
        struct fused_scratch *s = fused_scratch_of(l, m);
        s->ready = false;
        s->tiles = (char *)s + in_lines(sizeof *s);
        char *accumulators = s->tiles + tiles_bytes(f, &l->shape);
        for (int k = 0; k < f->reducer_count; k++, accumulators += 2 * bytes)
            s->accumulators[k] = (struct fused_accumulators){accumulators, accumulators + bytes, 0};
    }
}

/* Whether a loop takes long enough for several threads. */
bool fused_is_shared(const struct kern_fused *f, int64_t elements)
{
    return elements >= MIN_PARALLEL_TIME / f->cost;
}

struct kern_fused_schedule kern_fused_schedule(const struct kern_fused *f)
{
    struct fused_shape s;
    const int64_t elements = dims_elements(f->rank, f->dims);
    fused_shape_init(&s, f, elements);
    return (struct kern_fused_schedule){.loop = {s.rows, s.columns, s.lanes},
                                        .block = {s.block_rows, s.block_columns, s.block_lanes},
                                        .picoseconds = elements * f->cost,
                                        .shared = fused_is_shared(f, elements)};
}
