/*
 * spec: CustomCall
 *
 * LAPACK's eigenvalues and singular values, one matrix at a time. The comment above each lists its
 * arrays and options in their order. A result that was not requested, or whose info is not 0, may
 * be zeros.
 */
#include "kern/lapack.h"

#include <math.h>

static fint limited(struct lapack_item *it, int64_t n)
{
    it->no_memory = n > INT32_MAX;
    return it->no_memory ? 1 : (fint)n;
}

/* ---- Hermitian matrices ---- */

/* a: n x n -> eigenvectors in its columns; w: eigenvalues, ascending; info. mode V: vectors too,
 * else N; uplo: the triangle that is read. */
void lapack_heevd(struct lapack_item *it)
{
    fint n = it->rows[0], ld = at_least_one(n);
    char mode = (char)it->options[0], uplo = (char)it->options[1];
    fint integers = limited(it, 3 + 5 * (int64_t)n);
    bool complex = lapack_complex(it);
    fint reals =
        complex && !it->no_memory ? limited(it, 1 + 5 * (int64_t)n + 2 * (int64_t)n * n) : 0;
    int64_t bytes = (int64_t)integers * 8; /* 8 each, so that the following data is aligned */
    char *extra = it->no_memory
                      ? NULL
                      : lapack_extra(it, bytes + (int64_t)reals * (int64_t)lapack_real(it), 1);
    if (!extra)
        return;
    void *real = extra + bytes;
    do
        if (complex)
            LAPACK(it, "heevd", P, P, P, P, P, P, P, P, P, P, P, P, P, L, L)
    (&mode, &uplo, &n, it->x[0], &ld, it->x[1], it->work, &it->work_size, real, &reals, extra,
     &integers, &it->info, 1, 1);
    else LAPACK(it, "syevd", P, P, P, P, P, P, P, P, P, P, P, L,
                L)(&mode, &uplo, &n, it->x[0], &ld, it->x[1], it->work, &it->work_size, extra,
                   &integers, &it->info, 1, 1);
    while (lapack_asks(it))
        ;
}

/* ---- any square matrix ---- */

static bool all_finite(const struct lapack_item *it)
{
    int64_t n = (int64_t)it->rows[0] * it->columns[0] * (lapack_complex(it) ? 2 : 1);
    bool wide = dtype_component(it->type) == DT_F64;
    for (int64_t k = 0; k < n; k++)
        if (!isfinite(wide ? ((const double *)it->x[0])[k] : (double)((const float *)it->x[0])[k]))
            return false;
    return true;
}

/* LAPACK packs the eigenvectors of a real matrix: if wi isn't 0, two columns are the real and the
 * imaginary part of a vector, and its conjugate belongs to the next eigenvalue. */
#define UNPACK(NAME, T, COMPLEX)                                                                   \
    static void NAME(int64_t n, const T *wi, const T *v, struct COMPLEX *out)                      \
    {                                                                                              \
        for (int64_t j = 0; j < n; j++) {                                                          \
            bool pair = wi[j] != 0 && j + 1 < n;                                                   \
            for (int64_t i = 0; i < n; i++) {                                                      \
                T re = v[j * n + i], im = pair ? v[(j + 1) * n + i] : 0;                           \
                out[j * n + i] = (struct COMPLEX){re, im};                                         \
                if (pair)                                                                          \
                    out[(j + 1) * n + i] = (struct COMPLEX){re, -im};                              \
            }                                                                                      \
            j += pair;                                                                             \
        }                                                                                          \
    }
UNPACK(unpack_f32, float, c64)
UNPACK(unpack_f64, double, c128)

static void geev_real(struct lapack_item *it, char left, char right)
{
    fint n = it->rows[0], ld = at_least_one(n);
    size_t bytes = (size_t)n * (size_t)n * dtype_bytes(it->type);
    char *vl = lapack_extra(it, 2, bytes), *vr = vl + bytes;
    if (!vl)
        return;
    do
        LAPACK(it, "geev", P, P, P, P, P, P, P, P, P, P, P, P, P, P, L, L)
    (&left, &right, &n, it->x[0], &ld, it->x[1], it->x[2], vl, &ld, vr, &ld, it->work,
     &it->work_size, &it->info, 1, 1);
    while (lapack_asks(it))
        ;
    for (int k = 0; k < 2 && it->info == 0 && !it->no_memory; k++) {
        char *v = k ? vr : vl;
        if ((k ? right : left) != 'V')
            continue;
        if (it->type == DT_F32)
            unpack_f32(n, it->x[2], (float *)v, it->x[3 + k]);
        else
            unpack_f64(n, it->x[2], (double *)v, it->x[3 + k]);
    }
}

static void geev_complex(struct lapack_item *it, char left, char right)
{
    fint n = it->rows[0], ld = at_least_one(n);
    void *real = lapack_extra(it, 2 * (int64_t)n, lapack_real(it));
    if (!real)
        return;
    do
        LAPACK(it, "geev", P, P, P, P, P, P, P, P, P, P, P, P, P, P, L, L)
    (&left, &right, &n, it->x[0], &ld, it->x[1], it->x[2], &ld, it->x[3], &ld, it->work,
     &it->work_size, real, &it->info, 1, 1);
    while (lapack_asks(it))
        ;
}

/* a: n x n; wr, wi (complex: w): eigenvalues; vl, vr: left and right eigenvectors, complex, in
 * columns; info: -4 for a matrix that isn't finite, as in jaxlib. left, right: V when requested,
 * else N. */
