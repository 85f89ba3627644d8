/*
 * spec: CustomCall
 *
 * Schur form, eigenvalues and eigenvectors of square matrices for --plain, and where there is no
 * OpenBLAS: Hessenberg form, then implicit QR steps, after LAPACK's lahqr, in double and on a
 * matrix that is scaled by a power of two. Arrays and options are those of kern/lapack_spectral.c.
 */
#include "kern/lapack.h"
#include "kern/matrix.h"
#include "kern/plain/function.h"

#include <float.h>

enum { MOST_STEPS = 30, EXCEPTIONAL = 10 }; /* steps for an eigenvalue; of other shifts */

struct schur {
    int64_t n;
    struct matrix t, z; /* z: the product of all transformations */
    struct matrix vectors, product;
    int exponent; /* t is the matrix scaled by 2^-exponent */
};

/* ---- rotations ---- */

struct rotation matrix_make_rotation(struct c128 x, struct c128 y)
{
    const double a = c_abs(x), b = c_abs(y), r = hypotenuse(a, b);
    if (b == 0)
        return (struct rotation){1, {0, 0}};
    if (a == 0)
        return (struct rotation){0, {y.re / b, -y.im / b}};
    return (struct rotation){
        a / r, c_mul((struct c128){x.re / a, x.im / a}, (struct c128){y.re / r, -y.im / r})};
}

void matrix_rotate(const struct matrix *m, int64_t first, int64_t second, int64_t step,
                   int64_t count, struct rotation g)
{
    for (int64_t k = 0; k < count; k++, first += step, second += step) {
        const struct c128 x = matrix_element(m, first), y = matrix_element(m, second);
        if (m->im) {
            matrix_set_element(m, first, c_add(c_scale(x, g.c), c_mul(g.s, y)));
            matrix_set_element(m, second, c_sub(c_scale(y, g.c), c_mul(c_conj(g.s), x)));
        } else {
            m->re[first] = g.c * x.re + g.s.re * y.re;
            m->re[second] = g.c * y.re - g.s.re * x.re;
        }
    }
}

/* t = G t G^H for rows and columns k and k + 1, where the elements from column `from` on and down
 * to row `to` are not zero; z = z G^H. */
static void apply(const struct schur *s, int64_t k, int64_t from, int64_t to, struct rotation g)
{
    const int64_t n = s->n;
    const struct rotation adjoint = {g.c, c_conj(g.s)};
    matrix_rotate(&s->t, from * n + k, from * n + k + 1, n, n - from, g);
    matrix_rotate(&s->t, k * n, (k + 1) * n, 1, to + 1, adjoint);
    matrix_rotate(&s->z, k * n, (k + 1) * n, 1, n, adjoint);
}

/* ---- deflation ---- */

/* The first row of the last block that cannot be divided: the element to its left is negligible,
 * and becomes zero. */
static int64_t block_before(const struct schur *s, int64_t end)
{
    for (int64_t k = end; k > 0; k--) {
        const double sum = c_abs(matrix_get(&s->t, k, k)) + c_abs(matrix_get(&s->t, k - 1, k - 1));
        if (c_abs(matrix_get(&s->t, k, k - 1)) <= DBL_EPSILON / 2 * (sum > 0 ? sum : 1)) {
            matrix_set(&s->t, k, k - 1, (struct c128){0, 0});
            return k;
        }
    }
    return 0;
}

/* ---- complex matrices ---- */

/* The eigenvalue of rows k and k + 1 that is closer to the last element. */
static struct c128 closest(const struct matrix *t, int64_t k)
{
    const struct c128 d = matrix_get(t, k + 1, k + 1),
                      p = c_scale(c_sub(matrix_get(t, k, k), d), 0.5),
                      q = c_mul(matrix_get(t, k, k + 1), matrix_get(t, k + 1, k)),
                      root = complex_sqrt(c_add(c_mul(p, p), q)), plus = c_add(p, root),
                      minus = c_sub(p, root), larger = c_abs(plus) > c_abs(minus) ? plus : minus;
    return c_abs(larger) == 0 ? d : c_sub(d, c_div(q, larger));
}

