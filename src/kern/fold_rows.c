/*
 * fold_rows.c: sums and extremes of many packed rows of f32 (spec: Reduce). A row costs a few
 * cycles beside those of its elements, so rows may be short: their last elements are read as a
 * vector that extends into the next row.
 */
#include "kern/reducer.h"
#include "kern/tile.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

/* Vectors of 8 bytes would be in MMX registers, which are those of x87. */
enum {
    WIDTH = TILE_BYTES / 4,
    HALF = WIDTH / 2,
    HALF_BYTES = TILE_BYTES < 32 ? 16 : TILE_BYTES / 2 /* with unused ones at the end */
};

typedef float halves __attribute__((vector_size(HALF_BYTES)));
typedef int32_t half_bits __attribute__((vector_size(HALF_BYTES)));
typedef float floats __attribute__((vector_size(TILE_BYTES)));
typedef int32_t words __attribute__((vector_size(TILE_BYTES)));
typedef double doubles __attribute__((vector_size(TILE_BYTES)));

/* The last n elements of a row, from x on: where they are if `beyond` elements after them can be
 * read as well, else their copy. */
static inline const float *last_elements(const float *x, int64_t n, int64_t beyond, bool readable,
                                         float *copy)
{
    if (readable)
        return x;
    memcpy(copy, x, (size_t)n * sizeof *x);
    memset(copy + n, 0, (size_t)beyond * sizeof *x);
    return copy;
}

/* ---- sums ---- */

/* Compilers convert by two instructions. */
static inline doubles widened(halves x)
{
#if defined __AVX512F__
    return (doubles)_mm512_cvtps_pd((__m256)x);
#elif defined __AVX2__
    return (doubles)_mm256_cvtps_pd((__m128)x);
#else
    doubles d;
    for (int k = 0; k < HALF; k++)
        d[k] = (double)x[k];
    return d;
#endif
}

static inline doubles read_half(const float *x)
{
    halves h = {0};
    memcpy(&h, x, HALF * sizeof *x);
    return widened(h);
}

/* The elements where `keep` is set, otherwise -0, which changes no sum. */
static inline doubles read_some(const float *x, half_bits keep)
{
    half_bits h = {0};
    memcpy(&h, x, HALF * sizeof *x);
    h = (h & keep) | (~keep & INT32_MIN);
    return widened((halves)h);
}

/* The sum of a row of n elements. `last`: the vector after its complete ones, of which `keep` are
 * elements. */
static inline double sum_row(const float *x, int64_t n, const float *last, half_bits keep)
{
    enum { PARTS = SUM_LANES / HALF };
    doubles s[PARTS];
    double lanes[HALF];
    int64_t i = 0;
    for (int p = 0; p < PARTS; p++)
        s[p] = -(doubles){0};
    for (; i + SUM_LANES <= n; i += SUM_LANES) {
        KERN_UNROLL
        for (int p = 0; p < PARTS; p++)
            s[p] += read_half(x + i + p * HALF);
    }
    KERN_UNROLL
    for (int p = 0; p < PARTS; p++) {
        const int64_t at = i + p * HALF;
        if (at + HALF <= n)
            s[p] += read_half(x + at);
        else if (at < n)
            s[p] += read_some(last, keep);
    }
    KERN_UNROLL
    for (int step = PARTS / 2; step > 0; step /= 2)
        for (int p = 0; p < step; p++)
            s[p] += s[p + step];
    memcpy(lanes, s, sizeof lanes);
    KERN_UNROLL
    for (int step = HALF / 2; step > 0; step /= 2)
        for (int k = 0; k < step; k++)
            lanes[k] += lanes[k + step];
    return lanes[0];
}

