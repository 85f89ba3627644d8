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

struct block {
    int64_t row, column, lane, rows, columns, lanes;
    bool last; /* of its rows */
};

/* ---- elements of views and results ---- */

static int64_t elements_of(const struct block *b) { return b->rows * b->columns * b->lanes; }

/* Row values. */
static int64_t values_of(const struct block *b) { return b->rows * b->lanes; }

static int64_t first_value(const struct fused_loop *l, const struct block *b)
{
    return b->row * l->shape.lanes + b->lane;
}

static int64_t first_element(const struct fused_loop *l, const struct block *b)
{
    return (b->row * l->shape.columns + b->column) * l->shape.lanes + b->lane;
}

/* Copies a period from element `first` on, and then as many elements as a block has, so that a
 * block may start anywhere in a period. */
static void copy_repeated(const struct fused_loop *l, struct fused_scratch *s, int k, int64_t first)
{
    const struct fused_view *v = &l->views[k];
    const int64_t period = l->periods[k], count = l->shape.tile + (period > 1 ? period : 0);
    char *to = fused_view_tile(l, s, k);
    if (period == 1) {
        repeat_runs(to, 0, fused_view_at(v, &s->places[k], first), 0, 1, (size_t)v->width, count);
        return;
    }
    fused_view_read(v, &s->places[k], to, first, period);
    for (int64_t done = period; done < count; done *= 2)
        memcpy(to + done * v->width, to, (size_t)(min_i64(done, count - done) * v->width));
}

static void fetch_bytes(const char *at, int64_t n)
{
    for (int64_t k = 0; k < n; k += FUSED_LINE)
        __builtin_prefetch(at + k, 0, 2);
}

/* Prefetches a run of a view that is read in pieces, some runs ahead. */
static void fetch_run(const struct fused_view *v, const char *at, int64_t n)
{
    enum { AHEAD = 2 };
    fetch_bytes(at + AHEAD * v->strides[v->rank - 2], n * v->width);
}

/* Whether the elements of a block are consecutive. */
static bool are_consecutive(const struct fused_loop *l, const struct block *b)
{
    return b->lanes == l->shape.lanes || b->columns == 1;
}

/* Copies the elements of a block, lanes by lanes where these are some of their row. Returns their
 * address. */
static char *copy_block(const struct fused_loop *l, struct fused_scratch *s, int k,
                        const struct block *b)
{
    const struct fused_view *v = &l->views[k];
    const int64_t first = first_element(l, b);
    const bool whole = b->lanes == l->shape.lanes;
    const int64_t count = whole ? 1 : b->columns, n = whole ? elements_of(b) : b->lanes;
    char *to = fused_view_tile(l, s, k),
         *at = are_consecutive(l, b) ? fused_view_in_place(v, &s->places[k], first, elements_of(b))
                                     : NULL;
    for (int64_t j = 0; j < count && !at; j++)
        fused_view_read(v, &s->places[k], to + j * n * v->width, first + j * l->shape.lanes, n);
    return at ? at : to;
}

static char *panel_block(const struct fused_loop *l, struct fused_scratch *s, int k,
                         const struct block *b)
{
    char *to = fused_view_tile(l, s, k);
    if (b->lanes == l->shape.lanes && s->places[k].panel)
        return fused_view_read_panel(&l->views[k], &s->places[k], to, first_element(l, b),
                                     elements_of(b));
    return copy_block(l, s, k, b);
}

/* A block of a view, or of the part that is in the tile, that repeats its elements. */
static char *repeated_block(const struct fused_loop *l, struct fused_scratch *s, int k,
                            const struct block *b)
{
    const int64_t first = first_element(l, b), end = first + elements_of(b), span = l->spans[k];
    struct fused_place *p = &s->places[k];
    if (p->part < 0 || first < p->part || end > p->part + span) {
        p->part = first - first % span;
        if (end > p->part + span) {
            p->part = -1;
            return copy_block(l, s, k, b);
        }
        copy_repeated(l, s, k, p->part);
    }
    const int64_t at = l->periods[k] > 1 ? (first - p->part) % l->periods[k] : 0;
    return fused_view_tile(l, s, k) + at * l->views[k].width;
}

