/*
 * Elementary functions of c128 (function.h), from those of f64. spec: C99, Annex G.6.
 *
 * The functions of Kahan, "Branch Cuts for Complex Elementary Functions" (1987).
 */
#include "kern/plain/function.h"

#include <stdbool.h>

static const double INF = (double)INFINITY;

#define BOTH_NAN ((struct c128){NAN_MADE, NAN_MADE})

static bool is_finite(struct c128 x) { return isfinite(x.re) && isfinite(x.im); }

/* x i and x / i: functions of the circle are hyperbolic functions of the turned argument. */
static struct c128 times_i(struct c128 x) { return (struct c128){-x.im, x.re}; }
static struct c128 over_i(struct c128 x) { return (struct c128){x.im, -x.re}; }

/* a * 2^n * b, rounded once unless it is subnormal; a is of moderate size. */
static double scaled(double a, int n, double b)
{
    int shift;
    const double mantissa = frexp(b, &shift);
    return ldexp(a * mantissa, n + shift);
}

/* ---- exp, log ---- */

struct c128 complex_exp(struct c128 x)
{
    if (x.im == 0)
        return (struct c128){real_exp(x.re), x.im};
    if (!isfinite(x.im))
        return x.re == -INF  ? (struct c128){0, copysign(0, x.im)}
               : x.re == INF ? (struct c128){INF, NAN_MADE}
                             : BOTH_NAN;
    const double c = real_cos(x.im), s = real_sin(x.im);
    if (fabs(x.re) < 10000) {
        int n;
        const double e = real_exp_scaled(x.re, &n);
        return (struct c128){scaled(e, n, c), scaled(e, n, s)};
    }
    const double e = real_exp(x.re);
    return (struct c128){e * c, e * s};
}

/* log |x| of a finite x that is not 0 */
static double log_of_size(struct c128 x)
{
    int n;
    frexp(fmax(fabs(x.re), fabs(x.im)), &n);
    n = n == 0 || n == 1 ? 0 : n;
    const double a = ldexp(x.re, -n), b = ldexp(x.im, -n);
    const struct dd first = dd_product(a, a), second = dd_product(b, b);
    const struct dd square = dd_add(first, second);
    if (n == 0 && square.hi > 0.5 && square.hi < 2) {
        const struct dd less = fabs(a) > fabs(b) ? dd_add(dd_subtract(first, dd_of(1)), second)
                                                 : dd_add(dd_subtract(second, dd_of(1)), first);
        return real_log1p_dd(less).hi / 2;
    }
    const struct dd power = real_log_dd(dd_of(2));
    return dd_add(dd_scale(real_log_dd(square), -1), dd_multiply(dd_of(n), power)).hi;
}

struct c128 complex_log(struct c128 x)
{
    const double angle = real_atan2(x.im, x.re);
    if (is_finite(x) && (x.re != 0 || x.im != 0))
        return (struct c128){log_of_size(x), angle};
    return (struct c128){real_log(real_hypot(x.re, x.im)), angle};
}

/* ---- square roots ---- */

/* In twice the precision, without scaling; for functions below. */
struct complex_dd {
    struct dd re, im;
};

/* Of a finite number; im may be -0, which selects the side of the branch cut. */
static struct complex_dd sqrt_dd(struct dd re, struct dd im)
{
    int n;
    if (re.hi == 0 && im.hi == 0)
        return (struct complex_dd){dd_of(0), im};
    frexp(fmax(fabs(re.hi), fabs(im.hi)), &n);
    n &= ~1;
    re = dd_scale(re, -n);
    const struct dd y = dd_scale(im, -n);
    const struct dd size = dd_sqrt(dd_add(dd_multiply(re, re), dd_multiply(y, y)));
    const struct dd a = re.hi < 0 ? dd_negate(re) : re;
    const struct dd more = dd_scale(dd_sqrt(dd_scale(dd_add(size, a), -1)), n / 2);
    struct dd less = im.hi == 0 ? im : dd_divide(im, dd_scale(more, 1));
    if (re.hi >= 0)
        return (struct complex_dd){more, less};
    less = signbit(im.hi) ? dd_negate(less) : less;
    return (struct complex_dd){less, signbit(im.hi) ? dd_negate(more) : more};
}

