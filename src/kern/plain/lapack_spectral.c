/*
 * spec: CustomCall
 *
 * Eigenvalues of Hermitian matrices and singular values for --plain, and where there is no
 * OpenBLAS, in double and on a matrix that is scaled by a power of two. Arrays and options are
 * those of kern/lapack_spectral.c.
 */
#include "kern/lapack.h"
#include "kern/matrix.h"

#include <float.h>

/* Sorts values, with the columns of up to two matrices. */
static void sort(double *values, int64_t n, bool descending, const struct matrix *a,
                 const struct matrix *b)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t best = i;
        for (int64_t j = i + 1; j < n; j++)
            best = (descending ? values[j] > values[best] : values[j] < values[best]) ? j : best;
        if (best == i)
            continue;
        const double v = values[i];
        values[i] = values[best];
        values[best] = v;
        matrix_swap_columns(a, i, best);
        if (b)
            matrix_swap_columns(b, i, best);
    }
}

static void store_values(const struct lapack_item *it, int array, const double *values, int64_t n,
                         int exponent)
{
    const enum dtype real = dtype_component(it->type);
    for (int64_t k = 0; k < n; k++)
        lapack_store(real, (char *)it->x[array] + k * (int64_t)dtype_bytes(real),
                     (struct c128){ldexp(values[k], exponent), 0});
}

/* ---- Hermitian matrices ---- */

struct tridiagonal {
    int64_t n;
    double *d, *e; /* diagonal; below it, ending in 0 */
    struct matrix z;
};

/* One implicit QL step with a shift, on rows `begin` to `end`. */
static void ql_step(const struct tridiagonal *t, int64_t begin, int64_t end)
{
    double *d = t->d, *e = t->e, g = (d[begin + 1] - d[begin]) / (2 * e[begin]), s = 1, c = 1,
           p = 0;
    const int64_t n = t->n;
    g = d[end] - d[begin] + e[begin] / (g + copysign(hypotenuse(g, 1), g));
    for (int64_t i = end - 1; i >= begin; i--) {
        const double f = s * e[i], b = c * e[i], r = hypotenuse(f, g);
        e[i + 1] = r;
        if (r == 0) {
            d[i + 1] -= p;
            e[end] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        const double sum = (d[i] - g) * s + 2 * c * b;
        p = s * sum;
        d[i + 1] = g + p;
        g = c * sum - b;
        matrix_rotate(&t->z, i * n, (i + 1) * n, 1, n, (struct rotation){c, {-s, 0}});
    }
    d[begin] -= p;
    e[begin] = g;
    e[end] = 0;
}

/* Returns info: 0, or the number of an eigenvalue that was not found. */
static fint diagonalize(const struct tridiagonal *t)
{
    enum { MOST_STEPS = 50 };
    for (int64_t begin = 0; begin < t->n; begin++)
        for (int step = 0;; step++) {
            int64_t end = begin;
            while (end + 1 < t->n &&
                   fabs(t->e[end]) > DBL_EPSILON / 2 * (fabs(t->d[end]) + fabs(t->d[end + 1])))
                end++;
            if (end == begin)
                break;
            if (step == MOST_STEPS)
                return (fint)begin + 1;
            ql_step(t, begin, end);
        }
    return 0;
}

void plain_heevd(struct lapack_item *it)
{
    const int64_t n = it->rows[0], size = matrix_doubles(it->type, n, n);
    double *scratch =
        lapack_extra(it, 2 * size + matrix_doubles(it->type, n, 1) + 2 * n, sizeof *scratch);
    if (!scratch)
        return;
    const struct matrix a = matrix_at(scratch, it->type, n, n),
                        product = matrix_at(scratch + 2 * size, it->type, n, 1);
    double *values = scratch + 2 * size + matrix_doubles(it->type, n, 1);
    const struct tridiagonal t = {n, values, values + n, matrix_at(scratch + size, it->type, n, n)};
    matrix_load(&a, it->type, it->x[0]);
    matrix_complete(&a, it->options[1] == 'L');
    int exponent;
    const bool finite = matrix_scale(&a, &exponent);
    matrix_set_identity(&t.z);
    for (int64_t k = 0; k + 1 < n && finite; k++)
        matrix_reduce_column(&a, k, n, &product, &t.z);
    for (int64_t k = 0; k < n; k++) {
        t.d[k] = finite ? matrix_get(&a, k, k).re : NAN;
        t.e[k] = finite && k + 1 < n ? matrix_get(&a, k + 1, k).re : 0;
    }
    if (finite) {
        it->info = diagonalize(&t);
        sort(t.d, n, false, &t.z, NULL);
    } else {
        matrix_fill(&t.z, NAN);
    }
    store_values(it, 1, t.d, n, exponent);
    if (it->options[0] == 'V')
        matrix_store(&t.z, it->type, it->x[0]);
}

/* ---- singular values ---- */

/* Columns of a, m x n with n <= m, become orthogonal to each other by rotations, whose product is v
 * (one-sided Jacobi). */
struct columns {
    struct matrix a, v, u, q; /* u: a with columns of norm 1, and more columns; q: scratch */
    double *values, *taus;    /* the norms of the columns of a; scratch */
};

static struct c128 product_of(const struct matrix *a, int64_t i, int64_t j)
{
    struct c128 sum = {0, 0};
    const int64_t m = a->rows;
    for (int64_t k = 0; k < m; k++)
        if (a->im)
            sum = c_add(sum, c_mul(c_conj(matrix_get(a, k, i)), matrix_get(a, k, j)));
        else
            sum.re += a->re[i * m + k] * a->re[j * m + k];
    return sum;
}

/* Returns whether the columns were orthogonal already. */
static bool make_orthogonal(const struct columns *s, int64_t i, int64_t j)
{
    const double x = product_of(&s->a, i, i).re, y = product_of(&s->a, j, j).re;
    const struct c128 p = product_of(&s->a, i, j);
    const double size = c_abs(p);
    if (size <= DBL_EPSILON * sqrt(x) * sqrt(y) || size == 0)
        return true;
    const double z = (y - x) / (2 * size), t = 1 / (z + copysign(hypotenuse(z, 1), z)),
                 c = 1 / sqrt(1 + t * t), f = -c * t / size;
    /* columns i and j are multiplied by (c, s'; -s, c), s = c t p / |p| */
    const struct rotation g = {c, {f * p.re, -f * p.im}};
    matrix_rotate(&s->a, i * s->a.rows, j * s->a.rows, 1, s->a.rows, g);
    matrix_rotate(&s->v, i * s->v.rows, j * s->v.rows, 1, s->v.rows, g);
    return false;
}

/* Returns info: 0, or 1 if the columns did not become orthogonal. */
static fint rotate_columns(const struct columns *s)
{
    enum { MOST_SWEEPS = 60 };
    const int64_t n = s->a.columns;
    bool done = false;
    for (int sweep = 0; sweep < MOST_SWEEPS && !done; sweep++) {
        done = true;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++)
                done &= make_orthogonal(s, i, j);
    }
    return !done;
}

