/*
 * fused.h: the folds of fused loops. Private to kern: fused.c and fused_fold.c.
 */
#ifndef HLO_KERN_FUSED_H
#define HLO_KERN_FUSED_H

#include "kern/fold.h"

struct fused_fold {
    struct fold fold;
    size_t x_width;
    int64_t block; /* columns */
    bool down;     /* rows are so short that they are folded side by side */
};
/* Of some rows at a time: accumulators, packed, for each of them. */
struct fused_cells {
    char *last, *before; /* of the block of columns that is being folded, of all before it */
    int64_t from;        /* the first column that is folded into these */
};
void fused_fold_init(struct fused_fold *f, const struct kern_fold *k, const void *init, int64_t rows, int64_t columns);
/* n packed columns of each row; KERN_TILE of them, or all that are left. */
void fused_fold_rows(const struct fused_fold *f, const struct fused_cells *c, const char *x, int64_t rows, int64_t column,
                     int64_t n);
/* The results, after the last column. */
void fused_fold_finish(const struct fused_fold *f, const struct fused_cells *c, char *out, int64_t rows, int64_t columns);

#endif
