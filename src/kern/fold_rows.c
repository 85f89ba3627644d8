/*
 * fold_rows.c: sums and products of many packed rows of f32 or f64, or of their columns, and
 * extremes of f32, bf16 and f16 (spec: Reduce).
 * A row costs a few cycles beside those of its elements, so rows may be short: their last elements
 * are read as a vector that extends into the next row.
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
typedef int64_t longs __attribute__((vector_size(TILE_BYTES)));

/* The last n elements of a row, from x on: where they are if `beyond` elements after them can be
 * read as well, else their copy. */
static inline const void *last_elements(const void *x, int64_t n, int64_t beyond, bool readable,
                                        void *copy, size_t width)
{
    if (readable)
        return x;
    memcpy(copy, x, (size_t)n * width);
    memset((char *)copy + (size_t)n * width, 0, (size_t)beyond * width);
    return copy;
}

/* ---- sums and products ---- */

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

static inline doubles read_f32(const float *x)
{
    halves h = {0};
    memcpy(&h, x, HALF * sizeof *x);
    return widened(h);
}

static inline doubles read_f64(const double *x)
{
    doubles d;
    memcpy(&d, x, sizeof d);
    return d;
}

static inline doubles read_bf16(const uint16_t *x)
{
#if defined __AVX512F__
    const __m128i codes = _mm_loadu_si128((const __m128i *)(const void *)x);
    return widened((halves)_mm256_slli_epi32(_mm256_cvtepu16_epi32(codes), 16));
#elif defined __AVX2__
    const __m128i codes = _mm_loadl_epi64((const __m128i *)(const void *)x);
    return widened((halves)_mm_slli_epi32(_mm_cvtepu16_epi32(codes), 16));
#else
    doubles d;
    for (int k = 0; k < HALF; k++)
        d[k] = (double)bf16_to_f32(x[k]);
    return d;
#endif
}

/* The elements where `keep` is set, otherwise the number with these bits. */
static inline doubles read_some_f32(const float *x, half_bits keep, half_bits otherwise)
{
    half_bits h = {0};
    memcpy(&h, x, HALF * sizeof *x);
    return widened((halves)((h & keep) | (~keep & otherwise)));
}

static inline doubles read_some_f64(const double *x, longs keep, longs otherwise)
{
    return (doubles)(((longs)read_f64(x) & keep) | (~keep & otherwise));
}

/* The sum of a row of n elements, or their product. `last`: the vector after its complete ones, of
 * which `keep` are elements. And those of many rows. */
#define FOLD_ROWS(NAME, TYPE, T, MASK, OP, IDENTITY, IDENTITY_BITS)                                \
    static inline double NAME##_row_##TYPE(const T *x, int64_t n, const T *last, MASK keep)        \
    {                                                                                              \
        enum { PARTS = REDUCER_LANES / HALF };                                                     \
        doubles s[PARTS];                                                                          \
        double lanes[HALF];                                                                        \
        int64_t i = 0;                                                                             \
        for (int p = 0; p < PARTS; p++)                                                            \
            s[p] = ((doubles){0} + 1) * IDENTITY;                                                  \
        for (; i + REDUCER_LANES <= n; i += REDUCER_LANES) {                                       \
            KERN_UNROLL                                                                            \
            for (int p = 0; p < PARTS; p++)                                                        \
                s[p] OP read_##TYPE(x + i + p * HALF);                                             \
        }                                                                                          \
        KERN_UNROLL                                                                                \
        for (int p = 0; p < PARTS; p++) {                                                          \
            const int64_t at = i + p * HALF;                                                       \
            if (at + HALF <= n)                                                                    \
                s[p] OP read_##TYPE(x + at);                                                       \
            else if (at < n)                                                                       \
                s[p] OP read_some_##TYPE(last, keep, (MASK){0} + IDENTITY_BITS);                   \
        }                                                                                          \
        KERN_UNROLL                                                                                \
        for (int step = PARTS / 2; step > 0; step /= 2)                                            \
            for (int p = 0; p < step; p++)                                                         \
                s[p] OP s[p + step];                                                               \
        memcpy(lanes, s, sizeof lanes);                                                            \
        KERN_UNROLL                                                                                \
        for (int step = HALF / 2; step > 0; step /= 2)                                             \
            for (int k = 0; k < step; k++)                                                         \
                lanes[k] OP lanes[k + step];                                                       \
        return lanes[0];                                                                           \
    }                                                                                              \
    void tile_##NAME##_rows_##TYPE(double *acc, const T *x, int64_t rows, int64_t n)               \
    {                                                                                              \
        T copy[HALF];                                                                              \
        MASK keep = {0};                                                                           \
        const int64_t some = n % HALF, beyond = HALF - some;                                       \
        for (int k = 0; k < HALF; k++)                                                             \
            keep[k] = k < some ? -1 : 0;                                                           \
        for (int64_t r = 0; r < rows; r++, x += n) {                                               \
            const bool readable = some == 0 || (rows - r - 1) * n >= beyond;                       \
            const T *last = last_elements(x + n - some, some, beyond, readable, copy, sizeof *x);  \
            acc[r] OP NAME##_row_##TYPE(x, n, last, keep);                                         \
        }                                                                                          \
    }
