/*
 * Tests of Cholesky factors, triangular systems and QR factors: fast kernels against plain ones on
 * random sizes, strides, types and batches. Elements that must not be read are NaN, and some
 * diagonals have special values, which LAPACK treats differently. Small cases with known answers
 * are in test_kern_known.
 */
#include "check_quiet.h"

#include "kern/plain/plain.h"
#include "random_view.h"
#include "thread_pools.h"

static const enum dtype types[] = {DT_F32, DT_F64, DT_C64, DT_C128, DT_F16, DT_BF16};

static double rounding(enum dtype t)
{
    if (dtype_component(t) == DT_F64)
        return 1e-11;
    return t == DT_BF16 ? 1e-2 : t == DT_F16 ? 2e-3 : 1e-4;
}

static void put(enum dtype t, char *at, double re, double im)
{
    float_store(dtype_component(t), at, re);
    if (dtype_is_complex(t))
        float_store(dtype_component(t), at + dtype_bytes(t) / 2, im);
}

static const char *element(const struct view *v, int64_t *index, int64_t i, int64_t j)
{
    index[v->rank - 2] = i;
    index[v->rank - 1] = j;
    return view_at(v, index);
}

/* Fills each matrix with a dominant diagonal, real for `real`, and NaN in the triangle that must
 * not be read; sometimes one diagonal element is special. */
static void prepare(struct random *r, const struct view *a, bool lower, bool unit, bool real)
{
    static const double odd[] = {0, -1, NAN, INFINITY, 0x1p-130, -0.0};
    const int64_t n = a->dims[a->rank - 1];
    int64_t index[VIEW_MAX_RANK] = {0};
    if (view_elements(a) == 0)
        return;
    do {
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++)
                if (lower ? j > i : j < i)
                    put(a->dtype, (char *)(uintptr_t)element(a, index, i, j), NAN, NAN);
            put(a->dtype, (char *)(uintptr_t)element(a, index, i, i),
                unit ? NAN : (double)(4 * n) + (double)(i % 7), real ? 0 : (double)(n + i));
        }
        if (!unit && random_in(r, 0, 3) == 0) {
            const int64_t at = random_in(r, 0, n - 1);
            put(a->dtype, (char *)(uintptr_t)element(a, index, at, at), odd[random_in(r, 0, 5)], 0);
        }
    } while (index_next(a->rank - 2, a->dims, index));
}

START_TEST(cholesky_agrees_with_reference)
{
    const enum dtype t = types[_i];
    for (int seed = 0; seed < 150; seed++) {
        struct random r = {(uint64_t)seed};
        const int rank = (int)random_in(&r, 2, 3);
        const int64_t n = random_in(&r, 1, 70), square[3] = {n, n, n},
                      batch[3] = {random_in(&r, 0, 3), n, n};
        const bool lower = random_in(&r, 0, 1);
        struct random_view a = random_array(&r, t, rank, rank == 2 ? square : batch);
        struct random_view out = random_layout(&r, t, rank, a.view.dims),
                           expected = random_layout(&r, t, rank, a.view.dims);
        prepare(&r, &a.view, lower, false, true);
        ck_assert(kern_cholesky(NULL, &out.view, &a.view, lower));
        ck_assert(plain_cholesky(NULL, &expected.view, &a.view, lower));
        ck_assert_msg(views_agree(&out.view, &expected.view, rounding(t), 1),
                      "cholesky of %s, seed %d", dtype_spelling(t), seed);
        FREE_VIEWS(&a, &out, &expected);
    }
}
END_TEST

