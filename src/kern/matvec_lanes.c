/*
 * matvec_lanes.c: the inner loops of products of a matrix with few vectors (spec: DotGeneral),
 * compiled for each instruction set. The matrix is widened when it is loaded into registers.
 */
#include "kern/lanes.h"
#include "kern/matvec.h"

#if !defined __AVX2__
typedef uint16_t halves __attribute__((vector_size(TILE_BYTES / 2), aligned(2), may_alias));
typedef uint32_t ints __attribute__((vector_size(TILE_BYTES)));
#endif

INLINE bool is_wide(enum matvec_source s) { return s == MATVEC_F64; }

INLINE int64_t lanes_of(enum matvec_source s)
{
    return s == MATVEC_F64 ? TILE_BYTES / 8 : TILE_BYTES / 4;
}

INLINE int64_t width_of(enum matvec_source s)
{
    return s == MATVEC_F64 ? 8 : s == MATVEC_F32 ? 4 : 2;
}

INLINE floats widen(enum matvec_source s, const char *at)
{
#if defined __AVX512F__
    if (s == MATVEC_BF16)
        return (floats)_mm512_slli_epi32(
            _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)at)), 16);
    if (s == MATVEC_F16)
        return (floats)_mm512_cvtph_ps(_mm256_loadu_si256((const void *)at));
#elif defined __AVX2__
    if (s == MATVEC_BF16)
        return (floats)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)at)),
                                         16);
    if (s == MATVEC_F16)
        return (floats)_mm256_cvtph_ps(_mm_loadu_si128((const void *)at));
#else
    if (s == MATVEC_BF16)
        return (floats)(__builtin_convertvector(*(const halves *)(const void *)at, ints) << 16);
#endif
    return load(at);
}

/* Loads and widens `count` elements of the matrix, followed by zeros. */
INLINE floats widen_some(enum matvec_source s, const char *at, int64_t count)
{
    if (s == MATVEC_F32 || s == MATVEC_F64)
        return load_part(at, count * width_of(s));
    char some[TILE_BYTES] = {0};
    memcpy(some, at, (size_t)(count * width_of(s)));
    return widen(s, some);
}

/* Adds `rows` rows times the vectors to sum[row][r]. */
INLINE void add_rows(enum matvec_source s, int rows, int vectors, const char *row, int64_t row_step,
                     const char *x, int64_t x_step, int64_t n, floats (*sum)[MATVEC_MAX])
{
    const int64_t lanes = lanes_of(s), width = width_of(s);
    floats other[MATVEC_ROWS];
    int64_t i = 0;
    KERN_UNROLL for (int k = 0; k < rows; k++) other[k] = (floats){0};
    if (vectors == 1) /* two sums, since consecutive additions to one sum depend on each other */
        for (; i + 2 * lanes <= n; i += 2 * lanes, x += 2 * TILE_BYTES) {
            const floats a = load(x), b = load(x + TILE_BYTES);
            KERN_UNROLL for (int k = 0; k < rows; k++)
            {
                const char *at = row + k * row_step + i * width;
                sum[k][0] = plus(is_wide(s), sum[k][0], times(is_wide(s), widen(s, at), a));
                other[k] =
                    plus(is_wide(s), other[k], times(is_wide(s), widen(s, at + lanes * width), b));
            }
        }
    for (; i + lanes <= n; i += lanes, x += TILE_BYTES)
        KERN_UNROLL for (int k = 0; k < rows; k++)
        {
            const floats w = widen(s, row + k * row_step + i * width);
            KERN_UNROLL for (int r = 0; r < vectors; r++) sum[k][r] =
                plus(is_wide(s), sum[k][r], times(is_wide(s), w, load(x + r * x_step)));
        }
    if (i < n) {
        floats y[MATVEC_MAX];
        KERN_UNROLL for (int r = 0; r < vectors; r++) y[r] =
            widen_some(s == MATVEC_F64 ? MATVEC_F64 : MATVEC_F32, x + r * x_step, n - i);
        KERN_UNROLL for (int k = 0; k < rows; k++)
        {
            const floats w = widen_some(s, row + k * row_step + i * width, n - i);
            KERN_UNROLL for (int r = 0; r < vectors; r++) sum[k][r] =
                plus(is_wide(s), sum[k][r], times(is_wide(s), w, y[r]));
        }
    }
    if (vectors == 1)
        KERN_UNROLL for (int k = 0; k < rows; k++) sum[k][0] =
            plus(is_wide(s), sum[k][0], other[k]);
}

