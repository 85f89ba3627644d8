/*
 * elementwise_sleef.c: vectorized functions of f64 by SLEEF, if hlo is built with it.
 *
 * Functions with errors up to 1.0 ulp are used, in the variant that gives the same bits with AVX2
 * and AVX-512; without either, libm is as fast. SLEEF selects the argument reduction of angles by
 * the largest one in the vector; as an element's result must not depend on its neighbours, angles
 * are passed to it in classes. Where SLEEF is inaccurate, as for the smallest subnormals and for
 * log-plus-one above 1e307, other code is used. Remainders are exact, by multiply-adds. spec: Exp,
 * Expm1, Log, Log1p, Logistic, Tanh, Sin, Cos, Tan, Erf, Cbrt, Pow, Atan2, Acos, Acosh, Asin,
 * Asinh, Atanh, Cosh, Sinh, Rem
 */
#include "kern/tile.h"

#include <math.h>

#if defined TILE_SLEEF && (defined __AVX512F__ || (defined __AVX2__ && defined __FMA__))
#include "kern/lanes.h"

#include <sleef.h>

#ifdef __AVX512F__
#define VECTOR __m512d
#define LOAD _mm512_loadu_pd
#define STORE _mm512_storeu_pd
#define SLEEF(name) Sleef_finz_##name##d8_u10avx512f
#else
#define VECTOR __m256d
#define LOAD _mm256_loadu_pd
#define STORE _mm256_storeu_pd
#define SLEEF(name) Sleef_finz_##name##d4_u10avx2
#endif
enum { LANES = sizeof(VECTOR) / sizeof(double), SINGLY = 4 };

/* The first of n elements. The last ones are loaded one by one, followed by copies of the first:
 * code of single elements would wait for a vector that it stored in parts. */
static VECTOR load_some(const double *x, int64_t n)
{
    if (n >= LANES && n > SINGLY)
        return LOAD(x);
#ifdef __AVX512F__
    if (n > SINGLY)
        return _mm512_mask_loadu_pd(_mm512_set1_pd(*x), (__mmask8)((1u << n) - 1), x);
#endif
    const __m256d v = _mm256_setr_pd(x[0], x[n > 1], x[n > 2 ? 2 : 0], x[n > 3 ? 3 : 0]);
#ifdef __AVX512F__
    return _mm512_insertf64x4(_mm512_castpd256_pd512(v), v, 1);
#else
    return v;
#endif
}

static void store_some(double *out, VECTOR v, int64_t n)
{
    if (n == LANES)
        STORE(out, v);
    else
        store_part((char *)out, (floats)v, n * (int64_t)sizeof *out);
}

#define UNARY(id, name)                                                                            \
    static void F64_##id(void *result, const void *const *args, int64_t n)                         \
    {                                                                                              \
        double *out = result;                                                                      \
        const double *x = args[0];                                                                 \
        int64_t i = 0;                                                                             \
        for (; n - i >= LANES && n - i > SINGLY; i += LANES)                                       \
            STORE(out + i, SLEEF(name)(LOAD(x + i)));                                              \
        if (i < n)                                                                                 \
            store_some(out + i, SLEEF(name)(load_some(x + i, n - i)), n - i);                      \
    }
#define BINARY(id, name)                                                                           \
    static void F64_##id(void *result, const void *const *args, int64_t n)                         \
    {                                                                                              \
        double *out = result;                                                                      \
        const double *x = args[0], *y = args[1];                                                   \
        int64_t i = 0;                                                                             \
        for (; n - i >= LANES && n - i > SINGLY; i += LANES)                                       \
            STORE(out + i, SLEEF(name)(LOAD(x + i), LOAD(y + i)));                                 \
        if (i < n)                                                                                 \
            store_some(out + i, SLEEF(name)(load_some(x + i, n - i), load_some(y + i, n - i)),     \
                       n - i);                                                                     \
    }

#ifdef __AVX512F__
#define ALL_WITHIN(x, low, high)                                                                   \
    (_mm512_cmp_pd_mask(_mm512_abs_pd(x), _mm512_set1_pd(high), _CMP_LE_OQ) == 0xff &&             \
     _mm512_cmp_pd_mask(_mm512_abs_pd(x), _mm512_set1_pd(low), _CMP_GE_OQ) == 0xff)
