/*
 * Tests of blocked products, on every instruction set of the machine. Most numbers have exact
 * sums, so that the fast kernel must agree with the reference kernel; for others, results must not
 * depend on the number of threads.
 */
#include "check_quiet.h"

#include <sys/mman.h>

#include "kern/plain/plain.h"
#include "random_view.h"
#include "thread_pools.h"

static const char *const isas[] = {"baseline", "avx2", "avx512"};

static const enum dtype types[][3] = {{DT_F32, DT_F32, DT_F32},
                                      {DT_F64, DT_F64, DT_F64},
                                      {DT_C64, DT_C64, DT_C64},
                                      {DT_C128, DT_C128, DT_C128},
                                      {DT_BF16, DT_BF16, DT_F32},
                                      {DT_BF16, DT_BF16, DT_BF16},
                                      {DT_F16, DT_F16, DT_F16},
                                      {DT_F8E4M3FN, DT_F8E5M2, DT_F32},
                                      {DT_F8E8M0FNU, DT_F8E4M3FN, DT_F32},
                                      {DT_F32, DT_BF16, DT_F32},
                                      {DT_F16, DT_F32, DT_F64},
                                      {DT_S8, DT_S8, DT_S32},
                                      {DT_U8, DT_U8, DT_U8},
                                      {DT_S8, DT_U8, DT_S16},
                                      {DT_S4, DT_S4, DT_S32},
                                      {DT_U8, DT_S8, DT_S64},
                                      {DT_S16, DT_S16, DT_S16},
                                      {DT_S32, DT_S32, DT_S32},
                                      {DT_U64, DT_U64, DT_U64},
                                      {DT_PRED, DT_PRED, DT_PRED},
                                      {DT_S32, DT_S32, DT_F32}};

/* lhs[m, k] by rhs[k, n], or one of them transposed. */
struct matrices {
    struct random_view lhs, rhs;
    struct kern_dot_dims dims;
    int64_t out_dims[2];
};

static void make_matrices(struct matrices *x, struct random *r, const enum dtype *t, int64_t m,
                          int64_t n, int64_t k)
{
    const int64_t left = random_in(r, 0, 1), right = random_in(r, 0, 1);
    r->small = true;
    x->dims = (struct kern_dot_dims){
        .contracting_count = 1, .lhs_contracting = {!left}, .rhs_contracting = {right}};
    x->lhs = random_array(r, t[0], 2, left ? (int64_t[]){k, m} : (int64_t[]){m, k});
    x->rhs = random_array(r, t[1], 2, right ? (int64_t[]){n, k} : (int64_t[]){k, n});
    x->out_dims[0] = m;
    x->out_dims[1] = n;
}

static void free_matrices(struct matrices *x) { FREE_VIEWS(&x->lhs, &x->rhs); }

/* Sizes around those of registers, panels and lanes. */
START_TEST(blocked_products_agree_with_reference)
{
    setenv("HLO_ISA", isas[_i], 1);
    for (int seed = 0; seed < 210; seed++) {
        struct random r = {(uint64_t)seed};
        const enum dtype *t = types[(size_t)seed % COUNT_OF(types)];
        struct matrices x;
        const int64_t max = seed % 5 == 0 ? 9 : 36;
        make_matrices(&x, &r, t, random_in(&r, seed % 31 == 0 ? 0 : 1, max),
                      random_in(&r, seed % 37 == 0 ? 0 : 1, max * 4),
                      seed % 41 == 0 ? 0 : random_in(&r, 1, max));
        struct random_view out = random_layout(&r, t[2], 2, x.out_dims),
                           expected = random_layout(&r, t[2], 2, x.out_dims);
        ck_assert(kern_dot(NULL, &out.view, &x.lhs.view, &x.rhs.view, &x.dims));
        ck_assert(plain_dot(NULL, &expected.view, &x.lhs.view, &x.rhs.view, &x.dims));
        ck_assert_msg(views_agree(&out.view, &expected.view, EQUAL_NUMBERS, 0),
                      "%s: %s by %s, seed %d", isas[_i], dtype_spelling(t[0]), dtype_spelling(t[1]),
                      seed);
        free_matrices(&x);
        FREE_VIEWS(&out, &expected);
    }
    unsetenv("HLO_ISA");
}
END_TEST

