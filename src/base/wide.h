/*
 * wide.h: full products of two 64-bit integers.
 *
 * HAS_U128 is set if the compiler has 128-bit integers, which many lack on 32-bit targets; without
 * them, portable code computes the same bits.
 */
#ifndef HLO_BASE_WIDE_H
#define HLO_BASE_WIDE_H

#include <stdint.h>

#ifdef __SIZEOF_INT128__
#define HAS_U128 1
__extension__ typedef unsigned __int128 u128;
#else
#define HAS_U128 0
#endif

/* The upper 64 bits of the product, from four products of 32-bit halves. */
static inline uint64_t mul_high_by_halves(uint64_t a, uint64_t b)
{
    const uint64_t low = UINT32_MAX, al = a & low, ah = a >> 32, bl = b & low, bh = b >> 32;
    const uint64_t first = al * bh + (al * bl >> 32),
                   second = ah * bl + (first & low); /* no overflow */
    return ah * bh + (first >> 32) + (second >> 32);
}

static inline uint64_t mul_high(uint64_t a, uint64_t b)
{
#if HAS_U128
    return (uint64_t)((u128)a * b >> 64);
#else
    return mul_high_by_halves(a, b);
#endif
}

/* The xor of both halves of the product: every bit of a and of b affects every bit of the
 * result. */
static inline uint64_t mul_fold(uint64_t a, uint64_t b)
{
#if HAS_U128 /* a single multiplication */
    u128 product = (u128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    return a * b ^ mul_high(a, b);
#endif
}

#endif
