/*
 * spec: CustomCall
 *
 * QR factors as products of Householder reflectors H = I - tau v v^H, as XLA's custom calls `Qr`
 * and `ProductOfElementaryHouseholderReflectors` define them: v is 1 at its pivot and 0 above it.
 * LAPACK computes large matrices of finite, not extreme numbers; all others, and all matrices of a
 * plain run or without OpenBLAS, are computed here in double and rounded once at the end.
 */
#include "kern/lapack.h"

#include "kern/blas.h"
#include "kern/matrix.h"

#include <math.h>
#include <stdlib.h>

void matrix_load(const struct matrix *m, enum dtype t, const void *from)
{
    for (int64_t i = 0, n = m->rows * m->columns; i < n; i++)
        matrix_set_element(m, i, lapack_load(t, (const char *)from + i * (int64_t)dtype_bytes(t)));
}

void matrix_store(const struct matrix *m, enum dtype t, void *to)
{
    for (int64_t i = 0, n = m->rows * m->columns; i < n; i++)
        lapack_store(t, (char *)to + i * (int64_t)dtype_bytes(t), matrix_element(m, i));
}

/* ---- one reflector ---- */

/* Whether the vector is a real multiple of the first unit vector. */
static bool is_reduced(const struct matrix *x)
{
    for (int64_t i = 1; i < x->rows; i++)
        if (x->re[i] != 0 || (x->im && x->im[i] != 0))
            return false;
    return !x->im || x->im[0] == 0;
}

double matrix_largest(const struct matrix *x)
{
    double max = 0;
    for (int64_t i = 0, n = x->rows * x->columns; i < n; i++) {
        double re = fabs(x->re[i]), im = x->im ? fabs(x->im[i]) : 0;
        if (!isfinite(re) || !isfinite(im))
            return INFINITY;
        max = fmax(max, fmax(re, im));
    }
    return max;
}

void matrix_fill(const struct matrix *x, double value)
{
    for (int64_t i = 0, n = x->rows * x->columns; i < n; i++) {
        x->re[i] = value;
        if (x->im)
            x->im[i] = value;
    }
}

void matrix_set_identity(const struct matrix *m)
{
    matrix_fill(m, 0);
    for (int64_t k = 0; k < m->rows && k < m->columns; k++)
        matrix_set(m, k, k, (struct c128){1, 0});
}

void matrix_shift(const struct matrix *x, int exponent)
{
    for (int64_t i = 0, n = x->rows * x->columns; i < n; i++) {
        x->re[i] = ldexp(x->re[i], exponent);
        if (x->im)
            x->im[i] = ldexp(x->im[i], exponent);
    }
}

bool matrix_scale(const struct matrix *m, int *exponent)
{
    const double max = matrix_largest(m);
    *exponent = 0;
    if (!isfinite(max))
        return false;
    frexp(max, exponent);
    matrix_shift(m, -*exponent);
    return true;
}

static double norm_of(const struct matrix *x)
{
    double sum = 0;
    for (int64_t i = 0; i < x->rows; i++)
        sum += x->re[i] * x->re[i] + (x->im ? x->im[i] * x->im[i] : 0);
    return sqrt(sum);
}

struct c128 matrix_make_reflector(const struct matrix *x)
{
    /* squares of numbers between 2^-400 and 2^400 can be summed without overflow */
    enum { SAFE = 400 };
    int exponent = 0;
    if (is_reduced(x))
        return (struct c128){0, 0};
    const double max = matrix_largest(x);
    if (!isfinite(max)) {
        matrix_fill(x, NAN);
        return (struct c128){NAN, NAN};
    }
    frexp(max, &exponent);
    exponent = abs(exponent) > SAFE ? exponent : 0;
    if (exponent != 0)
        matrix_shift(x, -exponent);
    const double re = x->re[0], im = x->im ? x->im[0] : 0, norm = norm_of(x);
    const double beta = re < 0 ? norm : -norm;
    matrix_divide(x, 1, x->rows - 1, (struct c128){re - beta, im});
    x->re[0] = ldexp(beta, exponent);
    if (x->im)
        x->im[0] = 0;
    return (struct c128){(beta - re) / beta, -im / beta};
}

/* Sums are split into parts for different lanes. */
enum { LANES = 8 };

static double sum_of(const double *parts)
{
    double sum = 0;
    for (int k = 0; k < LANES; k++)
        sum += parts[k];
    return sum;
}

static double dot(const double *x, const double *y, int64_t n)
{
    double parts[LANES] = {0}, rest = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            parts[k] += x[i + k] * y[i + k];
    for (; i < n; i++)
        rest += x[i] * y[i];
    return sum_of(parts) + rest;
}

static void add_multiple(double *out, double factor, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] += factor * x[i];
}

