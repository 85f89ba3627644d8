/*
 * fused.h: parts of fused loops. Private to kern: fused*.c.
 */
#ifndef HLO_KERN_FUSED_H
#define HLO_KERN_FUSED_H

#include "kern/reducer.h"

/* ---- fused_shape.c ---- */

/* The extent of a loop, and of its blocks. A block consists of several rows, or of columns of one
 * row; of a part of the lanes only if it has one row. */
struct fused_shape {
    int64_t rows, columns, lanes;
    int64_t block_rows, block_columns, block_lanes;
    bool one_row;         /* blocks are of one long row, for machine code that expects that */
    int64_t tile;         /* elements of a block, at most */
    int64_t accumulators; /* row values of a block, at most */
};
/* `run`: without reductions, the number of elements that are a row. */
void fused_shape_init(struct fused_shape *s, const struct kern_fused *f, int64_t run);
/* The dimensions in the order of the loop. */
void fused_shape_order(const struct kern_fused *f, int *order);

/* ---- fused_reducer.c ---- */

struct fused_reducer {
    struct reducer reducer;
    size_t x_width;
    int64_t block; /* columns */
    bool down;     /* rows are short: many are reduced side by side */
};
/* Packed accumulators, one for each of the row values of a block. */
struct fused_accumulators {
    char *last, *before; /* for the current block of columns; for all blocks before it */
    int64_t from;        /* the first column reduced into these */
};
void fused_reducer_init(struct fused_reducer *f, const struct kern_fused *loop,
                        const struct kern_reducer *k, const void *init);
/* Reduces n packed columns of each row, of `lanes` elements each; without lanes, KERN_TILE columns,
 * or all remaining ones. */
void fused_reducer_rows(const struct fused_reducer *f, const struct fused_accumulators *c,
                        const char *x, int64_t rows, int64_t column, int64_t n, int64_t lanes);
/* Stores n results, after the last column. */
void fused_reducer_finish(const struct fused_reducer *f, const struct fused_accumulators *c,
                          char *out, int64_t n, int64_t columns);

#endif
