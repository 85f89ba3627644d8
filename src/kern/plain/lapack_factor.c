/*
 * spec: CustomCall
 *
 * Factorizations and systems of equations for --plain, and where there is no OpenBLAS: the
 * unblocked algorithms of LAPACK, in double, rounded once at the end. Arrays and options are those
 * of kern/lapack_factor.c; QR factors and their product are in kern/householder.c.
 */
#include "kern/lapack.h"
#include "kern/matrix.h"
#include "kern/plain/plain.h"

/* The array as a matrix in `scratch`. */
static struct matrix load(const struct lapack_item *it, int array, double *scratch)
{
    const struct matrix m = matrix_at(scratch, it->type, it->rows[array], it->columns[array]);
    matrix_load(&m, it->type, it->x[array]);
    return m;
}

static int64_t doubles(const struct lapack_item *it, int array)
{
    return matrix_doubles(it->type, it->rows[array], it->columns[array]);
}

/* The first array likewise. False: out of memory. */
static bool load_first(struct lapack_item *it, struct matrix *a)
{
    double *scratch = lapack_extra(it, doubles(it, 0), sizeof *scratch);
    if (scratch)
        *a = load(it, 0, scratch);
    return scratch != NULL;
}

/* ---- cholesky ---- */

/* Element (i, j), i >= j, of the factor, reduced by the columns before j; `lower`: as stored. */
static struct c128 reduced(const struct matrix *a, int64_t i, int64_t j, bool lower)
{
    struct c128 sum = lower ? matrix_get(a, i, j) : matrix_get(a, j, i);
    for (int64_t k = 0; k < j; k++) {
        const struct c128 x = lower ? matrix_get(a, i, k) : matrix_get(a, k, i),
                          y = lower ? matrix_get(a, j, k) : matrix_get(a, k, j);
        sum = c_sub(sum, c_mul(x, c_conj(y)));
    }
    return sum;
}

void plain_potrf(struct lapack_item *it)
{
    const bool lower = it->options[0] == 'L';
    const int64_t n = it->rows[0];
    struct matrix a;
    if (!load_first(it, &a))
        return;
    for (int64_t j = 0; j < n && it->info == 0; j++) {
        const double d = reduced(&a, j, j, lower).re;
        const bool positive = d > 0;
        const double root = positive ? sqrt(d) : d;
        matrix_set(&a, j, j, (struct c128){root, 0});
        if (!positive)
            it->info = (fint)j + 1;
        for (int64_t i = j + 1; i < n && positive; i++) {
            const struct c128 v = reduced(&a, i, j, lower);
            matrix_set(&a, lower ? i : j, lower ? j : i, (struct c128){v.re / root, v.im / root});
        }
    }
    matrix_store(&a, it->type, it->x[0]);
}

/* ---- LU ---- */

void plain_getrf(struct lapack_item *it)
{
    const fint m = it->rows[0], n = it->columns[0];
    fint *pivots = it->x[1];
    struct matrix a;
    if (!load_first(it, &a))
        return;
    for (fint k = 0; k < smaller(m, n); k++) {
        fint p = k;
        for (fint i = k + 1; i < m; i++)
            p = c_size(matrix_get(&a, i, k)) > c_size(matrix_get(&a, p, k)) ? i : p;
        pivots[k] = p + 1;
        const struct c128 pivot = matrix_get(&a, p, k);
        if (c_size(pivot) == 0) {
            it->info = it->info ? it->info : k + 1;
            continue;
        }
        for (int64_t j = 0; j < n && p != k; j++)
            matrix_swap(&a, j * m + k, j * m + p);
        for (int64_t i = k + 1; i < m; i++)
            matrix_set(&a, i, k, c_div(matrix_get(&a, i, k), pivot));
        for (int64_t j = k + 1; j < n; j++)
            matrix_subtract(&a, j * m + k + 1, matrix_get(&a, k, j), (int64_t)k * m + k + 1,
                            m - k - 1);
    }
    matrix_store(&a, it->type, it->x[0]);
}

/* ---- systems of equations ---- */

/* A column-major matrix as a view. */
static struct view view_of(const struct lapack_item *it, int array)
{
    const int64_t width = (int64_t)dtype_bytes(it->type);
    return (struct view){.dtype = it->type,
                         .rank = 2,
                         .data = it->x[array],
                         .dims = {it->rows[array], it->columns[array]},
                         .strides = {width, width * it->rows[array]}};
}

