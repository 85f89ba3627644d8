/*
 * lanes.h: vectors of f32 or f64, in registers of one type, for files that are compiled for each
 * instruction set. Private to kern: elementwise_sleef.c, matvec_lanes.c,
 * product_lanes.c.
 */
#ifndef HLO_KERN_LANES_H
#define HLO_KERN_LANES_H

#include "kern/tile.h"

#if defined __AVX2__
#include <immintrin.h>
#endif

typedef float floats __attribute__((vector_size(TILE_BYTES), aligned(4), may_alias));
typedef double doubles __attribute__((vector_size(TILE_BYTES), aligned(8), may_alias));

#define INLINE __attribute__((always_inline)) static inline

INLINE floats load(const char *at) { return *(const floats *)(const void *)at; }

/* Vectors of which only the first `there` bytes, a whole number of lanes, are read or written. */
#if defined __AVX512F__
INLINE __mmask16 lanes_there(int64_t there) { return (__mmask16)((1 << there / 4) - 1); }
INLINE floats load_part(const char *at, int64_t there)
{
    return (floats)_mm512_maskz_loadu_epi32(lanes_there(there), at);
}
INLINE void store_part(char *at, floats x, int64_t there)
{
    _mm512_mask_storeu_epi32(at, lanes_there(there), (__m512i)x);
}
#elif defined __AVX2__
INLINE floats load_part(const char *at, int64_t there)
{
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return (floats)_mm256_maskload_epi32(
        (const int *)(const void *)at,
        _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(there / 4)), lanes));
}
/* In pieces, since a store with a mask takes tens of cycles on some processors. */
INLINE void store_part(char *at, floats x, int64_t there)
{
    __m128i left = _mm256_castsi256_si128((__m256i)x);
    if (there & 16) {
        _mm_storeu_si128((void *)at, left);
        left = _mm256_extracti128_si256((__m256i)x, 1);
    }
    if (there & 8) {
        _mm_storel_epi64((void *)(at + (there & 16)), left);
        left = _mm_unpackhi_epi64(left, left);
    }
    if (there & 4)
        _mm_storeu_si32(at + (there & 24), left);
}
#else
INLINE floats load_part(const char *at, int64_t there)
{
    floats x = {0};
    memcpy(&x, at, (size_t)there);
    return x;
}
INLINE void store_part(char *at, floats x, int64_t there) { memcpy(at, &x, (size_t)there); }
#endif

INLINE floats spread(bool wide, const char *at)
{
    float narrow;
    double two;
    if (wide) {
        memcpy(&two, at, sizeof two);
        return (floats)(two - (doubles){0});
    }
    memcpy(&narrow, at, sizeof narrow);
    return narrow - (floats){0};
}

INLINE floats plus(bool wide, floats x, floats y)
{
    return wide ? (floats)((doubles)x + (doubles)y) : (floats)(x + y);
}

INLINE floats times(bool wide, floats x, floats y)
{
    return wide ? (floats)((doubles)x * (doubles)y) : (floats)(x * y);
}

#endif
