/*
 * matrix: matrices in double for the plain implementation of LAPACK's routines and for QR factors:
 * column-major arrays of the real and the imaginary parts of the elements; real matrices have only
 * the first. Only operations that IEEE 754 defines are used, so that results have the same bits on
 * every machine. Private to kern.
 */
#ifndef HLO_KERN_MATRIX_H
#define HLO_KERN_MATRIX_H

#include "kern/kern.h"

#include <math.h>

struct matrix {
    int64_t rows, columns;
    double *re, *im;
};

/* The number of doubles that a rows x columns matrix of this type takes. */
static inline int64_t matrix_doubles(enum dtype t, int64_t rows, int64_t columns)
{
    return rows * columns * (dtype_is_complex(t) ? 2 : 1);
}

static inline struct matrix matrix_at(double *scratch, enum dtype t, int64_t rows, int64_t columns)
{
    double *im = dtype_is_complex(t) ? scratch + rows * columns : NULL;
    return (struct matrix){rows, columns, scratch, im};
}

/* The part of a column from a row on. */
static inline struct matrix matrix_part(const struct matrix *m, int64_t row, int64_t column)
{
    int64_t at = column * m->rows + row;
    return (struct matrix){m->rows - row, 1, m->re + at, m->im ? m->im + at : NULL};
}

/* By index in the column-major array. */
static inline struct c128 matrix_element(const struct matrix *m, int64_t i)
{
    return (struct c128){m->re[i], m->im ? m->im[i] : 0};
}
static inline void matrix_set_element(const struct matrix *m, int64_t i, struct c128 v)
{
    m->re[i] = v.re;
    if (m->im)
        m->im[i] = v.im;
}
static inline void matrix_swap(const struct matrix *m, int64_t i, int64_t j)
{
    const struct c128 v = matrix_element(m, i);
    matrix_set_element(m, i, matrix_element(m, j));
    matrix_set_element(m, j, v);
}
static inline void matrix_swap_columns(const struct matrix *m, int64_t i, int64_t j)
{
    for (int64_t k = 0; k < m->rows && i != j; k++)
        matrix_swap(m, i * m->rows + k, j * m->rows + k);
}
static inline struct c128 matrix_get(const struct matrix *m, int64_t row, int64_t column)
{
    return matrix_element(m, column * m->rows + row);
}
static inline void matrix_set(const struct matrix *m, int64_t row, int64_t column, struct c128 v)
{
    matrix_set_element(m, column * m->rows + row, v);
}

/* Divides n elements from index `first` on. */
static inline void matrix_divide(const struct matrix *x, int64_t first, int64_t n, struct c128 by)
{
    const double square = by.re * by.re + by.im * by.im;
    for (int64_t i = first; i < first + n; i++) {
        const double r = x->re[i];
        x->re[i] = x->im ? (r * by.re + x->im[i] * by.im) / square : r / by.re;
        if (x->im)
            x->im[i] = (x->im[i] * by.re - r * by.im) / square;
    }
}

/* out -= f x, for n elements at these indices */
static inline void matrix_subtract(const struct matrix *m, int64_t out, struct c128 f, int64_t x,
                                   int64_t n)
{
    double *a = m->re + out;
    const double *b = m->re + x;
    if (!m->im) {
        for (int64_t i = 0; i < n; i++)
            a[i] -= f.re * b[i];
        return;
    }
    double *ai = m->im + out;
    const double *bi = m->im + x;
    for (int64_t i = 0; i < n; i++) {
        a[i] -= f.re * b[i] - f.im * bi[i];
        ai[i] -= f.re * bi[i] + f.im * b[i];
    }
}

/* ---- householder.c ---- */

void matrix_load(const struct matrix *m, enum dtype t, const void *from);
void matrix_store(const struct matrix *m, enum dtype t, void *to);
void matrix_fill(const struct matrix *m, double value);
void matrix_set_identity(const struct matrix *m);
/* Multiplies by a power of two. */
void matrix_shift(const struct matrix *m, int exponent);
/* The largest absolute value of a component; not finite if one is not. */
double matrix_largest(const struct matrix *m);
/* Divides by 2^exponent, so that the largest component is about 1. False: one is not finite, and
 * nothing is changed; the exponent is 0. */
