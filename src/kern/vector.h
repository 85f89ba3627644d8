/*
 * vector.h: vectorized transcendental functions on f32 (the most frequent ones are in
 * vector_single.h).
 *
 * Each is one expression in f64 without a branch, so that a compiler vectorizes it. f64 has the
 * precision and the range for argument reduction that f32 lacks. The relative error is below 2^-32,
 * which rounded to f32 is within 0.51 ulp. As nothing is contracted or reordered, the bits are the
 * same on every instruction set, in every lane, for any length.
 *
 * The polynomials are minimax fits; the comment beside each gives its largest error.
 */
#ifndef HLO_KERN_VECTOR_H
#define HLO_KERN_VECTOR_H

#include <math.h>
#include <stdint.h>

union vector_bits {
    double f;
    uint64_t u;
};
#define VECTOR_BITS(x) ((union vector_bits){.f = (x)}.u)
#define VECTOR_FLOAT(x) ((union vector_bits){.u = (x)}.f)

/* Added to a number below 2^51, it gives the nearest integer in the low bits, ties to even. */
static const double VECTOR_ROUNDER = 0x1.8p52;
static const uint64_t VECTOR_SIGN = (uint64_t)1 << 63;

static inline double vector_abs(double x) { return VECTOR_FLOAT(VECTOR_BITS(x) & ~VECTOR_SIGN); }
static inline double vector_with_sign(double x, double sign) /* x >= 0 */
{
    return VECTOR_FLOAT(VECTOR_BITS(x) | (VECTOR_BITS(sign) & VECTOR_SIGN));
}

/* ---- e^x ---- */

/* e^x = scale (1 + rest), |rest| < 0.42 with a relative error below 2^-37, for |x| < 700; NaN is
 * propagated. */
struct vector_power {
    double scale, rest;
};
static inline struct vector_power vector_exp_parts(double x)
{
    const double shifted = x * 0x1.71547652b82fep0 + VECTOR_ROUNDER;
    const double r = x - (shifted - VECTOR_ROUNDER) * 0x1.62e42fefa39efp-1;
    double p = 0x1.a17e05d883260p-16; /* (e^r - 1) / r on |r| <= log(2)/2: 2^-37.7 */
    p = p * r + 0x1.a17e08e7c271ap-13;
    p = p * r + 0x1.6c162fee05388p-10;
    p = p * r + 0x1.1110a614aedd2p-7;
    p = p * r + 0x1.5555558295863p-5;
    p = p * r + 0x1.5555557e791ccp-3;
    p = p * r + 0x1.fffffffff02edp-2;
    p = p * r + 0x1.fffffffff61d3p-1;
    return (struct vector_power){
        VECTOR_FLOAT((VECTOR_BITS(shifted) << 52) + ((uint64_t)1023 << 52)),
        p * r,
    };
}

