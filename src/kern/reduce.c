/*
 * reduce: folds dimensions away. Recognised combiners run over tiles of up to KERN_TILE elements:
 * either down columns (a tile of results, one row of operand elements after the other) or along rows
 * (one result; the elements in logical order in tiles). Any other body is called element by element.
 *
 * Order and accumulation: sums of floats up to f32 run in double and are rounded once; products round at
 * every step. f64, complex and float products take the elements one after the other in row-major order;
 * everything else gives the same in any order.
 */
#include <stdlib.h>

#include "kern/nest.h"
#include "kern/plain/plain.h"

/* ---- the body called for every element ---- */

/* Steps a row-major index over some dimensions of the operands; false after the last position. */
static bool step_operands(struct call_fold *f, const struct view *x, const bool *reduced, bool which,
                          int64_t *index)
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

static bool reduce_by_call(int n, const struct view *out, const struct view *x, const void *const *init,
                           const enum dtype *acc, const bool *reduced, const struct kern_body *body)
{
    struct call_fold f;
    if (!call_fold_init(&f, n, out, x, acc, body))
        return false;
    bool ok = fold_by_call(&f, out, x, init, reduced);
    call_fold_free(&f);
    return ok;
}

/* ---- recognised bodies ---- */

struct fold {
    enum kern_combine combine;
    enum dtype work;
    size_t width; /* of the work type */
    kern_tile_fn *fn;
    bool order_free;
    union kern_cell init;      /* in the work type */
    struct loader in;          /* operand -> work type */
    struct loader narrow, out; /* work type -> accumulator type -> result */
    bool sum_f32;              /* plain sums of f32 have a loop of their own */
    struct nest kept, reduced; /* views: result, operand; operand */
};

/* The sum of n floats in 16 interleaved double sums, folded pairwise. */
KERN_CLONES static double sum_f32(const float *x, int64_t n)
{
    double lanes[16] = {0}, total = 0;
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (int j = 0; j < 16; j++)
            lanes[j] += (double)x[i + j];
    for (; i < n; i++)
        total += (double)x[i];
    for (int step = 8; step > 0; step /= 2)
        for (int j = 0; j < step; j++)
            lanes[j] += lanes[j + step];
    return lanes[0] + total;
}

enum { SUM_ROWS = 4, SUM_COLUMNS = 4 * KERN_TILE };

/* acc[i] += x[0][i] + x[1][i] + ..., one after the other. */
KERN_CLONES static void fold_rows_f32(double *restrict acc, const float *const *x, int rows, int64_t n)
{
    const float *a = x[0], *b = x[1], *c = x[2], *d = x[3];
    for (int64_t i = 0; rows == SUM_ROWS && i < n; i++)
        acc[i] = acc[i] + (double)a[i] + (double)b[i] + (double)c[i] + (double)d[i];
    for (int r = 0; rows < SUM_ROWS && r < rows; r++)
        for (int64_t i = 0; i < n; i++)
            acc[i] += (double)x[r][i];
}

static void store_results(const struct fold *f, char *out, int64_t stride, const void *acc, int64_t n)
{
    char room[LOADER_ROOM] __attribute__((aligned(64)));
    const void *narrow = loader_read(&f->narrow, room, acc, (int64_t)f->width, n);
    loader_write(&f->out, out, stride, narrow, n);
}

/* One tile of results: each row of the operand is combined into all of them. */
static void fold_column_tile(const struct fold *f, char *out, int64_t out_stride, char *x, int64_t x_stride,
                             int64_t n)
{
    char acc[LOADER_ROOM] __attribute__((aligned(64))), room[LOADER_ROOM] __attribute__((aligned(64)));
    struct nest_walk w;
    kern_pack(acc, f->init.bytes, 0, f->width, n);
    nest_start(&w, &f->reduced, f->reduced.rank, &x);
    do {
        const void *row = loader_read(&f->in, room, w.at[0], x_stride, n);
        f->fn(acc, (const void *const[]){acc, row}, n);
    } while (nest_step(&w));
    store_results(f, out, out_stride, acc, n);
}

