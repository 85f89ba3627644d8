/*
 * spec: CustomCall
 *
 * Factorizations and triangular systems of small real matrices, for which a call of the library
 * takes longer than the computation. The results are LAPACK's up to rounding; --plain runs them,
 * too.
 *
 * Order and accumulation: in the matrices' type; terms one by one, in order.
 */
#include "kern/lapack.h"

#include <float.h>
#include <math.h>

enum {
    TINY_MATRIX = 256, /* maximum number of elements of a factored matrix */
    TINY_WORK = 4096   /* maximum number of multiplications of a system */
};

/* A triangular system: element (i, k) of the matrix is at a[i * ai + k * ak], and i of solution j
 * at x[i * xi + j * xj]. The matrix is lower triangular, or upper triangular. */
struct system {
    fint n, count;
    int64_t ai, ak, xi, xj;
    bool lower, unit;
};

#define ROUTINES(T, SUFFIX, LEAST)                                                                 \
    /* a: m x n, column-major. */                                                                  \
    static fint getrf_##SUFFIX(fint m, fint n, T *a, fint *pivots)                                 \
    {                                                                                              \
        fint info = 0;                                                                             \
        for (fint k = 0; k < smaller(m, n); k++) {                                                 \
            T *column = a + (int64_t)k * m;                                                        \
            fint p = k;                                                                            \
            for (fint i = k + 1; i < m; i++)                                                       \
                p = (T)fabs((double)column[i]) > (T)fabs((double)column[p]) ? i : p;               \
            pivots[k] = p + 1;                                                                     \
            if (column[p] == 0) {                                                                  \
                info = info ? info : k + 1;                                                        \
                continue;                                                                          \
            }                                                                                      \
            for (fint j = 0; j < n && p != k; j++) {                                               \
                const T other = a[j * m + k];                                                      \
                a[j * m + k] = a[j * m + p];                                                       \
                a[j * m + p] = other;                                                              \
            }                                                                                      \
            const bool divide = fabs((double)column[k]) < (double)(LEAST);                         \
            const T inverse = 1 / column[k];                                                       \
            for (fint i = k + 1; i < m; i++)                                                       \
                column[i] = divide ? column[i] / column[k] : column[i] * inverse;                  \
            for (fint j = k + 1; j < n; j++)                                                       \
                for (fint i = k + 1; i < m; i++)                                                   \
                    a[j * m + i] -= column[i] * a[j * m + k];                                      \
        }                                                                                          \
        return info;                                                                               \
    }                                                                                              \
    /* Element (i, j) of the factor, i >= j, is at a[i * down + j * across]. */                    \
    static fint potrf_##SUFFIX(fint n, T *a, int64_t down, int64_t across)                         \
    {                                                                                              \
        for (fint j = 0; j < n; j++) {                                                             \
            T *row = a + j * down, d = row[j * across];                                            \
            for (fint k = 0; k < j; k++)                                                           \
                d -= row[k * across] * row[k * across];                                            \
            row[j * across] = d;                                                                   \
            if (!(d > 0))                                                                          \
                return j + 1;                                                                      \
            row[j * across] = d = (T)sqrt((double)d);                                              \
            for (fint i = j + 1; i < n; i++) {                                                     \
                T *other = a + i * down, sum = other[j * across];                                  \
                for (fint k = 0; k < j; k++)                                                       \
                    sum -= other[k * across] * row[k * across];                                    \
                other[j * across] = sum / d;                                                       \
            }                                                                                      \
        }                                                                                          \
        return 0;                                                                                  \
    }                                                                                              \
    static void solve_##SUFFIX(const struct system *s, const T *a, T *x, T alpha)                  \
    {                                                                                              \
        for (fint step = 0; step < s->n; step++) {                                                 \
            const fint i = s->lower ? step : s->n - 1 - step, from = s->lower ? 0 : i + 1,         \
                       to = s->lower ? i : s->n;                                                   \
            const T *row = a + i * s->ai;                                                          \
            for (fint j = 0; j < s->count; j++) {                                                  \
                T *at = x + j * s->xj, sum = alpha * at[i * s->xi];                                \
                for (fint k = from; k < to; k++)                                                   \
                    sum -= row[k * s->ak] * at[k * s->xi];                                         \
                at[i * s->xi] = s->unit ? sum : sum / row[i * s->ak];                              \
            }                                                                                      \
        }                                                                                          \
    }
ROUTINES(float, f32, FLT_MIN)
ROUTINES(double, f64, DBL_MIN)

static bool is_real(const struct lapack_item *it)
{
    return it->type == DT_F32 || it->type == DT_F64;
}

bool lapack_is_tiny(const struct lapack_item *it)
{
    enum { MOST = 16 }; /* neither of the limits is exceeded */
    bool tiny = is_real(it);
    for (int k = 0; k < it->count; k++)
        tiny &= it->rows[k] <= MOST && it->columns[k] <= MOST;
    return tiny;
}

bool lapack_tiny_getrf(struct lapack_item *it)
{
    const fint m = it->rows[0], n = it->columns[0];
    if (!is_real(it) || (int64_t)m * n > TINY_MATRIX)
        return false;
    it->info = it->type == DT_F32 ? getrf_f32(m, n, it->x[0], it->x[1])
                                  : getrf_f64(m, n, it->x[0], it->x[1]);
    return true;
}

bool lapack_tiny_potrf(struct lapack_item *it)
{
    const fint n = it->rows[0];
    const bool lower = it->options[0] == 'L';
    if (!is_real(it) || (int64_t)n * n > TINY_MATRIX)
        return false;
    it->info = it->type == DT_F32 ? potrf_f32(n, it->x[0], lower ? 1 : n, lower ? n : 1)
                                  : potrf_f64(n, it->x[0], lower ? 1 : n, lower ? n : 1);
    return true;
}

bool lapack_tiny_trsm(struct lapack_item *it)
{
    const bool left = it->options[0] == 'L', lower = it->options[1] == 'L',
               turned = (it->options[2] == 'N') != left;
    const fint n = it->rows[0], m = it->rows[1];
    const struct system s = {.n = n,
                             .count = left ? it->columns[1] : m,
                             .ai = turned ? n : 1,
                             .ak = turned ? 1 : n,
                             .xi = left ? 1 : m,
                             .xj = left ? m : 1,
                             .lower = lower != turned,
                             .unit = it->options[3] == 'U'};
    if (!is_real(it) || (int64_t)n * n > TINY_WORK / at_least_one(s.count))
        return false;
    const void *alpha = it->given[2] ? it->x[2] : NULL;
    if (it->type == DT_F32)
        solve_f32(&s, it->x[0], it->x[1], alpha ? *(const float *)alpha : 1);
    else
        solve_f64(&s, it->x[0], it->x[1], alpha ? *(const double *)alpha : 1);
    return true;
}