static void single_step(const struct schur *s, int64_t begin, int64_t end, struct c128 shift)
{
    struct c128 x = c_sub(matrix_get(&s->t, begin, begin), shift),
                y = matrix_get(&s->t, begin + 1, begin);
    for (int64_t k = begin; k < end; k++) {
        apply(s, k, k > begin ? k - 1 : k, k + 2 < end ? k + 2 : end, matrix_make_rotation(x, y));
        if (k > begin)
            matrix_set(&s->t, k + 1, k - 1, (struct c128){0, 0});
        if (k + 1 < end) {
            x = matrix_get(&s->t, k + 1, k);
            y = matrix_get(&s->t, k + 2, k);
        }
    }
}

/* Returns info: 0, or the number of leading eigenvalues that were not found. */
static fint triangularize(const struct schur *s)
{
    int steps = 0;
    for (int64_t end = s->n - 1; end > 0;) {
        const int64_t begin = block_before(s, end);
        if (begin == end) {
            end--;
            steps = 0;
            continue;
        }
        if (++steps > MOST_STEPS)
            return (fint)end + 1;
        struct c128 shift = closest(&s->t, end - 1);
        if (steps % EXCEPTIONAL == 0) {
            shift = matrix_get(&s->t, end, end);
            shift.re += 0.75 * c_abs(matrix_get(&s->t, end, end - 1));
        }
        single_step(s, begin, end, shift);
    }
    return 0;
}

/* ---- real matrices ---- */

static double at(const struct schur *s, int64_t i, int64_t j) { return s->t.re[j * s->n + i]; }

/* The rotation that makes the block of rows k and k + 1 triangular, if its eigenvalues are real, or
 * else its diagonal elements equal. */
static struct rotation standardize(const struct schur *s, int64_t k)
{
    const double a = at(s, k, k), b = at(s, k, k + 1), c = at(s, k + 1, k), d = at(s, k + 1, k + 1),
                 p = (a - d) / 2, q = p * p + b * c;
    if (q >= 0) { /* (z, c) is the eigenvector of d + z */
        const double z = p + copysign(sqrt(q), p);
        return matrix_make_rotation((struct c128){z, 0}, (struct c128){c, 0});
    }
    if (p == 0)
        return (struct rotation){1, {0, 0}};
    const double sum = b + c, r = hypotenuse(sum, a - d), cosine = sqrt((1 + fabs(sum) / r) / 2);
    return (struct rotation){cosine, {-(p / (r * cosine)) * copysign(1, sum), 0}};
}

static void deflate_pair(const struct schur *s, int64_t k)
{
    const double a = at(s, k, k), d = at(s, k + 1, k + 1),
                 q = (a - d) * (a - d) / 4 + at(s, k, k + 1) * at(s, k + 1, k), mean = (a + d) / 2;
    apply(s, k, k, k + 1, standardize(s, k));
    if (q >= 0) {
        s->t.re[k * s->n + k + 1] = 0;
    } else {
        s->t.re[k * s->n + k] = mean;
        s->t.re[(k + 1) * s->n + k + 1] = mean;
    }
}

/* The first column of (t - x) (t - y), up to a factor, where x and y are the eigenvalues of the
 * last two rows, or others. */