typedef float quad __attribute__((vector_size(16)));
typedef double pair __attribute__((vector_size(16)));

/* Adds the second half of the lanes to the first one, until 16 bytes are left. */
#define HALVES_OF(V)                                                                               \
    INLINE V halves_##V(floats sum)                                                                \
    {                                                                                              \
        V lanes[sizeof sum / sizeof(V)];                                                           \
        memcpy(lanes, &sum, sizeof sum);                                                           \
        KERN_UNROLL for (int step = COUNT_OF(lanes) / 2; step > 0; step /= 2)                      \
            KERN_UNROLL for (int j = 0; j < step; j++) lanes[j] += lanes[j + step];                \
        return lanes[0];                                                                           \
    }
HALVES_OF(quad)
HALVES_OF(pair)

/* The sums of the lanes of four vectors, in the same order: halves are added to halves. */
INLINE void add_lanes(enum matvec_source s, floats sum[MATVEC_ROWS][MATVEC_MAX], char *to)
{
    if (s == MATVEC_F64) {
        KERN_UNROLL for (int k = 0; k < MATVEC_ROWS; k += 2)
        {
            const pair a = halves_pair(sum[k][0]), b = halves_pair(sum[k + 1][0]);
            const pair sums =
                __builtin_shufflevector(a, b, 0, 2) + __builtin_shufflevector(a, b, 1, 3);
            memcpy(to + k * 8, &sums, sizeof sums);
        }
        return;
    }
    const quad a = halves_quad(sum[0][0]), b = halves_quad(sum[1][0]), c = halves_quad(sum[2][0]),
               d = halves_quad(sum[3][0]);
    const quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5) +
                    __builtin_shufflevector(a, b, 2, 6, 3, 7), /* a0 + a2, b0 + b2, a1 + a3, ... */
        cd = __builtin_shufflevector(c, d, 0, 4, 1, 5) + __builtin_shufflevector(c, d, 2, 6, 3, 7);
    const quad sums =
        __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    memcpy(to, &sums, sizeof sums);
}

INLINE void add_lanes_of(enum matvec_source s, floats sum, char *to)
{
    if (s == MATVEC_F64) {
        const pair a = halves_pair(sum);
        memcpy(to, (const double[]){a[0] + a[1]}, sizeof(double));
    } else {
        const quad a = halves_quad(sum);
        memcpy(to, (const float[]){(a[0] + a[2]) + (a[1] + a[3])}, sizeof(float));
    }
}

INLINE void some_rows(enum matvec_source s, int rows, int vectors, const char *row,
                      int64_t row_step, const char *x, int64_t x_step, int64_t n, char *sums,
                      int64_t sums_step)
{
    floats sum[MATVEC_ROWS][MATVEC_MAX];
    KERN_UNROLL for (int k = 0; k < rows; k++) KERN_UNROLL for (int r = 0; r < vectors; r++)
        sum[k][r] = (floats){0};
    add_rows(s, rows, vectors, row, row_step, x, x_step, n, sum);
    if (rows == MATVEC_ROWS) /* of one vector */
        add_lanes(s, sum, sums);
    else
        KERN_UNROLL for (int r = 0; r < vectors; r++)
            add_lanes_of(s, sum[0][r], sums + r * sums_step);
}