/* The same for sums of f32 that lie side by side: long pieces of a few rows at a time. */
static void sum_columns_f32(const struct fold *f, char *out, int64_t out_stride, char *x, int64_t n)
{
    double acc[SUM_COLUMNS];
    const float *rows[SUM_ROWS] = {NULL};
    struct nest_walk w;
    for (int64_t i = 0; i < n; i++)
        acc[i] = f->init.f64;
    nest_start(&w, &f->reduced, f->reduced.rank, &x);
    for (bool more = true; more;) {
        int count = 0;
        while (more && count < SUM_ROWS) {
            rows[count++] = (const float *)(const void *)w.at[0];
            more = nest_step(&w);
        }
        fold_rows_f32(acc, rows, count, n);
    }
    for (int64_t i = 0; i < n; i += KERN_TILE)
        store_results(f, out + i * out_stride, out_stride, acc + i, n - i < KERN_TILE ? n - i : KERN_TILE);
}

static void fold_columns(const struct fold *f, char *out, char *x)
{
    enum {
        SHORT_TILE = 128
    }; /* rows read across: few enough that their cache lines stay for the next column */
    const struct nest *kept = &f->kept;
    int inner = kept->rank - 1;
    int64_t n = kept->dims[inner], os = kept->strides[0][inner], xs = kept->strides[1][inner];
    bool side_by_side = xs == (int64_t)f->in.from, sum_f32 = side_by_side && f->sum_f32;
    int64_t tile = sum_f32 ? SUM_COLUMNS : side_by_side ? KERN_TILE : SHORT_TILE;
    struct nest_walk w;
    nest_start(&w, kept, inner, (char *[]){out, x});
    do {
        for (int64_t i = 0; i < n; i += tile) {
            int64_t count = n - i < tile ? n - i : tile;
            if (sum_f32)
                sum_columns_f32(f, w.at[0] + i * os, os, w.at[1] + i * xs, count);
            else
                fold_column_tile(f, w.at[0] + i * os, os, w.at[1] + i * xs, xs, count);
        }
    } while (nest_step(&w));
}

/* Reads the elements under one result in logical order, in full tiles. */
struct row_reader {
    const struct fold *f;
    struct nest_walk walk; /* over the outer reduced dimensions */
    int64_t at, run;       /* place in, and length of, the innermost one */
    int64_t left;          /* elements not yet read */
};

static void row_start(struct row_reader *r, const struct fold *f, char *x)
{
    int inner = f->reduced.rank - 1;
    r->f = f;
    r->at = 0;
    r->run = f->reduced.dims[inner];
    r->left = nest_points(&f->reduced);
    nest_start(&r->walk, &f->reduced, inner, &x);
}

static const char *row_take(struct row_reader *r, int64_t want, int64_t *got)
{
    const char *from = r->walk.at[0] + r->at * r->f->reduced.strides[0][r->f->reduced.rank - 1];
    *got = r->run - r->at < want ? r->run - r->at : want;
    r->at += *got;
    r->left -= *got;
    if (r->at == r->run) {
        r->at = 0;
        nest_step(&r->walk);
    }
    return from;
}

/* The next tile in the work type, *n elements. */
static const void *row_tile(struct row_reader *r, void *room, int64_t *n)
{
    const struct fold *f = r->f;
    int64_t stride = f->reduced.strides[0][f->reduced.rank - 1], got, filled = 0;
    int64_t want = r->left < KERN_TILE ? r->left : KERN_TILE;
    *n = want;
    if (r->run - r->at >= want)
        return loader_read(&f->in, room, row_take(r, want, &got), stride, want);
    char packed[LOADER_ROOM] __attribute__((aligned(64)));
    char *to = f->in.convert ? packed : room;
    while (filled < want) {
        const char *from = row_take(r, want - filled, &got);
        kern_pack(to + (size_t)filled * f->in.from, from, stride, f->in.from, got);
        filled += got;
    }
    return loader_read(&f->in, room, to, (int64_t)f->in.from, want);
}