/* Some results of a product that is too large for the plain kernel. */
static void check_some(struct random *r, const struct matrices *x, const struct view *out,
                       const char *what)
{
    for (int i = 0; i < 8; i++) {
        const int64_t at[2] = {random_in(r, 0, out->dims[0] - 1),
                               random_in(r, 0, out->dims[1] - 1)};
        const int64_t left = !x->dims.lhs_contracting[0] ? 1 : 0,
                      right = x->dims.rhs_contracting[0] ? 0 : 1;
        struct view row = x->lhs.view, column = x->rhs.view;
        row.data += at[0] * row.strides[left];
        row.dims[left] = 1;
        column.data += at[1] * column.strides[right];
        column.dims[right] = 1;
        struct view one = *out;
        one.data = view_at(out, at);
        one.dims[0] = one.dims[1] = 1;
        union {
            double align;
            char bytes[16];
        } storage;
        struct view expected;
        view_dense(&expected, out->dtype, 2, one.dims, storage.bytes);
        ck_assert(plain_dot(NULL, &expected, &row, &column, &x->dims));
        ck_assert_msg(views_agree(&one, &expected, EQUAL_NUMBERS, 0), "%s at %lld, %lld", what,
                      (long long)at[0], (long long)at[1]);
    }
}

/* Many blocks, long sums in several blocks, matrices by few vectors; no size is a multiple of a
 * block. */
static const int64_t large[][3] = {{70, 300, 230}, {3, 700, 401}, {500, 2, 600},  {9, 11, 20011},
                                   {1, 5, 60000},  {8, 4200, 70}, {40, 1100, 90}, {1100, 17, 131}};

START_TEST(large_products_agree_with_reference)
{
    const enum dtype *t = types[_i];
    for (size_t s = 0; s < COUNT_OF(large); s++) {
        struct random r = {s * 100 + (uint64_t)_i};
        struct matrices x;
        make_matrices(&x, &r, t, large[s][0], large[s][1], large[s][2]);
        struct random_view out = random_layout(&r, t[2], 2, x.out_dims);
        struct thread_pool *workers = thread_pool_new(2);
        ck_assert(kern_dot(workers, &out.view, &x.lhs.view, &x.rhs.view, &x.dims));
        thread_pool_free(workers);
        if (t[2] != DT_F16 && t[0] != DT_F8E8M0FNU)
            check_some(&r, &x, &out.view, dtype_spelling(t[0]));
        free_matrices(&x);
        free(out.block);
    }
}
END_TEST

/* Numbers with all bits set at random, whose sums depend on the order. */
static void fill_unevenly(struct random *r, const struct view *v)
{
    const enum dtype part = dtype_component(v->dtype);
    int64_t i[VIEW_MAX_RANK] = {0};
    if (!dtype_is_float(part))
        return;
    do
        for (size_t at = 0; at < dtype_bytes(v->dtype); at += dtype_bytes(part))
            float_store(part, (char *)view_at(v, i) + at,
                        (double)(int64_t)random_bits(r) * 0x1p-62);
    while (index_next(v->rank, v->dims, i));
}

START_TEST(results_do_not_depend_on_threads)
{
    const enum dtype *t = types[_i];
    start_thread_pools();
    for (size_t s = 0; s < COUNT_OF(large); s++) {
        struct random r = {s * 100 + (uint64_t)_i};
        struct matrices x;
        make_matrices(&x, &r, t, large[s][0], large[s][1], large[s][2]);
        fill_unevenly(&r, &x.lhs.view);
        fill_unevenly(&r, &x.rhs.view);
        struct random_view out = random_layout(&r, t[2], 2, x.out_dims);
        const size_t bytes = (size_t)view_elements(&out.view) * dtype_bytes(t[2]);
        struct view alone, shared;
        view_dense(&alone, t[2], 2, x.out_dims, calloc(1, bytes));
        view_dense(&shared, t[2], 2, x.out_dims, calloc(1, bytes));
        for (int k = 0; k < THREAD_POOLS; k++) {
            ck_assert(kern_dot(thread_pools[k], &out.view, &x.lhs.view, &x.rhs.view, &x.dims));
            kern_copy(NULL, k == 0 ? &alone : &shared, &out.view);
            ck_assert_msg(k == 0 || memcmp(alone.data, shared.data, bytes) == 0,
                          "%s by %s, case %zu, %d threads", dtype_spelling(t[0]),
                          dtype_spelling(t[1]), s, thread_counts[k]);
        }
        free_matrices(&x);
        free(alone.data);
        free(shared.data);
        free(out.block);
    }
    end_thread_pools();
}
END_TEST

