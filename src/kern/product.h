/*
 * product: sums of products over strided operands, out[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n],
 * where each of b, m, n, k stands for any number of dimensions. Dot and convolution both come down to it.
 * Private to kern.
 */
#ifndef HLO_KERN_PRODUCT_H
#define HLO_KERN_PRODUCT_H

#include "kern/nest.h"

struct product {
    enum dtype out_type, lhs_type, rhs_type, work;
    char *out, *lhs, *rhs;
    struct nest batch; /* views: out, lhs, rhs */
    struct nest m;     /* out, lhs */
    struct nest n;     /* out, rhs */
    struct nest k;     /* lhs, rhs */
};
bool product_run(struct product *p); /* false: no memory */

/* What operand types are multiplied and summed in for a result type (hlo-values 13.1). An operand whose
 * `via` differs from its type is converted to that first. */
struct product_types {
    enum dtype work, via[2];
};
void product_find_types(struct product_types *t, enum dtype out, enum dtype lhs, enum dtype rhs);
/* Replaces a view by a dense converted copy when it needs one on the way; *storage is then to be freed. */
bool product_convert_operand(struct view *x, enum dtype via, void **storage);

/* ---- matvec.c: one side is a vector, the other a matrix of narrow floats ---- */

bool matvec_applies(const struct product *p); /* its nests are merged */
bool matvec_run(const struct product *p, char *out, const char *lhs, const char *rhs); /* false: no memory */

/* ---- gemm.c: C = A * B on matrices, all of one type; C is row-major ---- */

struct matrix {
    const void *at;
    int64_t ld;      /* elements from one row (or column) to the next */
    bool transposed; /* columns are gapless instead of rows */
};
/* ldc >= n. The type is one of f32, f64, c64, c128, pred or a whole-byte integer. */
void gemm_run(enum dtype t, int64_t m, int64_t n, int64_t k, struct matrix a, struct matrix b, void *c,
              int64_t ldc);

/* ---- words.c: the same for bytes, bf16 and small f32, with sums of 32 bits ---- */

bool words_apply(const struct product *p); /* to its types and sizes, and on this processor */
/* A is row-major. C holds f32 or 32-bit integers. False: no memory. */
bool words_multiply(enum dtype a_type, enum dtype b_type, int64_t m, int64_t n, int64_t k, struct matrix a,
                    struct matrix b, void *c, int64_t ldc);

#endif