#else
#define ABS(x) _mm256_andnot_pd(_mm256_set1_pd(-0.0), x)
#define ALL_WITHIN(x, low, high)                                                                   \
    (_mm256_movemask_pd(_mm256_cmp_pd(ABS(x), _mm256_set1_pd(high), _CMP_LE_OQ)) == 0xf &&         \
     _mm256_movemask_pd(_mm256_cmp_pd(ABS(x), _mm256_set1_pd(low), _CMP_GE_OQ)) == 0xf)
#endif

/* Angles up to NEAR and up to FAR have different argument reductions; beyond FAR libm is used. */
static const double NEAR = 14, FAR = 0x1p40;

struct angles {
    double x[LANES], far[LANES];
    int some_far, some_beyond;
};
static void sort_angles(struct angles *a, const double *x, int64_t n)
{
    for (int k = 0; k < LANES; k++) {
        const double v = k < n ? x[k] : 1, size = fabs(v);
        const int near = size <= NEAR, beyond = !(size <= FAR);
        a->x[k] = near ? v : 1;
        a->far[k] = near | beyond ? NEAR + 4 : v;
        a->some_far |= !near;
        a->some_beyond |= beyond;
    }
}

#define CIRCLE(id, name)                                                                           \
    static void F64_##id(void *result, const void *const *args, int64_t n)                         \
    {                                                                                              \
        double *out = result;                                                                      \
        const double *x = args[0];                                                                 \
        for (int64_t i = 0; i < n; i += LANES) {                                                   \
            const int64_t some = n - i < LANES ? n - i : LANES;                                    \
            const VECTOR v = load_some(x + i, n - i);                                              \
            if (ALL_WITHIN(v, 0, NEAR)) {                                                          \
                store_some(out + i, SLEEF(name)(v), some);                                         \
                continue;                                                                          \
            }                                                                                      \
            struct angles a = {.some_far = 0};                                                     \
            double made[LANES], kept[LANES];                                                       \
            sort_angles(&a, x + i, some);                                                          \
            STORE(made, SLEEF(name)(LOAD(a.x)));                                                   \
            if (a.some_far) {                                                                      \
                STORE(kept, SLEEF(name)(LOAD(a.far)));                                             \
                for (int64_t k = 0; k < some; k++)                                                 \
                    if (!(fabs(x[i + k]) <= NEAR))                                                 \
                        made[k] = fabs(x[i + k]) <= FAR ? kept[k] : name(x[i + k]);                \
            }                                                                                      \
            memcpy(out + i, made, (size_t)some * sizeof *out);                                     \
        }                                                                                          \
    }

/* SLEEF computes elements whose magnitude is between two numbers, libm the others. */
#define WITHIN_UNARY(id, name, low, high)                                                          \
    static void F64_##id(void *result, const void *const *args, int64_t n)                         \
    {                                                                                              \
        double *out = result, made[LANES];                                                         \
        const double *x = args[0];                                                                 \
        for (int64_t i = 0; i < n; i += LANES) {                                                   \
            const int64_t some = n - i < LANES ? n - i : LANES;                                    \
            const VECTOR v = load_some(x + i, n - i);                                              \
            if (ALL_WITHIN(v, low, high)) {                                                        \
                store_some(out + i, SLEEF(name)(v), some);                                         \
                continue;                                                                          \
            }                                                                                      \
            STORE(made, SLEEF(name)(v));                                                           \
            for (int64_t k = 0; k < some; k++)                                                     \
                if (!(fabs(x[i + k]) >= (low) && fabs(x[i + k]) <= (high)))                        \
                    made[k] = name(x[i + k]);                                                      \
            memcpy(out + i, made, (size_t)some * sizeof *out);                                     \
        }                                                                                          \
    }

UNARY(log, log)
UNARY(erf, erf)
WITHIN_UNARY(log1p, log1p, 1e-300, 1e300)
WITHIN_UNARY(acos, acos, 1e-300, 1)
WITHIN_UNARY(acosh, acosh, 1, 1e150)
WITHIN_UNARY(asin, asin, 1e-300, 1)
WITHIN_UNARY(asinh, asinh, 1e-300, 1e150)
WITHIN_UNARY(atanh, atanh, 1e-300, 1)
WITHIN_UNARY(cosh, cosh, 0, 700)
WITHIN_UNARY(sinh, sinh, 1e-300, 700)
CIRCLE(circle_tan, tan)

