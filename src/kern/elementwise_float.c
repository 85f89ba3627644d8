/*
 * elementwise_float.c: tile kernels of elementwise operations on floats.
 *
 * The formulas are in elementwise_float.def. f32 and f64 are computed in their own type, narrow
 * types in f32, a small buffer at a time, with each result rounded to the type
 * (grammar/values.md 1.2). spec: the heading is beside each formula.
 */
#include "kern/tile.h"

#include <math.h>

#include "kern/each_float.inc"

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

#define SELF F4E2M1FN
#define T uint8_t
#define ABS(x) ((x)&0x7)
#define NEGATE(x) ((x) ^ 0x8)
#include "kern/elementwise_narrow.inc"

#define SELF F6E2M3FN
#define T uint8_t
#define ABS(x) ((x)&0x1f)
#define NEGATE(x) ((x) ^ 0x20)
#include "kern/elementwise_narrow.inc"

#define SELF F6E3M2FN
#define T uint8_t
#define ABS(x) ((x)&0x1f)
#define NEGATE(x) ((x) ^ 0x20)
#include "kern/elementwise_narrow.inc"

#define SELF F8E3M4
#define T uint8_t
#define ABS(x) ((x)&0x7f)
#define NEGATE(x) ((x) ^ 0x80)
#include "kern/elementwise_narrow.inc"

#define SELF F8E4M3
#define T uint8_t
#define ABS(x) ((x)&0x7f)
#define NEGATE(x) ((x) ^ 0x80)
#include "kern/elementwise_narrow.inc"

/* FNUZ: 0x80 is the NaN, and there is no -0. */
#define SELF F8E4M3B11FNUZ
#define T uint8_t
#define ABS(x) ((x) == 0x80 ? 0x80 : (x)&0x7f)
#define NEGATE(x) ((x)&0x7f ? (x) ^ 0x80 : (x))
#include "kern/elementwise_narrow.inc"

#define SELF F8E4M3FN
#define T uint8_t
#define ABS(x) ((x)&0x7f)
#define NEGATE(x) ((x) ^ 0x80)
#include "kern/elementwise_narrow.inc"

#define SELF F8E4M3FNUZ
#define T uint8_t
#define ABS(x) ((x) == 0x80 ? 0x80 : (x)&0x7f)
#define NEGATE(x) ((x)&0x7f ? (x) ^ 0x80 : (x))
#include "kern/elementwise_narrow.inc"

#define SELF F8E5M2
#define T uint8_t
#define ABS(x) ((x)&0x7f)
#define NEGATE(x) ((x) ^ 0x80)
#include "kern/elementwise_narrow.inc"

#define SELF F8E5M2FNUZ
#define T uint8_t
#define ABS(x) ((x) == 0x80 ? 0x80 : (x)&0x7f)
#define NEGATE(x) ((x)&0x7f ? (x) ^ 0x80 : (x))
#include "kern/elementwise_narrow.inc"

/* No negative numbers: they become NaN. */
#define SELF F8E8M0FNU
#define T uint8_t
#define ABS(x) (x)
#define NEGATE(x) ((void)(x), 0xff)
#include "kern/elementwise_narrow.inc"

#define SELF F16
#define T uint16_t
#define ABS(x) ((x)&0x7fff)
#define NEGATE(x) ((x) ^ 0x8000)
#include "kern/elementwise_narrow.inc"

#define SELF BF16
#define T uint16_t
#define ABS(x) ((x)&0x7fff)
#define NEGATE(x) ((x) ^ 0x8000)
#include "kern/elementwise_narrow.inc"

const struct tile_table tile_floats[DT_COUNT] = {
#define ROWS(id) [DT_##id] = {id##_rows, COUNT_OF(id##_rows)},
    ROWS(F4E2M1FN) ROWS(F6E2M3FN) ROWS(F6E3M2FN) ROWS(F8E3M4) ROWS(F8E4M3) ROWS(F8E4M3B11FNUZ)
        ROWS(F8E4M3FN) ROWS(F8E4M3FNUZ) ROWS(F8E5M2) ROWS(F8E5M2FNUZ) ROWS(F8E8M0FNU) ROWS(F16)
            ROWS(BF16) ROWS(F32) ROWS(F64)
#undef ROWS
};
