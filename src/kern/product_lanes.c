/*
 * product_lanes.c: the inner loops of small products (spec: DotGeneral), compiled for each
 * instruction set. Operands are read in place.
 *
 * Order and accumulation: terms are multiplied and added in the operands' type, on every processor
 * alike: in order (columns), or in interleaved sums, those of one cache line of terms, which are
 * added by halves at the end (dots).
 */
#include "kern/product_lanes.h"

#include "kern/lanes.h"

enum { VECTORS = 8, ROWS = 4, LINE = 64, PARTS = LINE / TILE_BYTES };

INLINE floats add_product(bool wide, floats sum, floats x, floats y)
{
    return plus(wide, sum, times(wide, x, y));
}

/* ---- vectors of columns ---- */

/* `rows` rows by `vectors` vectors, the last one of `there` bytes if `part`. */
INLINE void block(bool wide, int rows, int vectors, bool part, const struct small *s, const char *a,
                  const char *b, char *c, int64_t there)
{
    floats sum[ROWS][VECTORS], y[VECTORS];
    KERN_UNROLL for (int r = 0; r < rows; r++) KERN_UNROLL for (int v = 0; v < vectors; v++)
        sum[r][v] = (floats){0};
    for (int64_t i = 0; i < s->k; i++, a += s->a_k, b += s->b_k) {
        KERN_UNROLL for (int v = 0; v < vectors; v++) y[v] =
            part && v == vectors - 1 ? load_part(b + v * TILE_BYTES, there)
                                     : load(b + v * TILE_BYTES);
        KERN_UNROLL for (int r = 0; r < rows; r++)
        {
            const floats x = spread(wide, a + r * s->a_row);
            KERN_UNROLL for (int v = 0; v < vectors; v++) sum[r][v] =
                add_product(wide, sum[r][v], x, y[v]);
        }
    }
    KERN_UNROLL for (int r = 0; r < rows; r++) KERN_UNROLL for (int v = 0; v < vectors; v++)
    {
        char *to = c + r * s->c_row + v * TILE_BYTES;
        if (part && v == vectors - 1)
            store_part(to, sum[r][v], there);
        else
            *(floats *)(void *)to = sum[r][v];
    }
}

typedef void block_fn(const struct small *s, const char *a, const char *b, char *c, int64_t there);

#define BLOCK(T, wide, rows, vectors, part)                                                        \
    __attribute__((noinline)) static void T##_##rows##_##vectors##_##part(                         \
        const struct small *s, const char *a, const char *b, char *c, int64_t there)               \
    {                                                                                              \
        block(wide, rows, vectors, part, s, a, b, c, there);                                       \
    }
#define HEIGHTS(T, wide, vectors, part)                                                            \
    BLOCK(T, wide, 1, vectors, part)                                                               \
    BLOCK(T, wide, 2, vectors, part) BLOCK(T, wide, 4, vectors, part)
#define NAMES(T, vectors, part)                                                                    \
    {                                                                                              \
        T##_1_##vectors##_##part, T##_2_##vectors##_##part, T##_4_##vectors##_##part               \
    }
#define TYPE(T, wide)                                                                              \
    HEIGHTS(T, wide, 1, 0) HEIGHTS(T, wide, 2, 0) HEIGHTS(T, wide, 1, 1) HEIGHTS(T, wide, 2, 1)
TYPE(f32, false)
TYPE(f64, true)
/* As many sums as registers hold: eight and more hide the latency of their additions. */
#define MOST_ROWS(T, wide) BLOCK(T, wide, 1, 8, 0) BLOCK(T, wide, 2, 4, 0)
MOST_ROWS(f32, false)
MOST_ROWS(f64, true)
#if defined __AVX512F__
enum { MOST_OF_FOUR = 4 };
BLOCK(f32, false, 4, 4, 0)
BLOCK(f64, true, 4, 4, 0)
static block_fn *const most[2][3] = {{f32_1_8_0, f32_2_4_0, f32_4_4_0},
                                     {f64_1_8_0, f64_2_4_0, f64_4_4_0}};
