/*
 * Tests of convolutions large enough to be divided into blocks: they must agree with the reference
 * kernel for any instruction set, and be bitwise identical for any number of threads.
 */
#include "check_quiet.h"

#include "kern/plain/plain.h"
#include "random_view.h"
#include "thread_pools.h"

/* A convolution of up to two spatial dimensions; features lie innermost or outermost in each array.
 */
struct large_conv {
    int64_t images, in[2], channels, features, window[2], stride, pad, base, dilation;
    int64_t feature_groups, batch_groups;
    bool in_last, kernel_last, out_last; /* features */
};

struct arrays {
    struct kern_conv_dims dims;
    struct random_view in, kernel, out, expected;
};

static void order_dims(bool features_last, int64_t first, int64_t second, const int64_t *space,
                       int64_t *dims, int64_t *at)
{
    const int f = features_last ? 3 : 1;
    at[0] = 0, at[1] = f, at[2] = features_last ? 1 : 2, at[3] = at[2] + 1;
    dims[0] = first, dims[f] = second, dims[at[2]] = space[0], dims[at[3]] = space[1];
}

static struct random_view dense(struct random *r, enum dtype t, const int64_t *dims)
{
    int64_t i[VIEW_MAX_RANK] = {0};
    struct random_view v = {
        .block = calloc((size_t)(dims[0] * dims[1] * dims[2] * dims[3] + 1), dtype_bytes(t))};
    view_dense(&v.view, t, 4, dims, v.block);
    if (r && view_elements(&v.view) > 0)
        do
            random_element(r, t, view_at(&v.view, i));
        while (index_next(4, dims, i));
    return v;
}

static void make(struct arrays *a, const struct large_conv *s, const enum dtype *types,
                 struct random *r)
{
    int64_t dims[4], at[4], outs[2];
    struct kern_conv_dims *d = &a->dims;
    *d = (struct kern_conv_dims){
        .spatial_count = 2, .feature_groups = s->feature_groups, .batch_groups = s->batch_groups};
    for (int k = 0; k < 2; k++) {
        d->window[k] = (struct kern_window_dim){s->window[k],         s->stride, s->pad,
                                                s->pad + k,           s->base,   s->dilation,
                                                k == 1 && s->pad == 2};
        const int64_t left =
            (s->in[k] - 1) * s->base + 1 + 2 * s->pad + k - (s->window[k] - 1) * s->dilation - 1;
        outs[k] = left < 0 ? 0 : left / s->stride + 1;
    }
    order_dims(s->in_last, s->images * s->batch_groups, s->channels * s->feature_groups, s->in,
               dims, at);
    d->input_batch = at[0], d->input_feature = at[1], d->input_spatial[0] = at[2],
    d->input_spatial[1] = at[3];
    a->in = dense(r, types[0], dims);
    /* [f, z, y, x], or its reverse in memory */
    const int64_t kernel[4] = {s->features, s->channels, s->window[0], s->window[1]};
    const int64_t turned[4] = {s->window[0], s->window[1], s->channels, s->features};
    a->kernel = dense(r, types[1], s->kernel_last ? turned : kernel);
    d->kernel_output_feature = s->kernel_last ? 3 : 0;
    d->kernel_input_feature = s->kernel_last ? 2 : 1;
    for (int k = 0; k < 2; k++)
        d->kernel_spatial[k] = s->kernel_last ? k : 2 + k;
    order_dims(s->out_last, s->images, s->features, outs, dims, at);
    d->output_batch = at[0], d->output_feature = at[1], d->output_spatial[0] = at[2],
    d->output_spatial[1] = at[3];
    a->out = dense(NULL, types[2], dims);
    a->expected = dense(NULL, types[2], dims);
}

static void free_arrays(struct arrays *a) { FREE_VIEWS(&a->in, &a->kernel, &a->out, &a->expected); }

static double rounding(enum dtype t)
{
    if (t == DT_F64 || t == DT_C128)
        return 1e-13;
    return dtype_is_float(t) || dtype_is_complex(t) ? 1e-5 : 0;
}

