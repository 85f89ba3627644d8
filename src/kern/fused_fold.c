/*
 * fused_fold.c: reductions of fused loops (spec: Reduce), over rows that are packed in a tile. The
 * order is that of fold.h for a row-major operand.
 */
#include "kern/fused.h"
#include "kern/tile.h"

bool kern_can_fold(enum kern_combine combine, enum dtype x, enum dtype acc)
{
    const char *opcode = kern_combine_opcode(combine);
    return opcode && fold_widens(acc, x) &&
           kern_find_elementwise(opcode, combine_work_type(combine, acc));
}

void fused_fold_init(struct fused_fold *f, const struct kern_fold *k, const void *init,
                     int64_t rows, int64_t columns)
{
    const enum dtype work = combine_work_type(k->combine, k->acc);
    fold_init(&f->fold, k->combine, k->out, k->x, k->acc, work, init);
    const int64_t width = (int64_t)dtype_bytes(k->x);
    if (k->squares)
        f->fold.sum_bf16 = tile_set()->find_squares();
    f->block = fold_block(&f->fold, columns, rows);
    f->down = columns < KERN_TILE &&
              fold_down_columns(&f->fold, rows > 1 ? rows : 0, columns * width, columns, width);
    f->x_width = (size_t)width;
}

/* Reduces the columns, sequentially, into the accumulators of all rows. */
static void fold_down(const struct fused_fold *f, char *cells, const char *x, int64_t rows,
                      int64_t n)
{
    char column[LOADER_ROOM] __attribute__((aligned(64)));
    const void *at = column;
    fold_start(&f->fold, cells, rows, true);
    for (int64_t j = 0; j < n; j++) {
        kern_pack(column, x + (size_t)j * f->x_width, n * (int64_t)f->x_width, f->x_width, rows);
        fold_rows(&f->fold, cells, &at, 1, rows);
    }
}

/* Starts a new block of columns: combines the result of the last one with that of all before it. */
static void begin_block(const struct fused_fold *f, char *cell, char *before, int64_t column,
                        int64_t from)
{
    if (column - from == f->block)
        memcpy(before, cell, f->fold.width);
    else if (column > from)
        fold_join(&f->fold, before, cell, 1);
    fold_start(&f->fold, cell, 1, column == 0);
}

void fused_fold_rows(const struct fused_fold *f, const struct fused_cells *c, const char *x,
                     int64_t rows, int64_t column, int64_t n)
{
    if (f->down) {
        fold_down(f, c->last, x, rows, n);
        return;
    }
    for (int64_t r = 0; r < rows; r++, x += (size_t)n * f->x_width) {
        char *cell = c->last + (size_t)r * f->fold.width,
             *before = c->before + (size_t)r * f->fold.width;
        for (int64_t done = 0; done < n; done += KERN_TILE) {
            if ((column + done) % f->block == 0)
                begin_block(f, cell, before, column + done, c->from);
            fold_tile(&f->fold, cell, x + (size_t)done * f->x_width,
                      n - done < KERN_TILE ? n - done : KERN_TILE);
        }
    }
}

void fused_fold_finish(const struct fused_fold *f, const struct fused_cells *c, char *out,
                       int64_t rows, int64_t columns)
{
    const bool joins = columns - c->from > f->block;
    if (joins)
        fold_join(&f->fold, c->before, c->last, rows);
    fold_store(&f->fold, out, (int64_t)f->fold.out.to, joins ? c->before : c->last, rows);
}
