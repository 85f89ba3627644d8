/*
 * spec: RngUniform, RngNormal
 *
 * Random numbers made from the bits of a counter (grammar/values.md 14.1, 14.3).
 */
#include "kern/nest.h"
#include "kern/plain/function.h"
#include "kern/plain/plain.h"
#include "kern/rng.h"

#include <math.h>

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

/* `plain`: with the functions of --plain, otherwise with those of libm, which are faster. */
static double normal(uint64_t *state, bool plain)
{
    struct rng_block b = next_block(state);
    double u = b.w[0] * 0x1p-32, v = b.w[1] * 0x1p-32;
    const double angle = 2 * M_PI * v;
    u = u < 1e-7 ? 1e-7 : u;
    return plain ? sqrt(-2 * real_log(u)) * real_sin(angle) : sqrt(-2 * log(u)) * sin(angle);
}

static void random_float(enum dtype t, void *at, const void *a, const void *b, bool is_normal,
                         uint64_t *state, bool plain)
{
    double lo = float_load(t, a), hi = float_load(t, b);
    if (is_normal) {
        float_store(t, at, real_settled(lo + hi * normal(state, plain), lo, hi));
        return;
    }
    float_store(t, at, real_settled(unit(state) * (hi - lo) + lo, lo, hi));
    /* rounding has reached the end of the range, which is excluded */
    if (lo < hi && float_load(t, at) >= hi)
        memcpy(at, a, dtype_bytes(t));
}

static void random_integer(enum dtype t, void *at, const void *a, const void *b, uint64_t *state)
{
    struct rng_block r = next_block(state);
    uint64_t bits = r.w[0] | (uint64_t)r.w[1] << 32;
    uint64_t lo = (uint64_t)kern_load_index(t, a), range = (uint64_t)kern_load_index(t, b) - lo;
    bits_store(t, at, t == DT_PRED ? bits & 1 : lo + (range ? bits % range : 0));
}

static void fill(const struct view *out, const void *a, const void *b, bool is_normal,
                 uint64_t *state, bool plain)
{
    size_t width = dtype_bytes(out->dtype);
    int64_t n = view_elements(out);
    for (int64_t i = 0; i < n; i++) {
        char *at = out->data + (size_t)i * width;
        if (dtype_is_float(out->dtype))
            random_float(out->dtype, at, a, b, is_normal, state, plain);
        else
            random_integer(out->dtype, at, a, b, state);
    }
}

void plain_rng_numbers(const struct view *out, const void *a, const void *b, bool is_normal,
                       uint64_t *state)
{
    fill(out, a, b, is_normal, state, true);
}

void kern_rng_numbers(const struct view *out, const void *a, const void *b, bool is_normal,
                      uint64_t *state)
{
    fill(out, a, b, is_normal, state, false);
}