/* Several dimensions of each kind, including batches, on several threads and one. */
START_TEST(tensor_contractions_on_threads)
{
    struct thread_pool *workers = thread_pool_new(3);
    for (int seed = 0; seed < 63; seed++) {
        struct random r = {(uint64_t)seed};
        const enum dtype *t = types[(size_t)seed % COUNT_OF(types)];
        const int64_t b = random_in(&r, 1, 12), m = random_in(&r, 1, 2), n = random_in(&r, 1, 9),
                      last = seed % 2 ? 70 : 7;
        const int64_t k = random_in(&r, 1, 9), l = seed % 3 ? 4 : 5;
        struct kern_dot_dims dims = {.batch_count = 1,
                                     .contracting_count = 2,
                                     .lhs_contracting = {1, 3},
                                     .rhs_contracting = {2, 4}};
        r.small = true;
        struct random_view lhs = random_operand(&r, t[0], 5, (int64_t[]){b, k, m, l, 3});
        struct random_view rhs = random_operand(&r, t[1], 5, (int64_t[]){b, n, k, last, l});
        const int64_t out_dims[5] = {b, m, 3, n, last};
        struct random_view out = random_layout(&r, t[2], 5, out_dims),
                           expected = random_layout(&r, t[2], 5, out_dims);
        ck_assert(kern_dot(workers, &out.view, &lhs.view, &rhs.view, &dims));
        ck_assert(plain_dot(NULL, &expected.view, &lhs.view, &rhs.view, &dims));
        ck_assert_msg(views_agree(&out.view, &expected.view, EQUAL_NUMBERS, 0), "%s by %s, seed %d",
                      dtype_spelling(t[0]), dtype_spelling(t[1]), seed);
        FREE_VIEWS(&lhs, &rhs, &out, &expected);
    }
    thread_pool_free(workers);
}
END_TEST

/* Small products are bitwise equal to the reference kernel, alone and in batches. */
START_TEST(small_products_equal_reference)
{
    struct thread_pool *workers = thread_pool_new(2);
    for (int seed = 0; seed < 120; seed++) {
        struct random r = {(uint64_t)seed};
        const enum dtype t = seed % 2 ? DT_F32 : DT_F64;
        const int64_t b = seed % 4 == 3 ? 3000 : 1, max = b > 1 ? 4 : 30;
        const int64_t m = random_in(&r, 1, 9), n = random_in(&r, 1, b > 1 ? 6 : 150),
                      k = random_in(&r, 1, max);
        struct kern_dot_dims dims = {.batch_count = 1,
                                     .contracting_count = 1,
                                     .lhs_contracting = {2},
                                     .rhs_contracting = {1}};
        if (seed % 4 < 2)
            dims = (struct kern_dot_dims){.contracting_count = 1, .lhs_contracting = {1}};
        const int skip = seed % 4 < 2;
        struct random_view lhs = random_array(&r, t, 3 - skip, (int64_t[]){b, m, k} + skip);
        const bool turned =
            seed % 8 >= 4; /* the right side is contiguous in the contracted dimension */
        dims.rhs_contracting[0] += turned;
        struct random_view rhs = random_array(
            &r, t, 3 - skip, (turned ? (int64_t[]){b, n, k} : (int64_t[]){b, k, n}) + skip);
        fill_unevenly(&r, &lhs.view);
        fill_unevenly(&r, &rhs.view);
        const int64_t out_dims[3] = {b, m, n};
        struct random_view out = random_layout(&r, t, 3 - skip, out_dims + skip),
                           expected = random_layout(&r, t, 3 - skip, out_dims + skip);
        const bool same =
            strncmp(kern_dot_choice(&out.view, &lhs.view, &rhs.view, &dims), "small", 5) == 0;
        ck_assert(kern_dot(workers, &out.view, &lhs.view, &rhs.view, &dims));
        ck_assert(plain_dot(NULL, &expected.view, &lhs.view, &rhs.view, &dims));
        ck_assert_msg(views_agree(&out.view, &expected.view, same ? 0 : 1e-5, 4), "%s, seed %d",
                      dtype_spelling(t), seed);
        FREE_VIEWS(&lhs, &rhs, &out, &expected);
    }
    thread_pool_free(workers);
}
END_TEST

START_TEST(scaled_dots_agree_with_reference)
{
    static const enum dtype kinds[] = {DT_F32, DT_BF16, DT_F16, DT_F64, DT_C64, DT_S32};
    struct thread_pool *workers = thread_pool_new(2);
    for (int seed = 0; seed < 60; seed++) {
        struct random r = {(uint64_t)seed, .small = true};
        const enum dtype t = kinds[(size_t)seed % COUNT_OF(kinds)];
        const int64_t m = random_in(&r, 1, 4), n = random_in(&r, 1, 4), k = random_in(&r, 1, 5);
        const int64_t each[3] = {random_in(&r, 1, 3), random_in(&r, 1, 3),
                                 random_in(&r, 1, 4)}; /* in a block */
        struct kern_dot_dims dims = {.contracting_count = 1, .lhs_contracting = {1}};
        struct random_view x[2] = {random_operand(&r, t, 2, (int64_t[]){m * each[0], k * each[2]}),
                                   random_operand(&r, t, 2, (int64_t[]){k * each[2], n * each[1]})};
        struct random_view by[2] = {random_array(&r, t, 2, (int64_t[]){m, k}),
                                    random_array(&r, t, 2, (int64_t[]){k, n})};
        const struct view *scale[2] = {seed % 3 ? &by[0].view : NULL, &by[1].view};
        const int64_t out_dims[2] = {m * each[0], n * each[1]};
        struct random_view out = random_layout(&r, t, 2, out_dims),
                           expected = random_layout(&r, t, 2, out_dims);
        ck_assert(kern_scaled_dot(workers, &out.view, &x[0].view, &x[1].view, scale, &dims));
        ck_assert(plain_scaled_dot(NULL, &expected.view, &x[0].view, &x[1].view, scale, &dims));
        ck_assert_msg(views_agree(&out.view, &expected.view, EQUAL_NUMBERS, 0), "%s, seed %d",
                      dtype_spelling(t), seed);
        FREE_VIEWS(&x[0], &x[1], &by[0], &by[1], &out, &expected);
    }
    thread_pool_free(workers);
}
END_TEST

