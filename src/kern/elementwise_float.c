/*
 * elementwise_float.c: tile kernels of elementwise operations on floats.
 *
 * The formulas are in elementwise_float.def. f32 and f64 are computed in their own type, narrow
 * types in f32, a small buffer at a time, with each result rounded to the type
 * (grammar/values.md 1.2). spec: the heading is beside each formula.
 */
#include "kern/tile.h"

#include <math.h>

/* The types that compute in their own type. */
#define SELF F32
#define T float
#define WORD int32_t
#define PAIR_T struct c64
#define F(name) name##f
#include "kern/elementwise_float.inc"
#define SELF F64
#define T double
#define WORD int64_t
#define PAIR_T struct c128
#define F(name) name
#include "kern/elementwise_float.inc"

enum { CHUNK = 512 }; /* floats in a buffer: three of them stay in the first-level cache */

void tile_through_f32(enum dtype t, kern_tile_fn *fn, int count, void *out, const void *const *args,
                      int64_t n)
{
    float x[3][CHUNK];
    const void *const wide[] = {x[0], x[1], x[2]};
    const size_t size = dtype_bytes(t);
    for (int64_t at = 0; at < n; at += CHUNK) {
        const int64_t some = n - at < CHUNK ? n - at : CHUNK;
        for (int k = 0; k < count; k++)
            tile_widen(t, x[k], (const char *)args[k] + (size_t)at * size, some);
        fn(x[0], wide, some);
        tile_narrow(t, (char *)out + (size_t)at * size, x[0], some);
    }
}

static void test_in_f32(enum dtype t, kern_tile_fn *fn, uint8_t *out, const void *const *args,
                        int64_t n)
{
    float x[CHUNK];
    const void *const wide[] = {x};
    for (int64_t at = 0; at < n; at += CHUNK) {
        const int64_t some = n - at < CHUNK ? n - at : CHUNK;
        tile_widen(t, x, (const char *)args[0] + (size_t)at * dtype_bytes(t), some);
        fn(out + at, wide, some);
    }
}

/* The codes of narrow types in memory, and the number of their sign bit. */
#define FLOAT_FORMAT(id, exponent, mantissa, bias, specials, digits)                               \
    enum { id##_SIGN = exponent + mantissa, id##_SPECIALS = FS_##specials };                       \
    typedef __typeof__(__builtin_choose_expr(exponent + mantissa == 15, (uint16_t)0,               \
                                             (uint8_t)0)) id##_code;
#include "type/float.def"

/* FNUZ: there is no -0, its code is the NaN. FNU: no negative numbers; they become NaN. */
static inline unsigned code_abs(unsigned x, int sign, int specials)
{
    const unsigned magnitude = x & ((1u << sign) - 1);
    return specials == FS_FNUZ && magnitude == 0 ? x : magnitude;
}

static inline unsigned code_negate(unsigned x, int sign, int specials)
{
    const unsigned magnitude = x & ((1u << sign) - 1);
    return specials == FS_FNU ? 0xff : specials == FS_FNUZ && magnitude == 0 ? x : x ^ 1u << sign;
}

#define BODY "kern/elementwise_narrow.inc"
#include "kern/each_narrow.inc"

const struct tile_table tile_floats[DT_COUNT] = {
#define ROWS(id) [DT_##id] = {id##_rows, COUNT_OF(id##_rows)},
    ROWS(F4E2M1FN) ROWS(F6E2M3FN) ROWS(F6E3M2FN) ROWS(F8E3M4) ROWS(F8E4M3) ROWS(F8E4M3B11FNUZ)
        ROWS(F8E4M3FN) ROWS(F8E4M3FNUZ) ROWS(F8E5M2) ROWS(F8E5M2FNUZ) ROWS(F8E8M0FNU) ROWS(F16)
            ROWS(BF16) ROWS(F32) ROWS(F64)
#undef ROWS
};
