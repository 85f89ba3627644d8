/*
 * spec: CustomCall
 *
 * Factorizations and triangular systems of small real matrices, for which a call of the library
 * takes longer than the computation. Operands are read, and results written, where they are: each
 * matrix is copied to an array of rows, which are computed in lanes. The results are LAPACK's up to
 * rounding.
 *
 * Order and accumulation: in the matrices' type, but for the norms of Householder vectors, in
 * double; terms one by one, in order.
 */
#include "kern/lapack.h"

#include <float.h>
#include <math.h>

#include "kern/nest.h"

enum {
    TINY = 100,       /* maximum number of rows and columns of a factored or triangular matrix */
    TINY_COUNT = 256, /* maximum number of solutions */
    LANE_BYTES = 32,  /* lanes of a vector: elements of a row, or solutions */
    GROUPS = 4,       /* vectors of solutions that are computed at a time */
    LANES = LANE_BYTES / 4, /* of f32; f64 has fewer */
    MAX_PITCH = (TINY / LANES + 2) * LANES
};

/* Elements between rows of n elements: the last lanes of a row may lie behind its end. */
static int64_t pitch_of(fint n) { return round_up(n, LANES) + LANES; }

/* A triangular system: element (i, k) of the matrix is at a + i * ai + k * ak, in bytes; it is
 * lower triangular, or upper triangular. */
struct system {
    fint n;
    const char *a;
    int64_t ai, ak;
    bool lower, unit;
};

/* A vector that is to become a multiple of the first unit vector: its first element becomes `beta`,
 * the others are to be multiplied by `factor`. */
struct reflector {
    double beta, tau, factor;
};

/* The reflector of (alpha, x), where `square` is the sum of squares of x. */
static struct reflector find_reflector(double alpha, double square)
{
    if (square == 0)
        return (struct reflector){alpha, 0, 1};
    const double norm = sqrt(alpha * alpha + square), beta = -copysign(norm, alpha);
    return (struct reflector){beta, (beta - alpha) / beta, 1 / (alpha - beta)};
}

/* The power of two by which numbers up to `max` are multiplied so that their squares can be summed
 * without overflow. */
static double scale_for(double max)
{
    enum { SAFE = 400, MOST = 1000 };
    int exponent = 0;
    if (isfinite(max))
        frexp(max, &exponent);
    exponent = exponent > MOST ? MOST : exponent < -MOST ? -MOST : exponent;
    return exponent > SAFE || exponent < -SAFE ? ldexp(1, -exponent) : 1;
}

