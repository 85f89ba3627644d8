/*
 * vector_single.h: the most frequent transcendental functions on f32, computed in f32, twice as
 * many at a time as in f64 (vector.h).
 *
 * Where an error would exceed a small part of an ulp, a number is represented as the sum of two
 * parts. So results are within 0.65 ulp (0.8 for tanh and subnormal results, 1 for erf). As
 * multiply-adds are explicit and nothing else is contracted or reordered, the bits are the same on
 * every instruction set, in every lane, for any length.
 *
 * The polynomials are minimax fits; the comment beside each gives its largest error.
 */
#ifndef HLO_KERN_VECTOR_SINGLE_H
#define HLO_KERN_VECTOR_SINGLE_H

#include <math.h>
#include <stdint.h>

union single_bits {
    float f;
    uint32_t u;
};
#define SINGLE_BITS(x) ((union single_bits){.f = (x)}.u)
#define SINGLE_FLOAT(x) ((union single_bits){.u = (x)}.f)

/* Added to a number below 2^22, it gives the nearest integer in the low bits, ties to even. */
static const float SINGLE_ROUNDER = 0x1.8p23f;

/* x * y + z, rounded once, for finite numbers far from the ends of f32's range. */
static inline float single_fma(float x, float y, float z)
{
#if defined __FMA__ || defined __ARM_FEATURE_FMA
    return __builtin_fmaf(x, y, z);
#else
    /* In f64 the product is exact, and a sum that is rounded to odd gives the same f32 as the exact
     * sum. */
    const double p = (double)x * (double)y, c = (double)z, s = p + c, t = s - p;
    const double error = (p - (s - t)) + (c - t);
    union {
        double f;
        uint64_t u;
    } odd = {s}, sign = {error};
    const uint64_t up = (sign.u ^ odd.u) >> 63 ? (uint64_t)-1 : 1;
    odd.u += error != 0 && !(odd.u & 1) ? up : 0;
    return (float)odd.f;
#endif
}

/* ---- e^x ---- */

/* e^x = 2^n (1 + r + rest), |r| < 0.35, |rest| < r^2; for |x| < 110. */
struct single_power {
    int32_t n;
    float r, rest;
};
static inline struct single_power single_exp_parts(float x)
{
    const float shifted = single_fma(x, 0x1.715476p0f, SINGLE_ROUNDER),
                n = shifted - SINGLE_ROUNDER;
    const float high =
        single_fma(n, -0x1.63p-1f, x); /* log 2 in two parts; n times the first is exact */
    const float r = single_fma(n, 0x1.bd0106p-13f, high),
                low = single_fma(n, 0x1.bd0106p-13f, high - r);
    float p = 0x1.9f02dp-13f; /* (e^r - 1 - r) / r^2 on |r| <= log(2)/2: 2^-34 of e^r */
    p = single_fma(p, r, 0x1.6d945cp-10f);
    p = single_fma(p, r, 0x1.11128p-7f);
    p = single_fma(p, r, 0x1.555486p-5f);
    p = single_fma(p, r, 0x1.555554p-3f);
    p = single_fma(p, r, 0.5f);
    return (struct single_power){(int32_t)(SINGLE_BITS(shifted) - SINGLE_BITS(SINGLE_ROUNDER)), r,
                                 single_fma(p, r * r, low)};
}

static inline float single_two_to(int32_t n) { return SINGLE_FLOAT((uint32_t)(n + 127) << 23); }

/* e^x. x is clamped: beyond the bounds the result is 0 or infinity. */
static inline float single_exp(float x)
{
    x = x < -104 ? -104 : x;
    x = x > 89 ? 89 : x;
    const struct single_power e = single_exp_parts(x);
    const float sum = 1 + e.r, low = e.r - (sum - 1);
    const int32_t half = e.n >> 1; /* in two factors, as 2^n itself may be out of range */
    return (sum + (low + e.rest)) * single_two_to(half) * single_two_to(e.n - half);
}

