/*
 * spec: RngBitGenerator, RngUniform, RngNormal
 *
 * Random bits from a counter (grammar/values.md 14.1), and numbers made from them (14.3).
 */
#include "kern/plain/plain.h"
#include "kern/rng.h"

#include <math.h>

/* ---- random bits of any type ---- */

static void store_bits(enum dtype t, char *at, uint64_t bits)
{
    unsigned width = dtype_bits(t);
    if (t == DT_PRED)
        bits &= 1;
    else if (width < 8)
        bits &= ((uint64_t)1 << width) - 1;
    if (width < 8 && dtype_is_signed(t) && bits >> (width - 1))
        bits |= ~(uint64_t)0 << width;
    memcpy(at, &bits, dtype_bytes(t)); /* little-endian: the low bytes */
}

static void philox_bits(const struct view *out, const uint64_t *state, int words, uint64_t *next)
{
    uint64_t key = state[0], lo = state[1], hi = words == 3 ? state[2] : state[0];
    int64_t n = view_elements(out), per_block = dtype_bits(out->dtype) > 32 ? 2 : 4;
    size_t width = dtype_bytes(out->dtype);
    for (int64_t first = 0; first < n; first += per_block) {
        struct rng_block b = rng_philox(key, lo, hi, (uint64_t)(first / per_block));
        for (int64_t k = 0; k < per_block && first + k < n; k++) {
            uint64_t bits = per_block == 4 ? b.w[k] : b.w[2 * k] | (uint64_t)b.w[2 * k + 1] << 32;
            store_bits(out->dtype, out->data + (size_t)(first + k) * width, bits);
        }
    }
    uint64_t blocks = (uint64_t)(n / per_block + (n % per_block != 0));
    next[0] = key;
    next[1] = lo + blocks;
    if (words == 3)
        next[2] = hi + (next[1] < lo ? 1 : 0);
}

static uint64_t threefry_words(const struct view *out, uint64_t key, uint64_t counter)
{
    int64_t half[VIEW_MAX_RANK], index[VIEW_MAX_RANK] = {0};
    uint64_t i = 0;
    int split = rng_split_dimension(out);
    if (out->rank == 0) {
        store_bits(out->dtype, out->data, rng_threefry(key, counter).w[0]);
        return 1;
    }
    if (view_elements(out) == 0)
        return 0;
    for (int d = 0; d < out->rank; d++)
        half[d] = d == split ? (out->dims[d] + 1) / 2 : out->dims[d];
    do {
        struct rng_block b = rng_threefry(key, counter + i++);
        char *at = view_at(out, index) + index[split] * out->strides[split];
        store_bits(out->dtype, at, b.w[0]);
        if (2 * index[split] + 1 < out->dims[split])
            store_bits(out->dtype, at + out->strides[split], b.w[1]);
    } while (index_next(out->rank, half, index));
    return i;
}

static void threefry_bits(const struct view *out, const uint64_t *state, uint64_t *next)
{
    uint64_t used = (uint64_t)view_elements(out);
    next[0] = state[0];
    if (dtype_bits(out->dtype) <= 32) {
        used = threefry_words(out, state[0], state[1]);
    } else {
        for (uint64_t i = 0; i < used; i++) {
            struct rng_block b = rng_threefry(state[0], state[1] + i);
            store_bits(out->dtype, out->data + i * dtype_bytes(out->dtype),
                       b.w[0] | (uint64_t)b.w[1] << 32);
        }
    }
    next[1] = state[1] + used;
}

void plain_rng_bits(struct thread_pool *workers, const struct view *out, enum kern_rng algorithm,
                    const uint64_t *state, int words, uint64_t *next)
{
    if (algorithm == KERN_PHILOX)
        philox_bits(out, state, words, next);
    else
        threefry_bits(out, state, next);
}

/* ---- uniform and normal numbers ---- */

/* state[0]: numbers drawn so far; state[1]: the key */
static struct rng_block next_block(uint64_t *state)
{
    return rng_philox(state[1], state[0]++, 0, 0);
}

static double unit(uint64_t *state)
{
    struct rng_block b = next_block(state);
    return (double)((b.w[0] | (uint64_t)b.w[1] << 32) >> 12) * 0x1p-52;
}

static double normal(uint64_t *state)
{
    struct rng_block b = next_block(state);
    double u = b.w[0] * 0x1p-32, v = b.w[1] * 0x1p-32;
    return sqrt(-2 * log(u < 1e-7 ? 1e-7 : u)) * sin(2 * M_PI * v);
}

static void random_float(enum dtype t, void *at, const void *a, const void *b, bool is_normal,
                         uint64_t *state)
{
    double lo = float_load(t, a), hi = float_load(t, b);
    if (is_normal) {
        float_store(t, at, lo + hi * normal(state));
        return;
    }
    float_store(t, at, unit(state) * (hi - lo) + lo);
    /* rounding has reached the end of the range, which is excluded */
    if (lo < hi && float_load(t, at) >= hi)
        memcpy(at, a, dtype_bytes(t));
}

static void random_integer(enum dtype t, void *at, const void *a, const void *b, uint64_t *state)
{
    struct rng_block r = next_block(state);
    uint64_t bits = r.w[0] | (uint64_t)r.w[1] << 32;
    uint64_t lo = (uint64_t)kern_load_index(t, a), range = (uint64_t)kern_load_index(t, b) - lo;
    store_bits(t, at, t == DT_PRED ? bits : lo + (range ? bits % range : 0));
}

void plain_rng_numbers(const struct view *out, const void *a, const void *b, bool is_normal,
                       uint64_t *state)
{
    size_t width = dtype_bytes(out->dtype);
    int64_t n = view_elements(out);
    for (int64_t i = 0; i < n; i++) {
        char *at = out->data + (size_t)i * width;
        if (dtype_is_float(out->dtype))
            random_float(out->dtype, at, a, b, is_normal, state);
        else
            random_integer(out->dtype, at, a, b, state);
    }
}
