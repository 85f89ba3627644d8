/*
 * Tests of dot and convolution: fast kernels against plain ones on random shapes, strides, types
 * and attributes; and the values of grammar/values.md 13, worked out by hand.
 */
#include "check_quiet.h"

#include "kern/plain/plain.h"
#include "random_view.h"
#include "thread_pools.h"

/* Operand and result types that the language multiplies. */
static void random_types(struct random *r, enum dtype *l, enum dtype *rhs, enum dtype *out)
{
    static const enum dtype rows[][3] = {
        {DT_F32, DT_F32, DT_F32},
        {DT_F64, DT_F64, DT_F64},
        {DT_C64, DT_C64, DT_C64},
        {DT_C128, DT_C128, DT_C128},
        {DT_BF16, DT_BF16, DT_BF16},
        {DT_F16, DT_F16, DT_F32},
        {DT_F8E4M3FN, DT_F8E5M2, DT_F32},
        {DT_F32, DT_BF16, DT_F32},
        {DT_F64, DT_F64, DT_F32},
        {DT_BF16, DT_BF16, DT_S32},
        {DT_S32, DT_S32, DT_F32},
        {DT_S32, DT_F32, DT_BF16},
        {DT_S8, DT_S8, DT_S8},
        {DT_S8, DT_U8, DT_S32},
        {DT_S32, DT_S32, DT_S8},
        {DT_S16, DT_S16, DT_S16},
        {DT_U16, DT_U16, DT_U64},
        {DT_S32, DT_S32, DT_S32},
        {DT_U64, DT_U64, DT_U64},
        {DT_S4, DT_S4, DT_S4},
        {DT_U4, DT_U4, DT_U4},
        {DT_S4, DT_S4, DT_S32},
        {DT_PRED, DT_PRED, DT_PRED},
        {DT_PRED, DT_S8, DT_S32},
    };
    enum dtype t = random_type(r);
    const enum dtype *row = random_in(r, 0, 3) ? rows[random_in(r, 0, (int64_t)COUNT_OF(rows) - 1)]
                                               : (const enum dtype[]){t, t, t};
    *l = row[0];
    *rhs = row[1];
    *out = row[2];
    r->small = dtype_is_integer(row[0]) && dtype_is_float(row[2]);
}

static double rounding(enum dtype out)
{
    if (out == DT_F64 || out == DT_C128)
        return 1e-13;
    return out == DT_BF16 ? 1e-2 : 1e-5;
}

/* The numbers below `count` in random order. */
static void random_order(struct random *r, int count, int *order)
{
    for (int d = 0; d < count; d++)
        order[d] = d;
    for (int d = count - 1; d > 0; d--) {
        int other = (int)random_in(r, 0, d), swap = order[d];
        order[d] = order[other];
        order[other] = swap;
    }
}

