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
    const int64_t n = it->rows[0];
    const bool complex = lapack_complex(it);
    it->integers = limited(it, 3 + 5 * n);
    it->reals = complex && !it->no_memory ? limited(it, 1 + 5 * n + 2 * n * n) : 0;
    /* 8 bytes for an integer, so that the following data is aligned */
    const int64_t bytes = (int64_t)it->integers * 8;
    if (it->no_memory || !lapack_extra(it, bytes + it->reals * (int64_t)lapack_real(it), 1))
        return;
    it->real = (char *)it->extra + bytes;
    lapack_call(it, "syevd", "o0 o1 r0 a0 l0 a1 w s f F e E i");
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

static void geev_real(struct lapack_item *it)
{
    const fint n = it->rows[0];
    const size_t bytes = (size_t)n * (size_t)n * dtype_bytes(it->type);
    void *const out[2] = {it->x[3], it->x[4]};
    char *v = lapack_extra(it, 2, bytes);
    if (!v)
        return;
    it->x[3] = v;
    it->x[4] = v + bytes;
    lapack_call(it, "geev", "o0 o1 r0 a0 l0 a1 a2 a3 l0 a4 l0 w s i");
    for (int k = 0; k < 2 && it->info == 0 && !it->no_memory; k++) {
        if (it->options[k] != 'V')
            continue;
        if (it->type == DT_F32)
            unpack_f32(n, it->x[2], it->x[3 + k], out[k]);
        else
            unpack_f64(n, it->x[2], it->x[3 + k], out[k]);
    }
}

/* a: n x n; wr, wi (complex: w): eigenvalues; vl, vr: left and right eigenvectors, complex, in
 * columns; info: -4 for a matrix that isn't finite, as in jaxlib. left, right: V when requested,
 * else N. */
void lapack_geev(struct lapack_item *it)
{
    if (!all_finite(it))
        it->info = -4;
    else if (!lapack_complex(it))
        geev_real(it);
    else if (lapack_real_extra(it, 2 * (int64_t)it->rows[0]))
        lapack_call(it, "geev", "o0 o1 r0 a0 l0 a1 a2 l0 a3 l0 w s f i");
}

/* a: n x n -> its Schur form; vs: the unitary matrix of the transformation; wr, wi (complex: w):
 * eigenvalues; sdim: number of sorted eigenvalues, 0; info. mode V: vs too, else N; sort: N. */
void lapack_gees(struct lapack_item *it)
{
    if (lapack_real_extra(it, it->rows[0]))
        lapack_call(it, "gees",
                    lapack_complex(it) ? "o0 o1 - r0 a0 l0 a3 a2 a1 l0 w s f - i"
                                       : "o0 o1 - r0 a0 l0 a4 a2 a3 a1 l0 w s - i");
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
    const fint m = it->rows[0], n = it->columns[0];
    const int64_t few = smaller(m, n), many = m > n ? m : n;
    const int64_t vectors = 5 * few * few + 5 * few,
                  products = 2 * many * few + 2 * few * few + few;
    const int64_t reals = !lapack_complex(it)     ? 0
                          : it->options[0] == 'N' ? 7 * few
                          : vectors > products    ? vectors
                                                  : products;
    if (!lapack_extra(it, 64 * few + reals * (int64_t)lapack_real(it), 1) || lapack_without_end(it))
        return;
    it->real = (char *)it->extra + 64 * few;
    lapack_call(it, "gesdd", "o0 r0 c0 a0 l0 a1 a2 l2 a3 l3 w s f e i");
}

/* lapack_gesdd() by another method. */
void lapack_gesvd(struct lapack_item *it)
{
    if (lapack_real_extra(it, 5 * (int64_t)smaller(it->rows[0], it->columns[0])) &&
        !lapack_without_end(it))
        lapack_call(it, "gesvd", "o0 o0 r0 c0 a0 l0 a1 a2 l2 a3 l3 w s f i");
}
