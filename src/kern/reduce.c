/*
 * reduce.c: reduces dimensions. Recognized combiners run over tiles of up to KERN_TILE elements
 * (fold.h): either down columns (a tile of results, into which rows of operand elements are
 * combined sequentially) or along rows (one result, its elements in logical order, tile by tile).
 * Threads are assigned results, or, for few results, blocks of elements. Any other body is called
 * for each element. Order and accumulation: see fold.c; sums of floats up to f32 are rounded once,
 * from f64, and long sums of f64 are not in row-major order.
 */
#include <stdlib.h>

#include "kern/fold.h"
#include "kern/plain/plain.h"

/* ---- the body called for every element ---- */

/* Advances a row-major index over some dimensions of the operands; false after the last
 * position. */
static bool step_operands(struct call_fold *f, const struct view *x, const bool *reduced,
                          bool which, int64_t *index)
{
    for (int d = x->rank - 1; d >= 0; d--) {
        if (reduced[d] != which)
            continue;
        bool wrap = ++index[d] == x->dims[d];
        int64_t steps = wrap ? 1 - x->dims[d] : 1;
        for (int k = 0; k < f->n; k++)
            f->slots[k].at += steps * x[k].strides[d];
        if (!wrap)
            return true;
        index[d] = 0;
    }
    return false;
}

static bool fold_by_call(struct call_fold *f, const struct view *out, const struct view *x,
                         const void *const *init, const bool *reduced)
{
    int64_t index[VIEW_MAX_RANK] = {0}, out_index[VIEW_MAX_RANK] = {0};
    for (int k = 0; k < f->n; k++)
        f->slots[k].at = x[k].data;
    do {
        call_fold_start(f, init);
        bool more = true;
        while (more) {
            if (!call_fold_value(f))
                return false;
            more = step_operands(f, x, reduced, true, index);
        }
        for (int k = 0; k < f->n; k++)
            call_fold_store(f, k, view_at(&out[k], out_index));
        step_operands(f, x, reduced, false, index);
    } while (index_next(out->rank, out->dims, out_index));
    return true;
}

static bool reduce_by_call(int n, const struct view *out, const struct view *x,
                           const void *const *init, const enum dtype *acc, const bool *reduced,
                           const struct kern_body *body)
{
    struct call_fold f;
    if (!call_fold_init(&f, n, out, x, acc, body))
        return false;
    bool ok = fold_by_call(&f, out, x, init, reduced);
    call_fold_free(&f);
    return ok;
}

/* ---- recognized bodies ---- */

enum {
    PART = 64 * KERN_TILE, /* minimum number of elements in a task */
    NARROW = 128, /* columns: few enough that cache lines are still present for the next row */
    SPREAD = 4    /* tiles that columns are split into, so that each thread has some */
};

struct reduction {
    struct fold fold;
    struct nest kept, reduced; /* views: result, operand; operand */
    char *out, *x;
    int64_t results, under; /* number of elements of each result */
    int64_t block, blocks;
    int64_t tile;  /* down columns: adjacent results at a time; else 0 */
    int64_t piece; /* of one block: number of results, or of tiles of them, in one task */
    char *folds;   /* results of the blocks, `results` each */
};

/* One tile of results: each row of the operand is combined into all of them. */
static void fold_column_tile(const struct reduction *r, char *acc, char *x, int64_t n, int64_t from,
                             int64_t count)
{
    char room[FOLD_ROWS][NARROW * sizeof(union kern_cell)] __attribute__((aligned(64)));
    const void *rows[FOLD_ROWS];
    int64_t x_stride = r->kept.strides[1][r->kept.rank - 1];
    size_t width = r->fold.in.from;
    bool packed = x_stride == (int64_t)width;
    struct nest_walk w;
    nest_start_from(&w, &r->reduced, r->reduced.rank, &x, from);
    while (count > 0) {
        int taken = 0;
        for (; taken < FOLD_ROWS && count > 0; taken++, count--) {
            rows[taken] = packed ? w.at[0] : room[taken];
            if (!packed)
                kern_pack(room[taken], w.at[0], x_stride, width, n);
            nest_step(&w);
        }
        fold_rows(&r->fold, acc, rows, taken, n);
    }
}