static void first_column(const struct schur *s, int64_t begin, int64_t end, bool exceptional,
                         double *v)
{
    const double scale = 1 / (fabs(at(s, end, end)) + fabs(at(s, end, end - 1)) +
                              fabs(at(s, end - 1, end)) + fabs(at(s, end - 1, end - 1)) +
                              fabs(at(s, begin, begin)) + fabs(at(s, begin + 1, begin)));
    double a = at(s, end - 1, end - 1) * scale, b = at(s, end - 1, end) * scale,
           c = at(s, end, end - 1) * scale, d = at(s, end, end) * scale;
    if (exceptional) {
        const double size = fabs(c) + (end - 1 > begin ? fabs(at(s, end - 1, end - 2)) * scale : 0);
        a = d = 0.75 * size + d;
        b = -0.4375 * size;
        c = size;
    }
    double sum = a + d, product = a * d - b * c;
    const double mean = (a - d) / 2, q = mean * mean + b * c;
    if (q >= 0) { /* twice the one that is closer to d */
        const double z = mean + copysign(sqrt(q), mean), shift = z == 0 ? d : d - b * c / z;
        sum = 2 * shift;
        product = shift * shift;
    }
    const double h = at(s, begin, begin) * scale, g = at(s, begin + 1, begin) * scale;
    v[0] = (h * h + at(s, begin, begin + 1) * scale * g - sum * h) + product;
    v[1] = g * (h + at(s, begin + 1, begin + 1) * scale - sum);
    v[2] = g * at(s, begin + 2, begin + 1) * scale;
}

static void double_step(const struct schur *s, int64_t begin, int64_t end, bool exceptional)
{
    const int64_t n = s->n;
    double v[3];
    first_column(s, begin, end, exceptional, v);
    for (int64_t k = begin; k < end; k++) {
        const int64_t count = k + 2 <= end ? 3 : 2, last = k + 3 < end ? k + 3 : end;
        double *column = k > begin ? s->t.re + (k - 1) * n + k : v;
        const struct matrix x = {count, 1, column, NULL};
        const struct c128 tau = matrix_make_reflector(&x);
        const double w[3] = {1, x.re[1], count > 2 ? x.re[2] : 0};
        for (int64_t i = 1; i < count && k > begin; i++)
            x.re[i] = 0;
        for (int64_t j = k; j < n; j++) {
            double *y = s->t.re + j * n + k, sum = y[0] + w[1] * y[1];
            sum = tau.re * (count > 2 ? sum + w[2] * y[2] : sum);
            for (int64_t i = 0; i < count; i++)
                y[i] -= sum * w[i];
        }
        for (int which = 0; which < 2; which++) {
            double *y = (which ? s->z.re : s->t.re) + k * n;
            for (int64_t i = 0; i < (which ? n : last + 1); i++, y++) {
                double sum = y[0] + w[1] * y[n];
                sum = tau.re * (count > 2 ? sum + w[2] * y[2 * n] : sum);
                for (int64_t j = 0; j < count; j++)
                    y[j * n] -= sum * w[j];
            }
        }
    }
}

/* As triangularize(), but pairs of complex eigenvalues remain as blocks of two rows, with equal
 * diagonal elements. */
static fint quasi_triangularize(const struct schur *s)
{
    int steps = 0;
    for (int64_t end = s->n - 1; end > 0;) {
        const int64_t begin = block_before(s, end);
        if (begin + 1 >= end) {
            if (begin + 1 == end)
                deflate_pair(s, begin);
            end = begin - 1;
            steps = 0;
            continue;
        }
        if (++steps > MOST_STEPS)
            return (fint)end + 1;
        double_step(s, begin, end, steps % EXCEPTIONAL == 0);
    }
    return 0;
}

/* The imaginary part of eigenvalue k of a quasi-triangular matrix: positive for the first of a
 * pair. */
static double imaginary(const struct schur *s, int64_t k)
{
    const bool first = k + 1 < s->n && at(s, k + 1, k) != 0, second = k > 0 && at(s, k, k - 1) != 0;
    const int64_t i = second ? k - 1 : k;
    if (!first && !second)
        return 0;
    const double root = sqrt(fabs(at(s, i, i + 1))) * sqrt(fabs(at(s, i + 1, i)));
    return second ? -root : root;
}

/* ---- the form ---- */

/* Space for t and z, and with `vectors` for eigenvectors; in this case they have imaginary parts.
 * False: out of memory. */