/* Rows more than 2 GiB apart, of which only the first bytes are touched. */
START_TEST(strides_above_2_gib)
{
    enum { ROWS = 3, TERMS = 70, COLUMNS = 80 };
    const size_t step = ((size_t)1 << 31) + 256, size = step * (ROWS - 1) + 65536;
    char *far = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    static float rhs[TERMS][COLUMNS], out[ROWS][COLUMNS];
    struct kern_dot_dims dims = {.contracting_count = 1, .lhs_contracting = {1}};
    ck_assert(far != MAP_FAILED);
    for (int i = 0; i < TERMS; i++) {
        for (int r = 0; r < ROWS; r++)
            ((float *)(void *)(far + (size_t)r * step))[i] = (float)(r + 1);
        for (int j = 0; j < COLUMNS; j++)
            rhs[i][j] = (float)j;
    }
    struct view l = {.dtype = DT_F32,
                     .rank = 2,
                     .data = far,
                     .dims = {ROWS, TERMS},
                     .strides = {(int64_t)step, 4}},
                x, o;
    view_dense(&x, DT_F32, 2, (int64_t[]){TERMS, COLUMNS}, rhs);
    view_dense(&o, DT_F32, 2, (int64_t[]){ROWS, COLUMNS}, out);
    ck_assert(kern_dot(NULL, &o, &l, &x, &dims));
    for (int r = 0; r < ROWS; r++)
        for (int j = 0; j < COLUMNS; j++)
            ck_assert(out[r][j] == (float)(TERMS * (r + 1) * j));
    /* also as the result */
    o.data = far;
    o.strides[0] = (int64_t)step;
    view_dense(&l, DT_F32, 2, (int64_t[]){ROWS, TERMS}, rhs);
    ck_assert(kern_dot(NULL, &o, &l, &x, &dims));
    munmap(far, size);
}
END_TEST

/* The kernel that `hlo plan` prints for a product. */
START_TEST(kernel_selection)
{
    static const struct {
        enum dtype type;
        int64_t m, n, k;
        const char *choice;
    } rows[] = {{DT_F32, 100, 100, 100, "packed panels, lanes of f32"},
                {DT_F32, 30, 30, 30, "small: operands and sums in registers"},
                {DT_C128, 100, 100, 100, "packed panels, lanes of f64"},
                {DT_F32, 4000, 8, 20, "packed panels, lanes of f32"},
                {DT_F32, 4000, 2, 40, "few vectors by a matrix read once in place"},
                {DT_S32, 1, 100, 100, "packed panels, lanes of 32-bit integers"},
                {DT_BF16, 1, 100, 100, "few vectors by a matrix read once in place"},
                {DT_F64, 100, 100, 0, "zeros: empty sum"},
                {DT_F32, 0, 100, 100, "nothing: empty result"}};
    struct kern_dot_dims dims = {.contracting_count = 1, .lhs_contracting = {1}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct view l, r, o;
        view_dense(&l, rows[i].type, 2, (int64_t[]){rows[i].m, rows[i].k}, NULL);
        view_dense(&r, rows[i].type, 2, (int64_t[]){rows[i].k, rows[i].n}, NULL);
        view_dense(&o, rows[i].type, 2, (int64_t[]){rows[i].m, rows[i].n}, NULL);
        ck_assert_str_eq(kern_dot_choice(&o, &l, &r, &dims), rows[i].choice);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kern_gemm");
    TCase *tests = tcase_create("gemm");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, blocked_products_agree_with_reference, 0, COUNT_OF(isas));
    tcase_add_loop_test(tests, large_products_agree_with_reference, 0, COUNT_OF(types));
    tcase_add_loop_test(tests, results_do_not_depend_on_threads, 0, COUNT_OF(types));
    tcase_add_test(tests, tensor_contractions_on_threads);
    tcase_add_test(tests, small_products_equal_reference);
    tcase_add_test(tests, scaled_dots_agree_with_reference);
    tcase_add_test(tests, strides_above_2_gib);
    tcase_add_test(tests, kernel_selection);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