#else
enum { MOST_OF_FOUR = 2 };
static block_fn *const most[2][3] = {{f32_1_8_0, f32_2_4_0, f32_4_2_0},
                                     {f64_1_8_0, f64_2_4_0, f64_4_2_0}};
#endif

/* By type, whether the last vector is partial, vectors (1, 2, 4) and rows (1, 2, 4). */
static block_fn *const blocks[2][2][3][3] = {
    {{NAMES(f32, 1, 0), NAMES(f32, 2, 0)}, {NAMES(f32, 1, 1), NAMES(f32, 2, 1)}},
    {{NAMES(f64, 1, 0), NAMES(f64, 2, 0)}, {NAMES(f64, 1, 1), NAMES(f64, 2, 1)}},
};

/* Computes `rows` = 1 << height rows. */
INLINE void strip(bool wide, int height, const struct small *s, const char *a, const char *b,
                  char *c)
{
    const int64_t bytes = s->n * (wide ? 8 : 4);
    const int64_t widest = (height == 2 ? MOST_OF_FOUR : 8 >> height) * TILE_BYTES;
    int64_t j = 0;
    for (; j + widest <= bytes; j += widest)
        most[wide][height](s, a, b + j, c + j, 0);
    for (; j < bytes; j += 2 * TILE_BYTES) {
        const int64_t left = bytes - j, last = left % TILE_BYTES;
        const int vectors = left > TILE_BYTES;
        const bool part = left < 2 * TILE_BYTES && last > 0;
        blocks[wide][part][vectors][height](s, a, b + j, c + j, last);
    }
}

INLINE void columns(bool wide, const struct small *s, const char *a, const char *b, char *c)
{
    int64_t i = 0;
    for (; i + 4 <= s->m; i += 4)
        strip(wide, 2, s, a + i * s->a_row, b, c + i * s->c_row);
    if (i + 2 <= s->m) {
        strip(wide, 1, s, a + i * s->a_row, b, c + i * s->c_row);
        i += 2;
    }
    if (i < s->m)
        strip(wide, 0, s, a + i * s->a_row, b, c + i * s->c_row);
}

/* A batch of products of few columns, one sum at a time: vectors would be mostly empty. */
#define FEW(T, columns)                                                                            \
    static void few_##T##_##columns(const struct small *s, const char *a, const char *b, char *c,  \
                                    const int64_t *step, int64_t count)                            \
    {                                                                                              \
        for (; count > 0; count--, c += step[0], a += step[1], b += step[2])                       \
            for (int64_t i = 0; i < s->m; i++) {                                                   \
                const char *x = a + i * s->a_row, *y = b;                                          \
                T sum[columns] = {0}, *to = (T *)(void *)(c + i * s->c_row);                       \
                for (int64_t l = 0; l < s->k; l++, x += s->a_k, y += s->b_k)                       \
                    KERN_UNROLL for (int j = 0; j < columns; j++) sum[j] +=                        \
                        *(const T *)(const void *)x * ((const T *)(const void *)y)[j];             \
                KERN_UNROLL for (int j = 0; j < columns; j++) to[j] = sum[j];                      \
            }                                                                                      \
    }
