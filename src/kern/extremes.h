/*
 * extremes: maximum and minimum of two floats (spec: Max, Min). NaN is propagated; +0 is greater
 * than -0, which is implemented by and'ing or or'ing the bits of equal numbers. Private to kern.
 */
#ifndef HLO_KERN_EXTREMES_H
#define HLO_KERN_EXTREMES_H

#include <stdint.h>

/* Defines both for the type T, of which WORD is the signed integer of its width. A comparison that
 * selects one of its operands is a single instruction. Without NaN, those in both orders differ
 * only for zeros. */
#define EXTREMES(T, WORD, GREATER, LESSER)                                                         \
    static inline T GREATER(T x, T y)                                                              \
    {                                                                                              \
        const union {                                                                              \
            T f;                                                                                   \
            WORD i;                                                                                \
        } up = {x > y ? x : y}, other = {y > x ? y : x}, both = {.i = up.i & other.i};             \
        const T r = y == y ? both.f : y;                                                           \
        return x == x ? r : x;                                                                     \
    }                                                                                              \
    static inline T LESSER(T x, T y)                                                               \
    {                                                                                              \
        const union {                                                                              \
            T f;                                                                                   \
            WORD i;                                                                                \
        } down = {x < y ? x : y}, other = {y < x ? y : x}, both = {.i = down.i | other.i};         \
        const T r = y == y ? both.f : y;                                                           \
        return x == x ? r : x;                                                                     \
    }
EXTREMES(float, int32_t, greater_f32, lesser_f32)
EXTREMES(double, int64_t, greater_f64, lesser_f64)

#endif
