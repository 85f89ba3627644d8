/*
 * fused_reducer.c: reductions of fused loops (spec: Reduce), over rows and lanes that are packed
 * in a tile. The order is that of reducer.h for a row-major operand.
 */
#include "kern/fused.h"

bool kern_can_reduce(enum kern_combine combine, enum dtype x, enum dtype acc)
{
    const char *opcode = kern_combine_opcode(combine);
    return opcode && reducer_widens(acc, x) &&
           kern_find_elementwise(opcode, combine_work_type(combine, acc));
}

/* The length of the last run of adjacent dimensions that are reduced, or kept; 0 if it is empty.
 * `stride`: its distance in elements. */
static int64_t last_run(const struct kern_fused *f, bool reduced, int64_t *stride)
{
    int64_t length = 0;
    int d = f->rank - 1;
    for (*stride = 1; d >= 0 && f->reduced[d] != reduced; d--)
        *stride *= f->dims[d];
    for (; d >= 0 && f->reduced[d] == reduced; d--)
        length = (length > 0 ? length : 1) * f->dims[d];
    return length;
}

void fused_reducer_init(struct fused_reducer *f, const struct kern_fused *loop,
                        const struct kern_reducer *k, const void *init)
{
    const enum dtype work = combine_work_type(k->combine, k->acc);
    struct fused_shape s;
    int64_t column_stride, row_stride;
    fused_shape_init(&s, loop, 1);
    reducer_init(&f->reducer, k->combine, k->out, k->x, k->acc, work, init);
    const int64_t width = (int64_t)dtype_bytes(k->x);
    f->block = reducer_block(&f->reducer, s.columns, s.rows * s.lanes);
    const int64_t kept = last_run(loop, false, &column_stride);
    last_run(loop, true, &row_stride);
    f->down = loop->lane_rank == 0 && s.columns < KERN_TILE &&
              reducer_goes_down_columns(&f->reducer, kept, column_stride * width, s.columns,
                                        row_stride * width) &&
              !(f->reducer.order == REDUCE_IN_ANY_ORDER && reducer_has_tiles(&f->reducer));
    f->lanes = s.lanes > 1;
    f->x_width = (size_t)width;
}

/* Reduces the columns of short rows, sequentially, into the accumulators of all rows. */
static void reduce_down(const struct fused_reducer *f, char *accumulators, const char *x,
                        int64_t rows, int64_t n)
{
    enum { LANES = 128 };
    char columns[REDUCER_ROWS * LANES * sizeof(union kern_element)] __attribute__((aligned(64)));
    const void *at[REDUCER_ROWS];
    const int64_t width = (int64_t)f->x_width;
    for (int64_t row = 0; row < rows; row += LANES) {
        const int64_t some = min_i64(rows - row, LANES);
        char *to = accumulators + (size_t)row * f->reducer.width;
        reducer_start(&f->reducer, to, some, true);
        for (int k = 0; k < REDUCER_ROWS; k++)
            at[k] = columns + k * some * width;
        for (int64_t j = 0; j < n; j += REDUCER_ROWS) {
            const int64_t count = min_i64(n - j, REDUCER_ROWS);
            kern_copy_block(columns, x + (row * n + j) * width, (int64_t[]){count, some},
                            (int64_t[]){some * width, width}, (int64_t[]){width, n * width},
                            f->x_width);
            reducer_rows(&f->reducer, to, at, (int)count, some);
        }
    }
}

/* Starts a new block of columns: combines the result of the last one with that of all before it. */
static void begin_block(const struct fused_reducer *f, char *accumulator, char *before,
                        int64_t column, int64_t from, int64_t lanes)
{
    if (column - from == f->block)
        memcpy(before, accumulator, (size_t)lanes * f->reducer.width);
    else if (column > from)
        reducer_join(&f->reducer, before, accumulator, lanes);
    reducer_start(&f->reducer, accumulator, lanes, column == 0);
}

static void reduce_row(const struct fused_reducer *f, const struct fused_accumulators *c,
                       char *accumulator, char *before, const char *x, int64_t column, int64_t n)
{
    for (int64_t done = 0; done < n; done += KERN_TILE) {
        if ((column + done) % f->block == 0)
            begin_block(f, accumulator, before, column + done, c->from, 1);
        reducer_tile(&f->reducer, accumulator, x + (size_t)done * f->x_width,
                     min_i64(n - done, KERN_TILE));
    }
}

/* Combines n rows of lanes. */
static void reduce_lanes(const struct fused_reducer *f, char *accumulators, const char *x,
                         int64_t n, int64_t lanes, int64_t line)
{
    const void *rows[REDUCER_ROWS];
    for (int64_t lane = 0; lane < lanes; lane += KERN_TILE) {
        const int64_t some = min_i64(lanes - lane, KERN_TILE);
        for (int64_t j = 0; j < n; j += REDUCER_ROWS) {
            const int count = (int)min_i64(n - j, REDUCER_ROWS);
            for (int k = 0; k < count; k++)
                rows[k] = x + (j + k) * line + lane * (int64_t)f->x_width;
            reducer_rows(&f->reducer, accumulators + (size_t)lane * f->reducer.width, rows, count,
                         some);
        }
    }
}

static void reduce_columns(const struct fused_reducer *f, const struct fused_accumulators *c,
                           char *accumulators, char *before, const char *x, int64_t column,
                           int64_t n, int64_t lanes, int64_t line)
{
    for (int64_t done = 0, some; done < n; done += some) {
        const int64_t in_block = (column + done) % f->block;
        if (in_block == 0)
            begin_block(f, accumulators, before, column + done, c->from, lanes);
        some = min_i64(n - done, f->block - in_block);
        reduce_lanes(f, accumulators, x + done * line, some, lanes, line);
    }
}

void fused_reducer_rows(const struct fused_reducer *f, const struct fused_accumulators *c,
                        const char *x, int64_t rows, int64_t column, int64_t n, int64_t lanes,
                        int64_t line)
{
    if (f->down) {
        reduce_down(f, c->last, x, rows, n);
        return;
    }
    if (!f->lanes && column == 0 && n <= KERN_TILE && n <= f->block) {
        reducer_start(&f->reducer, c->last, rows, true);
        reducer_tiles(&f->reducer, c->last, x, rows, n);
        return;
    }
    const size_t row = (size_t)(n * lanes) * f->x_width, next = (size_t)lanes * f->reducer.width;
    for (int64_t r = 0; r < rows; r++, x += row) {
        char *accumulators = c->last + (size_t)r * next, *before = c->before + (size_t)r * next;
        if (!f->lanes)
            reduce_row(f, c, accumulators, before, x, column, n);
        else
            reduce_columns(f, c, accumulators, before, x, column, n, lanes, line);
    }
}

void fused_reducer_finish(const struct fused_reducer *f, const struct fused_accumulators *c,
                          char *out, int64_t n, int64_t columns)
{
    const bool joins = columns - c->from > f->block;
    const int64_t width = (int64_t)f->reducer.width, to = (int64_t)f->reducer.out.to;
    char *from = joins ? c->before : c->last;
    if (joins)
        reducer_join(&f->reducer, c->before, c->last, n);
    for (int64_t k = 0; k < n; k += KERN_TILE)
        reducer_store(&f->reducer, out + k * to, to, from + k * width, min_i64(n - k, KERN_TILE));
}