static void check(const struct large_conv *s, const enum dtype *types, uint64_t seed)
{
    static const char *const isas[] = {"baseline", "avx2", "avx512"};
    struct random r = {seed};
    struct arrays a;
    make(&a, s, types, &r);
    const size_t bytes = (size_t)view_elements(&a.out.view) * dtype_bytes(types[2]);
    ck_assert(plain_conv(NULL, &a.expected.view, &a.in.view, &a.kernel.view, &a.dims));
    for (size_t i = 0; i < COUNT_OF(isas); i++) {
        char *first = malloc(bytes + 1);
        setenv("HLO_ISA", isas[i], 1);
        for (int k = 0; k < THREAD_POOLS; k++) {
            memset(a.out.view.data, 0x55, bytes);
            ck_assert(kern_conv(thread_pools[k], &a.out.view, &a.in.view, &a.kernel.view, &a.dims));
            if (k == 0) {
                memcpy(first, a.out.view.data, bytes);
                ck_assert_msg(views_agree(&a.out.view, &a.expected.view, rounding(types[2]), 4),
                              "%s by %s, %s, seed %d", dtype_spelling(types[0]),
                              dtype_spelling(types[1]), isas[i], (int)seed);
            }
            ck_assert_msg(memcmp(first, a.out.view.data, bytes) == 0, "%s, %d threads, seed %d",
                          dtype_spelling(types[0]), thread_counts[k], (int)seed);
        }
        free(first);
    }
    unsetenv("HLO_ISA");
    free_arrays(&a);
}

static const enum dtype types[][3] = {
    {DT_F32, DT_F32, DT_F32},    {DT_BF16, DT_BF16, DT_BF16}, {DT_S8, DT_S8, DT_S32},
    {DT_F64, DT_F64, DT_F64},    {DT_U8, DT_S8, DT_S32},      {DT_F16, DT_F16, DT_F32},
    {DT_C64, DT_C64, DT_C64},    {DT_S32, DT_S32, DT_S32},    {DT_U8, DT_U8, DT_S16},
    {DT_BF16, DT_BF16, DT_F32},  {DT_F32, DT_BF16, DT_F32},   {DT_S64, DT_S64, DT_S64},
    {DT_C128, DT_C128, DT_C128}, {DT_PRED, DT_PRED, DT_PRED}, {DT_S4, DT_S8, DT_S8},
    {DT_U32, DT_U32, DT_U32},    {DT_BF16, DT_BF16, DT_S64}};

START_TEST(blocked_convolutions_agree_with_reference)
{
    start_thread_pools();
    for (int seed = 0; seed < 96; seed++) {
        struct random r = {(uint64_t)seed};
        struct large_conv s = {.images = random_in(&r, 1, 3),
                               .stride = random_in(&r, 1, 2),
                               .pad = random_in(&r, -1, 2)};
        s.in[0] = random_in(&r, 1, 9);
        s.in[1] = random_in(&r, 1, 20);
        s.window[0] = random_in(&r, 1, 3);
        s.window[1] = random_in(&r, 1, 3);
        s.base = random_in(&r, 0, 3) ? 1 : 2;
        s.dilation = random_in(&r, 0, 3) ? 1 : 2;
        s.channels = random_in(&r, 1, 9);
        s.features = random_in(&r, 1, 20);
        s.feature_groups = s.batch_groups = 1;
        if (seed % 4 == 1)
            s.feature_groups = random_in(&r, 2, 4);
        if (seed % 8 == 2)
            s.batch_groups = 2;
        s.features *= s.feature_groups * s.batch_groups;
        s.in_last = random_in(&r, 0, 1);
        s.kernel_last = random_in(&r, 0, 1);
        s.out_last = random_in(&r, 0, 1);
        check(&s, types[(size_t)random_in(&r, 0, (int64_t)COUNT_OF(types) - 1)], (uint64_t)seed);
    }
    end_thread_pools();
}
END_TEST

/* Several blocks of the contracted index, of positions and of features; patches that are contiguous
 * rows. */
