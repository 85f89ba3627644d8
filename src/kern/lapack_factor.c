/*
 * spec: CustomCall
 *
 * LAPACK's factorizations and solvers, one matrix at a time. The comment above each lists its
 * arrays and options in their order, and after `->` the final contents of an array. `info` is
 * LAPACK's: 0, or where the routine stopped; the arrays then hold the intermediate state.
 */
#include "kern/lapack.h"

/* a: n x n, Hermitian -> its Cholesky factor; info. uplo: the triangle that is read and written;
 * the other is kept. */
void lapack_potrf(struct lapack_item *it) { lapack_call(it, "potrf", "o0 r0 a0 l0 i"); }

/* a: m x n -> L and U in one; pivots, counting from 1; info: first zero on U's diagonal. */
void lapack_getrf(struct lapack_item *it) { lapack_call(it, "getrf", "r0 c0 a0 l0 a1 i"); }

/* a: m x n -> R, and below it the reflectors; tau; info. */
void lapack_geqrf(struct lapack_item *it) { lapack_call(it, "geqrf", "r0 c0 a0 l0 a1 w s i"); }

/* For a matrix without rows only the columns are permuted: those that are not free come first.
 * LAPACK does the same, but prints an error message. */
static void order_columns(fint n, fint *pivots)
{
    fint first = 0;
    for (fint k = 0; k < n; k++) {
        bool fixed = pivots[k] != 0;
        pivots[k] = k + 1;
        if (!fixed)
            continue;
        pivots[k] = pivots[first];
        pivots[first++] = k + 1;
    }
}

/* a: m x n -> as geqrf, of its permuted columns; jpvt: 0 where a column is free to move -> the
 * column of a, from 1, that came here; tau. */
void lapack_geqp3(struct lapack_item *it)
{
    const fint n = it->columns[0];
    if (it->rows[0] == 0)
        order_columns(n, it->x[1]);
    else if (lapack_real_extra(it, 2 * (int64_t)n))
        lapack_call(it, "geqp3", "r0 c0 a0 l0 a1 a2 w s f i");
}

/* a: m x n, n <= m, reflectors as geqrf leaves them -> the first n columns of their product Q; tau:
 * its length is the number of reflectors; info. */
void lapack_orgqr(struct lapack_item *it)
{
    if (it->rows[0] > 0) /* LAPACK would print an error message that n is larger */
        lapack_call(it, "orgqr", "r0 c0 r1 a0 l0 a1 w s i");
}

/* a: reflectors, tau; c: m x n -> Q c (side L), c Q (R), or with Q's adjoint (trans T, C). */
void lapack_ormqr(struct lapack_item *it)
{
    /* else LAPACK would print an error message about the size of its own workspace */
    if (it->rows[2] > 0 && it->columns[2] > 0 && it->rows[1] > 0)
        lapack_call(it, "ormqr", "o0 o1 r2 c2 r1 a0 l0 a1 a2 l2 w s i");
}

bool lapack_gehrd_range(struct lapack_item *it)
{
    const fint n = it->rows[0], low = (fint)it->options[0], high = (fint)it->options[1];
    const bool begins = low >= 1 && low <= at_least_one(n),
               ends = high <= n && high >= (low < n ? low : n);
    it->info = !begins ? -2 : !ends ? -3 : 0;
    return begins && ends;
}

/* a: n x n -> its Hessenberg form, and below it the reflectors; tau; info. low, high: a is
 * triangular already outside of these rows and columns, which count from 1. */
void lapack_gehrd(struct lapack_item *it)
{
    if (lapack_gehrd_range(it)) /* LAPACK would also print an error message */
        lapack_call(it, "gehrd", "r0 n0 n1 a0 l0 a1 w s i");
}

/* a: n x n, Hermitian -> reflectors; d, e: diagonal and off-diagonal of the tridiagonal form; tau;
 * info. uplo: the triangle that is read and written. */
void lapack_sytrd(struct lapack_item *it)
{
    lapack_call(it, "sytrd", "o0 r0 a0 l0 a1 a2 a3 w s i");
}

/* a: triangular; x: m x n -> the solution of op(a) x' = alpha x (side L) or x' op(a) = alpha x (R);
 * alpha: 1 unless given; the rows of an array that x is a part of may follow. trans: N, T, C
 * (adjoint). diag: U for a unit diagonal. A BLAS routine, hence without info. */
void lapack_trsm(struct lapack_item *it)
{
    float one[2] = {1, 0};
    double wide_one[2] = {1, 0};
    const bool wide = dtype_component(it->type) == DT_F64;
    it->rows[3] = it->rows[3] > it->rows[1] ? it->rows[3] : it->rows[1];
    it->x[2] = it->given[2] ? it->x[2] : wide ? (void *)wide_one : one;
    lapack_call(it, "trsm", "o0 o1 o2 o3 r1 c1 a2 a0 l0 a1 l3");
}

/* dl, d, du: n each, the diagonals of a tridiagonal matrix (dl[0] and the last of du are outside of
 * it)
 * -> its factors; x: n x m -> the solutions; info. */
void lapack_gtsv(struct lapack_item *it)
{
    it->x[0] = (char *)it->x[0] + (it->rows[1] > 0 ? dtype_bytes(it->type) : 0);
    lapack_call(it, "gtsv", "r1 c3 a0 a1 a2 a3 l1 i");
}
