/*
 * rng.h: the blocks of the two generators of random bits (grammar/values.md 14.1), one at a time.
 * rng_lanes.c has the same formulas vectorized.
 */
#ifndef HLO_KERN_RNG_H
#define HLO_KERN_RNG_H

#include "kern/nest.h"
#include "kern/plain/function.h"

#include <math.h>

struct rng_block {
    uint32_t w[4];
};

static inline uint32_t rng_rotate(uint32_t v, int by) { return v << by | v >> (32 - by); }

static inline struct rng_block rng_threefry(uint64_t key, uint64_t counter)
{
    static const uint8_t turns[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    uint32_t ks[3] = {(uint32_t)key, (uint32_t)(key >> 32), 0};
    ks[2] = 0x1BD11BDA ^ ks[0] ^ ks[1];
    uint32_t x0 = (uint32_t)counter + ks[0], x1 = (uint32_t)(counter >> 32) + ks[1];
    for (uint32_t g = 0; g < 5; g++) {
        for (int r = 0; r < 4; r++) {
            x0 += x1;
            x1 = rng_rotate(x1, turns[g % 2][r]) ^ x0;
        }
        x0 += ks[(g + 1) % 3];
        x1 += ks[(g + 2) % 3] + g + 1;
    }
    return (struct rng_block){{x0, x1, 0, 0}};
}

static inline struct rng_block rng_philox(uint64_t key, uint64_t lo, uint64_t hi, uint64_t i)
{
    uint64_t l = lo + i, h = hi + (l < lo ? 1 : 0);
    uint32_t c0 = (uint32_t)l, c1 = (uint32_t)(l >> 32), c2 = (uint32_t)h, c3 = (uint32_t)(h >> 32);
    uint32_t a = (uint32_t)key, b = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = (uint64_t)c0 * 0xD2511F53, p1 = (uint64_t)c2 * 0xCD9E8D57;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ a;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ b;
        c3 = (uint32_t)p0;
        a += 0x9E3779B9;
        b += 0xBB67AE85;
    }
    return (struct rng_block){{c0, c1, c2, c3}};
}

/* `plain`: with the functions of --plain, otherwise with those of libm, which are faster. */
static inline double rng_normal(struct rng_block block, bool plain)
{
    const double u = block.w[0] * 0x1p-32, angle = 2 * M_PI * (block.w[1] * 0x1p-32),
                 x = u < 1e-7 ? 1e-7 : u;
    return plain ? sqrt(-2 * real_log(x)) * real_sin(angle) : sqrt(-2 * log(x)) * sin(angle);
}

/* A uniform number of [a, b), or a normal one of mean a and deviation b. spec: RngUniform,
 * RngNormal (grammar/values.md 14.3) */
static inline void rng_float(enum dtype t, void *at, const void *a, const void *b, bool is_normal,
                             bool plain, struct rng_block block)
{
    const double lo = float_load(t, a), hi = float_load(t, b);
    const uint64_t bits = block.w[0] | (uint64_t)block.w[1] << 32;
    const double r = is_normal ? lo + hi * rng_normal(block, plain)
                               : (double)(bits >> 12) * 0x1p-52 * (hi - lo) + lo;
    float_store(t, at, plain ? real_settled(r, lo, hi) : r);
    /* rounding has reached the end of the range, which is excluded */
    if (!is_normal && lo < hi && float_load(t, at) >= hi)
        memcpy(at, a, dtype_bytes(t));
}

/* One number of any type, made from a block. */
static inline void rng_number(enum dtype t, void *at, const void *a, const void *b, bool is_normal,
                              bool plain, struct rng_block block)
{
    if (dtype_is_float(t)) {
        rng_float(t, at, a, b, is_normal, plain, block);
        return;
    }
    const uint64_t bits = block.w[0] | (uint64_t)block.w[1] << 32,
                   lo = (uint64_t)kern_load_index(t, a),
                   range = (uint64_t)kern_load_index(t, b) - lo;
    bits_store(t, at, t == DT_PRED ? bits & 1 : lo + (range ? bits % range : 0));
}

/* The dimension whose even positions have the first word of a block and the odd ones the second. */
static inline int rng_split_dimension(const struct view *v)
{
    int largest = 0;
    for (int d = 0; d < v->rank; d++) {
        if (v->dims[d] % 2 == 0)
            return d;
        if (v->dims[d] > v->dims[largest])
            largest = d;
    }
    return largest;
}

#endif