struct c128 complex_sqrt(struct c128 x)
{
    if (fabs(x.im) == INF)
        return (struct c128){INF, x.im};
    if (x.re == INF)
        return (struct c128){INF, x.im == x.im ? copysign(0, x.im) : x.im};
    if (x.re == -INF)
        return x.im == x.im ? (struct c128){0, copysign(INF, x.im)} : (struct c128){x.im, INF};
    if (!is_finite(x))
        return BOTH_NAN;
    const struct complex_dd r = sqrt_dd(dd_of(x.re), dd_of(x.im));
    return (struct c128){fabs(r.re.hi), copysign(r.im.hi, x.im)};
}

/* ---- hyperbolic functions ---- */

/* sinh and cosh of x as 2^n times numbers of moderate size; for |x| >= 40 these are e^|x| / 2. */
struct hyperbolic {
    double sinh, cosh;
    int n;
};
static struct hyperbolic hyperbolic_of(double x)
{
    if (fabs(x) < 40)
        return (struct hyperbolic){real_sinh(x), real_cosh(x), 0};
    int n;
    const double e = real_exp_scaled(fmin(fabs(x), 9999), &n);
    return (struct hyperbolic){copysign(e, x), e, n - 1};
}

/* sinh x cos y + i cosh x sin y */
struct c128 complex_sinh(struct c128 x)
{
    if (x.im == 0)
        return (struct c128){real_sinh(x.re), x.im};
    if (!isfinite(x.im))
        return (struct c128){x.re == 0 || fabs(x.re) == INF ? x.re : NAN_MADE, NAN_MADE};
    if (x.re != x.re)
        return BOTH_NAN;
    const struct hyperbolic h = hyperbolic_of(x.re);
    return (struct c128){scaled(h.sinh, h.n, real_cos(x.im)), scaled(h.cosh, h.n, real_sin(x.im))};
}

/* cosh x cos y + i sinh x sin y */
struct c128 complex_cosh(struct c128 x)
{
    if (x.im == 0)
        return (struct c128){real_cosh(x.re), x.re == x.re ? copysign(1, x.re) * x.im : x.im};
    if (!isfinite(x.im))
        return x.re == 0 ? (struct c128){NAN_MADE, 0}
                         : (struct c128){fabs(x.re) == INF ? INF : NAN_MADE, NAN_MADE};
    if (x.re != x.re)
        return BOTH_NAN;
    const struct hyperbolic h = hyperbolic_of(x.re);
    return (struct c128){scaled(h.cosh, h.n, real_cos(x.im)), scaled(h.sinh, h.n, real_sin(x.im))};
}

/* (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y) */
struct c128 complex_tanh(struct c128 x)
{
    if (x.im == 0)
        return (struct c128){real_tanh(x.re), x.im};
    if (!isfinite(x.im))
        return fabs(x.re) == INF ? (struct c128){copysign(1, x.re), copysign(0, x.im)}
                                 : (struct c128){x.re == 0 ? x.re : NAN_MADE, NAN_MADE};
    if (x.re != x.re)
        return BOTH_NAN;
    const double c = real_cos(x.im), s = real_sin(x.im);
    if (fabs(x.re) > 40)
        return (struct c128){copysign(1, x.re), 4 * s * c * real_exp(-2 * fabs(x.re))};
    const struct dd sinh = dd_of(real_sinh(x.re)), cosh = dd_of(real_cosh(x.re));
    const struct dd by = dd_add(dd_multiply(sinh, sinh), dd_product(c, c));
    return (struct c128){copysign(dd_divide(dd_multiply(sinh, cosh), by).hi, x.re),
                         dd_divide(dd_product(s, c), by).hi};
}

/* ---- functions of the circle ---- */

struct c128 complex_sin(struct c128 x) { return over_i(complex_sinh(times_i(x))); }
struct c128 complex_cos(struct c128 x) { return complex_cosh(times_i(x)); }
struct c128 complex_tan(struct c128 x) { return over_i(complex_tanh(times_i(x))); }

/* ---- inverse functions ---- */

/* For |x| or |y| above it, sqrt(1 - x) and sqrt(1 + x) are those of -x and x, up to rounding. */
static const double LARGE = 0x1p120;

static double asinh_of(struct dd v)
{
    if (fabs(v.hi) > LARGE)
        return real_asinh(v.hi);
    return fabs(v.hi) < 0x1p-300 ? v.hi : real_asinh_dd(v).hi;
}