/* The columns of u that are not zero remain, up to rounding; the others become orthogonal to them,
 * of norm 1: columns of Q of its QR factors. */
static void complete(const struct columns *s)
{
    const struct matrix *u = &s->u, *q = &s->q;
    double *taus = s->taus;
    const int64_t n = u->columns;
    for (int64_t k = 0; k < n; k++) {
        const struct matrix v = matrix_part(u, k, k);
        const struct c128 tau = matrix_make_reflector(&v);
        taus[2 * k] = tau.re;
        taus[2 * k + 1] = tau.im;
        matrix_reflect(&v, c_conj(tau), u, k, k + 1);
    }
    matrix_set_identity(q);
    for (int64_t k = n - 1; k >= 0; k--) {
        const struct matrix v = matrix_part(u, k, k);
        matrix_reflect(&v, (struct c128){taus[2 * k], taus[2 * k + 1]}, q, k, k);
    }
    for (int64_t k = 0; k < n; k++) { /* the diagonal of R is of size 1, or 0 */
        const struct c128 r = matrix_get(u, k, k);
        for (int64_t i = 0; i < u->rows; i++)
            matrix_set(u, i, k,
                       c_size(r) > 0.5 ? c_mul(matrix_get(q, i, k), r) : matrix_get(q, i, k));
    }
}

/* u from the columns of a. */
static void divide_by_norms(const struct columns *s)
{
    matrix_fill(&s->u, 0);
    for (int64_t j = 0; j < s->a.columns; j++)
        for (int64_t i = 0; i < s->a.rows && s->values[j] > 0; i++)
            matrix_set(&s->u, i, j, c_scale(matrix_get(&s->a, i, j), 1 / s->values[j]));
}

static void store_adjoint(const struct lapack_item *it, int array, const struct matrix *m)
{
    char *to = it->x[array];
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t j = 0; j < m->columns; j++, to += dtype_bytes(it->type))
            lapack_store(it->type, to, c_conj(matrix_get(m, i, j)));
}

/* Loads the matrix, or its adjoint if it has more columns than rows. */
static int load_columns(const struct lapack_item *it, const struct columns *s, bool wide)
{
    const struct matrix *to = wide ? &s->u : &s->a;
    const struct matrix loaded = {it->rows[0], it->columns[0], to->re, to->im};
    matrix_load(&loaded, it->type, it->x[0]);
    int exponent;
    matrix_scale(&loaded, &exponent);
    for (int64_t i = 0; i < loaded.rows && wide; i++)
        for (int64_t j = 0; j < loaded.columns; j++)
            matrix_set(&s->a, j, i, c_conj(matrix_get(&loaded, i, j)));
    return exponent;
}

void plain_gesdd(struct lapack_item *it)
{
    const bool wide = it->columns[0] > it->rows[0];
    const int64_t m = wide ? it->columns[0] : it->rows[0], n = wide ? it->rows[0] : it->columns[0],
                  more = it->options[0] == 'A' ? m : n;
    const enum dtype t = it->type;
    const int64_t of_a = matrix_doubles(t, m, n), of_v = matrix_doubles(t, n, n),
                  of_u = matrix_doubles(t, m, more);
    double *scratch = lapack_extra(it, of_a + of_v + 2 * of_u + n + 2 * more, sizeof *scratch);
    if (!scratch || lapack_without_end(it))
        return;
    const struct columns s = {matrix_at(scratch, t, m, n),
                              matrix_at(scratch + of_a, t, n, n),
                              matrix_at(scratch + of_a + of_v, t, m, more),
                              matrix_at(scratch + of_a + of_v + of_u, t, m, more),
                              scratch + of_a + of_v + 2 * of_u,
                              scratch + of_a + of_v + 2 * of_u + n};
    const int exponent = load_columns(it, &s, wide);
    matrix_set_identity(&s.v);
    it->info = rotate_columns(&s);
    for (int64_t j = 0; j < n; j++)
        s.values[j] = sqrt(product_of(&s.a, j, j).re);
    sort(s.values, n, true, &s.a, &s.v);
    store_values(it, 1, s.values, n, exponent);
    if (it->options[0] == 'N' || !it->x[2] || !it->x[3])
        return;
    divide_by_norms(&s);
    complete(&s);
    matrix_store(wide ? &s.v : &s.u, t, it->x[2]);
    store_adjoint(it, 3, wide ? &s.u : &s.v);
}