START_TEST(large_convolutions_agree_with_reference)
{
    static const struct large_conv shapes[] = {
        {1, {6, 5}, 75, 70, {3, 3}, 1, 1, 1, 1, 1, 1, true, true, true},
        {1, {6, 5}, 75, 70, {3, 3}, 1, 1, 1, 1, 1, 1, false, false, false},
        {2, {3, 3}, 530, 33, {1, 1}, 1, 0, 1, 1, 1, 1, true, true, true},
        {2, {7, 60}, 3, 40, {3, 3}, 2, 1, 1, 1, 1, 1, true, true, true},
        {1, {40, 40}, 3, 18, {3, 3}, 1, 1, 1, 1, 1, 1, false, false, false},
        {2, {20, 20}, 5, 17, {3, 3}, 1, 1, 2, 1, 1, 1, false, true, false},
        {3, {2, 2}, 31, 130, {2, 2}, 1, 1, 1, 2, 1, 1, false, true, true},
        {1, {9, 300}, 2, 5, {2, 5}, 1, 2, 1, 1, 1, 1, true, true, true},
        {2, {9, 9}, 4, 128, {3, 3}, 1, 1, 1, 1, 4, 1, true, true, true},
        {1, {12, 12}, 1, 48, {3, 3}, 1, 1, 1, 1, 24, 1, true, true, true},
        {2, {9, 11}, 1, 35, {3, 2}, 2, 1, 1, 1, 35, 1, false, false, false},
        {1, {300, 3}, 4, 20, {1, 1}, 1, 0, 1, 1, 1, 1, true, false, true},
        /* phases that alternate within cache lines */
        {1, {33, 33}, 3, 32, {2, 3}, 1, 1, 2, 1, 1, 1, false, false, false},
        /* the input in place, copied in phases, or packed */
        {2, {20, 17}, 3, 7, {3, 3}, 1, -1, 1, 1, 1, 1, false, false, false},
        {2, {12, 13}, 3, 60, {3, 2}, 1, -1, 1, 1, 1, 1, false, false, false},
        {3, {9, 11}, 5, 50, {3, 3}, 2, 1, 1, 1, 1, 1, false, false, false},
        {2, {20, 21}, 4, 9, {3, 3}, 2, 2, 1, 2, 1, 1, false, false, false},
        {2, {19, 20}, 3, 8, {4, 3}, 3, 1, 2, 1, 1, 1, false, false, false},
        {2, {6, 7}, 600, 7, {1, 1}, 1, 0, 1, 1, 1, 1, false, false, false},
        {1, {24, 30}, 1, 5, {5, 5}, 1, 2, 1, 1, 1, 1, true, false, true},
        /* windows that reach too far for copies of what lies under them */
        {1, {5, 6}, 2, 3, {2, 2}, 1, 1 << 29, 1, 1 << 30, 1, 1, false, false, false},
        /* windows larger than the result */
        {3, {20, 30}, 3, 16, {20, 30}, 1, 1, 1, 1, 1, 1, false, false, false},
        {5, {9, 9}, 12, 70, {8, 8}, 1, 0, 1, 1, 1, 1, false, false, true},
        {7, {17, 15}, 3, 17, {8, 7}, 1, 1, 1, 2, 1, 1, false, true, false},
        {3, {12, 9}, 2, 33, {20, 12}, 2, 2, 2, 1, 1, 1, false, false, false},
        {2, {3, 600}, 2, 5, {3, 560}, 3, 0, 1, 1, 1, 1, false, true, true},
        {40, {7, 7}, 3, 6, {7, 7}, 1, 1, 1, 1, 2, 1, false, false, false},
        {3, {7, 7}, 9, 12, {6, 7}, 1, 1, 1, 1, 1, 3, false, false, false},
        {9, {9, 8}, 3, 2, {8, 9}, 1, 1, 1, 1, 1, 1, false, false, false},
        {6, {17, 9}, 4, 1, {8, 3}, 2, 1, 1, 1, 1, 1, false, false, true},
        {90, {4, 4}, 2, 600, {4, 4}, 1, 1, 1, 1, 1, 1, false, false, false},
    };
    start_thread_pools();
    for (size_t k = 0; k < COUNT_OF(shapes); k++)
        for (size_t t = 0; t < COUNT_OF(types); t++)
            if (t < 3 || (k + t) % 8 == 0 || (t > 12 && shapes[k].feature_groups > 20))
                check(&shapes[k], types[t], 100 + k);
    end_thread_pools();
}
END_TEST

/* An infinity in the kernel is not multiplied by padding, however patches are packed. */
START_TEST(padding_is_not_multiplied)
{
    for (int form = 0; form < 3; form++) {
        struct large_conv s = {1, {5, 6}, 20, 20, {3, 3}, 1, 1, 1, 1, 1, 1, false, true, false};
        s.in_last = s.out_last = form == 0;
        s.window[0] = s.window[1] = form == 2 ? 6 : 3;
        struct random r = {3};
        struct arrays a;
        make(&a, &s, types[0], &r);
        ((float *)(void *)a.kernel.view.data)[0] = INFINITY;
        ck_assert(plain_conv(NULL, &a.expected.view, &a.in.view, &a.kernel.view, &a.dims));
        ck_assert(kern_conv(NULL, &a.out.view, &a.in.view, &a.kernel.view, &a.dims));
        ck_assert(views_agree(&a.out.view, &a.expected.view, rounding(DT_F32), 4));
        free_arrays(&a);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kern_conv");
    TCase *tests = tcase_create("conv");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, blocked_convolutions_agree_with_reference);
    tcase_add_test(tests, large_convolutions_agree_with_reference);
    tcase_add_test(tests, padding_is_not_multiplied);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
