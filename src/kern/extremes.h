/*
 * extremes: maximum and minimum of two floats (spec: Max, Min). NaN is propagated; +0 is greater
 * than -0, which is implemented by and'ing or or'ing the bits of equal numbers. Private to kern.
 */
#ifndef HLO_KERN_EXTREMES_H
#define HLO_KERN_EXTREMES_H

/* Defines both for the type T, of which WORD is the signed integer of its width. */
#define EXTREMES(T, WORD, GREATER, LESSER)                                                         \
    static inline T GREATER(T x, T y)                                                              \
    {                                                                                              \
        const union {                                                                              \
            T f;                                                                                   \
            WORD i;                                                                                \
        } a = {x}, b = {y}, both = {.i = a.i & b.i};                                               \
        T r = x > y ? x : y;                                                                       \
        r = x == y ? both.f : r;                                                                   \
        return x != x ? x : r;                                                                     \
    }                                                                                              \
    static inline T LESSER(T x, T y)                                                               \
    {                                                                                              \
        const union {                                                                              \
            T f;                                                                                   \
            WORD i;                                                                                \
        } a = {x}, b = {y}, both = {.i = a.i | b.i};                                               \
        T r = x < y ? x : y;                                                                       \
        r = x == y ? both.f : r;                                                                   \
        return x != x ? x : r;                                                                     \
    }

#endif