FOLD_ROWS(sum, f32, float, half_bits, +=, -0.0, INT32_MIN) /* x + -0 is x for every x */
FOLD_ROWS(sum, f64, double, longs, +=, -0.0, INT64_MIN)
FOLD_ROWS(multiply, f32, float, half_bits, *=, 1, 0x3f800000)
FOLD_ROWS(multiply, f64, double, longs, *=, 1, 0x3ff0000000000000)

static inline double one_bf16(uint16_t x) { return (double)bf16_to_f32(x); }
static inline double one_f32(float x) { return (double)x; }

/* Vector by vector, each through all of some rows, whose number is constant; the last one overlaps
 * the one before. */
#define FOLD_COLUMNS(NAME, TYPE, T, OP)                                                            \
    static inline void NAME##_vector_##TYPE(double *acc, doubles s, const T *const *x, int count,  \
                                            int64_t at)                                            \
    {                                                                                              \
        KERN_UNROLL                                                                                \
        for (int r = 0; r < count; r++)                                                            \
            s OP read_##TYPE(x[r] + at);                                                           \
        memcpy(acc + at, &s, sizeof s);                                                            \
    }                                                                                              \
    static inline void NAME##_some_##TYPE(double *acc, const void *const *rows, int count,         \
                                          int64_t n)                                               \
    {                                                                                              \
        const T *x[REDUCER_ROWS];                                                                  \
        const doubles last = read_f64(acc + n - HALF);                                             \
        int64_t i = 0;                                                                             \
        KERN_UNROLL                                                                                \
        for (int r = 0; r < count; r++)                                                            \
            x[r] = rows[r];                                                                        \
        for (; i + HALF <= n; i += HALF)                                                           \
            NAME##_vector_##TYPE(acc, read_f64(acc + i), x, count, i);                             \
        if (i < n)                                                                                 \
            NAME##_vector_##TYPE(acc, last, x, count, n - HALF);                                   \
    }                                                                                              \
    void tile_##NAME##_columns_##TYPE(double *acc, const void *const *rows, int count, int64_t n)  \
    {                                                                                              \
        for (; n >= HALF && count >= REDUCER_ROWS; count -= REDUCER_ROWS, rows += REDUCER_ROWS)    \
            NAME##_some_##TYPE(acc, rows, REDUCER_ROWS, n);                                        \
        for (; n >= HALF && count > 0; count--, rows++)                                            \
            NAME##_some_##TYPE(acc, rows, 1, n);                                                   \
        for (int64_t i = 0; n < HALF && i < n; i++)                                                \
            for (int r = 0; r < count; r++)                                                        \
                acc[i] OP one_##TYPE(((const T *)rows[r])[i]);                                     \
    }