void plain_trsm(struct lapack_item *it)
{
    const struct view a = view_of(it, 0), x = view_of(it, 1);
    const struct kern_triangular how = {.left_side = it->options[0] == 'L',
                                        .lower = it->options[1] == 'L',
                                        .transpose = it->options[2] != 'N',
                                        .conjugate = it->options[2] == 'C',
                                        .unit_diagonal = it->options[3] == 'U'};
    const int64_t width = (int64_t)dtype_bytes(it->type);
    if (it->given[2])
        for (char *at = x.data; at < x.data + view_elements(&x) * width; at += width)
            lapack_store(it->type, at,
                         c_mul(lapack_load(it->type, it->x[2]), lapack_load(it->type, at)));
    it->no_memory = !plain_triangular_solve(NULL, &x, &a, &x, &how);
}

struct diagonals {
    struct matrix dl, d, du; /* dl begins at its second element */
};

/* Eliminates dl[k] and the right-hand sides below row k, after exchanging rows k and k + 1 if the
 * latter has the larger pivot; then dl[k] is the element of the second diagonal above. False: the
 * pivot is zero. */
static bool eliminate(const struct diagonals *s, const struct matrix *x, int64_t k)
{
    const int64_t n = x->rows;
    const struct c128 below = matrix_element(&s->dl, k), pivot = matrix_element(&s->d, k),
                      next = matrix_element(&s->d, k + 1), above = matrix_element(&s->du, k),
                      zero = {0, 0};
    const bool keep = c_size(pivot) >= c_size(below);
    if (keep && c_size(pivot) == 0)
        return false;
    const struct c128 f = keep ? c_div(below, pivot) : c_div(pivot, below);
    if (keep) {
        matrix_set_element(&s->d, k + 1, c_sub(next, c_mul(f, above)));
        if (k + 2 < n)
            matrix_set_element(&s->dl, k, zero);
    } else {
        matrix_set_element(&s->d, k, below);
        matrix_set_element(&s->d, k + 1, c_sub(above, c_mul(f, next)));
        matrix_set_element(&s->du, k, next);
        if (k + 2 < n) {
            const struct c128 fill = matrix_element(&s->du, k + 1), product = c_mul(f, fill);
            matrix_set_element(&s->dl, k, fill);
            matrix_set_element(&s->du, k + 1, (struct c128){-product.re, -product.im});
        }
    }
    for (int64_t at = k; at < n * x->columns; at += n) {
        if (!keep)
            matrix_swap(x, at, at + 1);
        matrix_subtract(x, at + 1, f, at, 1);
    }
    return true;
}

static void substitute_back(const struct diagonals *s, const struct matrix *x)
{
    const int64_t n = x->rows;
    for (int64_t j = 0; j < x->columns; j++)
        for (int64_t k = n - 1; k >= 0; k--) {
            const int64_t at = j * n + k;
            if (k + 1 < n)
                matrix_subtract(x, at, matrix_element(&s->du, k), at + 1, 1);
            if (k + 2 < n)
                matrix_subtract(x, at, matrix_element(&s->dl, k), at + 2, 1);
            matrix_set_element(x, at, c_div(matrix_element(x, at), matrix_element(&s->d, k)));
        }
}

void plain_gtsv(struct lapack_item *it)
{
    const int64_t n = it->rows[1], one = matrix_doubles(it->type, n, 1);
    double *scratch = lapack_extra(it, 3 * one + doubles(it, 3), sizeof *scratch);
    if (!scratch || n == 0)
        return;
    struct matrix dl = load(it, 0, scratch);
    const struct diagonals s = {{n - 1, 1, dl.re + 1, dl.im ? dl.im + 1 : NULL},
                                load(it, 1, scratch + one),
                                load(it, 2, scratch + 2 * one)};
    const struct matrix x = load(it, 3, scratch + 3 * one);
    for (int64_t k = 0; k < n && it->info == 0; k++)
        if (k + 1 < n ? !eliminate(&s, &x, k) : c_size(matrix_element(&s.d, k)) == 0)
            it->info = (fint)k + 1;
    if (it->info == 0)
        substitute_back(&s, &x);
    matrix_store(&dl, it->type, it->x[0]);
    matrix_store(&s.d, it->type, it->x[1]);
    matrix_store(&s.du, it->type, it->x[2]);
    matrix_store(&x, it->type, it->x[3]);
}

