/*
 * Elementary functions of f64 in double-double arithmetic, by series (function.h). The errors
 * before the last rounding are below 2^-90, so nearly all results are correctly rounded. spec: Exp,
 * Expm1, Log, Log1p, Tanh, Sin, Cos, Tan, Erf, Cbrt, Pow, Atan2, Acos, Acosh, Asin, Asinh, Atanh,
 * Cosh, Sinh
 */
#include "kern/plain/function.h"

#include "kern/vector.h"

#include <stdint.h>

static const struct dd PI = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53},
                       HALF_PI = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54},
                       LOG_2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

/* Below it, two terms of a series have the precision of f64. */
static const double TINY = 0x1p-30;

/* 1 / n! */
static const struct dd INVERSE_FACTORIAL[] = {
    {0x1.0000000000000p+0, 0x0.0p+0},
    {0x1.0000000000000p+0, 0x0.0p+0},
    {0x1.0000000000000p-1, 0x0.0p+0},
    {0x1.5555555555555p-3, 0x1.5555555555555p-57},
    {0x1.5555555555555p-5, 0x1.5555555555555p-59},
    {0x1.1111111111111p-7, 0x1.1111111111111p-63},
    {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
    {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
    {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
    {0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73},
    {0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
    {0x1.ae64567f544e4p-26, -0x1.c062e06d1f209p-80},
    {0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
    {0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87},
    {0x1.93974a8c07c9dp-37, 0x1.05d6f8a2efd1fp-92},
    {0x1.ae7f3e733b81fp-41, 0x1.1d8656b0ee8cbp-97},
    {0x1.ae7f3e733b81fp-45, 0x1.1d8656b0ee8cbp-101},
    {0x1.952c77030ad4ap-49, 0x1.ac981465ddc6cp-103},
    {0x1.6827863b97d97p-53, 0x1.eec01221a8b0bp-107},
    {0x1.2f49b46814157p-57, 0x1.2650f61dbdcb4p-112},
    {0x1.e542ba4020225p-62, 0x1.ea72b4afe3c2fp-120},
    {0x1.71b8ef6dcf572p-66, -0x1.d043ae40c4647p-120},
    {0x1.0ce396db7f853p-70, -0x1.aebcdbd20331cp-124},
    {0x1.761b41316381ap-75, -0x1.3423c7d91404fp-130},
    {0x1.f2cf01972f578p-80, -0x1.9ada5fcc1ab14p-135},
    {0x1.3f3ccdd165fa9p-84, -0x1.58ddadf344487p-139},
    {0x1.88e85fc6a4e5ap-89, -0x1.71c37ebd16540p-143},
    {0x1.d1ab1c2dccea3p-94, 0x1.054d0c78aea14p-149},
    {0x1.0a18a2635085dp-98, 0x1.b9e2e28e1aa54p-153},
    {0x1.259f98b4358adp-103, 0x1.eaf8c39dd9bc5p-157},
};

/* 1 / (2 n + 1) */
static const struct dd INVERSE_ODD[] = {
    {0x1.0000000000000p+0, 0x0.0p+0},
    {0x1.5555555555555p-2, 0x1.5555555555555p-56},
    {0x1.999999999999ap-3, -0x1.999999999999ap-57},
    {0x1.2492492492492p-3, 0x1.2492492492492p-57},
    {0x1.c71c71c71c71cp-4, 0x1.c71c71c71c71cp-58},
    {0x1.745d1745d1746p-4, -0x1.745d1745d1746p-59},
    {0x1.3b13b13b13b14p-4, -0x1.3b13b13b13b14p-58},
    {0x1.1111111111111p-4, 0x1.1111111111111p-60},
    {0x1.e1e1e1e1e1e1ep-5, 0x1.e1e1e1e1e1e1ep-61},
    {0x1.af286bca1af28p-5, 0x1.af286bca1af28p-59},
    {0x1.8618618618618p-5, 0x1.8618618618618p-59},
    {0x1.642c8590b2164p-5, 0x1.642c8590b2164p-60},
    {0x1.47ae147ae147bp-5, -0x1.eb851eb851eb8p-61},
    {0x1.2f684bda12f68p-5, 0x1.2f684bda12f68p-59},
    {0x1.1a7b9611a7b96p-5, 0x1.1a7b9611a7b96p-61},
    {0x1.0842108421084p-5, 0x1.0842108421084p-60},
    {0x1.f07c1f07c1f08p-6, -0x1.f07c1f07c1f08p-61},
    {0x1.d41d41d41d41dp-6, 0x1.0750750750750p-60},
    {0x1.bacf914c1bad0p-6, -0x1.bacf914c1bad0p-60},
    {0x1.a41a41a41a41ap-6, 0x1.0690690690690p-60},
    {0x1.8f9c18f9c18fap-6, -0x1.f3831f3831f38p-61},
    {0x1.7d05f417d05f4p-6, 0x1.7d05f417d05f4p-62},
};

/* ---- NaN ---- */

double real_settled(double r, double x, double y)
{
    const union vector_bits a = {.f = x}, b = {.f = y};
    const uint64_t quiet = (uint64_t)1 << 51;
    return r == r   ? r
           : x != x ? VECTOR_FLOAT(a.u | quiet)
           : y != y ? VECTOR_FLOAT(b.u | quiet)
                    : NAN_MADE;
}

float real_settled_f32(float r, float x, float y)
{
    union {
        float f;
        uint32_t u;
    } v = {x != x ? x : y};
    if (r == r)
        return r;
    if (v.f == v.f)
        return -(float)NAN;
    v.u |= (uint32_t)1 << 22;
    return v.f;
}

/* r, but x itself if that is 0, whose sign a sum would lose. */
static double near_zero(double x, double r) { return x == 0 ? x : r; }

/* ---- series ---- */

/* The sum of t[n * step] z^n for n = 0 .. count - 1. Terms from `rough` on are so small that their
 * sum is computed in f64. */
static struct dd series(const struct dd *t, int step, int count, int rough, struct dd z)
{
    double tail = 0;
    for (int n = count - 1; n >= rough; n--)
        tail = tail * z.hi + t[n * step].hi;
    struct dd sum = dd_of(tail);
    for (int n = rough - 1; n >= 0; n--)
        sum = dd_add(dd_multiply(sum, z), t[n * step]);
    return sum;
}

/* ---- e^x ---- */

/* e^x = 2^n (1 + result), |result| < 0.42, with a small relative error; n is 0 for |x| < 0.34. */
static struct dd exp_reduced(struct dd x, int *n)
{
    enum { HALVINGS = 8 };
    /* log 2: a product of an integer below 2^12 with the first part is exact */
    const struct dd first = {0x1.62e42fefa3000p-1, 0},
                    rest = {0x1.3de6af278ece6p-42, 0x1.f97b57a079a19p-103};
    const double k = rint(x.hi * 0x1.71547652b82fep+0);
    *n = (int)k;
    if (k != 0) {
        x = dd_subtract(x, dd_of(k * first.hi));
        x = dd_subtract(x, dd_multiply(dd_of(k), rest));
    }
    const struct dd r = dd_scale(x, -HALVINGS);
    struct dd m = dd_multiply(r, series(INVERSE_FACTORIAL + 1, 1, 10, 6, r));
    for (int i = 0; i < HALVINGS; i++) /* (1 + m)^2 = 1 + 2 m + m^2 */
        m = dd_add(dd_scale(m, 1), dd_multiply(m, m));
    return m;
}

static const struct dd ONE = {1, 0};

double real_exp_scaled(double x, int *n) { return dd_add(ONE, exp_reduced(dd_of(x), n)).hi; }

static double exp_dd(struct dd x)
{
    if (!(x.hi < 710))
        return x.hi + (double)INFINITY; /* or NaN */
    if (x.hi < -746)
        return 0;
    int n;
    const struct dd m = exp_reduced(x, &n);
    return ldexp(dd_add(ONE, m).hi, n);
}

double real_exp(double x) { return real_settled(exp_dd(dd_of(x)), x, x); }

/* e^x - 1 for |x| < 64 */
static struct dd expm1_dd(double x)
{
    int n;
    const struct dd m = exp_reduced(dd_of(x), &n);
    return n == 0 ? m : dd_subtract(dd_scale(dd_add(ONE, m), n), ONE);
}

double real_expm1(double x)
{
    if (fabs(x) < TINY)
        return near_zero(x, x + (x * x / 2 + x * x * x / 6));
    if (x < -40)
        return -1;
    return x < 64 ? expm1_dd(x).hi : real_exp(x);
}

/* ---- hyperbolic functions ---- */

double real_sinh(double x)
{
    const double a = fabs(x);
    if (a < TINY)
        return near_zero(x, x + x * x * x / 6);
    if (!(a < 40)) {
        if (!(a < 712))
            return real_settled(x * (double)INFINITY, x, x);
        int n;
        const double e = real_exp_scaled(a, &n);
        return copysign(ldexp(e, n - 1), x);
    }
    const struct dd e = expm1_dd(a), both = dd_add(e, dd_divide(e, dd_add(e, ONE)));
    return copysign(both.hi / 2, x);
}

double real_cosh(double x)
{
    const double a = fabs(x);
    if (!(a < 40)) {
        if (!(a < 712))
            return real_settled(a * (double)INFINITY, x, x);
        int n;
        const double e = real_exp_scaled(a, &n);
        return ldexp(e, n - 1);
    }
    const struct dd e = dd_add(expm1_dd(a), ONE);
    return dd_add(e, dd_divide(ONE, e)).hi / 2;
}

double real_tanh(double x)
{
    const double a = fabs(x);
    if (a < TINY)
        return near_zero(x, x - x * x * x / 3);
    if (!(a < 22))
        return a >= 22 ? copysign(1, x) : real_settled(x, x, x);
    const struct dd e = expm1_dd(2 * a);
    return copysign(dd_divide(e, dd_add(e, dd_of(2))).hi, x);
}

/* ---- logarithms ---- */

/* log((1 + s) / (1 - s)) = 2 (s + s^3 / 3 + s^5 / 5 ...), |s| < 0.18 */
static struct dd log_of_ratio(struct dd s)
{
    return dd_scale(dd_multiply(s, series(INVERSE_ODD, 1, 22, 11, dd_multiply(s, s))), 1);
}

struct dd real_log_dd(struct dd x)
{
    int n;
    if (frexp(x.hi, &n) < 0x1.6a09e667f3bcdp-1)
        n--;
    const struct dd m = dd_scale(x, -n);
    const struct dd part = log_of_ratio(dd_divide(dd_subtract(m, ONE), dd_add(m, ONE)));
    return n == 0 ? part : dd_add(dd_multiply(dd_of(n), LOG_2), part);
}

struct dd real_log1p_dd(struct dd x)
{
    if (fabs(x.hi) < 0.25)
        return log_of_ratio(dd_divide(x, dd_add(x, dd_of(2))));
    return real_log_dd(dd_add(ONE, x));
}

double real_log(double x)
{
    if (!(x > 0) || x == (double)INFINITY)
        return x == 0 ? -(double)INFINITY : x > 0 ? x : real_settled((double)NAN, x, x);
    if (x < 0x1p-1000) /* perhaps subnormal */
        return dd_subtract(real_log_dd(dd_of(x * 0x1p100)), dd_multiply(dd_of(100), LOG_2)).hi;
    return real_log_dd(dd_of(x)).hi;
}

double real_log1p(double x)
{
    if (fabs(x) < TINY)
        return near_zero(x, x - (x * x / 2 - x * x * x / 3));
    if (!(x > -1) || x == (double)INFINITY)
        return x == -1 ? -(double)INFINITY : x > 0 ? x : real_settled((double)NAN, x, x);
    return real_log1p_dd(dd_of(x)).hi;
}

/* ---- inverse hyperbolic functions ---- */

struct dd real_asinh_dd(struct dd x)
{
    const struct dd a = x.hi < 0 ? dd_negate(x) : x, square = dd_multiply(a, a);
    const struct dd root = dd_sqrt(dd_add(ONE, square));
    const struct dd r = real_log1p_dd(dd_add(a, dd_divide(square, dd_add(ONE, root))));
    return x.hi < 0 ? dd_negate(r) : r;
}

/* log(2 a), a > 2^30 */
static double log_twice(double a) { return dd_add(real_log_dd(dd_of(a)), LOG_2).hi; }

double real_asinh(double x)
{
    const double a = fabs(x);
    if (a < TINY)
        return near_zero(x, x - x * x * x / 6);
    if (!(a < (double)INFINITY))
        return real_settled(x, x, x);
    return a > 0x1p30 ? copysign(log_twice(a), x) : real_asinh_dd(dd_of(x)).hi;
}

double real_acosh(double x)
{
    if (!(x >= 1) || x == (double)INFINITY)
        return x > 1 ? x : real_settled((double)NAN, x, x);
    if (x > 0x1p30)
        return log_twice(x);
    const struct dd t = dd_of(x - 1);
    const struct dd root = dd_sqrt(dd_multiply(t, dd_add(t, dd_of(2))));
    return real_log1p_dd(dd_add(t, root)).hi;
}

double real_atanh(double x)
{
    const double a = fabs(x);
    if (a < TINY)
        return near_zero(x, x + x * x * x / 3);
    if (!(a < 1))
        return a == 1 ? copysign((double)INFINITY, x) : real_settled((double)NAN, x, x);
    const struct dd ratio = dd_divide(dd_of(2 * a), dd_sum(1, -a));
    return copysign(real_log1p_dd(ratio).hi / 2, x);
}

/* ---- sine, cosine, tangent ---- */

/* The bits of 2 / pi after the point. */
static const uint32_t TWO_OVER_PI[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d,
};

/* The product of the mantissa of x with those words of 2 / pi that determine x / (pi/2) modulo 4:
 * words before them contribute multiples of 4, those after them less than 2^-169. */
enum { ANGLE_WORDS = 9, ANGLE_PRODUCT = ANGLE_WORDS + 2 };
struct angle {
    uint32_t words[ANGLE_PRODUCT]; /* the first one is the lowest */
    int point;                     /* bits after the point */
};
static struct angle multiply_angle(double x)
{
    struct angle a = {.words = {0}};
    int n;
    const uint64_t mantissa = (uint64_t)ldexp(frexp(x, &n), 53);
    const uint32_t factors[2] = {(uint32_t)mantissa, (uint32_t)(mantissa >> 32)};
    n -= 53;
    const int from = n < 2 ? 0 : (n - 2) / 32;
    a.point = 32 * (from + ANGLE_WORDS) - n;
    for (int j = 0; j < 2; j++) {
        uint64_t carry = 0;
        for (int i = 0; i < ANGLE_WORDS; i++) {
            carry +=
                (uint64_t)factors[j] * TWO_OVER_PI[from + ANGLE_WORDS - 1 - i] + a.words[i + j];
            a.words[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        a.words[ANGLE_WORDS + j] = (uint32_t)carry;
    }
    return a;
}

static unsigned angle_bit(const struct angle *a, int k)
{
    return k < 32 * ANGLE_PRODUCT ? a->words[k / 32] >> k % 32 & 1 : 0;
}

/* x less a multiple of pi/2, up to pi/4; *quarters: the multiple, modulo 4. x is finite and
 * positive. */
static struct dd reduce_angle(double x, unsigned *quarters)
{
    *quarters = 0;
    if (x <= 0x1.921fb54442d18p-1)
        return dd_of(x);
    struct angle a = multiply_angle(x);
    const unsigned up = angle_bit(&a, a.point - 1);
    *quarters = (angle_bit(&a, a.point) + 2 * angle_bit(&a, a.point + 1) + up) & 3;
    struct dd sum = dd_of(0);
    for (int i = ANGLE_PRODUCT - 1; i >= 0; i--) {
        /* of the fraction only; if it is rounded up, its complement to 1, but for one last bit */
        const int bits = a.point - 32 * i;
        uint32_t word = up ? ~a.words[i] : a.words[i];
        word = bits <= 0 ? 0 : bits < 32 ? word & (((uint32_t)1 << bits) - 1) : word;
        sum = dd_add(sum, dd_of(ldexp(word, 32 * i - a.point)));
    }
    sum = dd_multiply(sum, HALF_PI);
    return up ? dd_negate(sum) : sum;
}

struct circle {
    struct dd sine, cosine;
};

/* Of |x| <= pi/4. */
static struct circle circle_of_reduced(struct dd x)
{
    struct dd z = dd_multiply(x, x), terms[30];
    for (int n = 0; n < 30; n++) /* alternating signs of x^n / n! */
        terms[n] = n & 2 ? dd_negate(INVERSE_FACTORIAL[n]) : INVERSE_FACTORIAL[n];
    return (struct circle){dd_multiply(x, series(terms + 1, 2, 15, 9, z)),
                           series(terms, 2, 15, 9, z)};
}

/* Of a finite x. */
static struct circle circle_of(double x)
{
    unsigned quarters;
    const struct dd r = reduce_angle(fabs(x), &quarters);
    struct circle c = circle_of_reduced(r);
    if (quarters & 1)
        c = (struct circle){c.cosine, dd_negate(c.sine)};
    if (quarters & 2)
        c = (struct circle){dd_negate(c.sine), dd_negate(c.cosine)};
    if (x < 0)
        c.sine = dd_negate(c.sine);
    return c;
}

double real_sin(double x)
{
    if (fabs(x) < TINY)
        return near_zero(x, x - x * x * x / 6);
    return fabs(x) < (double)INFINITY ? circle_of(x).sine.hi : real_settled((double)NAN, x, x);
}

double real_cos(double x)
{
    return fabs(x) < (double)INFINITY ? circle_of(x).cosine.hi : real_settled((double)NAN, x, x);
}

double real_tan(double x)
{
    if (fabs(x) < TINY)
        return near_zero(x, x + x * x * x / 3);
    if (!(fabs(x) < (double)INFINITY))
        return real_settled((double)NAN, x, x);
    const struct circle c = circle_of(x);
    return dd_divide(c.sine, c.cosine).hi;
}

/* ---- inverse trigonometric functions ---- */

/* By an estimate t of the angle, whose error is below 2^-40: the tangent of the error is
 * (y cos t - x sin t) / (x cos t + y sin t). */
struct dd real_atan2_dd(struct dd y, struct dd x)
{
    const double ay = fabs(y.hi), ax = fabs(x.hi);
    int n;
    if (ay < ax * 0x1p-60) {
        const struct dd ratio = dd_divide(y, x);
        return x.hi > 0 ? ratio : dd_add(y.hi < 0 ? dd_negate(PI) : PI, ratio);
    }
    if (ax < ay * 0x1p-60)
        return y.hi < 0 ? dd_negate(HALF_PI) : HALF_PI;
    frexp(ax > ay ? ax : ay, &n);
    y = dd_scale(y, -n);
    x = dd_scale(x, -n);
    const double t = vector_atan2(y.hi, x.hi);
    const struct circle c = circle_of(t);
    const struct dd d = dd_divide(dd_subtract(dd_multiply(y, c.cosine), dd_multiply(x, c.sine)),
                                  dd_add(dd_multiply(x, c.cosine), dd_multiply(y, c.sine)));
    return dd_add(dd_of(t), dd_subtract(d, dd_of(d.hi * d.hi * d.hi / 3)));
}

double real_atan2(double y, double x)
{
    const double ay = fabs(y), ax = fabs(x), infinity = (double)INFINITY;
    if (x != x || y != y)
        return real_settled((double)NAN, y, x);
    if (ay == infinity && ax == infinity)
        return copysign(x > 0 ? HALF_PI.hi / 2 : 0x1.2d97c7f3321d2p+1, y); /* pi/4, 3 pi/4 */
    if (ay == 0 || ax == infinity)
        return signbit(x) ? copysign(PI.hi, y) : copysign(0, y);
    if (ax == 0 || ay == infinity)
        return copysign(HALF_PI.hi, y);
    if (ay < ax * 0x1p-60 && x > 0)
        return y / x;
    return real_atan2_dd(dd_of(y), dd_of(x)).hi;
}

/* sqrt(1 - x^2) */
static struct dd other_leg(double x) { return dd_sqrt(dd_multiply(dd_sum(1, -x), dd_sum(1, x))); }

double real_asin(double x)
{
    if (fabs(x) < TINY)
        return near_zero(x, x + x * x * x / 6);
    return fabs(x) <= 1 ? real_atan2_dd(dd_of(x), other_leg(x)).hi
                        : real_settled((double)NAN, x, x);
}

double real_acos(double x)
{
    return fabs(x) <= 1 ? real_atan2_dd(other_leg(x), dd_of(x)).hi
                        : real_settled((double)NAN, x, x);
}

/* ---- roots and powers ---- */

/* Newton's method on a in 1/8..1, and its last step in twice the precision. */
double real_cbrt(double x)
{
    int n;
    if (x == 0 || !(fabs(x) < (double)INFINITY))
        return real_settled(x, x, x);
    double a = frexp(fabs(x), &n);
    for (; n % 3 != 0; n++)
        a /= 2;
    double y = 0.4 + 0.6 * a;
    for (int i = 0; i < 5; i++)
        y -= (y - a / (y * y)) / 3;
    const struct dd cube = dd_multiply(dd_product(y, y), dd_of(y));
    y -= dd_subtract(cube, dd_of(a)).hi / (3 * y * y);
    return copysign(ldexp(y, n / 3), x);
}

double real_hypot(double x, double y)
{
    int n;
    const double a = fmax(fabs(x), fabs(y));
    if (fabs(x) == (double)INFINITY || fabs(y) == (double)INFINITY)
        return (double)INFINITY;
    if (x != x || y != y || a == 0)
        return x != x || y != y ? real_settled((double)NAN, x, y) : 0;
    frexp(a, &n);
    x = ldexp(x, -n);
    y = ldexp(y, -n);
    return ldexp(dd_sqrt(dd_add(dd_product(x, x), dd_product(y, y))).hi, n);
}

/* x^y for finite x > 0 and finite y */
static double positive_pow(double x, double y)
{
    const int tiny = x < 0x1p-1000;
    struct dd l = real_log_dd(dd_of(tiny ? x * 0x1p100 : x));
    if (tiny)
        l = dd_subtract(l, dd_multiply(dd_of(100), LOG_2));
    const double rough = y * l.hi;
    if (!(fabs(rough) < 1000))
        return rough > 0 ? (double)INFINITY : 0;
    return exp_dd(dd_multiply(l, dd_of(y)));
}

/* Of x and y that are not NaN, x not 1, y not 0. */
static double pow_of_infinity(double x, double y)
{
    const double a = fabs(x);
    if (a == 1)
        return 1; /* -1 to the power of an infinity */
    return (a > 1) == (y > 0) ? (double)INFINITY : 0;
}

double real_pow(double x, double y)
{
    const double a = fabs(x), infinity = (double)INFINITY;
    if (x == 1 || y == 0)
        return 1;
    if (x != x || y != y)
        return real_settled((double)NAN, x, y);
    if (fabs(y) == infinity)
        return pow_of_infinity(x, y);
    const int whole = y == trunc(y), odd = whole && fmod(y, 2) != 0;
    if (x < 0 && a < infinity && !whole)
        return NAN_MADE;
    const double r =
        a == infinity || a == 0 ? ((a == 0) == (y > 0) ? 0 : infinity) : positive_pow(a, y);
    return signbit(x) && odd ? -r : r;
}

/* ---- erf ---- */

/* 2/sqrt(pi) x e^(-x^2) (1 + 2x^2/3 + (2x^2)^2/(3 5) ...), whose terms are positive. */
double real_erf(double x)
{
    const struct dd factor = {0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56}; /* 2 / sqrt(pi) */
    if (!(fabs(x) < 6))
        return x != x ? real_settled(x, x, x) : copysign(1, x);
    if (fabs(x) < TINY)
        return near_zero(x, dd_multiply(factor, dd_subtract(dd_of(x), dd_of(x * x * x / 3))).hi);
    const struct dd z = dd_product(x, x);
    struct dd term = ONE, sum = ONE;
    for (int n = 1; term.hi > sum.hi * 0x1p-108; n++) {
        term = dd_divide(dd_multiply(term, dd_scale(z, 1)), dd_of(2 * n + 1));
        sum = dd_add(sum, term);
    }
    int n;
    struct dd power = dd_add(ONE, exp_reduced(dd_negate(z), &n));
    power = dd_scale(power, n);
    return dd_multiply(dd_multiply(factor, dd_of(x)), dd_multiply(power, sum)).hi;
}