/* Im conj(a) b */
static struct dd cross(struct complex_dd a, struct complex_dd b)
{
    return dd_subtract(dd_multiply(a.re, b.im), dd_multiply(a.im, b.re));
}

/* sqrt(1 + s x) */
static struct complex_dd root_of_one_and(double s, struct c128 x)
{
    return sqrt_dd(dd_sum(1, s * x.re), dd_of(s * x.im));
}

struct c128 complex_acos(struct c128 x)
{
    if (fabs(x.re) == INF || fabs(x.im) == INF) {
        const double angle = real_atan2(fabs(x.im), x.re);
        return (struct c128){angle, x.im == x.im ? copysign(INF, signbit(x.im) ? 1 : -1) : -INF};
    }
    if (!is_finite(x))
        return (struct c128){x.re == 0 ? 0x1.921fb54442d18p+0 : NAN_MADE, NAN_MADE};
    const struct complex_dd less = root_of_one_and(-1, x), more = root_of_one_and(1, x);
    const struct dd half = less.re.hi == 0 ? dd_of(0) : real_atan2_dd(less.re, more.re);
    return (struct c128){2 * half.hi,
                         copysign(asinh_of(cross(more, less)), signbit(x.im) ? 1 : -1)};
}

struct c128 complex_asin(struct c128 x)
{
    if (fabs(x.re) == INF || fabs(x.im) == INF)
        return (struct c128){copysign(real_atan2(fabs(x.re), fabs(x.im)), x.re),
                             x.im == x.im ? copysign(INF, x.im) : INF};
    if (!is_finite(x))
        return (struct c128){x.re == 0 ? x.re : NAN_MADE, NAN_MADE};
    const struct complex_dd less = root_of_one_and(-1, x), more = root_of_one_and(1, x);
    const struct dd leg = dd_subtract(dd_multiply(less.re, more.re), dd_multiply(less.im, more.im));
    const double angle = x.re == 0 ? x.re : real_atan2_dd(dd_of(x.re), leg).hi;
    return (struct c128){copysign(angle, x.re), copysign(asinh_of(cross(less, more)), x.im)};
}

struct c128 complex_asinh(struct c128 x) { return over_i(complex_asin(times_i(x))); }

/* i times acos, with the sign that makes the real part positive. */
struct c128 complex_acosh(struct c128 x)
{
    const struct c128 a = complex_acos(x);
    return (struct c128){fabs(a.im), copysign(a.re, x.im)};
}

/* 1/4 log(1 + 4x / ((1 - x)^2 + y^2)) + i/2 atan2(2y, (1 - x)(1 + x) - y^2), for x >= 0 */
struct c128 complex_atanh(struct c128 x)
{
    const double a = fabs(x.re), b = fabs(x.im), quarter = 0x1.921fb54442d18p+0; /* of the circle */
    if (a == INF || b == INF)
        return (struct c128){copysign(0, x.re), x.im == x.im ? copysign(quarter, x.im) : x.im};
    if (!is_finite(x))
        return (struct c128){x.re == 0 ? x.re : NAN_MADE, NAN_MADE};
    if (a > LARGE || b > LARGE) { /* 1 / x */
        const double size = real_hypot(a, b);
        return (struct c128){copysign(a / size / size, x.re), copysign(quarter, x.im)};
    }
    if (a == 1 && b < 0x1p-400)
        return (struct c128){copysign(b == 0 ? INF : (real_log(2) - real_log(b)) / 2, x.re),
                             b == 0 ? x.im : copysign(quarter / 2, x.im)};
    const struct dd less = dd_sum(1, -a), more = dd_sum(1, a), square = dd_product(b, b);
    const struct dd by = dd_add(dd_multiply(less, less), square);
    const double size =
        a < 0x1p-300 ? a / by.hi : real_log1p_dd(dd_divide(dd_of(4 * a), by)).hi / 4;
    const struct dd leg = dd_subtract(dd_multiply(less, more), square);
    const double angle = b == 0 ? (a > 1 ? 2 * quarter : 0) : real_atan2_dd(dd_of(2 * b), leg).hi;
    return (struct c128){copysign(size, x.re), copysign(angle / 2, x.im)};
}
