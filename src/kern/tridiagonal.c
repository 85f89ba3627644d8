/*
 * spec: CustomCall
 *
 * Tridiagonal systems that may be singular, for inverse iteration: elimination with scaled partial
 * pivoting, where a pivot that is too small to divide by is moved away from zero (after LAPACK's
 * lagtf and lagts, which have no complex form). As documented by JAX, and as observed with jaxlib
 * 0.10.2: a pivot u becomes u + p, p = eps max|U| with the sign of u's real part, where |u| is
 * below the smallest normal number, or the quotient would overflow; then u + 2p, and so on. The
 * max|U| of jaxlib is sometimes smaller.
 */
#include "kern/lapack.h"
#include "kern/matrix.h"
#include "kern/plain/function.h"

#include <float.h>

struct system {
    bool wide;
    double tiny, eps;
    int64_t n;
    struct c128 *dl, *d, *du, *du2; /* du2: fill-in of pivoting */
    struct c128 *x;                 /* right-hand side, then the solution */
};

/* A number rounded to the routine's type, as every result is. */
static struct c128 rounded(const struct system *s, double re, double im)
{
    return s->wide ? (struct c128){re, im} : (struct c128){(double)(float)re, (double)(float)im};
}

static struct c128 minus_product(const struct system *s, struct c128 a, struct c128 b,
                                 struct c128 c)
{
    struct c128 p = rounded(s, b.re * c.re - b.im * c.im, b.re * c.im + b.im * c.re);
    return rounded(s, a.re - p.re, a.im - p.im);
}

static struct c128 quotient(const struct system *s, struct c128 a, struct c128 b)
{
    const struct c128 q = c_div(a, b);
    return rounded(s, q.re, q.im);
}

static double size_of(struct c128 v) { return v.im == 0 ? fabs(v.re) : real_hypot(v.re, v.im); }

static void swap(struct c128 *a, struct c128 *b)
{
    struct c128 t = *a;
    *a = *b;
    *b = t;
}

/* Eliminates; of two rows the one whose first element is larger relative to its others is the pivot
 * row (LAPACK's lagtf). */
static void eliminate(struct system *s)
{
    double scale = size_of(s->d[0]) + (s->n > 1 ? size_of(s->du[0]) : 0);
    for (int64_t i = 0; i + 1 < s->n; i++) {
        bool more = i + 2 < s->n;
        double below = size_of(s->dl[i + 1]),
               next = below + size_of(s->d[i + 1]) + (more ? size_of(s->du[i + 1]) : 0);
        double here = size_of(s->d[i]) == 0 ? 0 : size_of(s->d[i]) / scale;
        if (below == 0 || below / next <= here) {
            scale = next;
        } else { /* swap the rows */
            swap(&s->d[i], &s->dl[i + 1]);
            swap(&s->du[i], &s->d[i + 1]);
            swap(&s->x[i], &s->x[i + 1]);
            if (more)
                swap(&s->du2[i], &s->du[i + 1]);
        }
        if (below == 0)
            continue;
        struct c128 f = quotient(s, s->dl[i + 1], s->d[i]);
        s->d[i + 1] = minus_product(s, s->d[i + 1], f, s->du[i]);
        if (more)
            s->du[i + 1] = minus_product(s, s->du[i + 1], f, s->du2[i]);
        s->x[i + 1] = minus_product(s, s->x[i + 1], f, s->x[i]);
    }
}

static double largest(const struct system *s)
{
    double max = 0;
    for (int64_t i = 0; i < s->n; i++) {
        struct c128 row[] = {s->d[i], s->du[i], s->du2[i]};
        for (int64_t k = 0; k < 3 && i + k < s->n; k++)
            max = fmax(max, size_of(row[k]));
    }
    return max;
}

static void substitute_back(struct system *s)
{
    double min = fmax(s->eps * largest(s), s->tiny), huge = 1 / s->tiny;
    for (int64_t i = s->n - 1; i >= 0; i--) {
        struct c128 v = s->x[i], u = s->d[i];
        if (i + 1 < s->n)
            v = minus_product(s, v, s->du[i], s->x[i + 1]);
        if (i + 2 < s->n)
            v = minus_product(s, v, s->du2[i], s->x[i + 2]);
        double p = copysign(min, u.re);
        for (; size_of(u) < s->tiny || (size_of(u) < 1 && size_of(v) > size_of(u) * huge); p *= 2)
            u = rounded(s, u.re + p, u.im);
        s->x[i] = quotient(s, v, u);
    }
}

/* dl, d, du: n each, the diagonals (dl[0] and the last of du are outside of the matrix); x: n x m,
 * right-hand sides -> solutions. */
void lapack_gtsp(struct lapack_item *it)
{
    int64_t n = it->rows[1], step = (int64_t)dtype_bytes(it->type);
    struct system s = {.wide = dtype_component(it->type) == DT_F64, .n = n};
    s.tiny = s.wide ? DBL_MIN : (double)FLT_MIN;
    s.eps = s.wide ? DBL_EPSILON : (double)FLT_EPSILON;
    s.dl = lapack_extra(it, 5 * n, sizeof *s.dl);
    if (!s.dl)
        return;
    s.d = s.dl + n;
    s.du = s.d + n;
    s.du2 = s.du + n;
    s.x = s.du2 + n;
    for (int64_t column = 0; column < it->columns[3]; column++) {
        char *x = (char *)it->x[3] + column * n * step;
        for (int64_t i = 0; i < n; i++) {
            s.dl[i] = lapack_load(it->type, (char *)it->x[0] + i * step);
            s.d[i] = lapack_load(it->type, (char *)it->x[1] + i * step);
            s.du[i] = lapack_load(it->type, (char *)it->x[2] + i * step);
            s.du2[i] = (struct c128){0, 0};
            s.x[i] = lapack_load(it->type, x + i * step);
        }
        eliminate(&s);
        substitute_back(&s);
        for (int64_t i = 0; i < n; i++)
            lapack_store(it->type, x + i * step, s.x[i]);
    }
}