static int64_t column_tiles(const struct reduction *r)
{
    int last = r->kept.rank - 1;
    return ratio_up(r->kept.dims[last], r->tile) * (r->results / r->kept.dims[last]);
}

/* Tile number `t` of all columns: its start and its size. */
static int64_t find_tile(const struct reduction *r, int64_t t, char **out, char **x, int64_t *first)
{
    struct nest_walk w;
    int last = r->kept.rank - 1;
    int64_t n = r->kept.dims[last], across = ratio_up(n, r->tile), at = t % across * r->tile;
    nest_start_from(&w, &r->kept, last, (char *[]){r->out, r->x}, t / across);
    *out = w.at[0] + at * r->kept.strides[0][last];
    *x = w.at[1] + at * r->kept.strides[1][last];
    *first = t / across * n + at;
    return n - at < r->tile ? n - at : r->tile;
}

/* Reads the elements of one result in logical order, in full tiles. */
struct row_reader {
    const struct reduction *r;
    struct nest_walk walk; /* over the outer reduced dimensions */
    int64_t at, run;       /* position in, and length of, the innermost one */
    int64_t left;          /* elements not yet read */
};

static void row_start(struct row_reader *w, const struct reduction *r, char *x, int64_t from,
                      int64_t count)
{
    int inner = r->reduced.rank - 1;
    w->r = r;
    w->run = r->reduced.dims[inner];
    w->at = from % w->run;
    w->left = count;
    nest_start_from(&w->walk, &r->reduced, inner, &x, from / w->run);
}

static const char *row_take(struct row_reader *w, int64_t want, int64_t *got)
{
    const struct nest *reduced = &w->r->reduced;
    const char *from = w->walk.at[0] + w->at * reduced->strides[0][reduced->rank - 1];
    *got = w->run - w->at < want ? w->run - w->at : want;
    w->at += *got;
    w->left -= *got;
    if (w->at == w->run) {
        w->at = 0;
        nest_step(&w->walk);
    }
    return from;
}

/* The next tile, *n elements: packed in `room`, or in place. */
static const void *row_tile(struct row_reader *w, char *room, int64_t *n)
{
    const struct nest *reduced = &w->r->reduced;
    size_t width = w->r->fold.in.from;
    int64_t stride = reduced->strides[0][reduced->rank - 1], got, filled = 0;
    int64_t want = w->left < KERN_TILE ? w->left : KERN_TILE;
    *n = want;
    if (w->run - w->at >= want && stride == (int64_t)width)
        return row_take(w, want, &got);
    for (; filled < want; filled += got) {
        const char *from = row_take(w, want - filled, &got);
        kern_pack(room + (size_t)filled * width, from, stride, width, got);
    }
    return room;
}

static void fold_row(const struct reduction *r, void *acc, char *x, int64_t from, int64_t count)
{
    char room[LOADER_ROOM] __attribute__((aligned(64)));
    struct row_reader w;
    int64_t n;
    for (row_start(&w, r, x, from, count); w.left > 0;) {
        const void *tile = row_tile(&w, room, &n);
        fold_tile(&r->fold, acc, tile, n);
    }
}

/* ---- parts of a reduction ---- */

/* All elements of some results. */
static void fold_piece(void *context, int64_t part, int member)
{
    const struct reduction *r = context;
    char acc[LOADER_ROOM] __attribute__((aligned(64)));
    int64_t units = r->tile > 0 ? column_tiles(r) : r->results, from = part * r->piece;
    int64_t limit = units - from < r->piece ? units : from + r->piece, first;
    char *out, *x;
    struct nest_walk w;
    for (int64_t t = from; r->tile > 0 && t < limit; t++) {
        int64_t n = find_tile(r, t, &out, &x, &first);
        fold_start(&r->fold, acc, n, true);
        fold_column_tile(r, acc, x, n, 0, r->under);
        fold_store(&r->fold, out, r->kept.strides[0][r->kept.rank - 1], acc, n);
    }
    if (r->tile > 0)
        return;
    nest_start_from(&w, &r->kept, r->kept.rank, (char *[]){r->out, r->x}, from);
    for (int64_t k = from; k < limit; k++, nest_step(&w)) {
        fold_start(&r->fold, acc, 1, true);
        fold_row(r, acc, w.at[1], 0, r->under);
        fold_store(&r->fold, w.at[0], 0, acc, 1);
    }
}