static bool prepare(struct lapack_item *it, struct schur *s, bool vectors)
{
    const int64_t n = it->rows[0];
    const enum dtype type = vectors ? DT_C128 : it->type;
    const int64_t size = matrix_doubles(type, n, n);
    double *scratch = lapack_extra(it, 3 * size + matrix_doubles(type, n, 1), sizeof *scratch);
    if (!scratch)
        return false;
    *s = (struct schur){.n = n,
                        .t = matrix_at(scratch, type, n, n),
                        .z = matrix_at(scratch + size, type, n, n),
                        .vectors = matrix_at(scratch + 2 * size, type, n, n),
                        .product = matrix_at(scratch + 3 * size, type, n, 1)};
    return true;
}

/* A quasi-triangular matrix for a real type. False: the matrix is not finite. */
static bool decompose(struct lapack_item *it, struct schur *s)
{
    struct schur own = *s;
    if (!lapack_complex(it))
        own.t.im = own.z.im = own.product.im = NULL;
    matrix_fill(&s->t, 0);
    matrix_load(&own.t, it->type, it->x[0]);
    if (!matrix_scale(&own.t, &s->exponent))
        return false;
    matrix_set_identity(&s->z);
    for (int64_t k = 0; k + 1 < s->n; k++)
        matrix_reduce_column(&own.t, k, s->n, &own.product, &own.z);
    it->info = lapack_complex(it) ? triangularize(&own) : quasi_triangularize(&own);
    return true;
}

/* The array with this number becomes the diagonal of t, or for a real type the eigenvalues' real
 * parts, and the array that follows their imaginary parts. */
static void store_eigenvalues(struct lapack_item *it, const struct schur *s, int array)
{
    const int64_t width = (int64_t)dtype_bytes(it->type);
    for (int64_t k = 0; k < s->n; k++) {
        const struct c128 v = matrix_get(&s->t, k, k);
        const double im = lapack_complex(it) ? v.im : imaginary(s, k);
        const struct c128 w = {ldexp(v.re, s->exponent), ldexp(im, s->exponent)};
        lapack_store(it->type, (char *)it->x[array] + k * width, w);
        if (!lapack_complex(it))
            lapack_store(it->type, (char *)it->x[array + 1] + k * width, (struct c128){w.im, 0});
    }
}

void plain_gees(struct lapack_item *it)
{
    struct schur s;
    if (!prepare(it, &s, false))
        return;
    if (decompose(it, &s)) {
        store_eigenvalues(it, &s, 2);
        matrix_shift(&s.t, s.exponent);
    } else {
        matrix_fill(&s.t, NAN);
        matrix_fill(&s.z, NAN);
        store_eigenvalues(it, &s, 2);
    }
    matrix_store(&s.t, it->type, it->x[0]);
    if (it->x[1] && it->options[0] == 'V')
        matrix_store(&s.z, it->type, it->x[1]);
}

/* ---- eigenvectors ---- */

/* Makes a quasi-triangular matrix triangular. */
static void split_pairs(const struct schur *s)
{
    for (int64_t k = 0; k + 1 < s->n; k++)
        if (at(s, k + 1, k) != 0) { /* (i w, c) is the eigenvector of a + i w */
            const struct c128 w = {0, imaginary(s, k)}, c = {at(s, k + 1, k), 0};
            apply(s, k, k, k + 1, matrix_make_rotation(w, c));
            matrix_set(&s->t, k + 1, k, (struct c128){0, 0});
        }
}

/* The eigenvector of the triangular matrix for its eigenvalue k, or the left one: x is 0 before or
 * after k. */