/* The address of a view's elements of a block; they are copied there if necessary. */
static char *read_view(const struct fused_loop *l, struct fused_scratch *s, int k,
                       const struct block *b)
{
    const struct fused_view *v = &l->views[k];
    char *to = fused_view_tile(l, s, k);
    switch (l->access_modes[k]) {
    case ACCESS_SINGLE:
    case ACCESS_IN_PLACE: return fused_view_at(v, &s->places[k], first_element(l, b));
    case ACCESS_REPEATED: return repeated_block(l, s, k, b);
    case ACCESS_IN_PIECES: return NULL;
    case ACCESS_COPIED: return copy_block(l, s, k, b);
    case ACCESS_PANEL: return panel_block(l, s, k, b);
    case ACCESS_ROWS_IN_PLACE: return v->data + first_value(l, b) * v->width;
    default: fused_view_read(v, &s->places[k], to, first_value(l, b), values_of(b)); return to;
    }
}

/* ---- ops ---- */

struct run {
    const struct fused_loop *l;
    struct fused_scratch *s;
    char *at[KERN_FUSED_VIEWS + KERN_FUSED_OPS +
             KERN_FUSED_RESULTS]; /* addresses of views, tiles and results */
    struct block b;
};

/* The address of a result's elements of this block, which are contiguous. */
static char *result_at(const struct run *r, int result)
{
    const struct fused_loop *l = r->l;
    const struct fused_view *v = &l->placed[result];
    if (l->f->results[result].rows)
        return v->data + first_value(l, &r->b) * v->width;
    return fused_view_at(v, &r->s->result_places[result], first_element(l, &r->b));
}

static void start_run(struct run *r, const struct fused_loop *l, struct fused_scratch *s)
{
    r->l = l;
    r->s = s;
    for (int t = 0; t < l->f->tile_count; t++)
        r->at[l->f->view_count + t] = fused_tile(l, s, t);
}

static void read_views(struct run *r)
{
    const struct fused_loop *l = r->l;
    for (int k = 0; k < l->f->view_count; k++)
        r->at[k] = read_view(l, r->s, k, &r->b);
}

/* The address where the ops store a result. */
static char *place_result(const struct run *r, int k)
{
    const struct fused_loop *l = r->l;
    char *at = NULL;
    if (l->in_pieces[k])
        return NULL;
    if (l->scatters[k] && are_consecutive(l, &r->b))
        at = fused_view_in_place(&l->placed[k], &r->s->result_places[k], first_element(l, &r->b),
                                 elements_of(&r->b));
    else if (!l->scatters[k] && !l->streams[k])
        at = result_at(r, k);
    return at ? at : fused_result_tile(l, r->s, k);
}