/* Folds n lanes to one, halving; writes to `lanes`. */
static void fold_lanes(const struct fold *f, char *lanes, const char *x, int64_t n)
{
    while (n > 1) {
        int64_t half = n / 2;
        f->fn(lanes, (const void *const[]){x, x + (size_t)half * f->width}, half);
        if (n % 2)
            memcpy(lanes + (size_t)half * f->width, x + (size_t)(n - 1) * f->width, f->width);
        x = lanes;
        n = half + n % 2;
    }
    if (x != lanes)
        memcpy(lanes, x, f->width);
}

static void fold_row_any_order(const struct fold *f, char *x, union kern_cell *acc)
{
    char lanes[LOADER_ROOM] __attribute__((aligned(64))), room[LOADER_ROOM] __attribute__((aligned(64)));
    struct row_reader r;
    int64_t n, count;
    row_start(&r, f, x);
    const char *tile = row_tile(&r, room, &count);
    if (r.left > 0) {
        memcpy(lanes, tile, (size_t)count * f->width);
        tile = lanes;
    }
    while (r.left > 0) {
        const void *next = row_tile(&r, room, &n);
        f->fn(lanes, (const void *const[]){lanes, next}, n);
    }
    fold_lanes(f, lanes, tile, count);
    f->fn(acc, (const void *const[]){acc, lanes}, 1);
}

static void fold_row_f32_sum(const struct fold *f, char *x, union kern_cell *acc)
{
    float room[KERN_TILE];
    struct row_reader r;
    struct fold raw = *f;
    int64_t n;
    raw.in.convert = NULL;
    for (row_start(&r, &raw, x); r.left > 0;) {
        const float *tile = row_tile(&r, room, &n);
        acc->f64 += sum_f32(tile, n);
    }
}

static void fold_in_order(const struct fold *f, union kern_cell *acc, const char *tile, int64_t n)
{
    if (f->work == DT_F64 && f->combine == KERN_ADD)
        for (int64_t i = 0; i < n; i++)
            acc->f64 += ((const double *)(const void *)tile)[i];
    else if (f->work == DT_F32 && f->combine == KERN_ADD)
        for (int64_t i = 0; i < n; i++)
            acc->f32 += ((const float *)(const void *)tile)[i];
    else if (f->work == DT_F32 && f->combine == KERN_MULTIPLY)
        for (int64_t i = 0; i < n; i++)
            acc->f32 *= ((const float *)(const void *)tile)[i];
    else
        for (int64_t i = 0; i < n; i++)
            f->fn(acc, (const void *const[]){acc, tile + (size_t)i * f->width}, 1);
}

static void fold_row_in_order(const struct fold *f, char *x, union kern_cell *acc)
{
    char room[LOADER_ROOM] __attribute__((aligned(64)));
    struct row_reader r;
    int64_t n;
    for (row_start(&r, f, x); r.left > 0;) {
        const char *tile = row_tile(&r, room, &n);
        fold_in_order(f, acc, tile, n);
    }
}

static void fold_rows(const struct fold *f, char *out, char *x)
{
    struct nest_walk w;
    nest_start(&w, &f->kept, f->kept.rank, (char *[]){out, x});
    do {
        union kern_cell acc = f->init;
        if (f->sum_f32)
            fold_row_f32_sum(f, w.at[1], &acc);
        else if (f->order_free)
            fold_row_any_order(f, w.at[1], &acc);
        else
            fold_row_in_order(f, w.at[1], &acc);
        store_results(f, w.at[0], 0, &acc, 1);
    } while (nest_step(&w));
}

/* The kept dimensions in the order of the operand's memory (any order will do), the reduced ones as
 * they come. */
