/*
 * bf16.c: sums of bf16 without conversion to arrays of f32 (spec: Reduce).
 */
#include "kern/reducer.h"
#include "kern/tile.h"

static inline double double_of(uint16_t code) { return (double)bf16_to_f32(code); }

/* Adds the remaining n elements to their lanes, then all lanes pairwise. Lane 4 * k + j is
 * lanes[j][k]. */
enum { FOURS = REDUCER_LANES / 4 };
static inline double sum_lanes(double lanes[4][FOURS], const uint16_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        lanes[i % 4][i / 4] += double_of(x[i]);
    KERN_UNROLL
    for (int step = FOURS / 2; step > 0; step /= 2)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < step; k++)
                lanes[j][k] += lanes[j][k + step];
    return (lanes[0][0] + lanes[2][0]) + (lanes[1][0] + lanes[3][0]);
}

static double sum_any(const uint16_t *x, int64_t n)
{
    double lanes[4][FOURS];
    int64_t i = 0;
    for (int j = 0; j < REDUCER_LANES; j++)
        lanes[j % 4][j / 4] = -0.0; /* -0 + x is x, for -0 as well */
    for (; i + REDUCER_LANES <= n; i += REDUCER_LANES)
        for (int j = 0; j < REDUCER_LANES; j++)
            lanes[j % 4][j / 4] += double_of(x[i + j]);
    return sum_lanes(lanes, x + i, n - i);
}

typedef uint64_t words __attribute__((vector_size(TILE_BYTES)));
typedef uint32_t halves __attribute__((vector_size(TILE_BYTES)));
typedef int32_t signed_halves __attribute__((vector_size(TILE_BYTES)));
typedef uint16_t codes __attribute__((vector_size(TILE_BYTES)));
typedef double doubles __attribute__((vector_size(TILE_BYTES)));

/*
 * A sum without conversions, which cost more than the additions: the bits of a bf16, placed at the
 * exponent and the first mantissa bits of an f64, are the number times 2^-896. Sums are scaled
 * likewise: every bf16 is a multiple of 2^-133, so no bit is lost to the subnormals of f64.
 * Infinities and NaN are detected and left to sum_any.
 *
 * Shifted right by 3 as signed numbers, the bf16 in the upper halves of 32 bits have the right bits
 * except for three copies of the sign, and in the upper half of 64 bits they are in the right
 * position.
 */
double tile_sum_bf16(const uint16_t *x, int64_t n)
{
    enum { PARTS = 2 * REDUCER_LANES / TILE_BYTES, WORDS = TILE_BYTES / 8 };
    const words number = (words){0} + 0x8fffe00000000000;
    doubles a[PARTS], b[PARTS], c[PARTS], d[PARTS]; /* the first of each word's four numbers, ... */
    double lanes[4][FOURS];
    codes specials = {0};
    int64_t i = 0;
    for (int p = 0; p < PARTS; p++)
        a[p] = b[p] = c[p] = d[p] = -(doubles){0};
    for (; i + REDUCER_LANES <= n; i += REDUCER_LANES) {
        KERN_UNROLL
        for (int p = 0; p < PARTS; p++) {
            words w;
            memcpy(&w, x + i + p * TILE_BYTES / 2, sizeof w);
            specials |= ((codes)w & 0x7f80) + 0x80;
            const words upper = (words)((signed_halves)w >> 3),
                        lower = (words)((signed_halves)((halves)w << 16) >> 3);
            a[p] += (doubles)(lower << 32 & number);
            b[p] += (doubles)(upper << 32 & number);
            c[p] += (doubles)(lower & number);
            d[p] += (doubles)(upper & number);
        }
    }
    unsigned special = 0;
    for (int k = 0; k < TILE_BYTES / 2; k++)
        special |= specials[k];
    if (special & 0x8000)
        return sum_any(x, n);
    for (int p = 0; p < PARTS; p++) {
        const doubles made[] = {a[p], b[p], c[p], d[p]};
        for (int j = 0; j < 4; j++) {
            const doubles whole = made[j] * 0x1p896;
            memcpy(lanes[j] + p * WORDS, &whole, sizeof whole);
        }
    }
    return sum_lanes(lanes, x + i, n - i);
}