FOLD_COLUMNS(sum, bf16, uint16_t, +=)
FOLD_COLUMNS(sum, f32, float, +=)
FOLD_COLUMNS(multiply, f32, float, *=)

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
        const float *row = last_elements(x, n, WIDTH - n, readable, copy, sizeof *x);
        out[r] = greatest ? greatest_of_row(row, n, keep, &nan) : least_of_row(row, n, keep, &nan);
    }
    for (int k = 0; k < WIDTH; k++)
        signs |= nan[k];
    return signs >= 0;
}

/* ---- extremes of bf16 and f16 ---- */

enum { CODES = TILE_BYTES / 2 };
typedef int16_t codes __attribute__((vector_size(TILE_BYTES)));

#if defined __AVX512BW__
#define CHOOSE_CODE(pick, a, b, first) ((codes)_mm512_##pick##_epi16((__m512i)(a), (__m512i)(b)))
#elif defined __AVX2__
#define CHOOSE_CODE(pick, a, b, first) ((codes)_mm256_##pick##_epi16((__m256i)(a), (__m256i)(b)))
#else
#define CHOOSE_CODE(pick, a, b, first) (((a) & (first)) | ((b) & ~(first)))
#endif
static inline codes greater_codes(codes a, codes b) { return CHOOSE_CODE(max, a, b, a > b); }
static inline codes lesser_codes(codes a, codes b) { return CHOOSE_CODE(min, a, b, a < b); }

/* Integers in the order of the numbers, -0 before +0; and the code of one of them. */
static inline codes ordered(const uint16_t *x)
{
    codes c;
    memcpy(&c, x, sizeof c);
    return c ^ ((c >> 15) & INT16_MAX);
}
static inline uint16_t code_of(int16_t key) { return (uint16_t)(key ^ ((key >> 15) & INT16_MAX)); }

#if defined __AVX2__
/* The least of the lanes, of which `flip` makes unsigned ones. */
static inline int16_t least_lane(codes c, int16_t flip)
{
    union {
        codes all;
        __m128i parts[TILE_BYTES / 16];
    } v = {.all = c ^ flip};
    for (int step = TILE_BYTES / 32; step > 0; step /= 2)
        for (int k = 0; k < step; k++)
            v.parts[k] = _mm_min_epu16(v.parts[k], v.parts[k + step]);
    return (int16_t)(_mm_cvtsi128_si32(_mm_minpos_epu16(v.parts[0])) ^ flip);
}
#else
static inline int16_t least_lane(codes c, int16_t flip)
{
    uint16_t least = UINT16_MAX;
    for (int k = 0; k < CODES; k++) {
        const uint16_t lane = (uint16_t)(c[k] ^ flip);
        least = lane < least ? lane : least;
    }
    return (int16_t)(least ^ flip);
}
#endif

/* The best element of a row, in that order; *other: the one at the other end of the order, of all
 * rows. Vectors overlap as above. */
#define EXTREME_CODES(NAME, BETTER, WORSE, FLIP)                                                   \
    static inline int16_t NAME(const uint16_t *x, int64_t n, codes keep, codes *other)             \
    {                                                                                              \
        codes first = ordered(x);                                                                  \
        if (n < CODES)                                                                             \
            first = (first & keep) | (((codes){0} + first[0]) & ~keep);                            \
        codes best = first, worst = WORSE(first, *other);                                          \
        for (int64_t i = CODES; i < n; i += CODES) {                                               \
            const codes c = ordered(x + min_i64(i, n - CODES));                                    \
            best = BETTER(c, best);                                                                \
            worst = WORSE(c, worst);                                                               \
        }                                                                                          \
        *other = worst;                                                                            \
        return least_lane(best, FLIP);                                                             \
    }
EXTREME_CODES(greatest_code, greater_codes, lesser_codes, INT16_MAX)
EXTREME_CODES(least_code, lesser_codes, greater_codes, INT16_MIN)

