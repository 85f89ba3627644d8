/*
 * elementwise_vector.c: vectorized elementwise operations on f32 and narrower floats, for fast
 * runs.
 *
 * These are the functions that libm computes one number at a time: elementwise_vector.def lists
 * them. Types narrower than f32 are computed in f32. spec: the heading is beside each formula.
 */
#include "kern/tile.h"
#include "kern/vector.h"
#include "kern/vector_single.h"

#define UNARY(id, spelling, formula) TILE_UNARY(F32_##id, float, float, (float)(formula))
#define BINARY(id, spelling, formula) TILE_BINARY(F32_##id, float, float, (float)(formula))

enum { CHUNK = 256 };

/* Whether all angles are in the range of vector_circle; infinities and NaNs are not. */
static bool all_near(const float *x, int64_t n)
{
    int far = 0;
    for (int64_t i = 0; i < n; i++)
        far |= !(fabsf(x[i]) <= VECTOR_CIRCLE_LIMIT);
    return !far;
}

/* The code path of an element depends on that element alone, not on its neighbours. `kept` is
 * needed since `out` may be `a`. */
#define CIRCLE(id, spelling, formula, by_libm)                                                     \
    static void F32_##id(void *result, const void *const *args, int64_t n)                         \
    {                                                                                              \
        float *out = result, kept[CHUNK];                                                          \
        const float *a = args[0];                                                                  \
        for (int64_t at = 0; at < n; at += CHUNK) {                                                \
            const int64_t some = n - at < CHUNK ? n - at : CHUNK;                                  \
            const bool near = all_near(a + at, some);                                              \
            if (!near)                                                                             \
                memcpy(kept, a + at, (size_t)some * sizeof *kept);                                 \
            TILE_LOOP                                                                              \
            for (int64_t i = at; i < at + some; i++) {                                             \
                const float x = a[i];                                                              \
                out[i] = (float)(formula);                                                         \
            }                                                                                      \
            for (int64_t i = 0; !near && i < some; i++) {                                          \
                const float x = kept[i];                                                           \
                if (!(fabsf(x) <= VECTOR_CIRCLE_LIMIT))                                            \
                    out[at + i] = by_libm;                                                         \
            }                                                                                      \
        }                                                                                          \
    }
/* Likewise, of two operands. */
#define SPLIT(id, spelling, near, formula, by_libm)                                                \
    static void F32_##id(void *result, const void *const *args, int64_t n)                         \
    {                                                                                              \
        float *out = result, made[CHUNK];                                                          \
        const float *a = args[0], *b = args[1];                                                    \
        for (int64_t at = 0; at < n; at += CHUNK) {                                                \
            const int64_t some = n - at < CHUNK ? n - at : CHUNK;                                  \
            int far = 0;                                                                           \
            for (int64_t i = 0; i < some; i++) {                                                   \
                const double x = (double)a[at + i], y = (double)b[at + i];                         \
                far |= !(near);                                                                    \
                made[i] = (float)(formula);                                                        \
            }                                                                                      \
            for (int64_t i = 0; far && i < some; i++) {                                            \
                const float x = a[at + i], y = b[at + i];                                          \
                if (!(near))                                                                       \
                    made[i] = by_libm;                                                             \
            }                                                                                      \
            memcpy(out + at, made, (size_t)some * sizeof *out);                                    \
        }                                                                                          \
    }
#include "kern/elementwise_vector.def"

/* ---- the rows of each type ---- */

#define UNARY(id, spelling, formula) {spelling, F32_##id},
#define BINARY UNARY
#define CIRCLE(id, spelling, formula, by_libm) UNARY(id, spelling, )
#define SPLIT(id, spelling, near, formula, by_libm) UNARY(id, spelling, )
static const struct tile_row F32_rows[] = {
#include "kern/elementwise_vector.def"
};

#define BODY "kern/elementwise_vector.inc"
#include "kern/each_narrow.inc"

const struct tile_table tile_vectors[DT_COUNT] = {
#define ROWS(id) [DT_##id] = {id##_rows, COUNT_OF(id##_rows)},
    TILE_NARROW_TYPES(ROWS) ROWS(F32)
#undef ROWS
};

/* ---- random rounding ---- */

/* From here on, every f64 is an integer. */
static const double WHOLE_FROM = 0x1p52;

static inline double whole_of(double size) /* below WHOLE_FROM */
{
    const double nearest = (size + WHOLE_FROM) - WHOLE_FROM;
    return nearest > size ? nearest - 1 : nearest;
}

static inline double round_one(double x, double whole, int away)
{
    const double v = whole + (away ? 1.0 : 0.0);
    return vector_abs(x) < WHOLE_FROM ? vector_with_sign(v, x) : x;
}

void tile_round_randomly(double *x, const void *random, int width, int64_t n)
{
    const double *number = random, words = (double)((uint64_t)1 << (width & 63));
    const uint64_t *word = random;
    for (int64_t i = 0; i < n && width < 64; i++) {
        const double size = vector_abs(x[i]), whole = whole_of(size);
        x[i] = round_one(x[i], whole, number[i] + 1 <= (size - whole) * words);
    }
    for (int64_t i = 0; i < n && width == 64; i++) {
        const double size = vector_abs(x[i]), whole = whole_of(size);
        const double part = size < WHOLE_FROM ? (size - whole) * 0x1p64 : 0;
        x[i] = round_one(x[i], whole, word[i] < (uint64_t)part);
    }
}