/* Clamps x: beyond these bounds the result in f32 is 0 or infinity. */
static inline double vector_hold(double x, double low, double high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

static inline double vector_exp(double x)
{
    const struct vector_power e = vector_exp_parts(vector_hold(x, -110, 100));
    return e.scale + e.scale * e.rest;
}

static inline double vector_expm1(double x)
{
    const struct vector_power e = vector_exp_parts(vector_hold(x, -110, 100));
    const double r = e.scale * e.rest + (e.scale - 1);
    return x == 0 ? x : r;
}

/* ---- log x ---- */

/* log(f + 1), where x is normal, f is exact when x is near 1, and k counts the powers of two taken
 * off. */
struct vector_reduced {
    double k, f;
};
static inline struct vector_reduced vector_log_reduce(double x)
{
    /* The mantissa is reduced to sqrt(1/2)..sqrt(2). */
    const uint64_t root_half = 0x3fe6a09e667f3bcd;
    const uint64_t u = VECTOR_BITS(x) - root_half + ((uint64_t)1024 << 52);
    const double k = VECTOR_FLOAT((u >> 52) | VECTOR_BITS(0x1p52)) - (0x1p52 + 1024);
    const double m = VECTOR_FLOAT((u & 0x000fffffffffffff) + root_half);
    return (struct vector_reduced){k, m - 1};
}

static inline double vector_log_parts(struct vector_reduced a, double unit)
{
    const double s = a.f / (2 + a.f), z = s * s;
    double p = 0x1.91a32b2bb1f40p-4; /* atanh(s) / s on |s| <= 0.1716: 2^-45 */
    p = p * z + 0x1.c61fca8ccc726p-4;
    p = p * z + 0x1.24943bb068633p-3;
    p = p * z + 0x1.99999622ef46fp-3;
    p = p * z + 0x1.5555555675522p-2;
    p = p * z + 0x1.fffffffffff0ep-1;
    return (2 * s * p + a.k * 0x1.62e42fefa39efp-1) * unit;
}

/* The special cases of r = log(x). */
static inline double vector_log_ends(double x, double r)
{
    r = x == 0 ? -(double)INFINITY : r;
    r = x < (double)INFINITY ? r : x; /* infinity and NaN are unchanged */
    return x < 0 ? (double)NAN : r;
}

static inline double vector_log1p(double x)
{
    const double y = 1 + x;
    struct vector_reduced a = vector_log_reduce(y);
    a.f = a.k == 0 ? x : a.f; /* without the rounding of 1 + x */
    const double r = vector_log_ends(y, vector_log_parts(a, 1));
    return x == 0 ? x : r;
}

static inline double vector_cbrt(double x)
{
    const double a = vector_abs(x);
    const double r = vector_exp(vector_log_parts(vector_log_reduce(a), 0x1.5555555555555p-2));
    return a > 0 && a < (double)INFINITY ? vector_with_sign(r, x) : x;
}

/* ---- hyperbolic functions and their inverses ---- */

static inline double vector_sinh(double x)
{
    const double e = vector_expm1(vector_abs(x));
    return vector_with_sign((e + e / (e + 1)) * 0.5, x);
}

static inline double vector_cosh(double x)
{
    const double e = vector_exp(vector_abs(x));
    return (e + 1 / e) * 0.5;
}

static inline double vector_asinh(double x)
{
    const double a = vector_abs(x), square = a * a;
    const double r = vector_log1p(a + square / (1 + sqrt(1 + square)));
    return a < (double)INFINITY ? vector_with_sign(r, x) : x;
}

static inline double vector_acosh(double x)
{
    const double t = x - 1, r = vector_log1p(t + sqrt(t * (t + 2)));
    return x < 1 ? (double)NAN : r;
}

static inline double vector_atanh(double x)
{
    const double a = vector_abs(x);
    return vector_with_sign(vector_log1p(2 * a / (1 - a)) * 0.5, x);
}

/* The second leg of a right triangle with hypotenuse 1. */
static inline double vector_leg(double x) { return sqrt((1 - x) * (1 + x)); }

/* ---- remainder ---- */

/* Of f32 numbers: below this quotient its rounding does not reach the next integer, and its product
 * with y is exact. */
static inline int vector_remainder_is_exact(double x, double y)
{
    const int small = vector_abs(x / y) < 0x1p28, finite = vector_abs(y) < (double)INFINITY;
    return small & finite;
}

static inline double vector_remainder(double x, double y)
{
    double q = vector_abs(x / y);
    q = q < 0x1p28 ? q : 0;
    const double nearest = (q + VECTOR_ROUNDER) - VECTOR_ROUNDER,
                 whole = nearest > q ? nearest - 1 : nearest;
    return vector_with_sign(vector_abs(x) - whole * vector_abs(y), x);
}

/* ---- x^y ---- */

static inline double vector_off_whole(double a) /* from the nearest whole number; |a| < 2^51 */
{
    return (a + VECTOR_ROUNDER) - VECTOR_ROUNDER - a;
}

/* spec: Pow (grammar/values.md 4.4), as in C. Written as a sequence of selections, since compilers
 * do not vectorize compound conditions. */
static inline double vector_pow(double x, double y)
{
    const double a = vector_abs(x);
    const double l = vector_log_ends(a, vector_log_parts(vector_log_reduce(a), 1));
    double product = y * l;
    product = l == 0 ? 0 : product; /* 1 to the power of infinity is 1 */
    const double r = vector_exp(product);

    /* Negative x: an integer y determines the sign, any other gives NaN. From 2^24 on, every f32 is
     * even. */
    double b = vector_abs(y);
    b = b >= 0x1p24 ? 0 : b;
    const double off = vector_off_whole(b), off_even = vector_off_whole(b * 0.5);
    const double signed_r = VECTOR_FLOAT(VECTOR_BITS(r) | (VECTOR_BITS(x) & VECTOR_SIGN));
    double z = off_even == 0 ? r : signed_r;
    double other = x < 0 ? (double)NAN : r;
    other = a == (double)INFINITY ? r : other;
    z = off == 0 ? z : other;

    z = y != y ? y : z;
    z = x == 1 ? 1 : z;
    return y == 0 ? 1 : z;
}

/* ---- sine, cosine, tangent, atan2 ---- */

/* Beyond it, splitting pi/2 into three parts is not accurate enough. */
static const float VECTOR_CIRCLE_LIMIT = 0x1p20f;

struct vector_angle {
    double sine, cosine; /* of the reduced argument */
    uint64_t quarters;   /* multiple of pi/2 that was subtracted; only the low bits are used */
};
static inline struct vector_angle vector_circle(double x)
{
    const double shifted = x * 0x1.45f306dc9c883p-1 + VECTOR_ROUNDER;
    const double k = shifted - VECTOR_ROUNDER;
    /* pi/2 in parts of 32 bits, so that products with k are exact */
    double r = x - k * 0x1.921fb544p0;
    r = r - k * 0x1.0b4611a4p-34;
    r = r - k * 0x1.3198a2e037073p-69;
    const double z = r * r;
    double s = -0x1.a950659fb3a63p-26; /* sin(r) / r on |r| <= pi/4: 2^-47 */
    s = s * z + 0x1.71d731410a952p-19;
    s = s * z - 0x1.a019f8a1b5937p-13;
    s = s * z + 0x1.1111110bde3c9p-7;
    s = s * z - 0x1.5555555550efep-3;
    s = s * z + 0x1.fffffffffffd9p-1;
    double c = -0x1.23c5b1a7f4ba2p-22; /* cos(r): 2^-44 */
    c = c * z + 0x1.a00e96464bbd1p-16;
    c = c * z - 0x1.6c16b2d3a46eep-10;
    c = c * z + 0x1.55555544764cbp-5;
    c = c * z - 0x1.ffffffffe3778p-2;
    c = c * z + 0x1.ffffffffffe0cp-1;
    return (struct vector_angle){s * r, c, VECTOR_BITS(shifted)};
}

static inline double vector_turned(struct vector_angle a, uint64_t quarters)
{
    const double r = quarters & 1 ? a.cosine : a.sine;
    return VECTOR_FLOAT(VECTOR_BITS(r) ^ (quarters & 2) << 62);
}

static inline double vector_sin(double x)
{
    const struct vector_angle a = vector_circle(x);
    return vector_turned(a, a.quarters);
}

static inline double vector_cos(double x)
{
    const struct vector_angle a = vector_circle(x);
    return vector_turned(a, a.quarters + 1);
}

static inline double vector_tan(double x)
{
    const struct vector_angle a = vector_circle(x);
    const double n = a.quarters & 1 ? -a.cosine : a.sine, d = a.quarters & 1 ? a.sine : a.cosine;
    return n / d;
}

/* spec: Atan2 (grammar/values.md 4.5), as in C */
static inline double vector_atan2(double y, double x)
{
    const double ax = vector_abs(x), ay = vector_abs(y);
    const int steep = ay > ax;
    double less = steep ? ax : ay, more = steep ? ay : ax;
    /* two infinities are treated as 1 and 1 */
    more = ((less == (double)INFINITY) | (more == 0)) ? 1 : more;
    less = less == (double)INFINITY ? 1 : less;
    /* atan t = pi/4 + atan((t - 1) / (t + 1)), so that |t| <= tan(pi/8) */
    const int far = less > more * 0x1.a827999fcef32p-2;
    const double t = (far ? less - more : less) / (far ? less + more : more), z = t * t;
    double p = 0x1.f7a3f127da9c0p-6; /* atan(t) / t: 2^-45 */
    p = p * z - 0x1.e1acca271b394p-5;
    p = p * z + 0x1.35debf8fd0d59p-4;
    p = p * z - 0x1.73dc1aeaafb55p-4;
    p = p * z + 0x1.c715037ee15e3p-4;
    p = p * z - 0x1.24922a23a2008p-3;
    p = p * z + 0x1.999999177a25fp-3;
    p = p * z - 0x1.55555554ebfbdp-2;
    p = p * z + 0x1.fffffffffff1fp-1;
    double r = p * t + (far ? 0x1.921fb54442d18p-1 : 0);
    r = steep ? 0x1.921fb54442d18p0 - r : r;
    r = VECTOR_BITS(x) >> 63 ? 0x1.921fb54442d18p1 - r : r;
    r = vector_with_sign(r, y);
    return ((x != x) | (y != y)) ? x + y : r;
}

#endif
