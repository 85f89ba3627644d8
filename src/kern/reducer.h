/*
 * reducer.h: the order in which recognized combiners reduce elements (spec: Reduce). Private to
 * kern.
 *
 * The result of a reduction must not depend on the code that computes it: the reduce kernel, a
 * fused loop that ends in a reduction, any number of threads. So the order is defined here and
 * nowhere else.
 *
 * The elements of one result are numbered in logical order, row-major. Each reducer_block() of them
 * form a block: the reduction of the first block starts with `init`, that of any other with the
 * identity, and the results of the blocks are combined sequentially. Within a block the reduction
 * runs along the row or down the columns. Along the row, KERN_TILE elements at a time, from the
 * start of the block, are passed to reducer_tile. Down the columns, all rows of the block are
 * passed to reducer_rows, sequentially; reducer_goes_down_columns() selects this from the operand's
 * layout in memory (an operand that is not in memory counts as row-major).
 */
#ifndef HLO_KERN_REDUCER_H
#define HLO_KERN_REDUCER_H

#include "kern/nest.h"

struct tile_set;

/* out[i] = init (NULL: the contents of out), reduced with rows[0][i], rows[1][i], ...: elements of
 * the work type. */
typedef void reducer_rows_fn(void *out, const void *init, const void *const *rows, int count,
                             int64_t n);
/* NULL for combiners and types without such a loop */
reducer_rows_fn *reducer_find_rows(enum kern_combine combine, enum dtype work);

enum reducer_order {
    REDUCE_IN_ORDER,     /* every step rounds: sequential */
    REDUCE_IN_ANY_ORDER, /* independent of the order */
    REDUCE_IN_LANES      /* sums and products in f64: along the row, lanes are reduced separately */
};
enum {
    REDUCER_LANES = KERN_FOLD_LANES,
    REDUCER_COLUMNS = 4 /* adjacent columns that are reduced down rather than one by one */
};
struct reducer {
    enum kern_combine combine;
    enum reducer_order order;
    enum dtype x, work;    /* type of the elements, and the type of the reduction */
    size_t width;          /* of the work type */
    kern_tile_fn *fn;      /* of the work type */
    reducer_rows_fn *rows; /* for rows; may be NULL */
    /* for rows of elements that are narrower than the work type, without conversion; or NULL */
    void (*columns)(double *acc, const void *const *rows, int count, int64_t n);
    const struct tile_set *set;
    struct loader in;          /* elements -> work type; in lanes, most -> f32 */
    struct loader narrow, out; /* work type -> accumulator type -> result */
    bool has_identity;
    union kern_element init, identity; /* in the work type */
};
/* Whether elements can be converted to the work type directly, with the same result as through the
 * accumulator's type. */
bool reducer_widens(enum dtype acc, enum dtype x);
/* Initializes a reduction of elements of type `x` to results of type `out`, with `init` of type
 * `acc`; all can be converted to `work`. */
void reducer_init(struct reducer *f, enum kern_combine combine, enum dtype out, enum dtype x,
                  enum dtype acc, enum dtype work, const void *init);

/* Elements in a block, of the `under` elements of each of `results` results. One block for all, if
 * there are enough results to distribute among threads, or if the order requires it. */
int64_t reducer_block(const struct reducer *f, int64_t under, int64_t results);
/* `columns`: results along the innermost kept dimension (0: none), mergeable dimensions
 * count as one; `under`: elements of each result. With the operand's strides along the innermost
 * kept and the innermost reduced dimension. */
bool reducer_goes_down_columns(const struct reducer *f, int64_t columns, int64_t column_stride,
                               int64_t under, int64_t row_stride);

/* Initializes n accumulators: of the first block, or of any other. */
void reducer_start(const struct reducer *f, void *acc, int64_t n, bool first);
/* Reduces n <= KERN_TILE packed elements into one accumulator. */
void reducer_tile(const struct reducer *f, void *acc, const void *x, int64_t n);
/* Reduces each of `rows` packed rows of n <= KERN_TILE elements into one accumulator. */
void reducer_tiles(const struct reducer *f, void *acc, const void *x, int64_t rows, int64_t n);
/* Whether that takes little more time for short rows than for long ones. */
bool reducer_has_tiles(const struct reducer *f);
/* Reduces `count` rows of n <= KERN_TILE packed elements into n accumulators, row by row. */
enum { REDUCER_ROWS = 8 }; /* rows that are worth passing at once */
void reducer_rows(const struct reducer *f, void *acc, const void *const *rows, int count,
                  int64_t n);
/* Combines the accumulators of the next block into these. */
void reducer_join(const struct reducer *f, void *acc, const void *next, int64_t n);
/* Stores n <= KERN_TILE accumulators as results. */
void reducer_store(const struct reducer *f, char *out, int64_t stride, const void *acc, int64_t n);

#endif