/* SLEEF's tan is wrong for the smallest subnormals; numbers that small are their own tangent. */
static void F64_tan(void *result, const void *const *args, int64_t n)
{
    enum { CHUNK = 512 };
    double *out = result, made[CHUNK];
    const double *x = args[0];
    for (int64_t at = 0; at < n; at += CHUNK) {
        const int64_t some = n - at < CHUNK ? n - at : CHUNK;
        F64_circle_tan(made, (const void *const[]){x + at}, some);
        for (int64_t i = 0; i < some; i++)
            out[at + i] = fabs(x[at + i]) < 0x1p-27 ? x[at + i] : made[i];
    }
}

UNARY(exponential, exp)
UNARY(expm1, expm1)
UNARY(tanh, tanh)
UNARY(cbrt, cbrt)
BINARY(atan2, atan2)
BINARY(power, pow)
CIRCLE(cosine, cos)
CIRCLE(sine, sin)

/* Exact below this quotient: if its integer part is too great by one, the remainder becomes
 * negative. */
static void F64_remainder(void *result, const void *const *args, int64_t n)
{
    enum { CHUNK = 512 };
    const double most = 0x1p52;
    double *out = result, made[CHUNK];
    const double *a = args[0], *b = args[1];
    for (int64_t at = 0; at < n; at += CHUNK) {
        const int64_t some = n - at < CHUNK ? n - at : CHUNK;
        int far = 0;
        for (int64_t i = 0; i < some; i++) {
            const double x = fabs(a[at + i]), y = fabs(b[at + i]), q = x / y;
            const double r = __builtin_fma(-trunc(q), y, x);
            far |= !((q < most) & (y < (double)INFINITY));
            made[i] = copysign(r < 0 ? r + y : r, a[at + i]);
        }
        for (int64_t i = 0; far && i < some; i++) {
            const double x = a[at + i], y = b[at + i];
            if (!(fabs(x) / fabs(y) < most && fabs(y) < (double)INFINITY))
                made[i] = fmod(x, y);
        }
        memcpy(out + at, made, (size_t)some * sizeof *out);
    }
}

/* 1 / (1 + e), e >= 0, without the errors of the sum and of the quotient, which would add to e's.
 */
static inline double inverse_above(double e)
{
    const double sum = 1 + e, r = 1 / sum, low = e > 1 ? 1 - (sum - e) : e - (sum - 1);
    const double rest = __builtin_fma(-sum, r, 1) - low * r;
    return e < 0x1p53 ? __builtin_fma(rest, r, r) : r;
}

static void F64_logistic(void *result, const void *const *args, int64_t n)
{
    enum { CHUNK = 512 };
    double *out = result, e[CHUNK];
    const double *x = args[0];
    for (int64_t at = 0; at < n; at += CHUNK) {
        const int64_t some = n - at < CHUNK ? n - at : CHUNK;
        for (int64_t i = 0; i < some; i++)
            e[i] = -x[at + i];
        F64_exponential(e, (const void *const[]){e}, some);
        for (int64_t i = 0; i < some; i++)
            out[at + i] = inverse_above(e[i]);
    }
}

static const struct tile_row rows[] = {
    {"acos", F64_acos},
    {"acosh", F64_acosh},
    {"asin", F64_asin},
    {"asinh", F64_asinh},
    {"atan2", F64_atan2},
    {"atanh", F64_atanh},
    {"cbrt", F64_cbrt},
    {"cosh", F64_cosh},
    {"cosine", F64_cosine},
    {"erf", F64_erf},
    {"exponential", F64_exponential},
    {"exponential-minus-one", F64_expm1},
    {"log", F64_log},
    {"log-plus-one", F64_log1p},
    {"logistic", F64_logistic},
    {"power", F64_power},
    {"remainder", F64_remainder},
    {"sine", F64_sine},
    {"sinh", F64_sinh},
    {"tan", F64_tan},
    {"tanh", F64_tanh},
};
const struct tile_table tile_sleef = {rows, COUNT_OF(rows)};
#else
const struct tile_table tile_sleef = {NULL, 0};
#endif