void tile_sum_rows(double *acc, const float *x, int64_t rows, int64_t n)
{
    float copy[HALF];
    half_bits keep = {0};
    const int64_t some = n % HALF, beyond = HALF - some;
    for (int k = 0; k < HALF; k++)
        keep[k] = k < some ? -1 : 0;
    for (int64_t r = 0; r < rows; r++, x += n) {
        const bool readable = some == 0 || (rows - r - 1) * n >= beyond;
        acc[r] += sum_row(x, n, last_elements(x + n - some, some, beyond, readable, copy), keep);
    }
}

/* ---- extremes ---- */

#if defined __AVX512F__
#define CHOOSE(pick, a, b, first) ((floats)_mm512_##pick##_ps((__m512)(a), (__m512)(b)))
#elif defined __AVX2__
#define CHOOSE(pick, a, b, first) ((floats)_mm256_##pick##_ps((__m256)(a), (__m256)(b)))
#else
#define CHOOSE(pick, a, b, first) ((floats)(((words)(a) & (first)) | ((words)(b) & ~(first))))
#endif
/* a > b ? a : b, and a < b ? a : b */
static inline floats greater(floats a, floats b) { return CHOOSE(max, a, b, a > b); }
static inline floats lesser(floats a, floats b) { return CHOOSE(min, a, b, a < b); }

static inline floats read_floats(const float *x)
{
    floats f;
    memcpy(&f, x, sizeof f);
    return f;
}

/* The sign bits are set where x is NaN. */
static inline words nan_signs(floats x) { return ((words)x & INT32_MAX) + 0x7fffff; }

/* The greatest element if none is NaN; the sign bits of `nan` are set where one is. The last vector
 * of a row overlaps the one before; a row shorter than a vector is read as one, of which `keep` are
 * elements. */
#define EXTREME_ROW(NAME, BETTER, IS_BETTER)                                                       \
    static inline float NAME(const float *x, int64_t n, words keep, words *nan)                    \
    {                                                                                              \
        floats a = read_floats(x);                                                                 \
        if (n < WIDTH)                                                                             \
            a = (floats)(((words)a & keep) | ((words)((floats){0} + x[0]) & ~keep));               \
        floats b = a;                                                                              \
        words more = nan_signs(a);                                                                 \
        float lanes[WIDTH];                                                                        \
        for (int64_t i = WIDTH; i < n; i += 2 * WIDTH) {                                           \
            const floats c = read_floats(x + min_i64(i, n - WIDTH)),                               \
                         d = read_floats(x + min_i64(i + WIDTH, n - WIDTH));                       \
            a = BETTER(c, a);                                                                      \
            b = BETTER(d, b);                                                                      \
            more |= nan_signs(c) | nan_signs(d);                                                   \
        }                                                                                          \
        a = BETTER(b, a);                                                                          \
        *nan |= more;                                                                              \
        memcpy(lanes, &a, sizeof lanes);                                                           \
        KERN_UNROLL                                                                                \
        for (int step = WIDTH / 2; step > 0; step /= 2)                                            \
            for (int k = 0; k < step; k++)                                                         \
                lanes[k] = lanes[k + step] IS_BETTER lanes[k] ? lanes[k + step] : lanes[k];        \
        return lanes[0];                                                                           \
    }
EXTREME_ROW(greatest_of_row, greater, >)
EXTREME_ROW(least_of_row, lesser, <)

bool tile_extreme_rows(float *out, const float *x, int64_t rows, int64_t n, bool greatest)
{
    float copy[WIDTH];
    words keep, nan = {0};
    int32_t signs = 0;
    for (int k = 0; k < WIDTH; k++)
        keep[k] = k < n ? -1 : 0;
    for (int64_t r = 0; r < rows; r++, x += n) {
        const bool readable = n >= WIDTH || (rows - r) * n >= WIDTH;
        const float *row = last_elements(x, n, WIDTH - n, readable, copy);
        out[r] = greatest ? greatest_of_row(row, n, keep, &nan) : least_of_row(row, n, keep, &nan);
    }
    for (int k = 0; k < WIDTH; k++)
        signs |= nan[k];
    return signs >= 0;
}