static void split_dims(struct fold *f, const struct view *out, const struct view *x, const bool *reduced)
{
    int64_t order[VIEW_MAX_RANK], out_dim[VIEW_MAX_RANK];
    int kept = 0, k = 0;
    nest_init(&f->kept, 2);
    nest_init(&f->reduced, 1);
    for (int d = 0; d < x->rank; d++) {
        if (reduced[d]) {
            nest_add(&f->reduced, x->dims[d], &x->strides[d]);
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
        nest_add(&f->kept, x->dims[order[i]], (int64_t[]){out->strides[out_dim[i]], x->strides[order[i]]});
    nest_merge(&f->kept);
    nest_merge(&f->reduced);
    if (f->reduced.rank == 0)
        nest_add(&f->reduced, 1, (int64_t[]){0});
}

static bool columns_are_better(const struct fold *f)
{
    if (f->kept.rank == 0)
        return false;
    int64_t width = (int64_t)f->in.from;
    int64_t columns = f->kept.dims[f->kept.rank - 1], row = f->reduced.dims[f->reduced.rank - 1];
    if (f->kept.strides[1][f->kept.rank - 1] == width && columns >= 16)
        return true;
    if (f->order_free && f->reduced.strides[0][f->reduced.rank - 1] == width && row >= 64)
        return false;
    return columns >= 64 || columns >= row;
}

static void prepare_fold(struct fold *f, const struct view *out, const struct view *x, const void *init,
                         enum dtype acc, enum dtype work, enum kern_combine combine)
{
    struct loader start;
    union kern_cell cell;
    f->combine = combine;
    f->work = work;
    f->width = dtype_bytes(f->work);
    f->fn = kern_find_elementwise(combine_opcode(combine), work);
    f->order_free = combine_order_free(combine, acc, work);
    f->sum_f32 = x->dtype == DT_F32 && f->work == DT_F64 && combine == KERN_ADD;
    loader_init(&f->in, f->work, x->dtype);
    loader_init(&f->narrow, acc, f->work);
    loader_init(&f->out, out->dtype, acc);
    loader_init(&start, f->work, acc);
    memcpy(&f->init, loader_read(&start, &cell, init, 0, 1), f->width);
}

/* Whether operand elements reach the work type unharmed without passing through `acc`. */
static bool widens(enum dtype acc, enum dtype x)
{
    return acc == x || (dtype_is_float(acc) && dtype_is_float(x) && dtype_bits(acc) > dtype_bits(x));
}

static bool is_recognised(int n, const struct view *x, const enum dtype *acc, const struct kern_body *body)
{
    const char *opcode = combine_opcode(body->combine);
    return n == 1 && opcode && (!body->call || widens(*acc, x->dtype)) &&
           kern_find_elementwise(opcode, combine_work_type(body->combine, *acc));
}

static void fill_with_init(int n, const struct view *out, const void *const *init, const enum dtype *acc)
{
    for (int k = 0; k < n; k++) {
        struct loader l;
        union kern_cell value;
        loader_init(&l, out[k].dtype, acc[k]);
        kern_fill(&out[k], loader_read(&l, &value, init[k], 0, 1));
    }
}

void fold_dimensions(const struct view *out, const struct view *x, const void *init, enum dtype acc,
                     enum dtype work, const bool *reduced, enum kern_combine combine)
{
    struct fold f;
    prepare_fold(&f, out, x, init, acc, work, combine);
    split_dims(&f, out, x, reduced);
    if (columns_are_better(&f))
        fold_columns(&f, out->data, x->data);
    else
        fold_rows(&f, out->data, x->data);
}

/* spec: Reduce. f(f(f(init, x0), x1), ...) over the reduced dims in row-major order. */
bool kern_reduce(struct team *team, int n, const struct view *out, const struct view *x, const void *const *init,
                 const enum dtype *acc, const bool *reduced, const struct kern_body *body)
{
    if (view_elements(out) == 0)
        return true;
    if (view_elements(x) == 0) {
        fill_with_init(n, out, init, acc);
        return true;
    }
    if (pick_applies(n, out, x, acc, reduced, body)) {
        reduce_by_pick(out, x, init, reduced, body->pick);
        return true;
    }
    bool recognised = is_recognised(n, x, acc, body);
    if (!recognised && lanes_apply(out, body))
        return reduce_by_lanes(n, out, x, init, acc, reduced, body);
    if (!recognised && n == 1 && combine_opcode(body->combine)) /* values are rounded on their way in */
        return plain_reduce(NULL, n, out, x, init, acc, reduced, body);
    if (!recognised)
        return reduce_by_call(n, out, x, init, acc, reduced, body);
    fold_dimensions(out, x, *init, *acc, combine_work_type(body->combine, *acc), reduced, body->combine);
    return true;
}
