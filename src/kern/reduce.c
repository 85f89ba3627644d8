/*
 * reduce.c: reduces dimensions. Recognized combiners run over tiles of up to KERN_TILE elements
 * (reducer.h): either down columns (a tile of results, into which rows of operand elements are
 * combined sequentially) or along rows (one result, its elements in logical order, tile by tile).
 * Threads are assigned results, or, for few results, blocks of elements. Any other body is called
 * for each element. Order and accumulation: see reducer.c; sums and products of f32 and of
 * f64 are not in row-major order.
 */
#include <stdlib.h>

#include "kern/reducer.h"
#include "kern/plain/plain.h"

/* ---- recognized bodies ---- */

enum {
    PART = 64 * KERN_TILE, /* minimum number of elements in a task */
    NARROW = 128, /* columns: few enough that cache lines are still present for the next row */
    SPREAD = 4,   /* tiles that columns are split into, so that each thread has some */
    VECTOR = 16   /* elements that short rows are rounded up to */
};

struct reduction {
    struct reducer reducer;
    struct nest kept, reduced; /* views: result, operand; operand */
    char *out, *x;
    int64_t results, under; /* number of elements of each result */
    int64_t block, blocks;
    int64_t tile;   /* down columns: adjacent results at a time; else 0 */
    int64_t inner;  /* results that follow each other within a tile's distance; see find_tile() */
    bool rows;      /* adjacent results have adjacent rows of at most KERN_TILE packed elements */
    int64_t piece;  /* of one block: number of results, or of tiles of them, in one task */
    char *reducers; /* results of the blocks, `results` each */
    int64_t extent; /* bytes from x to the end of the operand's elements in memory */
    bool repeated;  /* only the first of equal results are computed */
};

/* Copies rows of n elements, at most to the end of the innermost reduced dimension; returns their
 * number. */
static int pack_rows(const struct reduction *r, struct nest_walk *w, char *scratch, int64_t pitch,
                     int64_t rows, int64_t n)
{
    const int inner = r->reduced.rank - 1;
    const size_t width = r->reducer.in.from;
    const int64_t some = min_i64(rows, r->reduced.dims[inner] - w->index[inner]);
    kern_copy_block(
        scratch, w->at[0], (const int64_t[]){some, n}, (const int64_t[]){pitch, (int64_t)width},
        (const int64_t[]){r->reduced.strides[0][inner], r->kept.strides[1][r->kept.rank - 1]},
        width);
    for (int64_t k = 0; k < some; k++)
        nest_step(w);
    return (int)some;
}

/* Rounds a short row of n elements up to complete vectors if what follows it can be read. */
static int64_t widen_row(const struct reduction *r, const char *row, int64_t n)
{
    enum { SHORT = 64 };
    const int64_t wide = round_up(n, VECTOR);
    return n < SHORT && r->extent - (row - r->x) >= wide * (int64_t)r->reducer.in.from ? wide : n;
}

/* One tile of results: each row of the operand is combined into all of them. `acc` has space for
 * KERN_TILE results, or for n if there are several blocks. */
static void reduce_column_tile(const struct reduction *r, char *acc, char *x, int64_t n,
                               int64_t from, int64_t count)
{
    char scratch[REDUCER_ROWS][NARROW * sizeof(union kern_element)] __attribute__((aligned(64)));
    const void *rows[REDUCER_ROWS];
    const bool packed = r->kept.strides[1][r->kept.rank - 1] == (int64_t)r->reducer.in.from;
    struct nest_walk w;
    nest_start_from(&w, &r->reduced, r->reduced.rank, &x, from);
    for (int taken = 0; count > 0; count -= taken) {
        const int most = (int)min_i64(count, REDUCER_ROWS);
        int64_t wide = r->blocks == 1 && packed ? KERN_TILE : n;
        for (taken = 0; taken < most && packed; taken++) {
            rows[taken] = w.at[0];
            wide = min_i64(wide, widen_row(r, w.at[0], n));
            nest_step(&w);
        }
        for (int k = 0; k < REDUCER_ROWS && !packed; k++)
            rows[k] = scratch[k];
        while (taken < most)
            taken += pack_rows(r, &w, scratch[taken], (int64_t)sizeof scratch[0], most - taken, n);
        reducer_rows(&r->reducer, acc, rows, taken, wide);
    }
}