bool matrix_scale(const struct matrix *m, int *exponent);

/* Makes the vector x beta times the first unit vector: its first element becomes beta, which is
 * real, the others become those of v; returns tau. beta has the sign that is not that of the real
 * part of x[0] (-0 counts as positive). A vector that is reduced already is unchanged, with a tau
 * of 0. One with an element that is not finite becomes NaN. */
struct c128 matrix_make_reflector(const struct matrix *x);
/* x = (I - tau v v^H) x for the columns of m from `first` on, in the rows from `row` on; v[0] is
 * taken as 1. */
void matrix_reflect(const struct matrix *v, struct c128 tau, const struct matrix *m, int64_t row,
                    int64_t first);

/* ---- plain/lapack_factor.c ---- */

/* Reduces column k of a square matrix to Hessenberg form in the rows before `end`: H^H a H with the
 * reflector H, whose v replaces the elements below the subdiagonal and whose tau is returned.
 * `product`: scratch, a column. `z`: NULL, or a matrix to multiply by H from the right; then v
 * becomes zeros. */
struct c128 matrix_reduce_column(const struct matrix *a, int64_t k, int64_t end,
                                 const struct matrix *product, const struct matrix *z);
/* Makes a matrix Hermitian, from one triangle. */
void matrix_complete(const struct matrix *a, bool lower);

/* ---- plain/lapack_schur.c ---- */

/* A rotation G = (c, s; -conj(s), c): c is real. */
struct rotation {
    double c;
    struct c128 s;
};
/* The rotation that makes the second of two elements zero: G (x, y) = (r, 0). */
struct rotation matrix_make_rotation(struct c128 x, struct c128 y);
/* Multiplies `count` pairs of elements by G; their indices begin at `first` and `second`. */
void matrix_rotate(const struct matrix *m, int64_t first, int64_t second, int64_t step,
                   int64_t count, struct rotation g);

/* ---- complex numbers ---- */

static inline struct c128 c_conj(struct c128 a) { return (struct c128){a.re, -a.im}; }
static inline struct c128 c_add(struct c128 a, struct c128 b)
{
    return (struct c128){a.re + b.re, a.im + b.im};
}
static inline struct c128 c_sub(struct c128 a, struct c128 b)
{
    return (struct c128){a.re - b.re, a.im - b.im};
}
static inline struct c128 c_scale(struct c128 a, double f)
{
    return (struct c128){a.re * f, a.im * f};
}
static inline struct c128 c_mul(struct c128 a, struct c128 b)
{
    return (struct c128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
/* Scaled, so that no intermediate result overflows. */
static inline struct c128 c_div(struct c128 a, struct c128 b)
{
    if (b.im == 0)
        return (struct c128){a.re / b.re, a.im / b.re};
    const bool flat = fabs(b.re) >= fabs(b.im);
    const double r = flat ? b.im / b.re : b.re / b.im, d = flat ? b.re + b.im * r : b.im + b.re * r;
    return flat ? (struct c128){(a.re + a.im * r) / d, (a.im - a.re * r) / d}
                : (struct c128){(a.re * r + a.im) / d, (a.im * r - a.re) / d};
}
/* |re| + |im|, by which LAPACK compares pivots. */
static inline double c_size(struct c128 a) { return fabs(a.re) + fabs(a.im); }
static inline double hypotenuse(double a, double b)
{
    const double x = fabs(a), y = fabs(b), max = x > y ? x : y, r = x > y ? y / x : x / y;
    return max == 0 ? 0 : max * sqrt(1 + r * r);
}
static inline double c_abs(struct c128 a)
{
    return a.im == 0 ? fabs(a.re) : hypotenuse(a.re, a.im);
}

#endif
