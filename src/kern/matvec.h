/*
 * matvec: the inner loops of products of a matrix with few vectors, per instruction set. Private to
 * matvec*.c.
 */
#ifndef HLO_KERN_MATVEC_H
#define HLO_KERN_MATVEC_H

#include "kern/product.h"

enum {
    MATVEC_COUNTS = 4, /* there are loops for 1, 2, 4 and 8 = MATVEC_MAX vectors */
    MATVEC_ROWS = 4    /* rows of the matrix at a time */
};
/* The element types of the matrix; others are converted to f32 first, a piece at a time. */
enum matvec_source {
    MATVEC_F32,
    MATVEC_BF16,
    MATVEC_F16 /* may be absent */,
    MATVEC_F64,
    MATVEC_SOURCES
};

/* sums[r][i] += the sum of x[r][k] * rows[k][i] over MATVEC_ROWS rows; the length of sums is a
 * multiple of the vector length. */
typedef void matvec_down_fn(const char *const rows[MATVEC_ROWS], const char *x, int64_t x_step,
                            int64_t n, char *sums, int64_t sums_step);
struct matvec_set {
    matvec_rows_fn *rows[MATVEC_SOURCES][MATVEC_COUNTS];
    matvec_down_fn *down[MATVEC_SOURCES][MATVEC_COUNTS];
};
extern const struct matvec_set matvec_set_baseline, matvec_set_avx2, matvec_set_avx512;

#endif
