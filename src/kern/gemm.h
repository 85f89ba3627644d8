/*
 * gemm: blocks of matrix products, C (+)= A * B, which dot and convolution are made of. Private to kern.
 *
 * They are computed by lanes of 32 bits, which hold an f32, an integer, two bf16 or four bytes that follow each other along the
 * contracted dimension k, or of 64 bits with an f64 or an integer. What stands in no row, column or k is zero.
 *
 * B is packed first, in panels: panel[l][j] is lane l of column j, for `columns` columns side by side, the missing ones zero too.
 * A is read where it lies, with any distances between rows and between lanes; C has gapless rows. Everything here is done by the
 * thread that calls it.
 *
 * Order and accumulation: each sum takes its terms in the order of k, whatever the sizes of blocks: f32 and f64 by fused
 * multiply-adds where the processor has them; pairs of bf16 two by two, numbers below the least normal one count as zero;
 * integers modulo 2^32 or 2^64.
 */
#ifndef HLO_KERN_GEMM_H
#define HLO_KERN_GEMM_H

#include "kern/kern.h"

enum gemm_kind {
    GEMM_F32, GEMM_F64, GEMM_PAIRS, GEMM_SIGNED_BYTES, GEMM_UNSIGNED_BYTES /* on the left */, GEMM_WORDS, GEMM_DWORDS,
    GEMM_KINDS
};

/* How products of certain types are computed on this processor. */
struct gemm_set;
struct gemm {
    enum gemm_kind kind;
    enum dtype lhs, rhs;       /* what lanes of A and B are made of: operands of other types are converted first */
    enum dtype sum;            /* f32, f64, s32 or s64: what C holds */
    bool moved;                /* the bytes of B are moved by 128 in its panels: see gemm_excess */
    bool twofold;              /* complex numbers: those of B take two lanes each, as they are and times i */
    int64_t per_lane;          /* elements: 1, 2 or 4 */
    int64_t lane;              /* bytes */
    int64_t columns, panel;    /* of a panel; bytes of one lane of all of them */
    const struct gemm_set *set;
};
/* For operands of these types, summed in `work` and stored as `out` (product_find_types). `wide`: one element a lane in any case. */
void gemm_choose(struct gemm *g, enum dtype out, enum dtype lhs, enum dtype rhs, enum dtype work, bool wide);

static inline int64_t gemm_lanes(const struct gemm *g, int64_t k)
{
    return g->twofold ? 2 * k : ratio_up(k, g->per_lane);
}

/* Panels of n columns, k elements deep: element (i, j) is at from + i * k_step + j * column_step, of any type that becomes
 * g->rhs. Each has gemm_lanes(k) * g->panel bytes and follows the one before; the first lies on a cache line. */
void gemm_pack(const struct gemm *g, enum dtype type, const char *from, int64_t k_step, int64_t column_step, int64_t k, int64_t n,
               void *panels);
/* The same for a part of a panel, cleared before, that starts at `panel`: nothing else in it changes. */
void gemm_pack_part(const struct gemm *g, enum dtype type, const char *from, int64_t k_step, int64_t column_step, int64_t k,
                    int64_t n, void *panel);

/* What the sums of rows of k bytes of A have to start with, for B's bytes are moved by 128 where both sides are of one kind. */
void gemm_excess(const struct gemm *g, const char *a, int64_t a_row, int64_t rows, int64_t k, int32_t *start);

/* C (+)= A * B for any number of rows and n <= columns columns. A's lanes are those of g->lhs: where there are several
 * elements to one, those are gapless, k is a multiple of their number or `rest` tells how many there are in one more lane. */
struct gemm_block {
    const char *a;
    int64_t a_row, a_lane; /* bytes from one row to the next, from one lane to the next */
    const void *panel;
    int64_t rows, n, lanes, rest;
    const int32_t *start;  /* where g->moved, what gemm_excess says of the rows; else NULL */
    bool add;              /* to what C holds; else C is overwritten */
    char *c;
    int64_t c_row;         /* bytes */
};
void gemm_block(const struct gemm *g, const struct gemm_block *b);

#endif
