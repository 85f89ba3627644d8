/*
 * gemm.h: blocks of matrix products, C (+)= A * B, which dot and convolution are made of. Private
 * to kern.
 *
 * The work is done in lanes. A lane has 32 bits, and holds an f32, an integer, or two bf16 or four
 * bytes that follow each other along the contracted dimension k; or it has 64 bits, for an f64 or
 * an integer. Whatever is outside the matrices counts as zero.
 *
 * B is packed first, in panels: panel[l][j] is lane l of column j, for `columns` neighbouring
 * columns; missing columns are zero too. A is read in place, with any strides between rows and
 * between lanes; C has rows without gaps. Everything here is done by the calling thread.
 *
 * Order and accumulation: each sum takes its terms in the order of k, whatever the sizes of blocks:
 * f32 and f64 by fused multiply-adds where the processor has them; pairs of bf16 two by two, where
 * numbers below the least normal one count as zero; integers modulo 2^32 or 2^64.
 */
#ifndef HLO_KERN_GEMM_H
#define HLO_KERN_GEMM_H

#include "kern/kern.h"

enum gemm_kind {
    GEMM_F32,
    GEMM_F64,
    GEMM_PAIRS,
    GEMM_SIGNED_BYTES,
    GEMM_UNSIGNED_BYTES /* on the left */,
    GEMM_WORDS,
    GEMM_DWORDS,
    GEMM_KINDS
};

/* How products of certain types are computed on this processor. */
struct gemm_set;
struct gemm {
    enum gemm_kind kind;
    enum dtype lhs, rhs; /* what the lanes of A and B are made of: operands of other types are
                            converted first */
    enum dtype sum;      /* f32, f64, s32 or s64: what C holds */
    bool moved;          /* the bytes of B are offset by 128 in its panels: see gemm_excess */
    bool twofold; /* complex numbers: each of B takes two lanes, one for itself and one for itself
                     times i */
    int64_t per_lane;       /* elements: 1, 2 or 4 */
    int64_t lane;           /* bytes */
    int64_t columns, panel; /* columns of a panel; bytes of one lane of all of them */
    const struct gemm_set *set;
};
/* Chooses how to multiply operands of these types, summed in `work` and stored as `out`
 * (product_find_types). `wide`: one element per lane in any case. */
void gemm_choose(struct gemm *g, enum dtype out, enum dtype lhs, enum dtype rhs, enum dtype work,
                 bool wide);

static inline int64_t gemm_lanes(const struct gemm *g, int64_t k)
{
    return g->twofold ? 2 * k : ratio_up(k, g->per_lane);
}

/* Packs n columns, k elements deep, into panels. Element (i, j) is at from + i * k_step + j *
 * column_step, of any type, and is converted to g->rhs. Each panel has gemm_lanes(k) * g->panel
 * bytes and follows the one before; the first begins at a cache line. */
void gemm_pack(const struct gemm *g, enum dtype type, const char *from, int64_t k_step,
               int64_t column_step, int64_t k, int64_t n, void *panels);
/* The same for part of a panel that has been cleared, beginning at `panel`: nothing else in it
 * changes. */
void gemm_pack_part(const struct gemm *g, enum dtype type, const char *from, int64_t k_step,
                    int64_t column_step, int64_t k, int64_t n, void *panel);

/* The initial values for the sums of rows of k bytes of A, which make up for B's bytes being offset
 * by 128. */
void gemm_excess(const struct gemm *g, const char *a, int64_t a_row, int64_t rows, int64_t k,
                 int32_t *start);

/* C (+)= A * B for any number of rows and n <= columns columns. A's lanes are those of g->lhs. If a
 * lane has several elements, these have no gaps, and k is a multiple of their number, or `rest`
 * says how many there are in one more lane. */
struct gemm_block {
    const char *a;
    int64_t a_row, a_lane; /* bytes from one row to the next, and from one lane to the next */
    const void *panel;
    int64_t rows, n, lanes, rest;
    const int32_t *start; /* if g->moved, the result of gemm_excess for the rows; else NULL */
    bool add;             /* to what C holds; otherwise C is overwritten */
    char *c;
    int64_t c_row; /* bytes */
};
void gemm_block(const struct gemm *g, const struct gemm_block *b);

#endif
