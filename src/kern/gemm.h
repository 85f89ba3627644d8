/*
 * gemm.h: blocks of matrix products, C (+)= A * B, the building block of dot and convolution.
 * Private to kern.
 *
 * The work is done in lanes. A lane has 32 bits, and holds an f32, an integer, two bf16, two shorts
 * or four bytes that are consecutive along the contracted dimension k; or it has 64 bits, for an
 * f64 or an integer. Elements outside of the matrices count as zero.
 *
 * B is packed first, in panels: panel[l][j] is lane l of column j, for `columns` adjacent columns;
 * missing columns are zero too. Where its rows have this form, it may be read in place. A is read
 * in place, with any strides between rows and between lanes, or offsets of rows, and both
 * in runs of lanes; the rows of C are dense. All functions run in the calling thread.
 *
 * Order and accumulation: each sum adds its terms in the order of k, whatever the block sizes: f32
 * and f64 by fused multiply-adds where the processor has them; bf16 pairwise, where subnormal
 * numbers count as zero; integers modulo 2^32 or 2^64.
 */
#ifndef HLO_KERN_GEMM_H
#define HLO_KERN_GEMM_H

#include "kern/kern.h"

enum gemm_kind {
    GEMM_F32,
    GEMM_F64,
    GEMM_PAIRS,  /* of bf16 */
    GEMM_SHORTS, /* pairs of 16-bit integers */
    GEMM_SIGNED_BYTES,
    GEMM_UNSIGNED_BYTES /* on the left */,
    GEMM_WORDS,
    GEMM_DWORDS,
    GEMM_KINDS
};

/* The implementation of products of certain types on this processor. */
struct gemm_set;
struct gemm {
    enum gemm_kind kind;
    /* elements of the lanes of A and B: operands of other types are converted first */
    enum dtype lhs, rhs;
    enum dtype sum; /* element type of C: f32, f64, s32 or s64 */
    bool moved;     /* the bytes of B are offset by 128 in its panels: see gemm_excess */
    /* complex numbers: each element of B takes two lanes, itself and itself times i */
    bool twofold;
    int64_t per_lane;       /* elements: 1, 2 or 4 */
    int64_t lane;           /* bytes */
    int64_t columns, panel; /* columns of a panel; bytes of one lane of all of them */
    const struct gemm_set *set;
};
/* Chooses the implementation for operands of these types, summed in `work` and stored as `out`
 * (product_find_types). `wide`: one element per lane in any case. */
void gemm_choose(struct gemm *g, enum dtype out, enum dtype lhs, enum dtype rhs, enum dtype work,
                 bool wide);
/* Makes panels as narrow as the columns of the product allow. */
void gemm_narrow(struct gemm *g, int64_t columns);

static inline int64_t gemm_lanes(const struct gemm *g, int64_t k)
{
    return g->twofold ? 2 * k : ratio_up(k, g->per_lane);
}

/* Packs n columns, k elements deep, into panels. Element (i, j) is at from + i * k_step + j *
 * column_step, of any type, and is converted to g->rhs. Each panel has gemm_lanes(k) * g->panel
 * bytes and follows the previous one; the first is aligned to a cache line. */
void gemm_pack(const struct gemm *g, enum dtype type, const char *from, int64_t k_step,
               int64_t column_step, int64_t k, int64_t n, void *panels);
/* gemm_pack() for part of a panel that has been cleared, starting at `panel`: the rest of it is
 * unchanged. */
void gemm_pack_part(const struct gemm *g, enum dtype type, const char *from, int64_t k_step,
                    int64_t column_step, int64_t k, int64_t n, void *panel);

/* The initial values for the sums of rows of k bytes of A, which compensate for the offset of 128
 * of B's bytes. */
void gemm_excess(const struct gemm *g, const char *a, int64_t a_row, int64_t rows, int64_t k,
                 int32_t *start);

/* The offsets of a run of lanes in the rows of A, and in B. */
struct gemm_run {
    int64_t a, b;
};

/* C (+)= A * B for any number of rows and n <= columns columns. A's lanes are those of g->lhs. If a
 * lane has several elements, these are contiguous, and k is a multiple of their number, or `rest`
 * is the number of elements in one more lane. */
struct gemm_block {
    const char *a;
    int64_t a_row, a_lane; /* bytes between rows, and between lanes */
    /* NULL, or the offsets of the rows from `a`, instead of steps of a_row */
    const int64_t *row_offsets;
    /* NULL, or runs of `lanes` lanes, one after the other along k */
    const struct gemm_run *runs;
    int64_t run_count;
    const void *panel;
    int64_t panel_row; /* bytes between its lanes; 0: it is packed */
    int64_t rows, n, lanes, rest;
    const int32_t *start; /* if g->moved, the result of gemm_excess for the rows; else NULL */
    bool add;             /* accumulate into C; otherwise C is overwritten */
    char *c;
    int64_t c_row; /* bytes */
};
void gemm_block(const struct gemm *g, const struct gemm_block *b);

#endif