/* One block of all results. */
static void fold_one_block(void *context, int64_t part, int member)
{
    const struct reduction *r = context;
    size_t width = r->fold.width;
    char *acc = r->folds + (size_t)(part * r->results) * width, *out, *x;
    int64_t from = part * r->block, count = r->under - from < r->block ? r->under - from : r->block,
            first;
    struct nest_walk w;
    fold_start(&r->fold, acc, r->results, part == 0);
    for (int64_t t = 0; r->tile > 0 && t < column_tiles(r); t++) {
        int64_t n = find_tile(r, t, &out, &x, &first);
        fold_column_tile(r, acc + (size_t)first * width, x, n, from, count);
    }
    if (r->tile > 0)
        return;
    nest_start(&w, &r->kept, r->kept.rank, (char *[]){r->out, r->x});
    for (int64_t k = 0; k < r->results; k++, nest_step(&w))
        fold_row(r, acc + (size_t)k * width, w.at[1], from, count);
}

static void join_blocks(const struct reduction *r)
{
    size_t width = r->fold.width;
    struct nest_walk w;
    for (int64_t b = 1; b < r->blocks; b++)
        fold_join(&r->fold, r->folds, r->folds + (size_t)(b * r->results) * width, r->results);
    nest_start(&w, &r->kept, r->kept.rank, (char *[]){r->out, r->x});
    for (int64_t k = 0; k < r->results; k++, nest_step(&w))
        fold_store(&r->fold, w.at[0], 0, r->folds + (size_t)k * width, 1);
}

/* ---- choice of the algorithm ---- */

/* The kept dimensions in the order of the operand's memory (any order is valid), the reduced ones
 * in logical order. */
static void split_dims(struct reduction *r, const struct view *out, const struct view *x,
                       const bool *reduced)
{
    int64_t order[VIEW_MAX_RANK], out_dim[VIEW_MAX_RANK];
    int kept = 0, k = 0;
    nest_init(&r->kept, 2);
    nest_init(&r->reduced, 1);
    for (int d = 0; d < x->rank; d++) {
        if (reduced[d]) {
            nest_add(&r->reduced, x->dims[d], &x->strides[d]);
            continue;
        }
        int at = kept++;
        for (; at > 0 && llabs(x->strides[order[at - 1]]) < llabs(x->strides[d]); at--) {
            order[at] = order[at - 1];
            out_dim[at] = out_dim[at - 1];
        }
        order[at] = d;
        out_dim[at] = k++;
    }
    for (int i = 0; i < kept; i++)
        nest_add(&r->kept, x->dims[order[i]],
                 (int64_t[]){out->strides[out_dim[i]], x->strides[order[i]]});
    nest_merge(&r->kept);
    nest_merge(&r->reduced);
    if (r->reduced.rank == 0)
        nest_add(&r->reduced, 1, (int64_t[]){0});
}

static int64_t tile_of_columns(const struct reduction *r)
{
    int last = r->kept.rank - 1, inner = r->reduced.rank - 1;
    int64_t columns = last < 0 ? 0 : r->kept.dims[last],
            stride = last < 0 ? 0 : r->kept.strides[1][last];
    if (!fold_down_columns(&r->fold, columns, stride, r->reduced.dims[inner],
                           r->reduced.strides[0][inner]))
        return 0;
    if (stride != (int64_t)r->fold.in.from)
        return NARROW;
    int64_t tile = round_up(columns / SPREAD, NARROW);
    return tile < NARROW ? NARROW : tile > KERN_TILE ? KERN_TILE : tile;
}

static void plan_reduction(struct reduction *r, const struct view *out, const struct view *x,
                           const bool *reduced)
{
    split_dims(r, out, x, reduced);
    r->out = out->data;
    r->x = x->data;
    r->results = nest_points(&r->kept);
    r->under = nest_points(&r->reduced);
    r->block = fold_block(&r->fold, r->under, r->results);
    r->blocks = ratio_up(r->under, r->block);
    r->tile = tile_of_columns(r);
    int64_t unit = r->under * (r->tile > 0 ? r->tile : 1);
    r->piece = unit < PART ? PART / unit : 1;
}