/* ---- products of reflectors ---- */

static struct c128 tau_at(const struct lapack_item *it, int array, int64_t k)
{
    return lapack_load(it->type, (char *)it->x[array] + k * (int64_t)dtype_bytes(it->type));
}

static void set_tau(const struct lapack_item *it, int array, int64_t k, struct c128 tau)
{
    lapack_store(it->type, (char *)it->x[array] + k * (int64_t)dtype_bytes(it->type), tau);
}

/* Multiplies some columns of m, from `first` on, by I - tau v v^H from the right; v[0] is taken as
 * 1. `product`: a column for m v. */
static void reflect_columns(const struct matrix *v, struct c128 tau, const struct matrix *m,
                            int64_t first, const struct matrix *product)
{
    const int64_t rows = m->rows;
    matrix_fill(product, 0);
    for (int64_t k = 0; k < v->rows; k++) {
        const struct c128 f = k == 0 ? (struct c128){1, 0} : matrix_element(v, k);
        for (int64_t i = 0; i < rows; i++)
            matrix_set_element(
                product, i,
                c_add(matrix_element(product, i), c_mul(f, matrix_get(m, i, first + k))));
    }
    for (int64_t k = 0; k < v->rows; k++) {
        const struct c128 f =
            c_mul(tau, k == 0 ? (struct c128){1, 0} : c_conj(matrix_element(v, k)));
        for (int64_t i = 0; i < rows; i++)
            matrix_set(m, i, first + k,
                       c_sub(matrix_get(m, i, first + k), c_mul(f, matrix_element(product, i))));
    }
}

void plain_ormqr(struct lapack_item *it)
{
    const bool left = it->options[0] == 'L', adjoint = it->options[1] != 'N';
    const int64_t count = it->rows[1], m = it->rows[2];
    const int64_t size = doubles(it, 0);
    double *scratch =
        lapack_extra(it, size + doubles(it, 2) + matrix_doubles(it->type, m, 1), sizeof *scratch);
    if (!scratch)
        return;
    const struct matrix a = load(it, 0, scratch), c = load(it, 2, scratch + size),
                        product = matrix_at(scratch + size + doubles(it, 2), it->type, m, 1);
    for (int64_t step = 0; step < count; step++) {
        const int64_t k = left == adjoint ? step : count - 1 - step;
        const struct matrix v = matrix_part(&a, k, k);
        const struct c128 tau = adjoint ? c_conj(tau_at(it, 1, k)) : tau_at(it, 1, k);
        if (left)
            matrix_reflect(&v, tau, &c, k, 0);
        else
            reflect_columns(&v, tau, &c, k, &product);
    }
    matrix_store(&c, it->type, it->x[2]);
}

static double norm_of(const struct matrix *a, int64_t row, int64_t column)
{
    double norm = 0;
    for (int64_t i = row; i < a->rows; i++)
        norm = hypotenuse(norm, c_abs(matrix_get(a, i, column)));
    return norm;
}

static void swap_pivots(const struct matrix *a, fint *pivots, int64_t i, int64_t j)
{
    const fint pivot = pivots[i];
    pivots[i] = pivots[j];
    pivots[j] = pivot;
    matrix_swap_columns(a, i, j);
}

void plain_geqp3(struct lapack_item *it)
{
    const int64_t m = it->rows[0], n = it->columns[0];
    fint *pivots = it->x[1];
    struct matrix a;
    if (!load_first(it, &a))
        return;
    int64_t fixed = 0;
    for (int64_t k = 0; k < n; k++) {
        const bool free = pivots[k] == 0;
        pivots[k] = (fint)k + 1;
        if (!free)
            swap_pivots(&a, pivots, k, fixed++);
    }
    for (int64_t k = 0; k < m && k < n; k++) {
        int64_t p = k;
        double norm = norm_of(&a, k, k);
        for (int64_t j = k + 1; j < n && k >= fixed; j++) {
            const double other = norm_of(&a, k, j);
            p = other > norm ? j : p;
            norm = other > norm ? other : norm;
        }
        swap_pivots(&a, pivots, k, p);
        const struct matrix v = matrix_part(&a, k, k);
        const struct c128 tau = matrix_make_reflector(&v);
        matrix_reflect(&v, c_conj(tau), &a, k, k + 1);
        set_tau(it, 2, k, tau);
    }
    matrix_store(&a, it->type, it->x[0]);
}