START_TEST(dot_agrees_with_reference)
{
    for (int seed = 0; seed < 1500; seed++) {
        struct random r = {(uint64_t)seed};
        struct kern_dot_dims dims = {.batch_count = (int)random_in(&r, 0, 2),
                                     .contracting_count = (int)random_in(&r, 0, 2)};
        int free_dims[2] = {(int)random_in(&r, 0, 2), (int)random_in(&r, 0, 2)},
            out_rank = dims.batch_count;
        int64_t shared[4], operand[2][VIEW_MAX_RANK], out_dims[VIEW_MAX_RANK], max;
        enum dtype types[2], out_type;
        struct random_view x[2];
        int total = dims.batch_count + dims.contracting_count + free_dims[0] + free_dims[1];
        max = total <= 3 ? 40 : total <= 5 ? 6 : 3;
        random_types(&r, &types[0], &types[1], &out_type);
        random_dims(&r, 4, max, shared);
        for (int i = 0; i < dims.batch_count; i++)
            out_dims[i] = shared[i];
        for (int side = 0; side < 2; side++) {
            int rank = dims.batch_count + dims.contracting_count + free_dims[side],
                order[VIEW_MAX_RANK] = {0};
            int64_t *batch = side ? dims.rhs_batch : dims.lhs_batch,
                    *contracting = side ? dims.rhs_contracting : dims.lhs_contracting;
            random_order(&r, rank, order);
            random_dims(&r, rank, max, operand[side]);
            for (int i = 0; i < dims.batch_count; i++)
                operand[side][batch[i] = order[i]] = shared[i];
            for (int i = 0; i < dims.contracting_count; i++)
                operand[side][contracting[i] = order[dims.batch_count + i]] = shared[2 + i];
            for (int d = 0; d < rank; d++) {
                bool is_free = false;
                for (int i = dims.batch_count + dims.contracting_count; i < rank; i++)
                    is_free |= order[i] == d;
                if (is_free)
                    out_dims[out_rank++] = operand[side][d];
            }
            x[side] = random_operand(&r, types[side], rank, operand[side]);
        }
        struct random_view out = random_layout(&r, out_type, out_rank, out_dims),
                           expected = random_layout(&r, out_type, out_rank, out_dims);
        ck_assert(kern_dot(NULL, &out.view, &x[0].view, &x[1].view, &dims));
        ck_assert(plain_dot(NULL, &expected.view, &x[0].view, &x[1].view, &dims));
        int64_t products = view_elements(&out.view);
        for (int i = 0; i < dims.contracting_count; i++)
            products *= shared[2 + i];
        const bool same_bits = dtype_is_complex(out_type) && products <= 4096;
        ck_assert_msg(views_agree(&out.view, &expected.view, same_bits ? 0 : rounding(out_type),
                                  same_bits ? 0 : 4),
                      "dot of %s, seed %d", dtype_spelling(types[0]), seed);
        FREE_VIEWS(&x[0], &x[1], &out, &expected);
    }
}
END_TEST

/* Batches of small matrices in all orders of dimensions, in sizes around those of vectors; the same
 * bits on any number of threads. */
START_TEST(batches_agree_with_reference)
{
    static const enum dtype types[] = {DT_F32, DT_F64, DT_BF16, DT_F16};
    start_thread_pools();
    for (int seed = 0; seed < 400; seed++) {
        struct random r = {(uint64_t)seed};
        const enum dtype t = types[seed % 4], out_type = seed % 3 ? t : DT_F32;
        const int64_t items = random_in(&r, 2, 300), k = random_in(&r, 1, seed % 5 ? 9 : 70),
                      m = random_in(&r, 1, 9), n = random_in(&r, 1, seed % 7 ? 9 : 40);
        const bool shared = random_in(&r, 0, 5) == 0; /* a matrix for all of rhs */
        int order[2][3] = {{0, 1, 2}, {0, 1, 2}};
        const int64_t sizes[2][3] = {{items, m, k}, {items, k, n}};
        struct random_view x[2];
        for (int side = 0; side < 2; side++) {
            int64_t dims[3];
            random_order(&r, 3, order[side]);
            for (int d = 0; d < 3; d++)
                dims[order[side][d]] = sizes[side][d];
            x[side] = random_array(&r, t, 3, dims);
        }
        const int *l = order[0], *h = order[1];
        struct kern_dot_dims dims = {.batch_count = !shared,
                                     .lhs_batch = {l[0]},
                                     .rhs_batch = {h[0]},
                                     .contracting_count = 1,
                                     .lhs_contracting = {l[2]},
                                     .rhs_contracting = {h[1]}};
        const int64_t few[3] = {m, h[0] < h[2] ? items : n, h[0] < h[2] ? n : items};
        if (shared) { /* each matrix of rhs by the first of lhs: no batch dimension */
            x[0].view.rank = 2;
            for (int d = l[0]; d < 2; d++) {
                x[0].view.dims[d] = x[0].view.dims[d + 1];
                x[0].view.strides[d] = x[0].view.strides[d + 1];
            }
            dims.lhs_contracting[0] -= l[2] > l[0];
        }
        const int64_t all[3] = {items, m, n};
        struct random_view expected = random_layout(&r, out_type, 3, shared ? few : all);
        struct view out[THREAD_POOLS];
        const size_t bytes = (size_t)view_elements(&expected.view) * dtype_bytes(out_type);
        ck_assert(plain_dot(NULL, &expected.view, &x[0].view, &x[1].view, &dims));
        for (int i = 0; i < THREAD_POOLS; i++) {
            view_dense(&out[i], out_type, 3, expected.view.dims, malloc(bytes));
            ck_assert(kern_dot(thread_pools[i], &out[i], &x[0].view, &x[1].view, &dims));
            ck_assert_msg(memcmp(out[0].data, out[i].data, bytes) == 0, "seed %d, %d threads", seed,
                          thread_counts[i]);
        }
        ck_assert_msg(views_agree(&out[0], &expected.view, rounding(out_type), 4),
                      "batch of %s, seed %d", dtype_spelling(t), seed);
        for (int i = 0; i < THREAD_POOLS; i++)
            free(out[i].data);
        FREE_VIEWS(&x[0], &x[1], &expected);
    }
    end_thread_pools();
}
END_TEST

