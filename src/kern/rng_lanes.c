/*
 * rng_lanes.c: vectorized generators of random bits. Compiled for each instruction set. spec:
 * RngBitGenerator
 */
#include "kern/rng.h"
#include "kern/tile.h"

void tile_threefry_pairs(uint64_t key, uint64_t counter, int64_t n, uint32_t *out)
{
    for (int64_t i = 0; i < n; i++) {
        const struct rng_block b = rng_threefry(key, counter + (uint64_t)i);
        out[2 * i] = b.w[0];
        out[2 * i + 1] = b.w[1];
    }
}

void tile_threefry_rows(uint64_t key, uint64_t counter, int64_t n, uint32_t *restrict first,
                        uint32_t *restrict second)
{
    for (int64_t i = 0; i < n; i++) {
        const struct rng_block b = rng_threefry(key, counter + (uint64_t)i);
        first[i] = b.w[0];
        second[i] = b.w[1];
    }
}

void tile_philox(uint64_t key, uint64_t lo, uint64_t hi, uint64_t from, int64_t n, uint32_t *out)
{
    for (int64_t i = 0; i < n; i++) {
        const struct rng_block b = rng_philox(key, lo, hi, from + (uint64_t)i);
        for (int k = 0; k < 4; k++)
            out[4 * i + k] = b.w[k];
    }
}
