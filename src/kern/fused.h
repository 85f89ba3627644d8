/*
 * fused.h: reductions of fused loops. Private to kern: fused.c and fused_reducer.c.
 */
#ifndef HLO_KERN_FUSED_H
#define HLO_KERN_FUSED_H

#include "kern/reducer.h"

struct fused_reducer {
    struct reducer reducer;
    size_t x_width;
    int64_t block; /* columns */
    bool down;     /* rows are short: many are reduced side by side */
};
/* Packed accumulators, one for each of the rows of a block. */
struct fused_accumulators {
    char *last, *before; /* for the current block of columns; for all blocks before it */
    int64_t from;        /* the first column reduced into these */
};
void fused_reducer_init(struct fused_reducer *f, const struct kern_reducer *k, const void *init,
                        int64_t rows, int64_t columns);
/* Reduces n packed columns of each row: KERN_TILE of them, or all remaining ones. */
void fused_reducer_rows(const struct fused_reducer *f, const struct fused_accumulators *c,
                        const char *x, int64_t rows, int64_t column, int64_t n);
/* Stores the results, after the last column. */
void fused_reducer_finish(const struct fused_reducer *f, const struct fused_accumulators *c,
                          char *out, int64_t rows, int64_t columns);

#endif