START_TEST(triangular_solve_agrees_with_reference)
{
    const enum dtype t = types[_i];
    for (int seed = 0; seed < 300; seed++) {
        struct random r = {(uint64_t)seed};
        const int rank = (int)random_in(&r, 2, 3), op = (int)random_in(&r, 0, 2);
        const struct kern_triangular how = {.left_side = random_in(&r, 0, 1),
                                            .lower = random_in(&r, 0, 1),
                                            .unit_diagonal = random_in(&r, 0, 4) == 0,
                                            .transpose = op > 0,
                                            .conjugate = op > 1};
        /* With a unit diagonal, solutions and errors grow with every row: few rows. */
        const int64_t n = how.unit_diagonal ? random_in(&r, 1, 16) : random_in(&r, 1, 60);
        const int64_t other = how.unit_diagonal ? random_in(&r, 40, 60) : random_in(&r, 1, 60);
        const int64_t items = random_in(&r, 0, 3), square[3] = {items, n, n};
        const int64_t sides[3] = {items, how.left_side ? n : other, how.left_side ? other : n};
        struct random_view a = random_array(&r, t, rank, square + 3 - rank);
        struct random_view b = random_array(&r, t, rank, sides + 3 - rank);
        struct random_view out = random_layout(&r, t, rank, b.view.dims),
                           expected = random_layout(&r, t, rank, b.view.dims);
        prepare(&r, &a.view, how.lower, how.unit_diagonal, random_in(&r, 0, 1));
        ck_assert(kern_triangular_solve(NULL, &out.view, &a.view, &b.view, &how));
        ck_assert(plain_triangular_solve(NULL, &expected.view, &a.view, &b.view, &how));
        ck_assert_msg(views_agree(&out.view, &expected.view, rounding(t), 1),
                      "triangular-solve of %s, seed %d", dtype_spelling(t), seed);
        FREE_VIEWS(&a, &b, &out, &expected);
    }
}
END_TEST

static void run_householder(const char *routine, bool plain, const struct view *a,
                            const struct view *tau, const struct view *a_out,
                            const struct view *tau_out)
{
    struct kern_lapack k = {.routine = kern_find_lapack(routine),
                            .type = a->dtype,
                            .plain = plain,
                            .count = 2,
                            .arrays = {{a, a_out, 2, false}, {tau, tau_out, 1, false}},
                            .info = -1,
                            .batch_rank = a->rank - 2,
                            .batch = a->dims};
    ck_assert(kern_lapack(&k));
}

/* Pivots are large, so that their signs do not depend on rounding. */
START_TEST(householder_agrees_with_reference)
{
    const enum dtype t = types[_i];
    for (int seed = 0; seed < 60; seed++) {
        struct random r = {(uint64_t)seed};
        const int rank = (int)random_in(&r, 2, 3);
        const int64_t n = random_in(&r, 1, 70),
                      m = seed % 2 ? random_in(&r, 1, 70) : random_in(&r, n, 90);
        const int64_t few = m < n ? m : n, items = random_in(&r, 0, 3);
        const int64_t dims[3] = {items, m, n}, vector[2] = {items, few};
        struct random_view a = random_array(&r, t, rank, dims + (3 - rank)), packed[2], taus[2],
                           q[2];
        int64_t index[VIEW_MAX_RANK] = {0};
        do
            for (int64_t i = 0; i < few && view_elements(&a.view) > 0; i++)
                put(t, (char *)(uintptr_t)element(&a.view, index, i, i), (double)(m + i % 7),
                    (double)(i % 5));
        while (index_next(rank - 2, a.view.dims, index));
        for (int k = 0; k < 2; k++) {
            packed[k] = random_layout(&r, t, rank, a.view.dims);
            taus[k] = random_layout(&r, t, rank - 1, vector + (3 - rank));
            q[k] = random_layout(&r, t, rank, a.view.dims);
            run_householder("householder_qr", k, &a.view, NULL, &packed[k].view, &taus[k].view);
            if (m >= n)
                run_householder("householder_product", k, &packed[k].view, &taus[k].view,
                                &q[k].view, NULL);
        }
        ck_assert_msg(views_agree(&packed[0].view, &packed[1].view, rounding(t), (double)m),
                      "R of %s, seed %d", dtype_spelling(t), seed);
        ck_assert_msg(views_agree(&taus[0].view, &taus[1].view, rounding(t), 1),
                      "tau of %s, seed %d", dtype_spelling(t), seed);
        ck_assert_msg(m < n || views_agree(&q[0].view, &q[1].view, rounding(t), 1),
                      "Q of %s, seed %d", dtype_spelling(t), seed);
        FREE_VIEWS(&a, &packed[0], &packed[1], &taus[0], &taus[1], &q[0], &q[1]);
    }
}
END_TEST

