/*
 * spec: CustomCall
 *
 * LAPACK's factorizations and solvers, one matrix at a time. The comment above each lists its
 * arrays and options in their order, and after `->` the final contents of an array. `info` is
 * LAPACK's: 0, or where the routine stopped; the arrays then hold the intermediate state.
 */
#include "kern/lapack.h"

static void letter(const struct lapack_item *it, int k, char *out) { *out = (char)it->options[k]; }

/* a: n x n, Hermitian -> its Cholesky factor; info. uplo: the triangle that is read and written;
 * the other is kept. */
void lapack_potrf(struct lapack_item *it)
{
    fint n = it->rows[0], ld = at_least_one(n);
    char uplo;
    letter(it, 0, &uplo);
    LAPACK(it, "potrf", P, P, P, P, P, L)(&uplo, &n, it->x[0], &ld, &it->info, 1);
}

/* a: m x n -> L and U in one; pivots, counting from 1; info: first zero on U's diagonal. */
void lapack_getrf(struct lapack_item *it)
{
    fint m = it->rows[0], n = it->columns[0], ld = at_least_one(m);
    LAPACK(it, "getrf", P, P, P, P, P, P)(&m, &n, it->x[0], &ld, it->x[1], &it->info);
}

/* a: m x n -> R, and below it the reflectors; tau; info. */
void lapack_geqrf(struct lapack_item *it)
{
    fint m = it->rows[0], n = it->columns[0], ld = at_least_one(m);
    do
        LAPACK(it, "geqrf", P, P, P, P, P, P, P, P)
    (&m, &n, it->x[0], &ld, it->x[1], it->work, &it->work_size, &it->info);
    while (lapack_asks(it))
        ;
}

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
    fint m = it->rows[0], n = it->columns[0], ld = at_least_one(m), *pivots = it->x[1];
    if (m == 0) {
        order_columns(n, pivots);
        return;
    }
    do {
        if (lapack_complex(it)) {
            void *real = lapack_extra(it, 2 * (int64_t)n, lapack_real(it));
            if (!real)
                return;
            LAPACK(it, "geqp3", P, P, P, P, P, P, P, P, P, P)
            (&m, &n, it->x[0], &ld, pivots, it->x[2], it->work, &it->work_size, real, &it->info);
        } else {
            LAPACK(it, "geqp3", P, P, P, P, P, P, P, P, P)
            (&m, &n, it->x[0], &ld, pivots, it->x[2], it->work, &it->work_size, &it->info);
        }
    } while (lapack_asks(it));
}

/* a: m x n, n <= m, reflectors as geqrf leaves them -> the first n columns of their product Q; tau:
 * its length is the number of reflectors; info. */
void lapack_orgqr(struct lapack_item *it)
{
    fint m = it->rows[0], n = it->columns[0], k = it->rows[1], ld = at_least_one(m);
    if (m == 0) /* LAPACK would print an error message that n is larger */
        return;
    do
        LAPACK(it, lapack_complex(it) ? "ungqr" : "orgqr", P, P, P, P, P, P, P, P, P)
    (&m, &n, &k, it->x[0], &ld, it->x[1], it->work, &it->work_size, &it->info);
    while (lapack_asks(it))
        ;
}

/* a: reflectors, tau; c: m x n -> Q c (side L), c Q (R), or with Q's adjoint (trans T, C). */
void lapack_ormqr(struct lapack_item *it)
{
    fint m = it->rows[2], n = it->columns[2], k = it->rows[1], lda = at_least_one(it->rows[0]),
         ldc = at_least_one(m);
    char side, trans;
    letter(it, 0, &side);
    letter(it, 1, &trans);
    if (m == 0 || n == 0 ||
        k == 0) /* LAPACK would print an error message about the size of its own workspace */
        return;
    do
        LAPACK(it, lapack_complex(it) ? "unmqr" : "ormqr", P, P, P, P, P, P, P, P, P, P, P, P, P, L,
               L)
    (&side, &trans, &m, &n, &k, it->x[0], &lda, it->x[1], it->x[2], &ldc, it->work, &it->work_size,
     &it->info, 1, 1);
    while (lapack_asks(it))
        ;
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
    fint n = it->rows[0], ld = at_least_one(n), low = (fint)it->options[0],
         high = (fint)it->options[1];
    if (!lapack_gehrd_range(it)) /* LAPACK would also print an error message */
        return;
    do
        LAPACK(it, "gehrd", P, P, P, P, P, P, P, P, P)
    (&n, &low, &high, it->x[0], &ld, it->x[1], it->work, &it->work_size, &it->info);
    while (lapack_asks(it))
        ;
}

/* a: n x n, Hermitian -> reflectors; d, e: diagonal and off-diagonal of the tridiagonal form; tau;
 * info. uplo: the triangle that is read and written. */
void lapack_sytrd(struct lapack_item *it)
{
    fint n = it->rows[0], ld = at_least_one(n);
    char uplo;
    letter(it, 0, &uplo);
    do
        LAPACK(it, lapack_complex(it) ? "hetrd" : "sytrd", P, P, P, P, P, P, P, P, P, P, L)
    (&uplo, &n, it->x[0], &ld, it->x[1], it->x[2], it->x[3], it->work, &it->work_size, &it->info,
     1);
    while (lapack_asks(it))
        ;
}

/* a: triangular; x: m x n -> the solution of op(a) x' = alpha x (side L) or x' op(a) = alpha x (R);
 * alpha: 1 unless given. trans: N, T, C (adjoint). diag: U for a unit diagonal. A
 * BLAS routine, hence without info. */
void lapack_trsm(struct lapack_item *it)
{
    fint m = it->rows[1], n = it->columns[1], lda = at_least_one(it->rows[0]),
         ldb = at_least_one(m);
    char side, uplo, trans, diag;
    letter(it, 0, &side);
    letter(it, 1, &uplo);
    letter(it, 2, &trans);
    letter(it, 3, &diag);
    float one[2] = {1, 0};
    double wide_one[2] = {1, 0};
    bool wide = dtype_component(it->type) == DT_F64;
    void *alpha = it->given[2] ? it->x[2] : wide ? (void *)wide_one : one;
    LAPACK(it, "trsm", P, P, P, P, P, P, P, P, P, P, P, L, L, L, L)
    (&side, &uplo, &trans, &diag, &m, &n, alpha, it->x[0], &lda, it->x[1], &ldb, 1, 1, 1, 1);
}

/* dl, d, du: n each, the diagonals of a tridiagonal matrix (dl[0] and the last of du are outside of
 * it)
 * -> its factors; x: n x m -> the solutions; info. */
void lapack_gtsv(struct lapack_item *it)
{
    fint n = it->rows[1], m = it->columns[3], ld = at_least_one(n);
    char *below = (char *)it->x[0] + (n > 0 ? dtype_bytes(it->type) : 0);
    LAPACK(it, "gtsv", P, P, P, P, P, P, P, P)
    (&n, &m, below, it->x[1], it->x[2], it->x[3], &ld, &it->info);
}