/* A few results, whose long sums run over two dimensions that the operands order differently; the
 * same bits on any number of threads. */
START_TEST(few_results_agree_with_reference)
{
    static const enum dtype types[] = {DT_F16, DT_F32, DT_F64, DT_BF16, DT_F8E5M2};
    start_thread_pools();
    for (int seed = 0; seed < 60; seed++) {
        struct random r = {(uint64_t)seed};
        const enum dtype t = types[(size_t)seed % COUNT_OF(types)], u = seed % 4      ? t
                                                                        : t == DT_F64 ? DT_F64
                                                                                      : DT_F32;
        const int64_t sizes[4] = {random_in(&r, 1, 3), random_in(&r, 1, 500), random_in(&r, 1, 500),
                                  seed % 2 ? random_in(&r, 1, 9) : 1};
        int order[2][4];
        struct random_view x[2];
        for (int side = 0; side < 2; side++) { /* batch, two contracting, free */
            int64_t dims[4];
            random_order(&r, 4, order[side]);
            for (int d = 0; d < 4; d++)
                dims[order[side][d]] = d == 3 && side ? 1 : sizes[d];
            x[side] = random_array(&r, side ? u : t, 4, dims);
        }
        const struct kern_dot_dims dims = {.batch_count = 1,
                                           .lhs_batch = {order[0][0]},
                                           .rhs_batch = {order[1][0]},
                                           .contracting_count = 2,
                                           .lhs_contracting = {order[0][1], order[0][2]},
                                           .rhs_contracting = {order[1][1], order[1][2]}};
        const enum dtype out_type = t == DT_F64 ? DT_F64 : DT_F32;
        const int64_t results[3] = {sizes[0], sizes[3], 1};
        struct random_view expected = random_layout(&r, out_type, 3, results);
        char out[THREAD_POOLS][3 * 9 * 8];
        struct view v;
        ck_assert(plain_dot(NULL, &expected.view, &x[0].view, &x[1].view, &dims));
        for (int i = 0; i < THREAD_POOLS; i++) {
            memset(out[i], 0, sizeof out[i]);
            view_dense(&v, out_type, 3, results, out[i]);
            ck_assert(kern_dot(thread_pools[i], &v, &x[0].view, &x[1].view, &dims));
            ck_assert_msg(memcmp(out[0], out[i], sizeof out[i]) == 0, "seed %d, %d threads", seed,
                          thread_counts[i]);
        }
        ck_assert_msg(views_agree(&v, &expected.view, rounding(out_type), 500),
                      "few results of %s, seed %d", dtype_spelling(t), seed);
        FREE_VIEWS(&x[0], &x[1], &expected);
    }
    end_thread_pools();
}
END_TEST