#define COLUMNS(T, wide)                                                                           \
    FEW(T, 1)                                                                                      \
    FEW(T, 2)                                                                                      \
    FEW(T, 3)                                                                                      \
    FEW(T, 4)                                                                                      \
    static void columns_##T(const struct small *s, const char *a, const char *b, char *c,          \
                            const int64_t *step, int64_t count)                                    \
    {                                                                                              \
        static product_fn *const few[] = {few_##T##_1, few_##T##_2, few_##T##_3, few_##T##_4};     \
        if (s->n <= 4 && s->n * (int64_t)sizeof(T) < TILE_BYTES) {                                 \
            few[s->n - 1](s, a, b, c, step, count);                                                \
            return;                                                                                \
        }                                                                                          \
        for (; count > 0; count--, c += step[0], a += step[1], b += step[2])                       \
            columns(wide, s, a, b, c);                                                             \
    }
typedef float f32 __attribute__((may_alias));
typedef double f64 __attribute__((may_alias));
COLUMNS(f32, false)
COLUMNS(f64, true)

/* ---- vectors of terms ---- */

/* The sum of the lanes of a cache line: the halves are added until one lane is left. */
INLINE float add_floats(const floats x[PARTS])
{
#if defined __AVX512F__
    return _mm512_reduce_add_ps((__m512)x[0]);
#elif defined __AVX2__
    const __m256 eight = (__m256)plus(false, x[0], x[1]);
    const __m128 v = _mm256_castps256_ps128(eight) + _mm256_extractf128_ps(eight, 1);
    return (v[0] + v[2]) + (v[1] + v[3]);
#else
    const floats v = (floats)plus(false, plus(false, x[0], x[2 % PARTS]),
                                  plus(false, x[1 % PARTS], x[3 % PARTS]));
    return (v[0] + v[2]) + (v[1] + v[3]);
#endif
}

INLINE double add_doubles(const floats x[PARTS])
{
#if defined __AVX512F__
    return _mm512_reduce_add_pd((__m512d)x[0]);
#elif defined __AVX2__
    const __m256d four = (__m256d)plus(true, x[0], x[1]);
    const __m128d v = _mm256_castpd256_pd128(four) + _mm256_extractf128_pd(four, 1);
    return v[0] + v[1];
#else
    const doubles v =
        (doubles)plus(true, plus(true, x[0], x[2 % PARTS]), plus(true, x[1 % PARTS], x[3 % PARTS]));
    return v[0] + v[1];
#endif
}

/* The dot products of `rows` rows of a with one column of b. */
INLINE void dot(bool wide, int rows, const struct small *s, const char *a, const char *b, char *c)
{
    const int64_t bytes = s->k * (wide ? 8 : 4);
    floats sum[ROWS][PARTS];
    int64_t l = 0;
    KERN_UNROLL for (int r = 0; r < rows; r++) KERN_UNROLL for (int p = 0; p < PARTS; p++)
        sum[r][p] = (floats){0};
    for (; l + LINE <= bytes; l += LINE)
        KERN_UNROLL for (int p = 0; p < PARTS; p++)
        {
            const floats y = load(b + l + p * TILE_BYTES);
            KERN_UNROLL for (int r = 0; r < rows; r++) sum[r][p] =
                add_product(wide, sum[r][p], load(a + r * s->a_row + l + p * TILE_BYTES), y);
        }
    KERN_UNROLL for (int p = 0; p < PARTS; p++)
    {
        const int64_t at = l + p * TILE_BYTES, left = bytes - at;
        const int64_t there = left > TILE_BYTES ? TILE_BYTES : left > 0 ? left : 0;
        const floats y = load_part(b + at, there);
        KERN_UNROLL for (int r = 0; r < rows; r++) sum[r][p] =
            add_product(wide, sum[r][p], load_part(a + r * s->a_row + at, there), y);
    }
    KERN_UNROLL for (int r = 0; r < rows; r++)
    {
        if (wide)
            *(double *)(void *)(c + r * s->c_row) = add_doubles(sum[r]);
        else
            *(float *)(void *)(c + r * s->c_row) = add_floats(sum[r]);
    }
}

#define DOTS(T, wide)                                                                              \
    static void dots_##T(const struct small *s, const char *a, const char *b, char *c,             \
                         const int64_t *step, int64_t count)                                       \
    {                                                                                              \
        for (; count > 0; count--, c += step[0], a += step[1], b += step[2]) {                     \
            int64_t i = 0;                                                                         \
            for (; i + ROWS <= s->m; i += ROWS)                                                    \
                for (int64_t j = 0; j < s->n; j++)                                                 \
                    dot(wide, ROWS, s, a + i * s->a_row, b + j * s->b_n,                           \
                        c + i * s->c_row + j * s->c_n);                                            \
            for (; i < s->m; i++)                                                                  \
                for (int64_t j = 0; j < s->n; j++)                                                 \
                    dot(wide, 1, s, a + i * s->a_row, b + j * s->b_n,                              \
                        c + i * s->c_row + j * s->c_n);                                            \
        }                                                                                          \
    }
DOTS(f32, false)
DOTS(f64, true)

const struct product_lanes TILE_OWN(product_lanes) = {{columns_f32, columns_f64},
                                                      {dots_f32, dots_f64}};