static void place_results(struct run *r)
{
    const struct fused_loop *l = r->l;
    for (int k = 0; k < l->f->result_count; k++)
        r->at[l->f->view_count + l->f->tile_count + k] = place_result(r, k);
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

/* The columns from element `position` on that are at equal distances in a view, whose lanes are
 * contiguous: their number, at most n, and the distance in bytes. */
static int64_t equal_distances(const struct fused_view *v, const struct fused_place *p,
                               int64_t lanes, int64_t n, int64_t *line)
{
    const int d = fused_view_run(v) == lanes && v->rank > 1 ? v->rank - 2 : v->rank - 1;
    *line = d == v->rank - 1 ? lanes * v->width : v->strides[d];
    if (v->rank == 1)
        return n;
    return min_i64(n, d == v->rank - 1 ? (v->dims[d] - p->index[d] + lanes - 1) / lanes
                                       : v->dims[d] - p->index[d]);
}

/* Reduces the columns of one row of a view that is read in pieces: tile by tile, which are copied
 * if they are not contiguous, unless the order is free. */
static void reduce_pieces(const struct run *r, int view, const struct fused_reducer *f,
                          struct fused_accumulators c, int64_t first)
{
    const struct block *b = &r->b;
    const struct fused_view *v = &r->l->views[view];
    struct fused_place *p = &r->s->places[view];
    const int64_t lanes = r->l->shape.lanes;
    const bool tiles = lanes == 1 && f->reducer.order != REDUCE_IN_ANY_ORDER;
    for (int64_t j = 0, n; j < b->columns; j += n) {
        int64_t line = 0;
        n = min_i64(KERN_TILE, b->columns - j);
        char *x = tiles ? fused_view_in_place(v, p, first + j, n)
                        : fused_view_at(v, p, first + j * lanes);
        if (!tiles)
            n = min_i64(equal_distances(v, p, lanes, n, &line),
                        f->block - (b->column + j) % f->block);
        if (!x) {
            x = fused_view_tile(r->l, r->s, view);
            fused_view_read(v, p, x, first + j, n);
        }
        fused_reducer_rows(f, &c, x, 1, b->column + j, n, b->lanes, line);
    }
}

static void reducer(const struct run *r, const struct kern_fused_op *op, char *out)
{
    const struct block *b = &r->b;
    const struct fused_reducer *f = &r->l->reducers[op->reducer_number];
    const struct fused_accumulators *c = &r->s->accumulators[op->reducer_number];
    const char *x = r->at[op->args[0]];
    if (x)
        fused_reducer_rows(f, c, x, b->rows, b->column, b->columns, b->lanes,
                           b->lanes * (int64_t)f->x_width);
    for (int64_t row = 0; row < b->rows && !x; row++) {
        const int64_t at = row * b->lanes * (int64_t)f->reducer.width;
        reduce_pieces(r, op->args[0], f,
                      (struct fused_accumulators){c->last + at, c->before + at, c->from},
                      first_element(r->l, b) + row * b->columns * r->l->shape.lanes);
    }
    if (b->last)
        fused_reducer_finish(f, c, out, values_of(b), r->l->shape.columns);
}

/* Runs of elements of a block that one call of an op can process. They follow each other at equal
 * distances in each of the op's operands and results. */
struct runs {
    int64_t count, n; /* elements of each */
    void *at[KERN_FUSED_VIEWS + 2 * KERN_FUSED_OPS];
    int64_t strides[KERN_FUSED_VIEWS + 2 * KERN_FUSED_OPS];
    const struct fused_view *fetched[KERN_FUSED_VIEWS + 2 * KERN_FUSED_OPS]; /* or NULL */
};

/* A value of an op whose elements may be in an array: a view, or a result without address. */
struct array_place {
    const struct fused_view *view; /* NULL: the elements have an address */
    struct fused_place *place;
};

static struct array_place array_place(const struct run *r, int value)
{
    const struct fused_loop *l = r->l;
    const int result = value - l->f->view_count - l->f->tile_count;
    if (r->at[value])
        return (struct array_place){0};
    return result < 0 ? (struct array_place){&l->views[value], &r->s->places[value]}
                      : (struct array_place){&l->placed[result], &r->s->result_places[result]};
}

/* The number, in the order of the loop, of element `done` of a block. */
static int64_t position_of(const struct run *r, int64_t done)
{
    const int64_t skipped = r->l->shape.lanes - r->b.lanes;
    return first_element(r->l, &r->b) + done +
           (are_consecutive(r->l, &r->b) ? 0 : done / r->b.lanes * skipped);
}

/* Value number k of an op on runs from element `done` of a block on: its address in the first run,
 * which its array may end earlier. */
static void start_value(const struct run *r, struct runs *s, int k, int value, int64_t step,
                        int64_t done)
{
    const struct array_place a = array_place(r, value);
    s->fetched[k] = NULL;
    s->strides[k] = step;
    if (!a.view) {
        s->at[k] = r->at[value] + done * step;
        return;
    }
    s->at[k] = fused_view_at(a.view, a.place, position_of(r, done));
    if (!are_consecutive(r->l, &r->b))
        s->n = min_i64(s->n, r->b.lanes - done % r->b.lanes);
    if (a.view->rank > 1)
        s->n = min_i64(s->n, a.view->dims[a.view->rank - 1] - a.place->index[a.view->rank - 1]);
    if (value < r->l->f->view_count && r->l->fetches[value])
        s->fetched[k] = a.view;
}

/* Determines how many runs are at equal distances in a value, once their length is known. */
static void continue_value(const struct run *r, struct runs *s, int k, int value)
{
    const struct array_place a = array_place(r, value);
    const bool consecutive = are_consecutive(r->l, &r->b);
    if (!a.view)
        s->strides[k] *= s->n;
    else if (!consecutive && s->n < r->b.lanes)
        s->count = 1;
    else
        s->count = min_i64(s->count,
                           fused_view_runs(a.view, a.place, s->n,
                                           consecutive ? s->n : r->l->shape.lanes, &s->strides[k]));
}

/* Whether machine code for rows reads one element per row of operand k. */
static bool is_single(const struct kern_fused_op *op, int k)
{
    return op->row_steps[k] == 0 && op->steps[k] > 0;
}

/* Operand k of machine code for rows, from the row of element `done` of a block on. */
static void start_single(const struct run *r, const struct kern_fused_op *op, struct runs *s, int k,
                         int64_t done)
{
    const int value = op->row_args[k];
    const int64_t columns = r->b.columns;
    s->fetched[k] = NULL;
    s->strides[k] = op->steps[k];
    if (value >= r->l->f->view_count || r->l->access_modes[value] != ACCESS_SINGLE) {
        s->at[k] = r->at[value] + done / columns * op->steps[k];
        return;
    }
    const struct fused_view *v = &r->l->views[value];
    struct fused_place *p = &r->s->places[value];
    s->at[k] = fused_view_at(v, p, position_of(r, done));
    s->count = min_i64(s->count, fused_view_runs(v, p, 1, columns, &s->strides[k]));
}

/* The runs from element `done` on, of the n elements of a block. */
static void start_runs(const struct run *r, const struct kern_fused_op *op, bool of_row,
                       struct runs *s, int64_t done, int64_t n)
{
    const uint8_t *args = of_row ? op->row_args : op->args,
                  *steps = of_row ? op->row_steps : op->steps;
    s->count = INT64_MAX;
    s->n = of_row ? r->b.columns - done % r->b.columns : n - done;
    for (int k = 0; k < op->arg_count; k++)
        if (!of_row || !is_single(op, k))
            start_value(r, s, k, args[k], steps[k], done);
    for (int k = 0; k < op->out_count; k++)
        start_value(r, s, op->arg_count + k, op->outs[k].value, op->outs[k].width, done);
    for (int k = 0; k < op->arg_count; k++)
        if (!of_row || !is_single(op, k))
            continue_value(r, s, k, args[k]);
        else
            start_single(r, op, s, k, done);
    for (int k = 0; k < op->out_count; k++)
        continue_value(r, s, op->arg_count + k, op->outs[k].value);
    if (of_row && s->n < r->b.columns)
        s->count = 1;
    s->count = min_i64(s->count, (n - done) / s->n);
}

/* Prefetches the elements of the next block that are where elements [done, done + n) of this one
 * are. */
static void fetch_next(const struct run *r, int64_t done, int64_t n)
{
    for (int k = 0; k < r->l->f->view_count; k++) {
        const int64_t width = r->l->views[k].width;
        if (r->l->fetches_next[k])
            fetch_bytes(r->at[k] + (elements_of(&r->b) + done) * width, n * width);
    }
}

/* An elementwise op on n elements of a block; `of_row`: by its machine code for rows. */
static void apply(const struct run *r, const struct kern_fused_op *op, bool of_row, int64_t n)
{
    kern_native_fn *native = of_row                          ? op->of_row
                             : op->kind == KERN_FUSED_NATIVE ? op->native
                                                             : NULL;
    const int values = op->arg_count + op->out_count;
    struct runs s;
    for (int64_t done = 0; done < n; done += s.count * s.n) {
        start_runs(r, op, of_row, &s, done, n);
        for (int64_t j = 0; j < s.count; j++) {
            if (of_row && op == r->l->fetcher)
                fetch_next(r, done + j * s.n, s.n);
            for (int k = 0; k < op->arg_count; k++)
                if (s.fetched[k])
                    fetch_run(s.fetched[k], s.at[k], s.n);
            if (native)
                native(s.at, s.n);
            else
                op->fn(s.at[op->arg_count], (const void *const *)s.at, s.n);
            for (int k = 0; k < values; k++)
                s.at[k] = (char *)s.at[k] + s.strides[k];
        }
    }
}

/* Moves a result's elements of this block from its tile to the array. */
static void move_result(const struct run *r, const struct kern_fused_out *o, int64_t n)
{
    const struct fused_loop *l = r->l;
    const char *from = r->at[o->value];
    if (l->streams[o->result])
        copy_stream(result_at(r, o->result), from, n * o->width);
    if (!l->scatters[o->result] || !from || from != fused_result_tile(l, r->s, o->result))
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
    case KERN_FUSED_REPEAT: repeat(r, op, out); break;
    case KERN_FUSED_REDUCE: reducer(r, op, out); break;
    case KERN_FUSED_APPLY:
    case KERN_FUSED_NATIVE: apply(r, op, false, n); break;
    }
}