#define LANES_OF(T, SUFFIX)                                                                        \
    typedef T lanes_##SUFFIX                                                                       \
        __attribute__((vector_size(LANE_BYTES), aligned(sizeof(T)), may_alias));                   \
    enum { LANES_##SUFFIX = LANE_BYTES / sizeof(T) };                                              \
    __attribute__((always_inline)) static inline lanes_##SUFFIX *at_##SUFFIX(T *x)                 \
    {                                                                                              \
        return (lanes_##SUFFIX *)(void *)x;                                                        \
    }                                                                                              \
    /* y -= x * f, for n elements and what follows up to a whole number of lanes */                \
    __attribute__((always_inline)) static inline void subtract_##SUFFIX(T *y, T *x, T f, fint n)   \
    {                                                                                              \
        for (fint i = 0; i < n; i += LANES_##SUFFIX)                                               \
            *at_##SUFFIX(y + i) -= *at_##SUFFIX(x + i) * f;                                        \
    }                                                                                              \
    static void load_##SUFFIX(T *a, const struct lapack_place *from, fint rows, fint columns)      \
    {                                                                                              \
        const int64_t w = sizeof(T), pitch = pitch_of(columns);                                    \
        memset(a, 0, (size_t)(rows * pitch * w));                                                  \
        kern_copy_block((char *)a, from->at, (const int64_t[]){rows, columns},                     \
                        (const int64_t[]){pitch * w, w},                                           \
                        (const int64_t[]){from->row, from->column}, sizeof(T));                    \
    }                                                                                              \
    static void store_##SUFFIX(const struct lapack_place *to, const T *a, fint rows, fint columns) \
    {                                                                                              \
        const int64_t w = sizeof(T), pitch = pitch_of(columns);                                    \
        if (to->at)                                                                                \
            kern_copy_block(to->at, (const char *)a, (const int64_t[]){rows, columns},             \
                            (const int64_t[]){to->row, to->column},                                \
                            (const int64_t[]){pitch * w, w}, sizeof(T));                           \
    }                                                                                              \
    static void set_##SUFFIX(const struct lapack_place *to, fint i, T value)                       \
    {                                                                                              \
        if (to->at)                                                                                \
            memcpy(to->at + i * to->row, &value, sizeof value);                                    \
    }

#define FACTORS(T, SUFFIX, LEAST)                                                                  \
    KERN_CLONES static fint getrf_##SUFFIX(fint m, fint n, T *a, fint *pivots)                     \
    {                                                                                              \
        const int64_t pitch = pitch_of(n);                                                         \
        fint info = 0;                                                                             \
        for (fint k = 0; k < smaller(m, n); k++) {                                                 \
            T *row = a + k * pitch, largest = (T)fabs((double)row[k]);                             \
            fint p = k;                                                                            \
            for (fint i = k + 1; i < m; i++) {                                                     \
                const T x = (T)fabs((double)a[i * pitch + k]);                                     \
                p = x > largest ? i : p;                                                           \
                largest = x > largest ? x : largest;                                               \
            }                                                                                      \
            pivots[k] = p + 1;                                                                     \
            if (largest == 0) {                                                                    \
                info = info ? info : k + 1;                                                        \
                continue;                                                                          \
            }                                                                                      \
            for (fint j = 0; j < n && p != k; j += LANES_##SUFFIX) {                               \
                const lanes_##SUFFIX other = *at_##SUFFIX(row + j);                                \
                *at_##SUFFIX(row + j) = *at_##SUFFIX(a + p * pitch + j);                           \
                *at_##SUFFIX(a + p * pitch + j) = other;                                           \
            }                                                                                      \
            const bool divide = largest < (LEAST);                                                 \
            const T inverse = 1 / row[k];                                                          \
            for (fint i = k + 1; i < m; i++) {                                                     \
                T *x = a + i * pitch + k;                                                          \
                *x = divide ? *x / row[k] : *x * inverse;                                          \
                subtract_##SUFFIX(x + 1, row + k + 1, *x, n - k - 1);                              \
            }                                                                                      \
        }                                                                                          \
        return info;                                                                               \
    }                                                                                              \
    /* The columns of the lower triangle are the rows of a. */                                     \
    KERN_CLONES static fint potrf_##SUFFIX(fint n, T *a)                                           \
    {                                                                                              \
        const int64_t pitch = pitch_of(n);                                                         \
        for (fint j = 0; j < n; j++) {                                                             \
            T *column = a + j * pitch + j;                                                         \
            for (fint k = 0; k < j; k++)                                                           \
                subtract_##SUFFIX(column, a + k * pitch + j, a[k * pitch + j], n - j);             \
            if (!(*column > 0))                                                                    \
                return j + 1;                                                                      \
            const T root = (T)sqrt((double)*column);                                               \
            *column = root;                                                                        \
            for (fint i = 1; i < n - j; i += LANES_##SUFFIX)                                       \
                *at_##SUFFIX(column + i) /= root;                                                  \
        }                                                                                          \
        return 0;                                                                                  \
    }                                                                                              \
    /* a -= tau v (v^T a) for columns from `first` on, where v starts at row k with 1 */           \
    __attribute__((always_inline)) static inline void reflect_##SUFFIX(                            \
        T *a, const T *v, T tau, fint k, fint m, fint first, fint n)                               \
    {                                                                                              \
        const int64_t pitch = pitch_of(n);                                                         \
        for (fint j = first; j < n; j += LANES_##SUFFIX) {                                         \
            lanes_##SUFFIX sum = *at_##SUFFIX(a + k * pitch + j);                                  \
            for (fint i = k + 1; i < m; i++)                                                       \
                sum += *at_##SUFFIX(a + i * pitch + j) * v[i];                                     \
            sum *= tau;                                                                            \
            *at_##SUFFIX(a + k * pitch + j) -= sum;                                                \
            for (fint i = k + 1; i < m; i++)                                                       \
                *at_##SUFFIX(a + i * pitch + j) -= sum * v[i];                                     \
        }                                                                                          \
    }                                                                                              \
    KERN_CLONES static void geqrf_##SUFFIX(fint m, fint n, T *a, T *taus)                          \
    {                                                                                              \
        const int64_t pitch = pitch_of(n);                                                         \
        T v[TINY];                                                                                 \
        for (fint k = 0; k < smaller(m, n); k++) {                                                 \
            double max = 0, square = 0;                                                            \
            for (fint i = k; i < m; i++) {                                                         \
                v[i] = a[i * pitch + k];                                                           \
                max = fabs((double)v[i]) > max ? fabs((double)v[i]) : max;                         \
            }                                                                                      \
            const double scale = scale_for(max);                                                   \
            for (fint i = k + 1; i < m; i++)                                                       \
                square += (double)v[i] * scale * ((double)v[i] * scale);                           \
            const struct reflector r = find_reflector((double)v[k] * scale, square);               \
            for (fint i = k + 1; i < m; i++)                                                       \
                v[i] = (T)((double)v[i] * scale * r.factor);                                       \
            taus[k] = (T)r.tau;                                                                    \
            if (r.tau != 0)                                                                        \
                reflect_##SUFFIX(a, v, taus[k], k, m, k + 1, n);                                   \
            a[k * pitch + k] = (T)(r.beta / scale);                                                \
            for (fint i = k + 1; i < m; i++)                                                       \
                a[i * pitch + k] = v[i];                                                           \
        }                                                                                          \
    }                                                                                              \
    /* a: the reflectors -> q, n columns of the product of `count` of them */                      \
    KERN_CLONES static void orgqr_##SUFFIX(fint m, fint n, const T *a, const T *taus, fint count,  \
                                           T *q)                                                   \
    {                                                                                              \
        const int64_t pitch = pitch_of(n);                                                         \
        T v[TINY];                                                                                 \
        memset(q, 0, (size_t)(m * pitch) * sizeof(T));                                             \
        for (fint k = 0; k < n; k++)                                                               \
            q[k * pitch + k] = 1;                                                                  \
        for (fint k = count - 1; k >= 0; k--) {                                                    \
            for (fint i = k + 1; i < m; i++)                                                       \
                v[i] = a[i * pitch + k];                                                           \
            reflect_##SUFFIX(q, v, taus[k], k, m, k, n);                                           \
        }                                                                                          \
    }

#define SOLVER(T, SUFFIX)                                                                          \
    /* x[i]: component i of `groups` times LANES_##SUFFIX solutions. */                            \
    __attribute__((always_inline)) static inline void solve_groups_##SUFFIX(                       \
        const struct system *s, T *x, int64_t pitch, int groups, T alpha)                          \
    {                                                                                              \
        for (fint step = 0; step < s->n; step++) {                                                 \
            const fint i = s->lower ? step : s->n - 1 - step, from = s->lower ? 0 : i + 1,         \
                       to = s->lower ? i : s->n;                                                   \
            const char *row = s->a + i * s->ai;                                                    \
            lanes_##SUFFIX sum[GROUPS];                                                            \
            KERN_UNROLL for (int g = 0; g < groups; g++) sum[g] =                                  \
                *at_##SUFFIX(x + i * pitch + g * LANES_##SUFFIX) * alpha;                          \
            for (fint k = from; k < to; k++) {                                                     \
                const T f = *(const T *)(const void *)(row + k * s->ak);                           \
                KERN_UNROLL for (int g = 0; g < groups; g++) sum[g] -=                             \
                    *at_##SUFFIX(x + k * pitch + g * LANES_##SUFFIX) * f;                          \
            }                                                                                      \
            const T f = *(const T *)(const void *)(row + i * s->ak);                               \
            KERN_UNROLL for (int g = 0; g < groups; g++)                                           \
            {                                                                                      \
                if (!s->unit)                                                                      \
                    sum[g] /= f;                                                                   \
                *at_##SUFFIX(x + i * pitch + g * LANES_##SUFFIX) = sum[g];                         \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    KERN_CLONES static void solve_##SUFFIX(const struct system *s, T *x, fint count, T alpha)      \
    {                                                                                              \
        const int64_t pitch = pitch_of(count);                                                     \
        if (count <= LANES_##SUFFIX)                                                               \
            solve_groups_##SUFFIX(s, x, pitch, 1, alpha);                                          \
        else if (count <= 2 * LANES_##SUFFIX)                                                      \
            solve_groups_##SUFFIX(s, x, pitch, 2, alpha);                                          \
        else                                                                                       \
            solve_groups_##SUFFIX(s, x, pitch, GROUPS, alpha);                                     \
    }

/* The routines, which take the arrays and options of the wrappers of lapack_factor.c. */
#define ROUTINES(T, SUFFIX)                                                                        \
    static fint run_getrf_##SUFFIX(const struct lapack_tiny *s)                                    \
    {                                                                                              \
        const fint m = s->rows[0], n = s->columns[0];                                              \
        T a[TINY * MAX_PITCH];                                                                     \
        fint pivots[TINY];                                                                         \
        load_##SUFFIX(a, &s->in[0], m, n);                                                         \
        const fint info = getrf_##SUFFIX(m, n, a, pivots);                                         \
        store_##SUFFIX(&s->out[0], a, m, n);                                                       \
        for (fint k = 0; k < smaller(m, n) && s->out[1].at; k++)                                   \
            memcpy(s->out[1].at + k * s->out[1].row, &pivots[k], sizeof pivots[k]);                \
        return info;                                                                               \
    }                                                                                              \
    static fint run_potrf_##SUFFIX(const struct lapack_tiny *s)                                    \
    {                                                                                              \
        const fint n = s->rows[0];                                                                 \
        const bool lower = s->options[0] == 'L';                                                   \
        T a[TINY * MAX_PITCH];                                                                     \
        const struct lapack_place in = lower ? turned_place(&s->in[0]) : s->in[0],                 \
                                  out = lower ? turned_place(&s->out[0]) : s->out[0];              \
        load_##SUFFIX(a, &in, n, n);                                                               \
        const fint info = potrf_##SUFFIX(n, a);                                                    \
        store_##SUFFIX(&out, a, n, n);                                                             \
        return info;                                                                               \
    }                                                                                              \
    static fint run_geqrf_##SUFFIX(const struct lapack_tiny *s)                                    \
    {                                                                                              \
        const fint m = s->rows[0], n = s->columns[0];                                              \
        T a[TINY * MAX_PITCH], taus[TINY];                                                         \
        load_##SUFFIX(a, &s->in[0], m, n);                                                         \
        geqrf_##SUFFIX(m, n, a, taus);                                                             \
        store_##SUFFIX(&s->out[0], a, m, n);                                                       \
        for (fint k = 0; k < smaller(m, n); k++)                                                   \
            set_##SUFFIX(&s->out[1], k, taus[k]);                                                  \
        return 0;                                                                                  \
    }                                                                                              \
    static fint run_orgqr_##SUFFIX(const struct lapack_tiny *s)                                    \
    {                                                                                              \
        const fint m = s->rows[0], n = s->columns[0], count = s->rows[1];                          \
        T a[TINY * MAX_PITCH], q[TINY * MAX_PITCH], taus[TINY];                                    \
        load_##SUFFIX(a, &s->in[0], m, n);                                                         \
        for (fint k = 0; k < count; k++)                                                           \
            memcpy(&taus[k], s->in[1].at + k * s->in[1].row, sizeof(T));                           \
        orgqr_##SUFFIX(m, n, a, taus, count, q);                                                   \
        store_##SUFFIX(&s->out[0], q, m, n);                                                       \
        return 0;                                                                                  \
    }                                                                                              \
    static fint run_trsm_##SUFFIX(const struct lapack_tiny *s)                                     \
    {                                                                                              \
        const struct system system = system_of(s);                                                 \
        const bool left = s->options[0] == 'L';                                                    \
        const struct lapack_place in = left ? s->in[1] : turned_place(&s->in[1]),                  \
                                  out = left ? s->out[1] : turned_place(&s->out[1]);               \
        const fint count = left ? s->columns[1] : s->rows[1];                                      \
        T alpha = 1, x[TINY * MAX_PITCH];                                                          \
        if (s->in[2].at)                                                                           \
            memcpy(&alpha, s->in[2].at, sizeof alpha);                                             \
        for (fint j = 0; j < count; j += GROUPS * LANES_##SUFFIX) {                                \
            const fint there = smaller(count - j, GROUPS * LANES_##SUFFIX);                        \
            const struct lapack_place from = {in.at + j * in.column, in.row, in.column},           \
                                      to = {out.at ? out.at + j * out.column : NULL, out.row,      \
                                            out.column};                                           \
            load_##SUFFIX(x, &from, system.n, there);                                              \
            solve_##SUFFIX(&system, x, there, alpha);                                              \
            store_##SUFFIX(&to, x, system.n, there);                                               \
        }                                                                                          \
        return 0;                                                                                  \
    }

static struct lapack_place turned_place(const struct lapack_place *p)
{
    return (struct lapack_place){p->at, p->column, p->row};
}

static struct system system_of(const struct lapack_tiny *s)
{
    const bool left = s->options[0] == 'L', lower = s->options[1] == 'L',
               turned = (s->options[2] == 'N') != left;
    const struct lapack_place *a = &s->in[0];
    return (struct system){.n = s->rows[0],
                           .a = a->at,
                           .ai = turned ? a->column : a->row,
                           .ak = turned ? a->row : a->column,
                           .lower = lower != turned,
                           .unit = s->options[3] == 'U'};
}

LANES_OF(float, f32)
LANES_OF(double, f64)
FACTORS(float, f32, FLT_MIN)
FACTORS(double, f64, DBL_MIN)
SOLVER(float, f32)
SOLVER(double, f64)
ROUTINES(float, f32)
ROUTINES(double, f64)

#define ROUTINE(NAME)                                                                              \
    fint lapack_tiny_##NAME(const struct lapack_tiny *s)                                           \
    {                                                                                              \
        return s->type == DT_F32 ? run_##NAME##_f32(s) : run_##NAME##_f64(s);                      \
    }
ROUTINE(geqrf)
ROUTINE(getrf)
ROUTINE(orgqr)
ROUTINE(potrf)
ROUTINE(trsm)

bool lapack_is_tiny(const struct lapack_tiny *s, int count)
{
    bool tiny =
        (s->type == DT_F32 || s->type == DT_F64) && s->rows[0] <= TINY && s->columns[0] <= TINY;
    for (int k = 1; k < count; k++)
        tiny &= s->rows[k] <= TINY_COUNT && s->columns[k] <= TINY_COUNT;
    return tiny;
}
