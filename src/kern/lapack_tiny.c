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

#include "kern/nest.h"
#include "kern/tile.h"

enum {
    TINY = 64,       /* maximum number of rows and columns of a factored or triangular matrix */
    TINY_COUNT = 256 /* maximum number of solutions */
};

/* A triangular system: element (i, k) of the matrix is at a[i * ai + k * ak], and i of solution j
 * at x[i * xi + j * xj]. The matrix is lower triangular, or upper triangular. */
struct system {
    fint n, count;
    int64_t ai, ak, xi, xj;
    bool lower, unit;
};

enum { LANES = 16 }; /* solutions that are computed at a time */

#define ROUTINES(T, SUFFIX, LEAST)                                                                 \
    /* y[i] -= x[i] * f */                                                                         \
    static inline void subtract_##SUFFIX(T *y, const T *x, T f, fint n)                            \
    {                                                                                              \
        TILE_LOOP                                                                                  \
        for (fint i = 0; i < n; i++)                                                               \
            y[i] -= x[i] * f;                                                                      \
    }                                                                                              \
    /* a: m x n, column-major. */                                                                  \
    KERN_CLONES static fint getrf_##SUFFIX(fint m, fint n, T *a, fint *pivots)                     \
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
                subtract_##SUFFIX(a + j * m + k + 1, column + k + 1, a[j * m + k], m - k - 1);     \
        }                                                                                          \
        return info;                                                                               \
    }                                                                                              \
    /* The lower triangle of a, column-major. */                                                   \
    KERN_CLONES static fint potrf_##SUFFIX(fint n, T *a)                                           \
    {                                                                                              \
        for (fint j = 0; j < n; j++) {                                                             \
            T *column = a + j * n;                                                                 \
            for (fint k = 0; k < j; k++)                                                           \
                subtract_##SUFFIX(column + j, a + k * n + j, a[k * n + j], n - j);                 \
            if (!(column[j] > 0))                                                                  \
                return j + 1;                                                                      \
            column[j] = (T)sqrt((double)column[j]);                                                \
            for (fint i = j + 1; i < n; i++)                                                       \
                column[i] /= column[j];                                                            \
        }                                                                                          \
        return 0;                                                                                  \
    }                                                                                              \
    /* The upper triangle is copied to the lower one of another matrix. */                         \
    static fint potrf_upper_##SUFFIX(fint n, T *a)                                                 \
    {                                                                                              \
        T turned[TINY * TINY];                                                                     \
        for (fint j = 0; j < n; j++)                                                               \
            for (fint i = j; i < n; i++)                                                           \
                turned[j * n + i] = a[i * n + j];                                                  \
        const fint info = potrf_##SUFFIX(n, turned);                                               \
        for (fint j = 0; j < n; j++)                                                               \
            for (fint i = j; i < n; i++)                                                           \
                a[i * n + j] = turned[j * n + i];                                                  \
        return info;                                                                               \
    }                                                                                              \
    typedef T lanes_##SUFFIX __attribute__((vector_size(LANES * sizeof(T))));                      \
    KERN_CLONES static void solve_lanes_##SUFFIX(const struct system *s, const T *a,               \
                                                 lanes_##SUFFIX *x, T alpha)                       \
    {                                                                                              \
        for (fint step = 0; step < s->n; step++) {                                                 \
            const fint i = s->lower ? step : s->n - 1 - step, from = s->lower ? 0 : i + 1,         \
                       to = s->lower ? i : s->n;                                                   \
            const T *row = a + i * s->ai;                                                          \
            lanes_##SUFFIX sum = x[i] * alpha;                                                     \
            for (fint k = from; k < to; k++)                                                       \
                sum -= x[k] * row[k * s->ak];                                                      \
            x[i] = s->unit ? sum : sum / row[i * s->ak];                                           \
        }                                                                                          \
    }                                                                                              \
    static void solve_##SUFFIX(const struct system *s, const T *a, T *x, T alpha)                  \
    {                                                                                              \
        const int64_t w = sizeof(T), near[2] = {LANES * w, w}, far[2] = {s->xi * w, s->xj * w};    \
        lanes_##SUFFIX lanes[TINY] = {{0}};                                                        \
        for (int64_t j = 0; j < s->count; j += LANES) {                                            \
            const int64_t dims[2] = {s->n, min_i64(s->count - j, LANES)};                          \
            char *at = (char *)(x + j * s->xj);                                                    \
            kern_copy_block((char *)lanes, at, dims, near, far, sizeof(T));                        \
            solve_lanes_##SUFFIX(s, a, lanes, alpha);                                              \
            kern_copy_block(at, (char *)lanes, dims, far, near, sizeof(T));                        \
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
    bool tiny = is_real(it);
    for (int k = 0; k < it->count; k++)
        tiny &= it->rows[k] <= TINY && it->columns[k] <= TINY;
    return tiny;
}

bool lapack_tiny_getrf(struct lapack_item *it)
{
    const fint m = it->rows[0], n = it->columns[0];
    if (!is_real(it) || m > TINY || n > TINY)
        return false;
    it->info = it->type == DT_F32 ? getrf_f32(m, n, it->x[0], it->x[1])
                                  : getrf_f64(m, n, it->x[0], it->x[1]);
    return true;
}

bool lapack_tiny_potrf(struct lapack_item *it)
{
    const fint n = it->rows[0];
    const bool lower = it->options[0] == 'L';
    if (!is_real(it) || n > TINY)
        return false;
    if (it->type == DT_F32)
        it->info = (lower ? potrf_f32 : potrf_upper_f32)(n, it->x[0]);
    else
        it->info = (lower ? potrf_f64 : potrf_upper_f64)(n, it->x[0]);
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
    if (!is_real(it) || n > TINY || s.count > TINY_COUNT)
        return false;
    const void *alpha = it->given[2] ? it->x[2] : NULL;
    if (it->type == DT_F32)
        solve_f32(&s, it->x[0], it->x[1], alpha ? *(const float *)alpha : 1);
    else
        solve_f64(&s, it->x[0], it->x[1], alpha ? *(const double *)alpha : 1);
    return true;
}