START_TEST(large_dots_agree_with_reference)
{
    static const enum dtype types[] = {DT_BF16, DT_F32, DT_S8, DT_F64};
    static const int64_t sizes[][3] = {
        {700, 1500, 3}, {2, 3000, 1100}, {1, 700, 600}, {600, 700, 1}, {9, 20000, 17}};
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            struct random r = {i * 10 + s};
            struct kern_dot_dims dims = {.contracting_count = 1, .lhs_contracting = {1}};
            enum dtype out_type = types[i] == DT_S8 ? DT_S32 : types[i];
            struct random_view l =
                random_array(&r, types[i], 2, (int64_t[]){sizes[s][0], sizes[s][1]});
            struct random_view x =
                random_array(&r, types[i], 2, (int64_t[]){sizes[s][1], sizes[s][2]});
            struct random_view out =
                random_layout(&r, out_type, 2, (int64_t[]){sizes[s][0], sizes[s][2]});
            struct random_view expected =
                random_layout(&r, out_type, 2, (int64_t[]){sizes[s][0], sizes[s][2]});
            ck_assert(kern_dot(NULL, &out.view, &l.view, &x.view, &dims));
            ck_assert(plain_dot(NULL, &expected.view, &l.view, &x.view, &dims));
            ck_assert_msg(views_agree(&out.view, &expected.view, rounding(out_type), 4),
                          "%s, case %zu", dtype_spelling(types[i]), s);
            FREE_VIEWS(&l, &x, &out, &expected);
        }
    }
}
END_TEST

/* Rows of a power of two of bytes, and transposed ones: both are copied, a strip at a time. The
 * blocks of a result depend on the number of threads, its bits do not. */
START_TEST(strips_of_rows_agree_with_reference)
{
    enum { M = 98, N = 130 };
    static const struct {
        enum dtype in, out;
        int64_t terms;
    } cases[] = {{DT_F32, DT_F32, 1024}, {DT_F64, DT_F64, 512}, {DT_F32, DT_F32, 129},
                 {DT_BF16, DT_F32, 130}, {DT_S8, DT_S32, 130},  {DT_C64, DT_C64, 66}};
    static char out[THREAD_POOLS][M * N * 8];
    start_thread_pools();
    for (size_t i = 0; i < 2 * COUNT_OF(cases); i++) {
        struct random r = {i};
        const enum dtype in = cases[i / 2].in, type = cases[i / 2].out;
        const int64_t turned = (int64_t)(i % 2),
                      k = turned ? cases[i / 2].terms / 4 + 1 : cases[i / 2].terms;
        const struct kern_dot_dims dims = {.contracting_count = 1, .lhs_contracting = {!turned}};
        struct random_view a = random_array(&r, in, 2, (int64_t[]){turned ? k : M, turned ? M : k}),
                           b = random_array(&r, in, 2, (int64_t[]){k, N}),
                           expected = random_layout(&r, type, 2, (int64_t[]){M, N});
        struct view v;
        ck_assert(plain_dot(NULL, &expected.view, &a.view, &b.view, &dims));
        for (int pool = 0; pool < THREAD_POOLS; pool++) {
            view_dense(&v, type, 2, (int64_t[]){M, N}, out[pool]);
            ck_assert(kern_dot(thread_pools[pool], &v, &a.view, &b.view, &dims));
            ck_assert_msg(
                memcmp(out[0], out[pool], (size_t)view_elements(&v) * dtype_bytes(type)) == 0,
                "case %zu, %d threads", i, thread_counts[pool]);
        }
        const double tolerance = type == DT_S32 ? 0 : rounding(type);
        ck_assert_msg(views_agree(&v, &expected.view, tolerance, 40), "case %zu", i);
        FREE_VIEWS(&a, &b, &expected);
    }
    end_thread_pools();
}
END_TEST