void lapack_geev(struct lapack_item *it)
{
    char left = (char)it->options[0], right = (char)it->options[1];
    if (!all_finite(it))
        it->info = -4;
    else if (lapack_complex(it))
        geev_complex(it, left, right);
    else
        geev_real(it, left, right);
}

/* a: n x n -> its Schur form; vs: the unitary matrix of the transformation; wr, wi (complex: w):
 * eigenvalues; sdim: number of sorted eigenvalues, 0; info. mode V: vs too, else N; sort: N. */
void lapack_gees(struct lapack_item *it)
{
    fint n = it->rows[0], ld = at_least_one(n), none = 0;
    char mode = (char)it->options[0], sort = (char)it->options[1];
    bool complex = lapack_complex(it);
    void *real = complex ? lapack_extra(it, n, lapack_real(it)) : NULL;
    fint *sdim = it->x[complex ? 3 : 4];
    if (it->no_memory)
        return;
    do
        if (complex)
            LAPACK(it, "gees", P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, L, L)
    (&mode, &sort, NULL, &n, it->x[0], &ld, sdim ? sdim : &none, it->x[2], it->x[1], &ld, it->work,
     &it->work_size, real, NULL, &it->info, 1, 1);
    else LAPACK(it, "gees", P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, L,
                L)(&mode, &sort, NULL, &n, it->x[0], &ld, sdim ? sdim : &none, it->x[2], it->x[3],
                   it->x[1], &ld, it->work, &it->work_size, NULL, &it->info, 1, 1);
    while (lapack_asks(it))
        ;
}

/* ---- singular values ---- */

static double *real_parts(struct lapack_item *it, int k, int64_t *count, float **single)
{
    bool narrow = lapack_real(it) == sizeof(float);
    bool complex = lapack_complex(it) && k != 1; /* singular values are real */
    *count = it->x[k] ? (int64_t)it->rows[k] * it->columns[k] * (complex ? 2 : 1) : 0;
    *single = narrow ? (float *)it->x[k] : NULL;
    return narrow ? NULL : (double *)it->x[k];
}

/* For both, info is the value that newer routines return for a NaN: argument 4 is invalid. */
bool lapack_without_end(struct lapack_item *it)
{
    if (all_finite(it))
        return false;
    for (int k = 1; k <= 3; k++) {
        float *single;
        int64_t count;
        double *wide = real_parts(it, k, &count, &single);
        for (int64_t i = 0; i < count; i++)
            if (single)
                single[i] = NAN;
            else
                wide[i] = NAN;
    }
    it->info = -4;
    return true;
}

/* a: m x n, destroyed; s: singular values, descending; u, vt: singular vectors, in columns and in
 * rows; info: -4 for a matrix that isn't finite. mode A: all vectors, S: as many as singular
 * values, N: none. */
void lapack_gesdd(struct lapack_item *it)
{
    fint m = it->rows[0], n = it->columns[0], lda = at_least_one(m),
         ldu = at_least_one(it->rows[2]), ldvt = at_least_one(it->rows[3]);
    int64_t few = smaller(m, n), many = m > n ? m : n;
    char mode = (char)it->options[0];
    bool complex = lapack_complex(it);
    int64_t vectors = 5 * few * few + 5 * few, products = 2 * many * few + 2 * few * few + few;
    int64_t reals = !complex ? 0 : mode == 'N' ? 7 * few : vectors > products ? vectors : products;
    char *extra = lapack_extra(it, 64 * few + reals * (int64_t)lapack_real(it), 1);
    if (!extra)
        return;
    void *real = extra + 64 * few;
    if (lapack_without_end(it))
        return;
    do
        if (complex)
            LAPACK(it, "gesdd", P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, L)
    (&mode, &m, &n, it->x[0], &lda, it->x[1], it->x[2], &ldu, it->x[3], &ldvt, it->work,
     &it->work_size, real, extra, &it->info, 1);
    else LAPACK(it, "gesdd", P, P, P, P, P, P, P, P, P, P, P, P, P, P,
                L)(&mode, &m, &n, it->x[0], &lda, it->x[1], it->x[2], &ldu, it->x[3], &ldvt,
                   it->work, &it->work_size, extra, &it->info, 1);
    while (lapack_asks(it))
        ;
}

/* lapack_gesdd() by another method. */
void lapack_gesvd(struct lapack_item *it)
{
    fint m = it->rows[0], n = it->columns[0], lda = at_least_one(m),
         ldu = at_least_one(it->rows[2]), ldvt = at_least_one(it->rows[3]);
    char mode = (char)it->options[0];
    bool complex = lapack_complex(it);
    void *real = complex ? lapack_extra(it, 5 * (int64_t)smaller(m, n), lapack_real(it)) : NULL;
    if (it->no_memory || lapack_without_end(it))
        return;
    do
        if (complex)
            LAPACK(it, "gesvd", P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, L, L)
    (&mode, &mode, &m, &n, it->x[0], &lda, it->x[1], it->x[2], &ldu, it->x[3], &ldvt, it->work,
     &it->work_size, real, &it->info, 1, 1);
    else LAPACK(it, "gesvd", P, P, P, P, P, P, P, P, P, P, P, P, P, P, L,
                L)(&mode, &mode, &m, &n, it->x[0], &lda, it->x[1], it->x[2], &ldu, it->x[3], &ldvt,
                   it->work, &it->work_size, &it->info, 1, 1);
    while (lapack_asks(it))
        ;
}
