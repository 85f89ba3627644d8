/*
 * random.c: generates random elements (no kernel of its own), in chunks, with one loop per kind of
 * type.
 */
#include "kern/random.h"

#include "base/wide.h"
#include "kern/kern.h"

enum { BLOCK = 1 << 22, CHUNK = 1024 };

/* Word i of splitmix64 is mix(key + (i + 1) STEP). */
static const uint64_t STEP = 0x9E3779B97F4A7C15u;

static inline uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

struct random_stream random_stream(uint64_t seed, uint64_t number)
{
    return (struct random_stream){.key = (seed * 1000003 + number) * 0xD1342543DE82EF95u};
}

void random_words(uint64_t *u, uint64_t key, uint64_t at, size_t n)
{
    uint64_t state = at * STEP + key;
    for (size_t i = 0; i < n; i++)
        u[i] = mix(state += STEP);
}

/* 24 and 53 bits: exact as signed integers, whose conversion is faster than that of unsigned
 * ones. */
static void put_f32(const struct random_stream *r, float *out, const uint64_t *u, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (float)(int32_t)(u[i] >> 40) * 0x1p-23f - 1.0f;
    const float half = (float)((r->hi - r->lo) / 2), lo = (float)r->lo;
    for (size_t i = 0; r->ranged && i < n; i++)
        out[i] = (out[i] + 1.0f) * half + lo;
}

static void put_f64(const struct random_stream *r, double *out, const uint64_t *u, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (double)(int64_t)(u[i] >> 11) * 0x1p-52 - 1.0;
    const double half = (r->hi - r->lo) / 2;
    for (size_t i = 0; r->ranged && i < n; i++)
        out[i] = (out[i] + 1.0) * half + r->lo;
}

static int64_t whole(double x)
{
    return x < -0x1p62 ? -(INT64_C(1) << 62) : x > 0x1p62 ? INT64_C(1) << 62 : (int64_t)x;
}

/* lo + u % (hi - lo). The quotient estimated with floor((2^64 - 1) / width) is exact or one too
 * small. */
static void fit_integers(const struct random_stream *r, enum dtype t, uint64_t *u, size_t n)
{
    int64_t lo = r->ranged ? whole(r->lo) : 0, hi = r->ranged ? whole(r->hi) : 5;
    if (dtype_is_subbyte(t)) {
        lo = lo > 0 ? lo : 0;
        hi = hi < 2 ? hi : 2;
    }
    const uint64_t width = hi > lo ? (uint64_t)(hi - lo) : 1, inverse = UINT64_MAX / width;
    for (size_t i = 0; i < n; i++) {
        uint64_t rest = u[i] - mul_high(u[i], inverse) * width;
        rest -= rest >= width ? width : 0;
        u[i] = (uint64_t)lo + rest;
    }
    for (size_t i = 0; t == DT_S1 && i < n; i++)
        u[i] = 0 - u[i]; /* its values are 0 and -1 */
}

#define PUT_LOW_BITS(W)                                                                            \
    static void put_low_##W(void *out, const uint64_t *u, size_t n)                                \
    {                                                                                              \
        uint##W##_t *to = out;                                                                     \
        for (size_t i = 0; i < n; i++)                                                             \
            to[i] = (uint##W##_t)u[i];                                                             \
    }
PUT_LOW_BITS(8)
PUT_LOW_BITS(16)
PUT_LOW_BITS(32)
#undef PUT_LOW_BITS

void random_put_integers(enum dtype t, void *out, const uint64_t *u, size_t n)
{
    switch (dtype_bytes(t)) {
    case 1: put_low_8(out, u, n); break;
    case 2: put_low_16(out, u, n); break;
    case 4: put_low_32(out, u, n); break;
    default: memcpy(out, u, n * sizeof *u); break;
    }
}

/* Generates n elements, from number `at` on. */
static void put_chunk(const struct random_stream *r, enum dtype t, void *out, uint64_t at, size_t n)
{
    uint64_t u[2 * CHUNK];
    float x[CHUNK];
    size_t parts = dtype_is_complex(t) ? 2 : 1;
    random_words(u, r->key, parts * at, parts * n);
    if (t == DT_F32 || t == DT_C64) {
        put_f32(r, out, u, parts * n);
    } else if (t == DT_F64 || t == DT_C128) {
        put_f64(r, out, u, parts * n);
    } else if (dtype_is_float(t)) {
        put_f32(r, x, u, n);
        kern_find_convert(t, DT_F32)(out, (const void *const[]){x}, (int64_t)n);
    } else if (t == DT_PRED) {
        for (size_t i = 0; i < n; i++)
            u[i] >>= 63;
        random_put_integers(t, out, u, n);
    } else {
        fit_integers(r, t, u, n);
        random_put_integers(t, out, u, n);
    }
}

void random_fill(const struct random_stream *r, enum dtype t, void *out, size_t n)
{
    char *data = out;
    const size_t width = dtype_bytes(t), head = n < BLOCK ? n : BLOCK;
    for (size_t i = 0; i < head; i += CHUNK)
        put_chunk(r, t, data + i * width, i, head - i < CHUNK ? head - i : CHUNK);
    for (size_t i = BLOCK; i < n; i += BLOCK)
        memcpy(data + i * width, data, (n - i < BLOCK ? n - i : BLOCK) * width);
}