/* Products of bytes, bf16 and f32 in sizes around those of their blocks. */
START_TEST(blocked_dots_agree_with_reference)
{
    static const enum dtype rows[][3] = {{DT_S8, DT_S8, DT_S32},     {DT_U8, DT_U8, DT_U32},
                                         {DT_S8, DT_U8, DT_S32},     {DT_U8, DT_S8, DT_S16},
                                         {DT_S8, DT_S8, DT_U8},      {DT_U8, DT_U8, DT_S8},
                                         {DT_BF16, DT_BF16, DT_F32}, {DT_BF16, DT_BF16, DT_BF16},
                                         {DT_F32, DT_F32, DT_F32},   {DT_F32, DT_F32, DT_BF16}};
    for (int seed = 0; seed < 150; seed++) {
        struct random r = {(uint64_t)seed};
        const enum dtype *t = rows[(size_t)seed % COUNT_OF(rows)];
        const int64_t m = random_in(&r, 1, 40), n = random_in(&r, 1, 140);
        const int64_t k = seed % 50 ? random_in(&r, 1, 300) : random_in(&r, 4090, 4110);
        struct kern_dot_dims dims = {.contracting_count = 1, .lhs_contracting = {1}};
        struct random_view a = random_array(&r, t[0], 2, (int64_t[]){m, k}),
                           b = random_array(&r, t[1], 2, (int64_t[]){k, n});
        struct random_view out = random_layout(&r, t[2], 2, (int64_t[]){m, n});
        struct random_view expected = random_layout(&r, t[2], 2, (int64_t[]){m, n});
        ck_assert(kern_dot(NULL, &out.view, &a.view, &b.view, &dims));
        ck_assert(plain_dot(NULL, &expected.view, &a.view, &b.view, &dims));
        const double tolerance = dtype_is_float(t[2]) ? rounding(t[2]) : 0;
        ck_assert_msg(views_agree(&out.view, &expected.view, tolerance, 4), "%s by %s, seed %d",
                      dtype_spelling(t[0]), dtype_spelling(t[1]), seed);
        FREE_VIEWS(&a, &b, &out, &expected);
    }
}
END_TEST

/* sum over k of a[k] * b[k] in the given types */
static void inner_product(enum dtype t, const void *a, const void *b, int64_t n,
                          enum dtype out_type, void *out, bool plain)
{
    struct kern_dot_dims dims = {.contracting_count = 1};
    struct view l, r, o;
    view_dense(&l, t, 1, &n, (void *)(uintptr_t)a);
    view_dense(&r, t, 1, &n, (void *)(uintptr_t)b);
    view_dense(&o, out_type, 0, NULL, out);
    ck_assert((plain ? plain_dot : kern_dot)(NULL, &o, &l, &r, &dims));
}

START_TEST(dot_examples)
{
    for (int plain = 0; plain < 2; plain++) {
        int8_t hundred[3] = {100, 100, 100}, byte;
        uint16_t a[3] = {f32_to_bf16(1.5f), f32_to_bf16(2.5f), f32_to_bf16(3.5f)},
                 b[3] = {f32_to_bf16(1.5f), f32_to_bf16(1.5f), f32_to_bf16(1.5f)};
        int32_t whole;
        float inf[2] = {INFINITY, 1}, zero[2] = {0, 1}, f;
        double fine[2] = {1 + 0x1p-25, -1}, half[2] = {0x1p24, 0x1p24};
        inner_product(DT_S8, hundred, hundred, 3, DT_S8, &byte, plain);
        ck_assert_int_eq(byte, 48);
        inner_product(DT_BF16, a, b, 3, DT_S32, &whole, plain);
        ck_assert_msg(whole == 11, "floats are multiplied before they become integers: %d", whole);
        inner_product(DT_F32, inf, zero, 2, DT_F32, &f, plain);
        ck_assert_msg(isnan(f), "inf * 0 is kept");
        inner_product(DT_F64, fine, half, 2, DT_F32, &f, plain);
        ck_assert_msg(f == 0.5f, "f64 to f32 is rounded after the sum");
        f = NAN;
        inner_product(DT_F32, inf, zero, 0, DT_F32, &f, plain);
        ck_assert_msg(f == 0, "an empty sum is zero");
    }
}
END_TEST

/* Dimensions of a random convolution: input, kernel, output, each with its own layout.
 */