/* ---- Hessenberg and tridiagonal form ---- */

struct c128 matrix_reduce_column(const struct matrix *a, int64_t k, int64_t end,
                                 const struct matrix *product, const struct matrix *z)
{
    struct matrix v = matrix_part(a, k + 1, k);
    v.rows = end - (k + 1);
    const struct c128 tau = matrix_make_reflector(&v);
    reflect_columns(&v, tau, a, k + 1, product);
    matrix_reflect(&v, c_conj(tau), a, k + 1, k + 1);
    if (z) {
        reflect_columns(&v, tau, z, k + 1, product);
        for (int64_t i = 1; i < v.rows; i++)
            matrix_set_element(&v, i, (struct c128){0, 0});
    }
    return tau;
}

void plain_gehrd(struct lapack_item *it)
{
    const int64_t n = it->rows[0], low = it->options[0], high = it->options[1];
    double *scratch =
        lapack_extra(it, doubles(it, 0) + matrix_doubles(it->type, n, 1), sizeof *scratch);
    if (!scratch || !lapack_gehrd_range(it))
        return;
    const struct matrix a = load(it, 0, scratch),
                        product = matrix_at(scratch + doubles(it, 0), it->type, n, 1);
    for (int64_t k = 0; k + 1 < n; k++) {
        const bool outside = k + 1 < low || k + 1 >= high;
        set_tau(it, 1, k,
                outside ? (struct c128){0, 0} : matrix_reduce_column(&a, k, high, &product, NULL));
    }
    matrix_store(&a, it->type, it->x[0]);
}

void matrix_complete(const struct matrix *a, bool lower)
{
    const int64_t n = a->rows;
    for (int64_t j = 0; j < n; j++) {
        matrix_set(a, j, j, (struct c128){matrix_get(a, j, j).re, 0});
        for (int64_t i = j + 1; i < n; i++)
            if (lower)
                matrix_set(a, j, i, c_conj(matrix_get(a, i, j)));
            else
                matrix_set(a, i, j, c_conj(matrix_get(a, j, i)));
    }
}

static void reverse(const struct matrix *a)
{
    for (int64_t i = 0, j = a->rows * a->columns - 1; i < j; i++, j--)
        matrix_swap(a, i, j);
}

/* With uplo U it is the form of the matrix whose rows and columns are reversed. */
void plain_sytrd(struct lapack_item *it)
{
    const int64_t n = it->rows[0], size = doubles(it, 0);
    const bool lower = it->options[0] == 'L';
    const enum dtype real = dtype_component(it->type);
    double *scratch = lapack_extra(it, 2 * size + matrix_doubles(it->type, n, 1), sizeof *scratch);
    if (!scratch)
        return;
    const struct matrix a = load(it, 0, scratch), stored = load(it, 0, scratch + size),
                        product = matrix_at(scratch + 2 * size, it->type, n, 1);
    if (!lower) {
        reverse(&a);
        reverse(&stored);
    }
    matrix_complete(&a, true);
    for (int64_t k = 0; k < n; k++) {
        const int64_t at = lower ? k : n - 1 - k;
        if (k + 1 < n)
            set_tau(it, 3, lower ? k : at - 1, matrix_reduce_column(&a, k, n, &product, NULL));
        lapack_store(real, (char *)it->x[1] + at * (int64_t)dtype_bytes(real),
                     matrix_get(&a, k, k));
        if (k + 1 < n)
            lapack_store(real, (char *)it->x[2] + (lower ? k : at - 1) * (int64_t)dtype_bytes(real),
                         matrix_get(&a, k + 1, k));
        for (int64_t i = k; i < n; i++)
            matrix_set(&stored, i, k, matrix_get(&a, i, k));
        matrix_set(&stored, k, k, (struct c128){matrix_get(&a, k, k).re, 0});
    }
    if (!lower)
        reverse(&stored);
    matrix_store(&stored, it->type, it->x[0]);
}
