/*
 * fold.h: in which order recognised combiners fold many elements into one (spec: Reduce). Private
 * to kern.
 *
 * The result of a reduction must not depend on what computes it: the reduce kernel, a fused loop
 * that ends in a reduction, any number of threads. So the order is fixed here and nowhere else.
 *
 * The elements under one result are numbered in logical order, row-major. Each fold_block() of them
 * form a block: the fold of the first block starts with `init`, that of any other with the
 * identity, and the results of the blocks are combined one after the other. Within a block the fold
 * goes along the row or down the columns. Along the row, KERN_TILE elements at a time, from the
 * start of the block, go to fold_tile. Down the columns, all rows of the block go to fold_rows, one
 * after the other; this is so where fold_down_columns() says so for the operand's layout in memory
 * (an operand that is not in memory counts as row-major).
 */
#ifndef HLO_KERN_FOLD_H
#define HLO_KERN_FOLD_H

#include "kern/nest.h"

/* out[i] = init (NULL: what is in out already), folded with rows[0][i], rows[1][i], ...: elements
 * of the work type. */
typedef void fold_rows_fn(void *out, const void *init, const void *const *rows, int count,
                          int64_t n);
fold_rows_fn *fold_find_rows(enum kern_combine combine, enum dtype work); /* NULL: there is none */

enum fold_order {
    FOLD_IN_ORDER, /* every step rounds: one element after the other */
    FOLD_ANY,      /* the same in whatever order */
    FOLD_SUM       /* of floats in f64: along the row, lanes are added up apart */
};
enum { SUM_LANES = 32 };
struct fold {
    enum kern_combine combine;
    enum fold_order order;
    enum dtype x, work; /* type of the elements, and the type in which they are folded */
    size_t width;       /* of the work type */
    kern_tile_fn *fn;   /* of the work type */
    fold_rows_fn *rows; /* the same; may be NULL */
    double (*sum_bf16)(const uint16_t *x, int64_t n);
    struct loader in;          /* elements -> work type; for most sums -> f32 */
    struct loader narrow, out; /* work type -> accumulator type -> result */
    bool has_identity;
    union kern_cell init, identity; /* in the work type */
};
/* Whether elements can be converted to the work type directly, with the same result as through the
 * accumulator's type. */
bool fold_widens(enum dtype acc, enum dtype x);
/* Elements of type `x`, results of type `out`, `init` of type `acc`; all can be converted to
 * `work`. */
void fold_init(struct fold *f, enum kern_combine combine, enum dtype out, enum dtype x,
               enum dtype acc, enum dtype work, const void *init);

/* Elements in a block, of the `under` elements under each of `results` results. One block for all,
 * if there are enough results to share among threads, or if the order allows nothing else. */
int64_t fold_block(const struct fold *f, int64_t under, int64_t results);
/* `columns`: results along the innermost kept dimension (0: there is none); `row`: elements along
 * the innermost reduced one; dimensions that step alike count as one. With the operand's strides
 * along both. */
bool fold_down_columns(const struct fold *f, int64_t columns, int64_t column_stride, int64_t row,
                       int64_t row_stride);

/* Sets n accumulators to their start: of the first block, or of any other. */
void fold_start(const struct fold *f, void *acc, int64_t n, bool first);
/* Folds n <= KERN_TILE packed elements into one accumulator. */
void fold_tile(const struct fold *f, void *acc, const void *x, int64_t n);
/* Folds `count` rows of n <= KERN_TILE packed elements into n accumulators, one row after the
 * other. */
enum { FOLD_ROWS = 8 }; /* so many at once are worth while */
void fold_rows(const struct fold *f, void *acc, const void *const *rows, int count, int64_t n);
/* Folds the accumulators of the next block into these. */
void fold_join(const struct fold *f, void *acc, const void *next, int64_t n);
/* Stores n <= KERN_TILE accumulators as results. */
void fold_store(const struct fold *f, char *out, int64_t stride, const void *acc, int64_t n);

#endif