static void run_op(const struct run *r, const struct kern_fused_op *op)
{
    const int64_t n = op->rows ? values_of(&r->b) : elements_of(&r->b);
    char *out = r->at[op->outs->value];
    const bool by_rows = r->l->shape.by_rows;
    if (by_rows && op->omitted)
        return;
    if (by_rows && op->of_row)
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

/* One element is computed and, where an op reads a tile of it, repeated. */
static void run_invariant(const struct run *r, const struct kern_fused_op *op)
{
    const void *args[KERN_MAX_ARGS];
    char *out = r->at[op->outs->value];
    for (int k = 0; k < op->arg_count; k++)
        args[k] = r->at[op->args[k]];
    op->fn(out, args, 1);
    if (!op->untiled)
        repeat_runs(out, 0, out, 0, 1, op->outs->width,
                    op->rows ? values_of(&r->b) : elements_of(&r->b));
}

static void make_ready(const struct fused_loop *l, struct fused_scratch *s)
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
        r.at[k] = l->access_modes[k] == ACCESS_SINGLE ? l->views[k].data : fused_view_tile(l, s, k);
        p->position = -1;
        p->panel = NULL;
        p->panel_from = p->panel_count = 0;
        p->part = -1;
        if (l->access_modes[k] == ACCESS_REPEATED && l->periods[k] == 1) {
            copy_repeated(l, s, k, 0);
            p->part = 0;
        }
        if (l->access_modes[k] == ACCESS_PANEL)
            p->panel = mem_alloc((size_t)(l->views[k].panel * l->views[k].width));
    }
    for (int k = 0; k < f->op_count; k++)
        if (f->ops[k].invariant)
            run_invariant(&r, &f->ops[k]);
}