static int64_t column_tiles(const struct reduction *r)
{
    int last = r->kept.rank - 1;
    return ratio_up(r->kept.dims[last], r->tile) * (r->results / r->kept.dims[last]);
}

/* Tile number `t` of all columns: its start and its size. Tiles of distant results are followed by
 * those of their neighbours, which are in the same cache lines. */
static int64_t find_tile(const struct reduction *r, int64_t t, char **out, char **x, int64_t *first)
{
    struct nest_walk w;
    int last = r->kept.rank - 1;
    int64_t n = r->kept.dims[last], across = ratio_up(n, r->tile),
            at = t / r->inner % across * r->tile,
            line = t / r->inner / across * r->inner + t % r->inner;
    nest_start_from(&w, &r->kept, last, (char *[]){r->out, r->x}, line);
    *out = w.at[0] + at * r->kept.strides[0][last];
    *x = w.at[1] + at * r->kept.strides[1][last];
    *first = line * n + at;
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

static const char *row_take(struct row_reader *w, int64_t requested, int64_t *got)
{
    const struct nest *reduced = &w->r->reduced;
    const char *from = w->walk.at[0] + w->at * reduced->strides[0][reduced->rank - 1];
    *got = w->run - w->at < requested ? w->run - w->at : requested;
    w->at += *got;
    w->left -= *got;
    if (w->at == w->run) {
        w->at = 0;
        nest_step(&w->walk);
    }
    return from;
}

/* The next tile, *n elements: packed in `scratch`, or in place. */
static const void *row_tile(struct row_reader *w, char *scratch, int64_t *n)
{
    const struct nest *reduced = &w->r->reduced;
    size_t width = w->r->reducer.in.from;
    int64_t stride = reduced->strides[0][reduced->rank - 1], got, filled = 0;
    int64_t requested = w->left < KERN_TILE ? w->left : KERN_TILE;
    *n = requested;
    if (w->run - w->at >= requested && stride == (int64_t)width)
        return row_take(w, requested, &got);
    for (; filled < requested; filled += got) {
        const char *from = row_take(w, requested - filled, &got);
        kern_pack(scratch + (size_t)filled * width, from, stride, width, got);
    }
    return scratch;
}

static void reduce_row(const struct reduction *r, void *acc, char *x, int64_t from, int64_t count)
{
    char scratch[LOADER_BYTES] __attribute__((aligned(64)));
    struct row_reader w;
    int64_t n;
    for (row_start(&w, r, x, from, count); w.left > 0;) {
        const void *tile = row_tile(&w, scratch, &n);
        reducer_tile(&r->reducer, acc, tile, n);
    }
}

/* ---- parts of a reduction ---- */

/* Some results whose elements are packed rows. */
static void reduce_packed_rows(const struct reduction *r, int64_t from, int64_t limit)
{
    char acc[LOADER_BYTES] __attribute__((aligned(64)));
    const int64_t row = r->under * (int64_t)r->reducer.in.from;
    const int last = r->kept.rank - 1;
    const int64_t stride = r->kept.strides[0][last], n = r->kept.dims[last];
    for (int64_t k = from, some; k < limit; k += some) {
        struct nest_walk w;
        some = min_i64(min_i64(limit - k, n - k % n), KERN_TILE);
        nest_start_from(&w, &r->kept, last, (char *[]){r->out, r->x}, k / n);
        reducer_start(&r->reducer, acc, some, true);
        reducer_tiles(&r->reducer, acc, w.at[1] + k % n * row, some, r->under);
        reducer_store(&r->reducer, w.at[0] + k % n * stride, stride, acc, some);
    }
}

/* All elements of some results. */
static void reduce_piece(void *context, int64_t part, int worker)
{
    const struct reduction *r = context;
    char acc[LOADER_BYTES] __attribute__((aligned(64)));
    int64_t units = r->tile > 0 ? column_tiles(r) : r->results, from = part * r->piece;
    int64_t limit = units - from < r->piece ? units : from + r->piece, first;
    char *out, *x;
    struct nest_walk w;
    for (int64_t t = from; r->tile > 0 && t < limit; t++) {
        int64_t n = find_tile(r, t, &out, &x, &first);
        /* also what widen_row() adds to a short row */
        reducer_start(&r->reducer, acc, round_up(n, VECTOR), true);
        reduce_column_tile(r, acc, x, n, 0, r->under);
        reducer_store(&r->reducer, out, r->kept.strides[0][r->kept.rank - 1], acc, n);
    }
    if (r->rows)
        reduce_packed_rows(r, from, limit);
    if (r->tile > 0 || r->rows)
        return;
    nest_start_from(&w, &r->kept, r->kept.rank, (char *[]){r->out, r->x}, from);
    for (int64_t k = from; k < limit; k++, nest_step(&w)) {
        reducer_start(&r->reducer, acc, 1, true);
        reduce_row(r, acc, w.at[1], 0, r->under);
        reducer_store(&r->reducer, w.at[0], 0, acc, 1);
    }
}

/* One block of all results. */
static void reduce_one_block(void *context, int64_t part, int worker)
{
    const struct reduction *r = context;
    size_t width = r->reducer.width;
    char *acc = r->reducers + (size_t)(part * r->results) * width, *out, *x;
    int64_t from = part * r->block, count = r->under - from < r->block ? r->under - from : r->block,
            first;
    struct nest_walk w;
    reducer_start(&r->reducer, acc, r->results, part == 0);
    for (int64_t t = 0; r->tile > 0 && t < column_tiles(r); t++) {
        int64_t n = find_tile(r, t, &out, &x, &first);
        reduce_column_tile(r, acc + (size_t)first * width, x, n, from, count);
    }
    if (r->tile > 0)
        return;
    nest_start(&w, &r->kept, r->kept.rank, (char *[]){r->out, r->x});
    for (int64_t k = 0; k < r->results; k++, nest_step(&w))
        reduce_row(r, acc + (size_t)k * width, w.at[1], from, count);
}

static void join_blocks(const struct reduction *r)
{
    size_t width = r->reducer.width;
    struct nest_walk w;
    for (int64_t b = 1; b < r->blocks; b++)
        reducer_join(&r->reducer, r->reducers, r->reducers + (size_t)(b * r->results) * width,
                     r->results);
    nest_start(&w, &r->kept, r->kept.rank, (char *[]){r->out, r->x});
    for (int64_t k = 0; k < r->results; k++, nest_step(&w))
        reducer_store(&r->reducer, w.at[0], 0, r->reducers + (size_t)k * width, 1);
}

/* ---- choice of the algorithm ---- */

/* The kept dimensions in the order of the operand's memory (any order is valid), the reduced ones
 * in logical order. */
static void split_dims(struct reduction *r, const struct view *out, const struct view *x,
                       const bool *reduced)
{
    nest_init(&r->kept, 2);
    nest_init(&r->reduced, 1);
    for (int d = 0, k = 0; d < x->rank; d++)
        if (reduced[d])
            nest_add(&r->reduced, x->dims[d], &x->strides[d]);
        else
            nest_add_sorted(&r->kept, x->dims[d], (int64_t[]){out->strides[k++], x->strides[d]}, 1);
    nest_merge(&r->kept);
    nest_merge(&r->reduced);
    if (r->reduced.rank == 0)
        nest_add(&r->reduced, 1, (int64_t[]){0});
}

static bool goes_down_columns(const struct reduction *r)
{
    const int last = r->kept.rank - 1, inner = r->reduced.rank - 1;
    return last >= 0 &&
           reducer_goes_down_columns(&r->reducer, r->kept.dims[last], r->kept.strides[1][last],
                                     r->under, r->reduced.strides[0][inner]);
}

static int64_t tile_of_columns(const struct reduction *r)
{
    const int last = r->kept.rank - 1;
    if (r->kept.strides[1][last] != (int64_t)r->reducer.in.from)
        return NARROW;
    int64_t tile = round_up(r->kept.dims[last] / SPREAD, NARROW);
    return tile < NARROW ? NARROW : tile > KERN_TILE ? KERN_TILE : tile;
}

/* Whether results are reduced along packed rows, several at a time: where they are reduced along
 * rows, or in any order. */
static bool has_packed_rows(const struct reduction *r)
{
    const int last = r->kept.rank - 1;
    const int64_t width = (int64_t)r->reducer.in.from;
    return (r->tile == 0 || r->reducer.order == REDUCE_IN_ANY_ORDER) && last >= 0 &&
           reducer_has_tiles(&r->reducer) && r->blocks == 1 && r->under <= KERN_TILE &&
           r->reduced.rank == 1 && r->reduced.strides[0][0] == width &&
           r->kept.strides[1][last] == r->under * width;
}

/* Moves the longest kept dimension inside where the innermost one is short, as in windows of small
 * images: many distant results at a time take less than a few adjacent ones, as long as they stay
 * in the caches. */
static bool lengthen_columns(struct reduction *r)
{
    enum { ENOUGH = 8 /* adjacent ones */, SHORT = 32, FEW = 64, NEAR = 1 << 19 };
    struct nest *k = &r->kept;
    const int last = k->rank - 1;
    int best = last;
    r->inner = 1;
    for (int d = 0; d < last; d++)
        best = k->dims[d] > k->dims[best] ? d : best;
    if (last < 0 || r->under > FEW || k->dims[last] >= SHORT || k->dims[best] < SHORT ||
        (k->dims[last] >= ENOUGH && k->strides[1][last] == (int64_t)r->reducer.in.from) ||
        llabs(k->strides[1][best]) > NEAR / NARROW)
        return false;
    swap_i64(&k->dims[best], &k->dims[last]);
    for (int v = 0; v < 2; v++)
        swap_i64(&k->strides[v][best], &k->strides[v][last]);
    if (best == last - 1)
        r->inner = k->dims[best];
    return true;
}

static void plan_reduction(struct reduction *r, const struct view *out, const struct view *x,
                           const bool *reduced)
{
    split_dims(r, out, x, reduced);
    r->out = out->data;
    r->x = x->data;
    r->extent = kern_view_extent(x);
    r->results = nest_points(&r->kept);
    r->under = nest_points(&r->reduced);
    bool down = goes_down_columns(r);
    if (down || r->reducer.order != REDUCE_IN_LANES) /* these depend on the direction */
        down |= lengthen_columns(r);
    r->block = reducer_block(&r->reducer, r->under, r->results);
    r->blocks = ratio_up(r->under, r->block);
    r->tile = down ? tile_of_columns(r) : 0;
    r->rows = has_packed_rows(r);
    if (r->rows)
        r->tile = 0;
    int64_t unit = r->under * (r->tile > 0 ? r->tile : 1);
    r->piece = unit < PART ? PART / unit : 1;
}

static bool is_recognised(int n, const struct view *x, const enum dtype *acc,
                          const struct kern_body *body)
{
    const char *opcode = kern_combine_opcode(body->combine);
    return n == 1 && opcode && (!body->call || reducer_widens(*acc, x->dtype)) &&
           kern_find_elementwise(opcode, combine_work_type(body->combine, *acc));
}

void fill_with_init(struct thread_pool *workers, int n, const struct view *out,
                    const void *const *init, const enum dtype *acc)
{
    for (int k = 0; k < n; k++) {
        struct loader l;
        union kern_element value;
        loader_init(&l, out[k].dtype, acc[k]);
        kern_fill(workers, &out[k], loader_read(&l, &value, init[k], 0, 1));
    }
}

static bool run_reduction(struct thread_pool *workers, struct reduction *r)
{
    if (r->blocks == 1) {
        int64_t units = r->tile > 0 ? column_tiles(r) : r->results;
        thread_pool_run(workers, ratio_up(units, r->piece), reduce_piece, r);
        return true;
    }
    r->reducers = mem_alloc((size_t)(r->blocks * r->results) * r->reducer.width);
    if (!r->reducers)
        return false;
    thread_pool_run(workers, r->blocks, reduce_one_block, r);
    join_blocks(r);
    mem_free(r->reducers);
    return true;
}

/* Along kept dimensions that the operand repeats, all results are equal: only the first ones are
 * computed, in the order that was planned for all. Not down columns, which are read together. */
static void skip_repeated(struct reduction *r, const struct view *out, const struct view *x,
                          const bool *reduced)
{
    struct view first_out = *out, first_x = *x;
    bool any = false;
    for (int d = 0, k = 0; d < x->rank; d++) {
        if (!reduced[d] && x->strides[d] == 0 && x->dims[d] > 1) {
            first_out.dims[k] = first_x.dims[d] = 1;
            any = true;
        }
        k += !reduced[d];
    }
    if (!any || r->tile > 0)
        return;
    split_dims(r, &first_out, &first_x, reduced);
    r->results = nest_points(&r->kept);
    r->repeated = true;
}

/* Copies the results that were computed to the equal ones. */
static void repeat_results(struct thread_pool *workers, const struct view *out,
                           const struct view *x, const bool *reduced)
{
    for (int d = 0, k = 0; d < x->rank; d++) {
        if (!reduced[d] && x->strides[d] == 0 && x->dims[d] > 1) {
            struct view rest = *out, first = *out;
            rest.data += rest.strides[k];
            first.dims[k] = --rest.dims[k];
            first.strides[k] = 0;
            kern_copy(workers, &rest, &first);
        }
        k += !reduced[d];
    }
}

bool reduce_dimensions(struct thread_pool *workers, const struct view *out, const struct view *x,
                       const void *init, enum dtype acc, enum dtype work, const bool *reduced,
                       enum kern_combine combine)
{
    struct reduction r = {.repeated = false};
    reducer_init(&r.reducer, combine, out->dtype, x->dtype, acc, work, init);
    plan_reduction(&r, out, x, reduced);
    skip_repeated(&r, out, x, reduced);
    if (!run_reduction(workers, &r))
        return false;
    if (r.repeated)
        repeat_results(workers, out, x, reduced);
    return true;
}

enum reduce_method { BY_NOTHING, BY_INIT, BY_PICK, BY_LANES, BY_FORMULA, BY_CALLS, BY_REDUCER };

static enum reduce_method choose(int n, const struct view *out, const struct view *x,
                                 const enum dtype *acc, const bool *reduced,
                                 const struct kern_body *body)
{
    if (view_elements(out) == 0)
        return BY_NOTHING;
    if (view_elements(x) == 0)
        return BY_INIT;
    if (pick_applies(n, out, x, acc, reduced, body))
        return BY_PICK;
    if (is_recognised(n, x, acc, body))
        return BY_REDUCER;
    if (lanes_apply(out, body))
        return BY_LANES;
    return n == 1 && kern_combine_opcode(body->combine)
               ? BY_FORMULA
               : BY_CALLS; /* there values are rounded when they are loaded */
}

/* Elements of a single result that are dense in memory count as one dimension. */
static bool reduce_one_by_one(int n, const struct view *out, const struct view *x,
                              const void *const *init, const enum dtype *acc, const bool *reduced,
                              const struct kern_body *body)
{
    const int64_t elements = view_elements(x);
    struct view flat;
    if (n > 1 || out->rank > 0 || x->rank < 2 || !view_is_dense(x))
        return plain_reduce(NULL, n, out, x, init, acc, reduced, body);
    view_dense(&flat, x->dtype, 1, &elements, x->data);
    return plain_reduce(NULL, 1, out, &flat, init, acc, reduced, body);
}

/* spec: Reduce. f(f(f(init, x0), x1), ...) over the reduced dims in row-major order. */
bool kern_reduce(struct thread_pool *workers, int n, const struct view *out, const struct view *x,
                 const void *const *init, const enum dtype *acc, const bool *reduced,
                 const struct kern_body *body)
{
    switch (choose(n, out, x, acc, reduced, body)) {
    case BY_NOTHING: return true;
    case BY_INIT: fill_with_init(workers, n, out, init, acc); return true;
    case BY_PICK: reduce_by_pick(workers, out, x, init, reduced, body->pick); return true;
    case BY_LANES: return reduce_by_lanes(workers, n, out, x, init, acc, reduced, body);
    case BY_FORMULA:
    case BY_CALLS: return reduce_one_by_one(n, out, x, init, acc, reduced, body);
    default:
        return reduce_dimensions(workers, out, x, *init, *acc,
                                 combine_work_type(body->combine, *acc), reduced, body->combine);
    }
}

struct kern_ready_reduce {
    struct reduction r;
    struct loader init; /* in the work type */
};

const struct kern_ready_reduce *kern_make_ready_reduce(struct arena *a, int n,
                                                       const struct view *out, const struct view *x,
                                                       const enum dtype *acc, const bool *reduced,
                                                       const struct kern_body *body)
{
    const union kern_element any = {{0}};
    struct kern_ready_reduce ready = {.r = {.repeated = false}};
    if (choose(n, out, x, acc, reduced, body) != BY_REDUCER)
        return NULL;
    const enum dtype work = combine_work_type(body->combine, *acc);
    reducer_init(&ready.r.reducer, body->combine, out->dtype, x->dtype, *acc, work, &any);
    plan_reduction(&ready.r, out, x, reduced);
    skip_repeated(&ready.r, out, x, reduced);
    loader_init(&ready.init, work, *acc);
    return ready.r.blocks > 1 || ready.r.repeated ? NULL : ARENA_DUP(a, &ready, 1);
}

void kern_run_ready_reduce(const struct kern_ready_reduce *ready, char *out, const char *x,
                           const void *init)
{
    struct reduction r = ready->r;
    union kern_element element;
    r.out = out;
    r.x = (char *)(uintptr_t)x;
    memcpy(&r.reducer.init, loader_read(&ready->init, &element, init, 0, 1), r.reducer.width);
    run_reduction(NULL, &r);
}

enum kern_fold kern_reduce_fold(int n, const struct view *out, const struct view *x,
                                const enum dtype *acc, const bool *reduced,
                                const struct kern_body *body, enum dtype *work)
{
    struct reduction r;
    const union kern_element any = {{0}};
    const enum reduce_method method = choose(n, out, x, acc, reduced, body);
    if (method == BY_PICK || method == BY_LANES || method == BY_CALLS)
        return KERN_FOLD_BODY;
    if (method != BY_REDUCER)
        return KERN_FOLD_OTHER;
    *work = combine_work_type(body->combine, *acc);
    reducer_init(&r.reducer, body->combine, out->dtype, x->dtype, *acc, *work, &any);
    plan_reduction(&r, out, x, reduced);
    if (r.under > KERN_TILE || r.blocks > 1)
        return KERN_FOLD_OTHER;
    if (r.reducer.order == REDUCE_IN_ANY_ORDER)
        return KERN_FOLD_ANY_ORDER;
    return r.reducer.order == REDUCE_IN_LANES && r.tile == 0 &&
                   !(x->dtype == DT_F64 && r.under < REDUCER_LANES)
               ? KERN_FOLD_IN_LANES
               : KERN_FOLD_IN_ORDER;
}

const char *kern_reduce_choice(int n, const struct view *out, const struct view *x,
                               const enum dtype *acc, const bool *reduced,
                               const struct kern_body *body)
{
    static const char *const methods[] = {
        [BY_NOTHING] = "empty result",
        [BY_INIT] = "nothing to reduce",
        [BY_PICK] = "arg-reduction in vector lanes",
        [BY_LANES] = "scalar code on vector lanes of results",
        [BY_FORMULA] = "element by element",
        [BY_CALLS] = "one call per element",
        [BY_REDUCER] = "vectors, blocks reduced in order",
    };
    return methods[choose(n, out, x, acc, reduced, body)];
}