/* Batches of systems with blocked right-hand sides, and of factors, do not depend on the number of
 * threads. */
START_TEST(results_do_not_depend_on_threads)
{
    start_thread_pools();
    for (int seed = 0; seed < 16; seed++) {
        struct random r = {(uint64_t)seed};
        const struct kern_triangular how = {
            .left_side = seed & 1, .lower = seed & 2, .transpose = seed & 4};
        const enum dtype t = seed & 8 ? DT_F64 : seed == 6 ? DT_C64 : DT_F32;
        const int64_t n = 90 + seed % 7 * 10, sides = 170, square[3] = {2, n, n};
        const int64_t dims[3] = {2, how.left_side ? n : sides, how.left_side ? sides : n};
        struct random_view a = random_array(&r, t, 3, square), b = random_array(&r, t, 3, dims),
                           factor = random_layout(&r, t, 3, square);
        struct random_view out = random_layout(&r, t, 3, dims),
                           expected = random_layout(&r, t, 3, dims);
        const size_t bytes = (size_t)view_elements(&out.view) * dtype_bytes(t),
                     whole = (size_t)view_elements(&a.view) * dtype_bytes(t);
        struct view copy[2], factors[2];
        for (int k = 0; k < 2; k++) {
            view_dense(&copy[k], t, 3, dims, malloc(bytes));
            view_dense(&factors[k], t, 3, square, malloc(whole));
        }
        prepare(&r, &a.view, how.lower, false, true);
        for (int k = 0; k < THREAD_POOLS; k++) {
            ck_assert(kern_triangular_solve(thread_pools[k], &out.view, &a.view, &b.view, &how));
            kern_copy(NULL, &copy[k > 0], &out.view);
            ck_assert_msg(k == 0 || memcmp(copy[0].data, copy[1].data, bytes) == 0,
                          "seed %d, %d threads", seed, thread_counts[k]);
            ck_assert(kern_cholesky(thread_pools[k], &factor.view, &a.view, how.lower));
            kern_copy(NULL, &factors[k > 0], &factor.view);
            ck_assert_msg(k == 0 || memcmp(factors[0].data, factors[1].data, whole) == 0,
                          "factor %d, %d threads", seed, thread_counts[k]);
        }
        ck_assert(plain_triangular_solve(NULL, &expected.view, &a.view, &b.view, &how));
        ck_assert_msg(views_agree(&out.view, &expected.view, rounding(t), 1),
                      "triangular-solve of %s, seed %d", dtype_spelling(t), seed);
        for (int k = 0; k < 2; k++) {
            free(copy[k].data);
            free(factors[k].data);
        }
        FREE_VIEWS(&a, &b, &factor, &out, &expected);
    }
    end_thread_pools();
}
END_TEST

static void call_lapack(struct thread_pool *workers, const char *routine, enum dtype t,
                        const struct view *in[2], const struct view *out[2], const char *options,
                        bool plain)
{
    const bool system = strcmp(routine, "trsm") == 0;
    struct kern_lapack k = {.workers = workers,
                            .plain = plain,
                            .routine = kern_find_lapack(routine),
                            .type = t,
                            .count = 3,
                            .arrays = {{in[0], out[0], 2, false},
                                       {in[1], out[1], system ? 2 : 1, false},
                                       {NULL, NULL, 0, true}},
                            .info = -1,
                            .batch_rank = 1,
                            .batch = in[0]->dims};
    for (int i = 0; options[i]; i++)
        k.options[i] = options[i];
    ck_assert(kern_lapack(&k));
}