static bool is_recognised(int n, const struct view *x, const enum dtype *acc,
                          const struct kern_body *body)
{
    const char *opcode = kern_combine_opcode(body->combine);
    return n == 1 && opcode && (!body->call || fold_widens(*acc, x->dtype)) &&
           kern_find_elementwise(opcode, combine_work_type(body->combine, *acc));
}

void fill_with_init(struct team *team, int n, const struct view *out, const void *const *init,
                    const enum dtype *acc)
{
    for (int k = 0; k < n; k++) {
        struct loader l;
        union kern_cell value;
        loader_init(&l, out[k].dtype, acc[k]);
        kern_fill(team, &out[k], loader_read(&l, &value, init[k], 0, 1));
    }
}

bool fold_dimensions(struct team *team, const struct view *out, const struct view *x,
                     const void *init, enum dtype acc, enum dtype work, const bool *reduced,
                     enum kern_combine combine)
{
    struct reduction r;
    fold_init(&r.fold, combine, out->dtype, x->dtype, acc, work, init);
    plan_reduction(&r, out, x, reduced);
    if (r.blocks == 1) {
        int64_t units = r.tile > 0 ? column_tiles(&r) : r.results;
        team_run(team, ratio_up(units, r.piece), fold_piece, &r);
        return true;
    }
    r.folds = mem_alloc((size_t)(r.blocks * r.results) * r.fold.width);
    if (!r.folds)
        return false;
    team_run(team, r.blocks, fold_one_block, &r);
    join_blocks(&r);
    mem_free(r.folds);
    return true;
}

enum way { BY_NOTHING, BY_INIT, BY_PICK, BY_LANES, BY_FORMULA, BY_CALLS, BY_FOLD };

static enum way choose(int n, const struct view *out, const struct view *x, const enum dtype *acc,
                       const bool *reduced, const struct kern_body *body)
{
    if (view_elements(out) == 0)
        return BY_NOTHING;
    if (view_elements(x) == 0)
        return BY_INIT;
    if (pick_applies(n, out, x, acc, reduced, body))
        return BY_PICK;
    if (is_recognised(n, x, acc, body))
        return BY_FOLD;
    if (lanes_apply(out, body))
        return BY_LANES;
    return n == 1 && kern_combine_opcode(body->combine)
               ? BY_FORMULA
               : BY_CALLS; /* there values are rounded when they are loaded */
}

/* spec: Reduce. f(f(f(init, x0), x1), ...) over the reduced dims in row-major order. */
bool kern_reduce(struct team *team, int n, const struct view *out, const struct view *x,
                 const void *const *init, const enum dtype *acc, const bool *reduced,
                 const struct kern_body *body)
{
    switch (choose(n, out, x, acc, reduced, body)) {
    case BY_NOTHING: return true;
    case BY_INIT: fill_with_init(team, n, out, init, acc); return true;
    case BY_PICK: reduce_by_pick(team, out, x, init, reduced, body->pick); return true;
    case BY_LANES: return reduce_by_lanes(n, out, x, init, acc, reduced, body);
    case BY_FORMULA: return plain_reduce(NULL, n, out, x, init, acc, reduced, body);
    case BY_CALLS: return reduce_by_call(n, out, x, init, acc, reduced, body);
    default:
        return fold_dimensions(team, out, x, *init, *acc, combine_work_type(body->combine, *acc),
                               reduced, body->combine);
    }
}

const char *kern_reduce_choice(int n, const struct view *out, const struct view *x,
                               const enum dtype *acc, const bool *reduced,
                               const struct kern_body *body)
{
    static const char *const ways[] = {
        [BY_NOTHING] = "empty result",
        [BY_INIT] = "nothing to reduce",
        [BY_PICK] = "arg-reduction in vector lanes",
        [BY_LANES] = "bytecode on vector lanes of results",
        [BY_FORMULA] = "element by element",
        [BY_CALLS] = "one call per element",
        [BY_FOLD] = "vectors, blocks reduced in order",
    };
    return ways[choose(n, out, x, acc, reduced, body)];
}