bool tile_extreme_codes(enum dtype t, float *out, const uint16_t *x, int64_t rows, int64_t n,
                        bool greatest)
{
    const int16_t infinity = t == DT_F16 ? 0x7c00 : 0x7f80; /* NaNs are beyond */
    uint16_t copy[CODES];
    codes keep, other = {0};
    bool any_nan = false;
    for (int k = 0; k < CODES; k++)
        keep[k] = k < n ? -1 : 0;
    for (int64_t r = 0; r < rows; r++, x += n) {
        const bool readable = n >= CODES || (rows - r) * n >= CODES;
        const uint16_t *row = last_elements(x, n, CODES - n, readable, copy, sizeof *x);
        const int16_t best =
            greatest ? greatest_code(row, n, keep, &other) : least_code(row, n, keep, &other);
        any_nan |= greatest ? best > infinity : best < -infinity - 1;
        out[r] = t == DT_F16 ? f16_to_f32(code_of(best)) : bf16_to_f32(code_of(best));
    }
    const int16_t end = greatest ? least_lane(other, INT16_MIN) : least_lane(other, INT16_MAX);
    return !any_nan && (greatest ? end >= -infinity - 1 : end <= infinity);
}

/* ---- sums of bf16 ---- */

/* Adds the remaining n elements to their lanes, then all lanes pairwise. Lane 4 * k + j is
 * lanes[j][k]. */
enum { FOURS = REDUCER_LANES / 4 };
static inline double sum_lanes(double lanes[4][FOURS], const uint16_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        lanes[i % 4][i / 4] += one_bf16(x[i]);
    KERN_UNROLL
    for (int step = FOURS / 2; step > 0; step /= 2)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < step; k++)
                lanes[j][k] += lanes[j][k + step];
    return (lanes[0][0] + lanes[2][0]) + (lanes[1][0] + lanes[3][0]);
}

static double sum_any(const uint16_t *x, int64_t n)
{
    double lanes[4][FOURS];
    int64_t i = 0;
    for (int j = 0; j < REDUCER_LANES; j++)
        lanes[j % 4][j / 4] = -0.0; /* -0 + x is x, for -0 as well */
    for (; i + REDUCER_LANES <= n; i += REDUCER_LANES)
        for (int j = 0; j < REDUCER_LANES; j++)
            lanes[j % 4][j / 4] += one_bf16(x[i + j]);
    return sum_lanes(lanes, x + i, n - i);
}

typedef uint64_t quads __attribute__((vector_size(TILE_BYTES)));
typedef uint32_t pairs __attribute__((vector_size(TILE_BYTES)));

/*
 * A sum without conversions, which cost more than the additions: the bits of a bf16, placed at the
 * exponent and the first mantissa bits of an f64, are the number times 2^-896. Sums are scaled
 * likewise: every bf16 is a multiple of 2^-133, so no bit is lost to the subnormals of f64.
 * Infinities and NaN are detected and left to sum_any.
 *
 * Shifted right by 3 as signed numbers, the bf16 in the upper halves of 32 bits have the right bits
 * except for three copies of the sign, and in the upper half of 64 bits they are in the right
 * position.
 */
static double sum_in_lanes(const uint16_t *x, int64_t n)
{
    enum { PARTS = 2 * REDUCER_LANES / TILE_BYTES, QUADS = TILE_BYTES / 8 };
    const quads number = (quads){0} + 0x8fffe00000000000;
    doubles a[PARTS], b[PARTS], c[PARTS], d[PARTS]; /* the first of each word's four numbers, ... */
    double lanes[4][FOURS];
    codes specials = {0};
    int64_t i = 0;
    for (int p = 0; p < PARTS; p++)
        a[p] = b[p] = c[p] = d[p] = -(doubles){0};
    for (; i + REDUCER_LANES <= n; i += REDUCER_LANES) {
        KERN_UNROLL
        for (int p = 0; p < PARTS; p++) {
            quads w;
            memcpy(&w, x + i + p * TILE_BYTES / 2, sizeof w);
            specials |= ((codes)w & 0x7f80) + 0x80;
            const quads upper = (quads)((words)w >> 3),
                        lower = (quads)((words)((pairs)w << 16) >> 3);
            a[p] += (doubles)(lower << 32 & number);
            b[p] += (doubles)(upper << 32 & number);
            c[p] += (doubles)(lower & number);
            d[p] += (doubles)(upper & number);
        }
    }
    if (least_lane(specials, INT16_MIN) < 0)
        return sum_any(x, n);
    for (int p = 0; p < PARTS; p++) {
        const doubles made[] = {a[p], b[p], c[p], d[p]};
        for (int j = 0; j < 4; j++) {
            const doubles whole = made[j] * 0x1p896;
            memcpy(lanes[j] + p * QUADS, &whole, sizeof whole);
        }
    }
    return sum_lanes(lanes, x + i, n - i);
}