static void random_conv(struct random *r, int seed, struct kern_conv_dims *c,
                        int64_t dims[3][VIEW_MAX_RANK])
{
    int rank = c->spatial_count + 2, order[3][VIEW_MAX_RANK];
    int64_t depth = seed % 6 == 1 ? 1 : random_in(r, 1, 4), features = random_in(r, 1, 4),
            images = random_in(r, 1, 3);
    for (int v = 0; v < 3; v++)
        random_order(r, rank, order[v]);
    c->input_batch = order[0][0], c->input_feature = order[0][1];
    c->kernel_output_feature = order[1][0], c->kernel_input_feature = order[1][1];
    c->output_batch = order[2][0], c->output_feature = order[2][1];
    features *= c->feature_groups * c->batch_groups;
    dims[0][c->input_batch] = images * c->batch_groups;
    dims[0][c->input_feature] = depth * c->feature_groups;
    dims[1][c->kernel_output_feature] = features;
    dims[1][c->kernel_input_feature] = depth;
    dims[2][c->output_batch] = images;
    dims[2][c->output_feature] = features;
    for (int d = 0; d < c->spatial_count; d++) {
        int64_t n = random_in(r, 1, 7), size = random_in(r, 1, 3);
        struct kern_window_dim *w = &c->window[d];
        *w = (struct kern_window_dim){size,
                                      random_in(r, 1, 2),
                                      random_in(r, -1, 2),
                                      random_in(r, -1, 2),
                                      random_in(r, 0, 2) ? 1 : 2,
                                      random_in(r, 0, 2) ? 1 : 2,
                                      random_in(r, 0, 2) == 0};
        int64_t left = (n - 1) * w->base_dilation + 1 + w->pad_low + w->pad_high -
                       (size - 1) * w->window_dilation - 1;
        dims[0][c->input_spatial[d] = order[0][d + 2]] = n;
        dims[1][c->kernel_spatial[d] = order[1][d + 2]] = size;
        dims[2][c->output_spatial[d] = order[2][d + 2]] = left < 0 ? 0 : left / w->stride + 1;
    }
}

START_TEST(conv_agrees_with_reference)
{
    for (int seed = 0; seed < 1500; seed++) {
        struct random r = {(uint64_t)seed};
        struct kern_conv_dims c = {
            .spatial_count = (int)random_in(&r, 0, 4), .feature_groups = 1, .batch_groups = 1};
        int rank = c.spatial_count + 2;
        int64_t dims[3][VIEW_MAX_RANK];
        enum dtype types[2], out_type;
        random_types(&r, &types[0], &types[1], &out_type);
        if (seed % 3 == 1)
            c.feature_groups = random_in(&r, 2, seed % 6 == 1 ? 40 : 3);
        if (seed % 3 == 2)
            c.batch_groups = random_in(&r, 2, 3);
        random_conv(&r, seed, &c, dims);
        struct random_view in = random_operand(&r, types[0], rank, dims[0]),
                           kernel = random_array(&r, types[1], rank, dims[1]);
        struct random_view out = random_layout(&r, out_type, rank, dims[2]),
                           expected = random_layout(&r, out_type, rank, dims[2]);
        if (seed % 10 == 0 && types[1] == DT_F32) {
            int64_t first[VIEW_MAX_RANK] = {0};
            *(float *)(void *)view_at(&kernel.view, first) = INFINITY;
        }
        ck_assert(kern_conv(NULL, &out.view, &in.view, &kernel.view, &c));
        ck_assert(plain_conv(NULL, &expected.view, &in.view, &kernel.view, &c));
        ck_assert_msg(views_agree(&out.view, &expected.view, rounding(out_type), 4),
                      "conv of %s, seed %d", dtype_spelling(types[0]), seed);
        FREE_VIEWS(&in, &kernel, &out, &expected);
    }
}
END_TEST

