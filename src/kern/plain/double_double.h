/*
 * double_double.h: numbers of twice the precision of f64, as the unevaluated sum of two, of which
 * the second is at most half an ulp of the first. Relative errors are about 2^-104. Private to
 * plain.
 */
#ifndef HLO_KERN_PLAIN_DOUBLE_DOUBLE_H
#define HLO_KERN_PLAIN_DOUBLE_DOUBLE_H

#include <math.h>

struct dd {
    double hi, lo;
};

static inline struct dd dd_of(double x) { return (struct dd){x, 0}; }

static inline struct dd dd_negate(struct dd a) { return (struct dd){-a.hi, -a.lo}; }

/* Exact. |a| >= |b|, or a is 0. */
static inline struct dd dd_ordered_sum(double a, double b)
{
    const double s = a + b;
    return (struct dd){s, b - (s - a)};
}

/* Exact. */
static inline struct dd dd_sum(double a, double b)
{
    const double s = a + b, t = s - a;
    return (struct dd){s, (a - (s - t)) + (b - t)};
}

/* Exact, unless the error is subnormal. */
static inline struct dd dd_product(double a, double b)
{
    const double p = a * b;
    return (struct dd){p, fma(a, b, -p)};
}

static inline struct dd dd_add(struct dd a, struct dd b)
{
    struct dd s = dd_sum(a.hi, b.hi);
    const struct dd t = dd_sum(a.lo, b.lo);
    s = dd_ordered_sum(s.hi, s.lo + t.hi);
    return dd_ordered_sum(s.hi, s.lo + t.lo);
}

static inline struct dd dd_subtract(struct dd a, struct dd b) { return dd_add(a, dd_negate(b)); }

static inline struct dd dd_multiply(struct dd a, struct dd b)
{
    const struct dd p = dd_product(a.hi, b.hi);
    return dd_ordered_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline struct dd dd_divide(struct dd a, struct dd b)
{
    const double first = a.hi / b.hi;
    struct dd rest = dd_subtract(a, dd_multiply(b, dd_of(first)));
    const double second = rest.hi / b.hi;
    rest = dd_subtract(rest, dd_multiply(b, dd_of(second)));
    const struct dd q = dd_ordered_sum(first, second);
    return dd_add(q, dd_of(rest.hi / b.hi));
}

/* a >= 0 */
static inline struct dd dd_sqrt(struct dd a)
{
    const double root = sqrt(a.hi);
    if (root == 0)
        return dd_of(root);
    const struct dd rest = dd_subtract(a, dd_product(root, root));
    return dd_ordered_sum(root, rest.hi / (2 * root));
}

/* Times 2^n; exact, unless a result is subnormal. */
static inline struct dd dd_scale(struct dd a, int n)
{
    return (struct dd){ldexp(a.hi, n), ldexp(a.lo, n)};
}
static inline struct dd dd_times(struct dd a, double power) /* of two */
{
    return (struct dd){a.hi * power, a.lo * power};
}

#endif
