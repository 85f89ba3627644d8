/*
 * spec: Cholesky, TriangularSolve
 *
 * Cholesky factors and triangular systems (grammar/values.md 13.5, 13.6), in double, rounded at the
 * end.
 *
 * A matrix is two row-major arrays of double, its real and its imaginary parts; real matrices have
 * only the first.
 */
#include "kern/plain/function.h"
#include "kern/plain/plain.h"

#include <math.h>

struct matrix {
    int64_t rows, columns;
    double *re, *im;
};

static bool matrix_new(struct matrix *m, int64_t rows, int64_t columns, bool complex)
{
    int64_t n, bytes;
    if (!mul_i64(rows, columns, &n) ||
        !mul_i64(n, (int64_t)sizeof(double) * (complex ? 2 : 1), &bytes))
        return false;
    *m = (struct matrix){rows, columns, mem_alloc((size_t)bytes + 1), NULL};
    if (complex && m->re)
        m->im = m->re + n;
    return m->re != NULL;
}

static void load_element(enum dtype t, const char *at, double *re, double *im)
{
    if (t == DT_C64) {
        struct c64 v;
        memcpy(&v, at, sizeof v);
        *re = (double)v.re;
        *im = (double)v.im;
    } else if (t == DT_C128) {
        struct c128 v;
        memcpy(&v, at, sizeof v);
        *re = v.re;
        *im = v.im;
    } else {
        *re = float_load(t, at);
    }
}

static void store_element(enum dtype t, char *at, double re, double im)
{
    re = re == re ? re : NAN_MADE;
    im = im == im ? im : NAN_MADE;
    if (t == DT_C64) {
        struct c64 v = {(float)re, (float)im};
        memcpy(at, &v, sizeof v);
    } else if (t == DT_C128) {
        struct c128 v = {re, im};
        memcpy(at, &v, sizeof v);
    } else {
        float_store(t, at, re);
    }
}

/* Loads the matrix at `data` of a view's last two dimensions, or stores it there. */
static void move(struct matrix *m, const struct view *v, char *data, bool transpose, bool load)
{
    double ignored = 0;
    int64_t down = v->strides[v->rank - 2], across = v->strides[v->rank - 1];
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t j = 0; j < m->columns; j++) {
            const int64_t k = i * m->columns + j;
            char *at = data + (transpose ? j * down + i * across : i * down + j * across);
            double *im = m->im ? &m->im[k] : &ignored;
            if (load)
                load_element(v->dtype, at, &m->re[k], im);
            else
                store_element(v->dtype, at, m->re[k], *im);
        }
}

/* ---- cholesky: row by row, each entry by the formula of grammar/values.md 13.5 ---- */

/* a_ij - sum over k < j of l_ik * conj(l_jk) */
static void reduced_entry(const struct matrix *m, int64_t i, int64_t j, double *re, double *im)
{
    const double *x = m->re + i * m->columns, *y = m->re + j * m->columns;
    double r = x[j], c = 0;
    if (!m->im) {
        for (int64_t k = 0; k < j; k++)
            r -= x[k] * y[k];
    } else {
        const double *xi = m->im + i * m->columns, *yi = m->im + j * m->columns;
        c = xi[j];
        for (int64_t k = 0; k < j; k++) {
            r -= x[k] * y[k] + xi[k] * yi[k];
            c -= xi[k] * y[k] - x[k] * yi[k];
        }
    }
    *re = r;
    *im = c;
}

static void fill_nan(struct matrix *m)
{
    for (int64_t k = 0; k < m->rows * m->columns; k++) {
        m->re[k] = NAN;
        if (m->im)
            m->im[k] = NAN;
    }
}

static void factor(struct matrix *m)
{
    double re, im;
    int64_t n = m->columns;
    for (int64_t j = 0; j < n; j++) {
        reduced_entry(m, j, j, &re, &im);
        double root = sqrt(re);
        if (isnan(root)) {
            fill_nan(m);
            return;
        }
        for (int64_t i = j; i < n; i++) {
            reduced_entry(m, i, j, &re, &im);
            m->re[i * n + j] = n == 1 ? root : re / root;
            if (m->im)
                m->im[i * n + j] = n == 1 ? 0 : im / root;
        }
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) {
            m->re[i * n + j] = 0;
            if (m->im)
                m->im[i * n + j] = 0;
        }
}