/* ---- parts ---- */

static void keep_segment(const struct fused_loop *l, const struct fused_scratch *s, int64_t row,
                         int64_t segment)
{
    for (int k = 0; k < l->f->reducer_count; k++)
        memcpy(fused_segment(l, k, row, segment), s->accumulators[k].last,
               (size_t)l->shape.lanes * l->reducers[k].reducer.width);
}

/* Rows, some columns of a row, or some lanes of a row. */
struct part {
    int64_t row, end_row, segment, column, end_column, lane, lanes;
};

static struct part part_of(const struct fused_loop *l, int64_t number)
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
    const struct fused_loop *l = context;
    const struct fused_shape *shape = &l->shape;
    struct fused_scratch *s = fused_scratch_of(l, worker);
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
    const struct fused_loop *l = r->l;
    const int64_t lanes = l->shape.lanes;
    const struct fused_reducer *f = &l->reducers[op->reducer_number];
    char *accumulators = fused_segment(l, op->reducer_number, r->b.row, 0);
    for (int64_t j = 1; j < l->segments; j++)
        reducer_join(&f->reducer, accumulators, fused_segment(l, op->reducer_number, r->b.row, j),
                     lanes);
    const struct fused_accumulators c = {.last = accumulators};
    fused_reducer_finish(f, &c, out, lanes, 0);
}

/* Computes the row values, after all segments. */
static void finish_rows(const struct fused_loop *l)
{
    struct fused_scratch *s = fused_scratch_of(l, 0);
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

void kern_run_fused(struct thread_pool *workers, const struct kern_fused *f,
                    const struct view *results, const struct view *views, void *workspace)
{
    struct fused_loop l;
    const int worker_count = thread_pool_size(workers);
    fused_loop_init(&l, f, results, views);
    const int64_t rows = l.shape.rows, elements = rows * l.shape.columns * l.shape.lanes;
    if (elements == 0)
        return;
    fused_divide_workspace(&l, worker_count, workspace);
    const int64_t per_row = l.segments > 1 ? l.segments : l.lane_tiles;
    const int64_t parts = per_row > 1 ? rows * per_row : ratio_up(rows, l.part_rows);
    thread_pool_run(fused_is_shared(f, elements) ? workers : NULL, parts, run_part, &l);
    if (l.segments > 1 && f->row_rank < f->rank)
        finish_rows(&l);
    for (int m = 0; m < worker_count && l.any_panel; m++)
        for (int k = 0; k < f->view_count && fused_scratch_of(&l, m)->ready; k++)
            mem_free(fused_scratch_of(&l, m)->places[k].panel);
}