/* The largest difference between row pivots applied to a and L U. */
static double residual(const struct view *a, const struct view *lu, const struct view *pivots,
                       int64_t item)
{
    const int64_t m = a->dims[1], n = a->dims[2], few = m < n ? m : n;
    double worst = 0;
    int64_t rows[32];
    for (int64_t i = 0; i < m; i++)
        rows[i] = i;
    for (int64_t k = 0; k < few; k++) {
        int32_t p;
        memcpy(&p, view_at(pivots, (int64_t[]){item, k}), sizeof p);
        const int64_t other = rows[k];
        rows[k] = rows[p - 1];
        rows[p - 1] = other;
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t k = 0; k <= i && k <= j && k < few; k++)
                sum += (k == i ? 1 : float_load(lu->dtype, view_at(lu, (int64_t[]){item, i, k}))) *
                       float_load(lu->dtype, view_at(lu, (int64_t[]){item, k, j}));
            const double is = float_load(a->dtype, view_at(a, (int64_t[]){item, rows[i], j}));
            worst = fmax(worst, fabs(sum - is));
        }
    return worst;
}

/* Sizes up to those that LAPACK computes; the same bits on any number of threads. */
START_TEST(small_factors_are_exact)
{
    const enum dtype t = _i ? DT_F64 : DT_F32;
    start_thread_pools();
    for (int64_t n = 1; n < 20; n++) {
        struct random r = {(uint64_t)n};
        const int64_t m = random_in(&r, 1, 19), dims[3] = {50, m, n}, tall[2] = {50, m < n ? m : n};
        struct random_view a = random_array(&r, t, 3, dims);
        struct view lu[THREAD_POOLS], pivots[THREAD_POOLS];
        const size_t bytes = (size_t)view_elements(&a.view) * dtype_bytes(t);
        for (int k = 0; k < THREAD_POOLS; k++) {
            view_dense(&lu[k], t, 3, dims, malloc(bytes));
            view_dense(&pivots[k], DT_S32, 2, tall, malloc((size_t)(50 * tall[1] * 4)));
            call_lapack(thread_pools[k], "getrf", t, (const struct view *[]){&a.view, NULL},
                        (const struct view *[]){&lu[k], &pivots[k]}, "", false);
            ck_assert_msg(memcmp(lu[0].data, lu[k].data, bytes) == 0, "%d threads",
                          thread_counts[k]);
        }
        for (int64_t item = 0; item < 50; item++)
            ck_assert_msg(residual(&a.view, &lu[0], &pivots[0], item) < 10 * rounding(t),
                          "LU of %s[%d,%d]", dtype_spelling(t), (int)m, (int)n);
        for (int k = 0; k < THREAD_POOLS; k++) {
            free(lu[k].data);
            free(pivots[k].data);
        }
        FREE_VIEWS(&a);
    }
    end_thread_pools();
}
END_TEST

/* Systems in all 16 forms, and the factors of their matrices, by the routines of LAPACK. */
START_TEST(small_systems_agree_with_reference)
{
    const enum dtype t = _i ? DT_F64 : DT_F32;
    for (int seed = 0; seed < 160; seed++) {
        struct random r = {(uint64_t)seed};
        const struct kern_triangular how = {.left_side = seed & 1,
                                            .lower = seed & 2,
                                            .transpose = seed & 4,
                                            .unit_diagonal = seed & 8};
        const int64_t n = random_in(&r, 1, how.unit_diagonal ? 8 : 24),
                      sides = random_in(&r, 1, 20), square[3] = {5, n, n},
                      dims[3] = {5, how.left_side ? n : sides, how.left_side ? sides : n};
        struct random_view a = random_array(&r, t, 3, square), b = random_array(&r, t, 3, dims),
                           x[2] = {random_layout(&r, t, 3, dims), random_layout(&r, t, 3, dims)};
        const char options[] = {how.left_side ? 'L' : 'R', how.lower ? 'L' : 'U',
                                how.transpose ? 'T' : 'N', how.unit_diagonal ? 'U' : 'N', 0};
        prepare(&r, &a.view, how.lower, how.unit_diagonal, true);
        for (int64_t i = 0; i < 5 * n && !how.unit_diagonal; i++)
            float_store(t, view_at(&a.view, (int64_t[]){i / n, i % n, i % n}), (double)(2 * n + 1));
        call_lapack(NULL, "trsm", t, (const struct view *[]){&a.view, &b.view},
                    (const struct view *[]){NULL, &x[0].view}, options, false);
        ck_assert(plain_triangular_solve(NULL, &x[1].view, &a.view, &b.view, &how));
        ck_assert_msg(views_agree(&x[0].view, &x[1].view, rounding(t), 1), "trsm of %s, seed %d",
                      dtype_spelling(t), seed);
        FREE_VIEWS(&a, &b, &x[0], &x[1]);
    }
}
END_TEST

