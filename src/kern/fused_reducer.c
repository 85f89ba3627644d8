/*
 * fused_reducer.c: reductions of fused loops (spec: Reduce), over rows that are packed in a tile.
 * The order is that of reducer.h for a row-major operand.
 */
#include "kern/fused.h"
#include "kern/tile.h"

bool kern_can_reduce(enum kern_combine combine, enum dtype x, enum dtype acc)
{
    const char *opcode = kern_combine_opcode(combine);
    return opcode && reducer_widens(acc, x) &&
           kern_find_elementwise(opcode, combine_work_type(combine, acc));
}

void fused_reducer_init(struct fused_reducer *f, const struct kern_reducer *k, const void *init,
                        int64_t rows, int64_t columns)
{
    const enum dtype work = combine_work_type(k->combine, k->acc);
    reducer_init(&f->reducer, k->combine, k->out, k->x, k->acc, work, init);
    const int64_t width = (int64_t)dtype_bytes(k->x);
    if (k->squares)
        f->reducer.sum_bf16 = tile_set()->find_squares();
    f->block = reducer_block(&f->reducer, columns, rows);
    f->down = columns < KERN_TILE && reducer_goes_down_columns(&f->reducer, rows > 1 ? rows : 0,
                                                               columns * width, columns, width);
    f->x_width = (size_t)width;
}

/* Reduces the columns, sequentially, into the accumulators of all rows. */
static void reduce_down(const struct fused_reducer *f, char *accumulators, const char *x,
                        int64_t rows, int64_t n)
{
    char column[LOADER_BYTES] __attribute__((aligned(64)));
    const void *at = column;
    reducer_start(&f->reducer, accumulators, rows, true);
    for (int64_t j = 0; j < n; j++) {
        kern_pack(column, x + (size_t)j * f->x_width, n * (int64_t)f->x_width, f->x_width, rows);
        reducer_rows(&f->reducer, accumulators, &at, 1, rows);
    }
}

/* Starts a new block of columns: combines the result of the last one with that of all before it. */
static void begin_block(const struct fused_reducer *f, char *accumulator, char *before,
                        int64_t column, int64_t from)
{
    if (column - from == f->block)
        memcpy(before, accumulator, f->reducer.width);
    else if (column > from)
        reducer_join(&f->reducer, before, accumulator, 1);
    reducer_start(&f->reducer, accumulator, 1, column == 0);
}

void fused_reducer_rows(const struct fused_reducer *f, const struct fused_accumulators *c,
                        const char *x, int64_t rows, int64_t column, int64_t n)
{
    if (f->down) {
        reduce_down(f, c->last, x, rows, n);
        return;
    }
    for (int64_t r = 0; r < rows; r++, x += (size_t)n * f->x_width) {
        char *accumulator = c->last + (size_t)r * f->reducer.width,
             *before = c->before + (size_t)r * f->reducer.width;
        for (int64_t done = 0; done < n; done += KERN_TILE) {
            if ((column + done) % f->block == 0)
                begin_block(f, accumulator, before, column + done, c->from);
            reducer_tile(&f->reducer, accumulator, x + (size_t)done * f->x_width,
                         n - done < KERN_TILE ? n - done : KERN_TILE);
        }
    }
}

void fused_reducer_finish(const struct fused_reducer *f, const struct fused_accumulators *c,
                          char *out, int64_t rows, int64_t columns)
{
    const bool joins = columns - c->from > f->block;
    if (joins)
        reducer_join(&f->reducer, c->before, c->last, rows);
    reducer_store(&f->reducer, out, (int64_t)f->reducer.out.to, joins ? c->before : c->last, rows);
}