static void substitute(const struct schur *s, int64_t k, bool left, const struct matrix *x)
{
    const int64_t n = s->n, sign = left ? 1 : -1;
    const struct c128 value = matrix_get(&s->t, k, k);
    matrix_fill(x, 0);
    matrix_set_element(x, k, (struct c128){1, 0});
    for (int64_t i = k + sign; i >= 0 && i < n; i += sign) {
        struct c128 sum = {0, 0}, d = c_sub(value, matrix_get(&s->t, i, i));
        for (int64_t j = k; j != i; j += sign)
            sum = c_add(sum, c_mul(left ? c_conj(matrix_get(&s->t, j, i)) : matrix_get(&s->t, i, j),
                                   matrix_element(x, j)));
        if (c_size(d) < DBL_EPSILON)
            d = (struct c128){DBL_EPSILON, 0};
        const struct c128 v = c_div(sum, left ? c_conj(d) : d);
        matrix_set_element(x, i, v);
        const double size = c_size(v);
        for (int64_t j = 0; j < n && size > 0x1p300; j++) /* avoids overflow */
            matrix_set_element(x, j, c_scale(matrix_element(x, j), 1 / size));
    }
}

/* Divides column k by its norm, and makes its largest element real. */
static void normalize(const struct matrix *m, int64_t k)
{
    const struct matrix x = matrix_part(m, 0, k);
    double norm = 0, max = 0;
    struct c128 largest = {1, 0};
    for (int64_t i = 0; i < x.rows; i++) {
        const double size = c_abs(matrix_element(&x, i));
        norm = hypotenuse(norm, size);
        largest = size > max ? matrix_element(&x, i) : largest;
        max = size > max ? size : max;
    }
    const struct c128 f = {largest.re / max / norm, -largest.im / max / norm};
    for (int64_t i = 0; i < x.rows; i++)
        matrix_set_element(&x, i, c_mul(matrix_element(&x, i), f));
}

/* m = z m, where `column` is scratch. */
static void multiply(const struct matrix *z, const struct matrix *column, const struct matrix *m)
{
    const int64_t n = m->rows;
    for (int64_t j = 0; j < n; j++) {
        matrix_fill(column, 0);
        for (int64_t k = 0; k < n; k++) {
            const struct c128 f = matrix_get(m, k, j);
            for (int64_t i = 0; i < n; i++)
                matrix_set_element(column, i,
                                   c_add(matrix_element(column, i), c_mul(matrix_get(z, i, k), f)));
        }
        for (int64_t i = 0; i < n; i++)
            matrix_set(m, i, j, matrix_element(column, i));
    }
}

/* Those of a real matrix are real, or conjugates of each other, exactly. */
static void make_real(const struct lapack_item *it, const struct matrix *m)
{
    const size_t width = dtype_bytes(it->type);
    for (int64_t k = 0; k < m->rows; k++) {
        const double im = lapack_load(it->type, (char *)it->x[2] + (size_t)k * width).re;
        for (int64_t i = 0; i < m->rows && im <= 0; i++) {
            const struct c128 v =
                im < 0 ? c_conj(matrix_get(m, i, k - 1)) : (struct c128){matrix_get(m, i, k).re, 0};
            matrix_set(m, i, k, v);
        }
    }
}

void plain_geev(struct lapack_item *it)
{
    struct schur s;
    const int first = lapack_complex(it) ? 2 : 3; /* array of vectors */
    if (!prepare(it, &s, true))
        return;
    if (!decompose(it, &s)) {
        it->info = -4;
        return;
    }
    store_eigenvalues(it, &s, 1);
    if (!lapack_complex(it))
        split_pairs(&s);
    for (int side = 0; side < 2 && it->info == 0; side++) {
        if (it->options[side] != 'V' || !it->x[first + side])
            continue;
        for (int64_t k = 0; k < s.n; k++) {
            const struct matrix x = matrix_part(&s.vectors, 0, k);
            substitute(&s, k, side == 0, &x);
        }
        multiply(&s.z, &s.product, &s.vectors);
        for (int64_t k = 0; k < s.n; k++)
            normalize(&s.vectors, k);
        if (!lapack_complex(it))
            make_real(it, &s.vectors);
        matrix_store(&s.vectors, dtype_component(it->type) == DT_F64 ? DT_C128 : DT_C64,
                     it->x[first + side]);
    }
}