enum {
    STEP = 4 * CODES,
    BLOCK = 256,   /* elements that are added in one way */
    SPAN_F32 = 13, /* of exponents: sums of 8 elements are exact */
    SPAN_F64 = 34, /* so are those of KERN_TILE, in any order */
    GREATEST = 250 /* exponent of elements whose sums are finite */
};
struct exponents {
    int least, greatest; /* of elements that are not 0; `least` may be 1 less */
};

static inline struct exponents find_exponents(const uint16_t *x, int64_t n)
{
    codes greatest = {0}, least = greatest + INT16_MAX, c;
    for (int64_t i = 0; i < n; i += CODES) {
        memcpy(&c, x + i, sizeof c);
        c &= INT16_MAX;
        greatest = greater_codes(c, greatest);
        least = lesser_codes(c + INT16_MAX, least); /* 0 is the greatest of these */
    }
    return (struct exponents){(uint16_t)(least_lane(least, INT16_MIN) + INT16_MIN) >> 7,
                              least_lane(greatest, INT16_MAX) >> 7};
}

static inline bool span_at_most(struct exponents e, int span)
{
    return e.greatest <= GREATEST && e.greatest - e.least <= span;
}

static inline floats sums_of_two(const uint16_t *x)
{
    words w;
    memcpy(&w, x, sizeof w);
    return (floats)(w << 16) + (floats)(w & -0x10000);
}

/* Eight elements in f32, then in f64: all of these sums are exact. */
static inline void add_exactly(doubles *s, const uint16_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i += STEP) {
        const floats eight = (sums_of_two(x + i) + sums_of_two(x + i + CODES)) +
                             (sums_of_two(x + i + 2 * CODES) + sums_of_two(x + i + 3 * CODES));
        for (int k = 0; k < WIDTH / HALF; k++)
            s[k] += read_f32((const float *)&eight + k * HALF);
    }
}

/* Adds a multiple of STEP elements; false if their sum may be rounded. */
static inline bool add_block(struct exponents *all, doubles *s, const uint16_t *x, int64_t n)
{
    const struct exponents e = find_exponents(x, n);
    if (!span_at_most(e, SPAN_F32))
        return false;
    all->least = e.least < all->least ? e.least : all->least;
    all->greatest = e.greatest > all->greatest ? e.greatest : all->greatest;
    add_exactly(s, x, n);
    return true;
}

/* Where the elements of a tile are close enough to each other, no order rounds. */
double tile_sum_bf16(const uint16_t *x, int64_t n)
{
    struct exponents all = {INT16_MAX, 0};
    doubles s[2] = {-(doubles){0}, -(doubles){0}};
    uint16_t copy[BLOCK];
    int64_t i = 0;
    if (n < REDUCER_LANES)
        return sum_any(x, n);
    for (; i + BLOCK <= n; i += BLOCK)
        if (!add_block(&all, s, x + i, BLOCK))
            return sum_in_lanes(x, n);
    if (i < n) {
        const int64_t count = round_up(n - i, STEP);
        for (int64_t k = 0; k < count; k++)
            copy[k] = 0x8000;
        memcpy(copy, x + i, (size_t)(n - i) * sizeof *x);
        if (!add_block(&all, s, copy, count))
            return sum_in_lanes(x, n);
    }
    if (!span_at_most(all, SPAN_F64))
        return sum_in_lanes(x, n);
    s[0] += s[1];
    double sum = s[0][0];
    for (int k = 1; k < HALF; k++)
        sum += s[0][k];
    return sum;
}
