/*
 * product_complex.c: small products of complex numbers (spec: DotGeneral), with the bits of the
 * plain formula.
 *
 * Order and accumulation: terms sequentially in order, from 0 on, each part of a product rounded as
 * by the elementwise multiplication, in the operands' type.
 */
#include "kern/product.h"

#include <math.h>

enum { COLUMNS = 64 }; /* at a time */

/* One row, or a part of it: `count` columns, of `terms` terms. Distances in bytes. */
struct complex_row {
    int64_t terms, a_k, b_k, b_n, c_n;
};

/* False: some part is a NaN, whose bits are up to the plain formula. */
#define ROW(NAME, T, REAL, FMA)                                                                    \
    KERN_CLONES static bool NAME(const struct complex_row *s, const char *a, const char *b,        \
                                 char *c, int64_t count)                                           \
    {                                                                                              \
        T sums[COLUMNS];                                                                           \
        bool ok = true;                                                                            \
        memset(sums, 0, (size_t)count * sizeof *sums);                                             \
        for (int64_t k = 0; k < s->terms; k++) {                                                   \
            const T x = *(const T *)(const void *)(a + k * s->a_k);                                \
            for (int64_t j = 0; j < count; j++) {                                                  \
                const T y = *(const T *)(const void *)(b + k * s->b_k + j * s->b_n);               \
                sums[j].re += FMA(x.re, y.re, -(x.im * y.im));                                     \
                sums[j].im += FMA(x.im, y.re, x.re * y.im);                                        \
            }                                                                                      \
        }                                                                                          \
        for (int64_t j = 0; j < count; j++) {                                                      \
            ok &= sums[j].re == sums[j].re && sums[j].im == sums[j].im;                            \
            *(T *)(void *)(c + j * s->c_n) = sums[j];                                              \
        }                                                                                          \
        return ok;                                                                                 \
    }
ROW(row_c64, struct c64, float, fmaf)
ROW(row_c128, struct c128, double, fma)

/* Moves the longest dimension inside. */
static void lengthen_rows(struct nest *n)
{
    int best = n->rank - 1;
    for (int d = n->rank - 1; d >= 0; d--)
        best = n->dims[d] > n->dims[best] ? d : best;
    for (int d = best; d + 1 < n->rank; d++) {
        swap_i64(&n->dims[d], &n->dims[d + 1]);
        for (int v = 0; v < n->count; v++)
            swap_i64(&n->strides[v][d], &n->strides[v][d + 1]);
    }
}

/* All columns of a row of the result at c: a nest whose innermost dimension is cut. */
static bool run_columns(const struct product *p, struct complex_row *s, const char *a, char *c,
                        char *b)
{
    const struct nest *n = &p->n;
    const int last = n->rank - 1;
    const int64_t all = last < 0 ? 1 : n->dims[last];
    struct nest_walk w;
    bool ok = true;
    s->c_n = last < 0 ? 0 : n->strides[0][last];
    s->b_n = last < 0 ? 0 : n->strides[1][last];
    nest_start(&w, n, last < 0 ? 0 : last, (char *[]){c, b});
    do {
        for (int64_t j = 0; j < all && ok; j += COLUMNS)
            ok = (p->work == DT_C128 ? row_c128 : row_c64)(
                s, a, w.at[1] + j * s->b_n, w.at[0] + j * s->c_n, min_i64(all - j, COLUMNS));
    } while (ok && nest_step(&w));
    return ok;
}

bool product_run_complex(struct product *p)
{
    struct complex_row s = {.terms = 1};
    struct nest_walk items, rows;
    bool ok = true;
    product_merge(p);
    lengthen_rows(&p->n);
    if (p->lhs_type != p->work || p->rhs_type != p->work || p->out_type != p->work || p->k.rank > 1)
        return false;
    if (p->k.rank == 1)
        s = (struct complex_row){
            .terms = p->k.dims[0], .a_k = p->k.strides[0][0], .b_k = p->k.strides[1][0]};
    nest_start(&items, &p->batch, p->batch.rank, (char *[]){p->out, p->lhs, p->rhs});
    do {
        nest_start(&rows, &p->m, p->m.rank, (char *[]){items.at[0], items.at[1]});
        do
            ok = run_columns(p, &s, rows.at[1], rows.at[0], items.at[2]);
        while (ok && nest_step(&rows));
    } while (ok && nest_step(&items));
    return ok;
}