bool plain_cholesky(struct thread_pool *workers, const struct view *out, const struct view *a,
                    bool lower)
{
    struct matrix m;
    int64_t index[VIEW_MAX_RANK] = {0};
    if (view_elements(a) == 0)
        return true;
    if (!matrix_new(&m, a->dims[a->rank - 1], a->dims[a->rank - 1], dtype_is_complex(a->dtype)))
        return false;
    do {
        move(&m, a, view_at(a, index), !lower, true);
        factor(&m);
        move(&m, out, view_at(out, index), !lower, false);
    } while (index_next(a->rank - 2, a->dims, index));
    mem_free(m.re);
    return true;
}

/* ---- triangular systems ---- */

/* row -= factor * other */
static void subtract_row(struct matrix *x, int64_t row, int64_t other, double re, double im)
{
    double *a = x->re + row * x->columns;
    const double *b = x->re + other * x->columns;
    if (!x->im) {
        for (int64_t k = 0; k < x->columns; k++)
            a[k] -= re * b[k];
        return;
    }
    double *ai = x->im + row * x->columns;
    const double *bi = x->im + other * x->columns;
    for (int64_t k = 0; k < x->columns; k++) {
        a[k] -= re * b[k] - im * bi[k];
        ai[k] -= re * bi[k] + im * b[k];
    }
}

static void divide_row(struct matrix *x, int64_t row, double re, double im)
{
    double *a = x->re + row * x->columns, *ai = x->im ? x->im + row * x->columns : NULL;
    double square = re * re + im * im;
    for (int64_t k = 0; k < x->columns; k++) {
        if (!ai) {
            a[k] /= re;
            continue;
        }
        double r = (a[k] * re + ai[k] * im) / square, c = (ai[k] * re - a[k] * im) / square;
        a[k] = r;
        ai[k] = c;
    }
}

/* Solves m x = b in place; `lower`: the triangle of m, as stored, that is used. */
static void substitute(const struct matrix *m, struct matrix *x, bool lower, bool unit,
                       bool conjugate)
{
    int64_t n = m->rows;
    for (int64_t step = 0; step < n; step++) {
        int64_t i = lower ? step : n - 1 - step;
        for (int64_t k = lower ? 0 : i + 1; k < (lower ? i : n); k++) {
            double im = m->im ? m->im[i * n + k] : 0;
            subtract_row(x, i, k, m->re[i * n + k], conjugate ? -im : im);
        }
        double im = m->im ? m->im[i * n + i] : 0;
        if (!unit)
            divide_row(x, i, m->re[i * n + i], conjugate ? -im : im);
    }
}

bool plain_triangular_solve(struct thread_pool *workers, const struct view *out,
                            const struct view *a, const struct view *b,
                            const struct kern_triangular *how)
{
    struct matrix m, x;
    int64_t index[VIEW_MAX_RANK] = {0};
    int64_t n = a->dims[a->rank - 1], rows = b->dims[b->rank - 2], columns = b->dims[b->rank - 1];
    bool complex = dtype_is_complex(a->dtype);
    /* x op(a) = b is op(a)^T x^T = b^T */
    bool turned = how->transpose != !how->left_side;
    if (view_elements(b) == 0)
        return true;
    if (!matrix_new(&m, n, n, complex))
        return false;
    if (!matrix_new(&x, n, how->left_side ? columns : rows, complex)) {
        mem_free(m.re);
        return false;
    }
    do {
        move(&m, a, view_at(a, index), turned, true);
        move(&x, b, view_at(b, index), !how->left_side, true);
        substitute(&m, &x, how->lower != turned, how->unit_diagonal, how->conjugate);
        move(&x, out, view_at(out, index), !how->left_side, false);
    } while (index_next(b->rank - 2, b->dims, index));
    mem_free(m.re);
    mem_free(x.re);
    return true;
}