/* One image and one feature: the line x under `kernel`. */
static void line_conv(enum dtype t, void *x, int64_t n, void *kernel, int64_t size,
                      struct kern_window_dim w, void *out, int64_t out_n, bool plain)
{
    struct kern_conv_dims c = {.spatial_count = 1,
                               .input_feature = 1,
                               .input_spatial = {2},
                               .kernel_output_feature = 1,
                               .kernel_spatial = {2},
                               .output_feature = 1,
                               .output_spatial = {2},
                               .window = {w},
                               .feature_groups = 1,
                               .batch_groups = 1};
    struct view in, k, o;
    view_dense(&in, t, 3, (int64_t[]){1, 1, n}, x);
    view_dense(&k, t, 3, (int64_t[]){1, 1, size}, kernel);
    view_dense(&o, t, 3, (int64_t[]){1, 1, out_n}, out);
    ck_assert((plain ? plain_conv : kern_conv)(NULL, &o, &in, &k, &c));
}

/* Consecutively padded images, features last: the padding of each is zero. */
START_TEST(conv_padding_between_images)
{
    enum { IMAGES = 3, LENGTH = 40000, FEATURES = 8 };
    int64_t dims[3] = {IMAGES, LENGTH, FEATURES};
    struct kern_conv_dims c = {.spatial_count = 1,
                               .input_feature = 2,
                               .input_spatial = {1},
                               .kernel_input_feature = 1,
                               .kernel_output_feature = 2,
                               .output_feature = 2,
                               .output_spatial = {1},
                               .window = {{3, 1, 1, 1, 1, 1, false}},
                               .feature_groups = FEATURES,
                               .batch_groups = 1};
    struct random r = {7};
    struct random_view in = random_array(&r, DT_F32, 3, dims),
                       out = random_layout(&r, DT_F32, 3, dims),
                       expected = random_layout(&r, DT_F32, 3, dims),
                       kernel = random_array(&r, DT_F32, 3, (int64_t[]){3, 1, FEATURES});
    ck_assert(kern_conv(NULL, &out.view, &in.view, &kernel.view, &c));
    ck_assert(plain_conv(NULL, &expected.view, &in.view, &kernel.view, &c));
    ck_assert(views_agree(&out.view, &expected.view, rounding(DT_F32), 4));
    FREE_VIEWS(&in, &out, &expected, &kernel);
}
END_TEST

START_TEST(conv_examples)
{
    for (int plain = 0; plain < 2; plain++) {
        float x[4] = {1, 2, 3, 4}, kernel[3] = {1, 10, 100}, out[4], poisoned[3] = {INFINITY, 1, 1};
        int8_t bytes[2] = {10, 10}, weights[2] = {30, 30}, byte;
        line_conv(DT_F32, x, 4, kernel, 3, (struct kern_window_dim){3, 1, 0, 0, 1, 1, false}, out,
                  2, plain);
        ck_assert(out[0] == 321 && out[1] == 432);
        line_conv(DT_F32, x, 4, kernel, 3, (struct kern_window_dim){3, 1, 0, 0, 1, 1, true}, out, 2,
                  plain);
        ck_assert(out[0] == 123 && out[1] == 234);
        line_conv(DT_F32, x, 4, poisoned, 3, (struct kern_window_dim){3, 1, 1, 0, 1, 1, false}, out,
                  3, plain);
        ck_assert_msg(out[0] == 3 && isinf(out[1]), "padding is not multiplied");
        line_conv(DT_S8, bytes, 2, weights, 2, (struct kern_window_dim){2, 1, 0, 0, 1, 1, false},
                  &byte, 1, plain);
        ck_assert_int_eq(byte, 88);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kern_product");
    TCase *tests = tcase_create("product");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, dot_agrees_with_reference);
    tcase_add_test(tests, batches_agree_with_reference);
    tcase_add_test(tests, few_results_agree_with_reference);
    tcase_add_test(tests, large_dots_agree_with_reference);
    tcase_add_test(tests, strips_of_rows_agree_with_reference);
    tcase_add_test(tests, blocked_dots_agree_with_reference);
    tcase_add_test(tests, dot_examples);
    tcase_add_test(tests, conv_agrees_with_reference);
    tcase_add_test(tests, conv_padding_between_images);
    tcase_add_test(tests, conv_examples);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
