/*
 * spec: Cholesky, TriangularSolve
 *
 * Cholesky factors and triangular systems (grammar/values.md 13.5, 13.6), in double, rounded at the
 * end. Matrices are stored row by row: as the columns of the transposed matrix (matrix.h).
 */
#include "kern/lapack.h"
#include "kern/matrix.h"
#include "kern/plain/function.h"
#include "kern/plain/plain.h"

static bool matrix_new(struct matrix *m, enum dtype t, int64_t rows, int64_t columns)
{
    int64_t n, bytes;
    if (!mul_i64(rows, columns, &n) ||
        !mul_i64(n, matrix_doubles(t, 1, 1) * (int64_t)sizeof(double), &bytes))
        return false;
    *m = matrix_at(mem_alloc((size_t)bytes + 1), t, rows, columns);
    return m->re != NULL;
}

/* Loads the matrix at `data` of a view's last two dimensions, or stores it there. */
static void move(const struct matrix *m, const struct view *v, char *data, bool transpose,
                 bool load)
{
    const int64_t down = v->strides[v->rank - 2 + transpose],
                  across = v->strides[v->rank - 1 - transpose];
    const enum dtype t = v->dtype;
    const bool complex = dtype_is_complex(t);
    for (int64_t i = 0, k = 0; i < m->columns; i++)
        for (int64_t j = 0; j < m->rows; j++, k++) {
            char *at = data + i * down + j * across;
            if (load && complex)
                matrix_set_element(m, k, lapack_load(t, at));
            else if (load)
                m->re[k] = float_load(t, at);
            else if (complex)
                lapack_store(t, at, matrix_element(m, k));
            else
                float_store(t, at, m->re[k] == m->re[k] ? m->re[k] : NAN_MADE);
        }
}

/* ---- cholesky: row by row, each entry by the formula of grammar/values.md 13.5 ---- */

/* a_ij - sum over k < j of l_ik * conj(l_jk) */
static void reduced_entry(const struct matrix *m, int64_t i, int64_t j, double *re, double *im)
{
    const double *x = m->re + i * m->rows, *y = m->re + j * m->rows;
    double r = x[j], c = 0;
    if (!m->im) {
        for (int64_t k = 0; k < j; k++)
            r -= x[k] * y[k];
    } else {
        const double *xi = m->im + i * m->rows, *yi = m->im + j * m->rows;
        c = xi[j];
        for (int64_t k = 0; k < j; k++) {
            r -= x[k] * y[k] + xi[k] * yi[k];
            c -= xi[k] * y[k] - x[k] * yi[k];
        }
    }
    *re = r;
    *im = c;
}

static void factor(const struct matrix *m)
{
    double re, im;
    int64_t n = m->columns;
    for (int64_t j = 0; j < n; j++) {
        reduced_entry(m, j, j, &re, &im);
        double root = sqrt(re);
        if (isnan(root)) {
            matrix_fill(m, NAN);
            return;
        }
        for (int64_t i = j; i < n; i++) {
            reduced_entry(m, i, j, &re, &im);
            matrix_set(m, j, i,
                       n == 1 ? (struct c128){root, 0} : (struct c128){re / root, im / root});
        }
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++)
            matrix_set(m, j, i, (struct c128){0, 0});
}

bool plain_cholesky(struct thread_pool *workers, const struct view *out, const struct view *a,
                    bool lower)
{
    struct matrix m;
    int64_t index[VIEW_MAX_RANK] = {0};
    if (view_elements(a) == 0)
        return true;
    if (!matrix_new(&m, a->dtype, a->dims[a->rank - 1], a->dims[a->rank - 1]))
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

/* Solves m x = b in place; `lower`: the triangle of m, as stored, that is used. */
static void substitute(const struct matrix *m, const struct matrix *x, bool lower, bool unit,
                       bool conjugate)
{
    const int64_t n = m->rows, row = x->rows;
    for (int64_t step = 0; step < n; step++) {
        const int64_t i = lower ? step : n - 1 - step;
        for (int64_t k = lower ? 0 : i + 1; k < (lower ? i : n); k++) {
            const struct c128 f = matrix_get(m, k, i);
            matrix_subtract(x, i * row, conjugate ? c_conj(f) : f, k * row, row);
        }
        const struct c128 d = matrix_get(m, i, i);
        if (!unit)
            matrix_divide(x, i * row, row, conjugate ? c_conj(d) : d);
    }
}

bool plain_triangular_solve(struct thread_pool *workers, const struct view *out,
                            const struct view *a, const struct view *b,
                            const struct kern_triangular *how)
{
    struct matrix m, x;
    int64_t index[VIEW_MAX_RANK] = {0};
    int64_t n = a->dims[a->rank - 1], rows = b->dims[b->rank - 2], columns = b->dims[b->rank - 1];
    /* x op(a) = b is op(a)^T x^T = b^T */
    bool turned = how->transpose != !how->left_side;
    if (view_elements(b) == 0)
        return true;
    if (!matrix_new(&m, a->dtype, n, n))
        return false;
    if (!matrix_new(&x, a->dtype, how->left_side ? columns : rows, n)) {
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