/* x = (I - tau v v^H) x for one vector. */
static void reflect(const struct matrix *v, struct c128 tau, const struct matrix *x)
{
    const int64_t n = v->rows - 1;
    double re = x->re[0] + dot(v->re + 1, x->re + 1, n);
    if (!v->im) {
        re *= tau.re;
        x->re[0] -= re;
        add_multiple(x->re + 1, -re, v->re + 1, n);
        return;
    }
    re += dot(v->im + 1, x->im + 1, n);
    double im = x->im[0] + dot(v->re + 1, x->im + 1, n) - dot(v->im + 1, x->re + 1, n);
    struct c128 f = {tau.re * re - tau.im * im, tau.re * im + tau.im * re};
    x->re[0] -= f.re;
    x->im[0] -= f.im;
    add_multiple(x->re + 1, -f.re, v->re + 1, n);
    add_multiple(x->re + 1, f.im, v->im + 1, n);
    add_multiple(x->im + 1, -f.re, v->im + 1, n);
    add_multiple(x->im + 1, -f.im, v->re + 1, n);
}

void matrix_reflect(const struct matrix *v, struct c128 tau, const struct matrix *m, int64_t row,
                    int64_t first)
{
    for (int64_t j = first; j < m->columns; j++) {
        const struct matrix x = matrix_part(m, row, j);
        reflect(v, tau, &x);
    }
}

/* ---- matrices computed by LAPACK ---- */

/* number of multiplications from which on loading the library pays off */
enum { MIN_FOR_LAPACK = 1 << 16 };

/* Whether all elements are so far from overflow that LAPACK gives finite results. Clears the signs
 * of zeros: for LAPACK the sign of beta depends on them. */
static bool prepare_for_lapack(enum dtype t, char *x, int64_t count)
{
    const double max = dtype_component(t) == DT_F64 ? 0x1p500 : 0x1p60;
    for (int64_t i = 0; i < count; i++) {
        struct c128 v = lapack_load(t, x + i * (int64_t)dtype_bytes(t));
        if (!(fabs(v.re) <= max && fabs(v.im) <= max))
            return false;
        v.re += 0.0;
        v.im += 0.0;
        lapack_store(t, x + i * (int64_t)dtype_bytes(t), v);
    }
    return true;
}

static bool left_to_lapack(const struct lapack_item *it)
{
    const int64_t m = it->rows[0], n = it->columns[0], count = it->rows[1];
    return !it->plain && m * n >= MIN_FOR_LAPACK / at_least_one((fint)count) && blas_is_there() &&
           prepare_for_lapack(it->type, it->x[0], m * n) &&
           prepare_for_lapack(it->type, it->x[1], count);
}

/* ---- entry points ---- */

/* a: m x n -> R on and above the diagonal, the reflectors' v below it; tau: min(m,n). The
 * reflectors' product, in order, times R is a. */
void lapack_householder_qr(struct lapack_item *it)
{
    const int64_t m = it->rows[0], n = it->columns[0], step = (int64_t)dtype_bytes(it->type);
    if (left_to_lapack(it)) {
        lapack_geqrf(it);
        return;
    }
    double *scratch = lapack_extra(it, matrix_doubles(it->type, m, n), sizeof *scratch);
    if (!scratch)
        return;
    struct matrix a = matrix_at(scratch, it->type, m, n);
    matrix_load(&a, it->type, it->x[0]);
    for (int64_t k = 0; k < it->rows[1]; k++) {
        struct matrix v = matrix_part(&a, k, k);
        struct c128 tau = matrix_make_reflector(&v);
        matrix_reflect(&v, c_conj(tau), &a, k, k + 1);
        lapack_store(it->type, (char *)it->x[1] + k * step, tau);
    }
    matrix_store(&a, it->type, it->x[0]);
}

/* a: m x n, n <= m, below its diagonal the reflectors' v; tau: one for each -> the first n columns
 * of the reflectors' product, in order. */
void lapack_householder_product(struct lapack_item *it)
{
    const int64_t m = it->rows[0], n = it->columns[0], step = (int64_t)dtype_bytes(it->type);
    if (left_to_lapack(it)) {
        lapack_orgqr(it);
        return;
    }
    const int64_t size = matrix_doubles(it->type, m, n);
    double *scratch = lapack_extra(it, 2 * size, sizeof *scratch);
    if (!scratch)
        return;
    struct matrix a = matrix_at(scratch, it->type, m, n),
                  q = matrix_at(scratch + size, it->type, m, n);
    matrix_load(&a, it->type, it->x[0]);
    matrix_set_identity(&q);
    for (int64_t k = it->rows[1] - 1; k >= 0; k--) {
        struct c128 tau = lapack_load(it->type, (char *)it->x[1] + k * step);
        struct matrix v = matrix_part(&a, k, k);
        matrix_reflect(&v, tau, &q, k, k);
    }
    matrix_store(&q, it->type, it->x[0]);
}