/* QR factors, and the product of their reflectors, of numbers whose squares may overflow. */
START_TEST(small_reflectors_agree_with_reference)
{
    const enum dtype t = _i ? DT_F64 : DT_F32;
    static const double scales[] = {1, 1e-30, 1e30, 1e-200, 1e200, 0};
    for (int seed = 0; seed < 120; seed++) {
        struct random r = {(uint64_t)seed};
        const bool large = seed % 30 == 7; /* about the size from which LAPACK computes them */
        const int64_t m = large ? random_in(&r, 97, 101) : random_in(&r, 1, 20),
                      n = large ? random_in(&r, 97, 101) : random_in(&r, 1, 20),
                      few = m < n ? m : n, dims[3] = {5, m, n}, tall[3] = {5, m, few},
                      line[2] = {5, few};
        const double scale = scales[(size_t)seed % (t == DT_F64 ? 6 : 3)];
        struct random_view a = random_array(&r, t, 3, dims), tau[2], qr[2], q[2];
        for (int64_t i = 0; i < 5 * m * n; i++) {
            char *at = view_at(&a.view, (int64_t[]){i / n / m, i / n % m, i % n});
            float_store(t, at, float_load(t, at) * scale);
        }
        for (int plain = 0; plain < 2; plain++) {
            tau[plain] = random_layout(&r, t, 2, line);
            qr[plain] = random_layout(&r, t, 3, dims);
            q[plain] = random_layout(&r, t, 3, tall);
            call_lapack(NULL, "geqrf", t, (const struct view *[]){&a.view, NULL},
                        (const struct view *[]){&qr[plain].view, &tau[plain].view}, "", plain);
            struct view reflectors = qr[plain].view;
            reflectors.dims[2] = few;
            call_lapack(NULL, "orgqr", t, (const struct view *[]){&reflectors, &tau[plain].view},
                        (const struct view *[]){&q[plain].view, NULL}, "", plain);
        }
        for (int64_t i = 0; i < 5 * m * n && scale != 0; i++)
            for (int plain = 0; plain < 2; plain++) {
                const int64_t row = i / n % m, column = i % n;
                char *at = view_at(&qr[plain].view, (int64_t[]){i / n / m, row, column});
                float_store(t, at, float_load(t, at) / (row > column ? 1 : scale));
            }
        ck_assert_msg(views_agree(&tau[0].view, &tau[1].view, rounding(t), 10) &&
                          views_agree(&qr[0].view, &qr[1].view, rounding(t), 10) &&
                          views_agree(&q[0].view, &q[1].view, rounding(t), 10),
                      "QR of %s[%d,%d], seed %d", dtype_spelling(t), (int)m, (int)n, seed);
        FREE_VIEWS(&a, &tau[0], &tau[1], &qr[0], &qr[1], &q[0], &q[1]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kern_linalg");
    TCase *tcase = tcase_create("kern_linalg");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, cholesky_agrees_with_reference, 0, COUNT_OF(types));
    tcase_add_loop_test(tcase, triangular_solve_agrees_with_reference, 0, COUNT_OF(types));
    tcase_add_loop_test(tcase, householder_agrees_with_reference, 0, COUNT_OF(types));
    tcase_add_loop_test(tcase, small_factors_are_exact, 0, 2);
    tcase_add_loop_test(tcase, small_reflectors_agree_with_reference, 0, 2);
    tcase_add_loop_test(tcase, small_systems_agree_with_reference, 0, 2);
    tcase_add_test(tcase, results_do_not_depend_on_threads);
    suite_add_tcase(suite, tcase);
    return check_run(suite);
}