/* tanh: (e^2x - 1) / (e^2x + 1), both in two parts; the quotient is corrected by its remainder. */
static inline float single_tanh(float x)
{
    float a = SINGLE_FLOAT(SINGLE_BITS(x) & 0x7fffffff);
    a = a > 10 ? 10 : a;
    const struct single_power e = single_exp_parts(2 * a);
    const float scale = single_two_to(e.n), whole = scale - 1, part = scale * e.r;
    const float first = whole + part, rest = (part - (first - whole)) + scale * e.rest;
    const float up = first + rest, up_low = rest - (up - first);
    const float down = up + 2, max = down - up,
                down_low = ((up - (down - max)) + (2 - max)) + up_low;
    const float inverse = 1 / down, q = up * inverse;
    const float remainder = single_fma(-q, down, up) + (up_low - q * down_low);
    const float r = single_fma(remainder, inverse, q);
    return SINGLE_FLOAT(SINGLE_BITS(r) | (SINGLE_BITS(x) & 0x80000000));
}

/* ---- log x ---- */

static inline float single_log(float x)
{
    const int tiny = x < 0x1p-126f;
    const float y = tiny ? x * 0x1p23f : x;
    /* The mantissa is reduced to sqrt(1/2)..sqrt(2). */
    const uint32_t root_half = 0x3f3504f3, u = SINGLE_BITS(y) - root_half;
    const float k = (float)((int32_t)u >> 23) - (tiny ? 23 : 0);
    const float f = SINGLE_FLOAT((u & 0x007fffff) + root_half) - 1, square = f * f;
    float p = 0x1.14c9d8p-4f; /* (log(1 + f) - f + f^2 / 2) / f^3: 2^-30 of log(1 + f) */
    p = single_fma(p, f, -0x1.deffe2p-4f);
    p = single_fma(p, f, 0x1.e728a6p-4f);
    p = single_fma(p, f, -0x1.fc07cap-4f);
    p = single_fma(p, f, 0x1.23322ap-3f);
    p = single_fma(p, f, -0x1.555cccp-3f);
    p = single_fma(p, f, 0x1.99a4f6p-3f);
    p = single_fma(p, f, -0x1.000006p-2f);
    p = single_fma(p, f, 0x1.555546p-2f);
    const float high = single_fma(square, -0.5f, f);
    float low = (f - high) - 0.5f * square;                  /* rounding error of f - f^2 / 2, */
    low = single_fma(single_fma(f, f, -square), -0.5f, low); /* and of the square */
    low = single_fma(f * square, p, low);
    const float whole = k * 0x1.63p-1f,
                sum = whole + high; /* log 2 in two parts; k times the first is exact */
    low = low + (high - (sum - whole));
    float r = sum + single_fma(k, -0x1.bd0106p-13f, low);
    r = x == 0 ? -INFINITY : r;
    r = x < INFINITY ? r : x; /* infinity and NaN are unchanged */
    return x < 0 ? NAN : r;
}

/* ---- erf ---- */

/* From 0.875 on 1 - e^r, where r has no constant term. */
static inline float single_erf(float x)
{
    float a = SINGLE_FLOAT(SINGLE_BITS(x) & 0x7fffffff);
    a = a > 4 ? 4 : a;
    const float z = a * a;
    float p = -0x1.453be2p-11f; /* erf(a) / a - 1 on 0..0.875: 2^-26 of erf */
    p = single_fma(p, z, 0x1.49ca56p-8f);
    p = single_fma(p, z, -0x1.b6f39cp-6f);
    p = single_fma(p, z, 0x1.ce2120p-4f);
    p = single_fma(p, z, -0x1.81270cp-2f);
    p = single_fma(p, z, 0x1.06eba8p-3f);
    float q = -0x1.3a3450p-17f; /* log(1 - erf(a)) / a + 1 on 0.875..4: 2^-29 of erf */
    q = single_fma(q, a, 0x1.3f1bb4p-12f);
    q = single_fma(q, a, -0x1.d3b262p-9f);
    q = single_fma(q, a, 0x1.82c79ap-6f);
    q = single_fma(q, a, -0x1.b26b84p-4f);
    q = single_fma(q, a, -0x1.454066p-1f);
    q = single_fma(q, a, -0x1.076b6ep-3f);
    const float r = a > 0.875f ? 1 - single_exp(single_fma(q, a, -a)) : single_fma(p, a, a);
    return SINGLE_FLOAT(SINGLE_BITS(r) | (SINGLE_BITS(x) & 0x80000000));
}

#endif