INLINE void rows(enum matvec_source s, int vectors, const char *matrix, int64_t row_step,
                 int64_t count, const char *x, int64_t x_step, int64_t n, char *sums,
                 int64_t sums_step)
{
    const int64_t width = s == MATVEC_F64 ? 8 : 4;
    int64_t i = 0;
    for (; vectors == 1 && i + MATVEC_ROWS <= count; i += MATVEC_ROWS)
        some_rows(s, MATVEC_ROWS, vectors, matrix + i * row_step, row_step, x, x_step, n,
                  sums + i * width, sums_step);
    for (; i < count; i++)
        some_rows(s, 1, vectors, matrix + i * row_step, row_step, x, x_step, n, sums + i * width,
                  sums_step);
}

INLINE void down_lanes(enum matvec_source s, int vectors, const floats w[MATVEC_ROWS],
                       const char *x, int64_t x_step, char *sums, int64_t sums_step)
{
    const int64_t width = s == MATVEC_F64 ? 8 : 4;
    KERN_UNROLL for (int r = 0; r < vectors; r++)
    {
        const char *a = x + r * x_step;
        floats *sum = (floats *)(void *)(sums + r * sums_step);
        const floats low = plus(is_wide(s), times(is_wide(s), spread(is_wide(s), a), w[0]),
                                times(is_wide(s), spread(is_wide(s), a + width), w[1]));
        const floats high =
            plus(is_wide(s), times(is_wide(s), spread(is_wide(s), a + 2 * width), w[2]),
                 times(is_wide(s), spread(is_wide(s), a + 3 * width), w[3]));
        *sum = plus(is_wide(s), *sum, plus(is_wide(s), low, high));
    }
}

INLINE void down(enum matvec_source s, int vectors, const char *const rows[MATVEC_ROWS],
                 const char *x, int64_t x_step, int64_t n, char *sums, int64_t sums_step)
{
    const int64_t lanes = lanes_of(s), width = width_of(s);
    const char *at[MATVEC_ROWS];
    floats w[MATVEC_ROWS];
    int64_t i = 0;
    KERN_UNROLL for (int k = 0; k < MATVEC_ROWS; k++) at[k] = rows[k];
    for (; i + lanes <= n; i += lanes, sums += TILE_BYTES) {
        KERN_UNROLL for (int k = 0; k < MATVEC_ROWS; k++) w[k] = widen(s, at[k] + i * width);
        down_lanes(s, vectors, w, x, x_step, sums, sums_step);
    }
    if (i < n) {
        KERN_UNROLL for (int k = 0; k < MATVEC_ROWS; k++) w[k] =
            widen_some(s, at[k] + i * width, n - i);
        down_lanes(s, vectors, w, x, x_step, sums, sums_step);
    }
}

#define LOOPS(source, vectors)                                                                     \
    static void rows_##source##_##vectors(const char *matrix, int64_t row_step, int64_t count,     \
                                          const char *x, int64_t x_step, int64_t n, char *sums,    \
                                          int64_t sums_step)                                       \
    {                                                                                              \
        rows(MATVEC_##source, vectors, matrix, row_step, count, x, x_step, n, sums, sums_step);    \
    }                                                                                              \
    static void down_##source##_##vectors(const char *const rows[MATVEC_ROWS], const char *x,      \
                                          int64_t x_step, int64_t n, char *sums,                   \
                                          int64_t sums_step)                                       \
    {                                                                                              \
        down(MATVEC_##source, vectors, rows, x, x_step, n, sums, sums_step);                       \
    }
#define SOURCE(source) LOOPS(source, 1) LOOPS(source, 2) LOOPS(source, 4) LOOPS(source, 8)
#define ROW(name, source)                                                                          \
    [MATVEC_##source] = {name##_##source##_1, name##_##source##_2, name##_##source##_4,            \
                         name##_##source##_8}
SOURCE(F32)
SOURCE(BF16)
SOURCE(F64)
#if defined __AVX2__
SOURCE(F16)
#endif

const struct matvec_set TILE_OWN(matvec_set) = {
    .rows =
        {
            ROW(rows, F32),
            ROW(rows, BF16),
            ROW(rows, F64),
#if defined __AVX2__
            ROW(rows, F16),
#endif
        },
    .down =
        {
            ROW(down, F32),
            ROW(down, BF16),
            ROW(down, F64),
#if defined __AVX2__
            ROW(down, F16),
#endif
        },
};
