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
#include "kern/elementwise_vector.def"
#undef UNARY
#undef BINARY
#undef CIRCLE

/* ---- the rows of each type ---- */

#define UNARY(id, spelling, formula) {spelling, F32_##id},
#define BINARY UNARY
#define CIRCLE(id, spelling, formula, by_libm) UNARY(id, spelling, )
static const struct tile_row F32_rows[] = {
#include "kern/elementwise_vector.def"
};
#undef UNARY
#undef BINARY
#undef CIRCLE

#define BODY "kern/elementwise_vector.inc"
#include "kern/each_narrow.inc"

const struct tile_table tile_vectors[DT_COUNT] = {
#define ROWS(id) [DT_##id] = {id##_rows, COUNT_OF(id##_rows)},
    TILE_NARROW_TYPES(ROWS) ROWS(F32)
#undef ROWS
};
