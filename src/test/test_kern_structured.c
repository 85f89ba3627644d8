/*
 * Tests of kernels that move, reduce, look up and sort elements: fast ones against reference ones
 * on random shapes, strides, types and attributes; some expected values are computed by hand.
 */
#include "check_quiet.h"

#include "kern/nest.h"
#include "kern/plain/plain.h"
#include "random_view.h"

static enum dtype real_type(struct random *r)
{
    enum dtype t;
    do
        t = random_type(r);
    while (dtype_is_complex(t));
    return t;
}

/* Tolerance for sums of a type in another order. */
static double rounding(enum dtype t)
{
    if (t == DT_F64 || t == DT_C128)
        return 1e-13;
    return dtype_is_float(t) || dtype_is_complex(t) ? 1e-5 : 0;
}

/* ---- shape.c, copy.c ---- */

/* Packs n elements that are `step` elements apart, the last of which ends the source. */
static void check_pack(size_t width, size_t step, size_t n)
{
    const size_t size = ((n - 1) * step + 1) * width;
    char *x = malloc(size), *out = malloc(n * width + 1);
    ck_assert(x && out);
    for (size_t k = 0; k < size; k++)
        x[k] = (char)(k * 41 + k / 256);
    out[n * width] = 0x55;
    kern_pack(out, x, (int64_t)(step * width), width, (int64_t)n);
    for (size_t k = 0; k < n; k++)
        ck_assert_mem_eq(out + k * width, x + k * step * width, width);
    ck_assert_int_eq(out[n * width], 0x55);
    free(x);
    free(out);
}

START_TEST(elements_at_a_distance)
{
    for (size_t width = 1; width <= 8; width *= 2)
        for (size_t step = 2; step < 20; step++)
            for (size_t n = 120; n < 200; n++)
                check_pack(width, step, n);
}
END_TEST

START_TEST(copy_moves_every_element)
{
    for (int seed = 0; seed < 600; seed++) {
        struct random r = {(uint64_t)seed, .specials = true};
        int64_t dims[VIEW_MAX_RANK], i[VIEW_MAX_RANK] = {0};
        int rank = (int)random_in(&r, 0, 6);
        enum dtype t = random_type(&r);
        random_dims(&r, rank, rank > 2 ? 9 : seed % 8 ? 40 : 150, dims);
        struct random_view x = random_array(&r, t, rank, dims),
                           out = random_layout(&r, t, rank, dims);
        if (rank > 0 && random_in(&r, 0, 5) == 0)
            x.view.strides[random_in(&r, 0, rank - 1)] = 0;
        kern_copy(NULL, &out.view, &x.view);
        ck_assert_msg(views_agree(&out.view, &x.view, 0, 0), "copy, seed %d", seed);
        if (view_elements(&out.view) > 0)
            ck_assert(view_at(&out.view, i) != view_at(&x.view, i));
        FREE_VIEWS(&x, &out);
    }
}
END_TEST

START_TEST(pad_agrees_with_reference)
{
    for (int seed = 0; seed < 600; seed++) {
        struct random r = {(uint64_t)seed, .specials = true};
        int64_t dims[VIEW_MAX_RANK], out_dims[VIEW_MAX_RANK];
        struct kern_pad_dim pad[VIEW_MAX_RANK];
        int rank = (int)random_in(&r, 0, 6);
        enum dtype t = random_type(&r);
        char value[16] = {0};
        random_element(&r, t, value);
        random_dims(&r, rank, 6, dims);
        for (int d = 0; d < rank; d++) {
            pad[d] = (struct kern_pad_dim){random_in(&r, -4, 4), random_in(&r, -4, 4),
                                           random_in(&r, 0, 2)};
            int64_t n = dims[d] + (dims[d] > 1 ? (dims[d] - 1) * pad[d].interior : 0) + pad[d].low +
                        pad[d].high;
            out_dims[d] = n < 0 ? 0 : n;
        }
        struct random_view x = random_operand(&r, t, rank, dims);
        struct random_view out = random_layout(&r, t, rank, out_dims),
                           expected = random_layout(&r, t, rank, out_dims);
        kern_pad(NULL, &out.view, &x.view, value, pad);
        plain_pad(NULL, &expected.view, &x.view, value, pad);
        ck_assert_msg(views_agree(&out.view, &expected.view, 0, 0), "pad, seed %d", seed);
        FREE_VIEWS(&x, &out, &expected);
    }
}
END_TEST

START_TEST(pad_examples)
{
    int32_t x[5] = {1, 2, 3, 4, 5}, nine = 9, out[9], expected[] = {9, 2, 9, 3, 9, 4, 9, 5},
            cropped[] = {5, 9};
    struct view from, to;
    view_dense(&from, DT_S32, 1, (int64_t[]){5}, x);
    view_dense(&to, DT_S32, 1, (int64_t[]){8}, out);
    kern_pad(NULL, &to, &from, &nine, &(struct kern_pad_dim){-1, 0, 1});
    ck_assert_mem_eq(out, expected, sizeof expected);
    view_dense(&to, DT_S32, 1, (int64_t[]){2}, out);
    kern_pad(NULL, &to, &from, &nine, &(struct kern_pad_dim){-4, 1, 0});
    ck_assert_mem_eq(out, cropped, sizeof cropped);
    view_dense(&from, DT_S32, 1, (int64_t[]){0}, x);
    view_dense(&to, DT_S32, 1, (int64_t[]){3}, out);
    kern_pad(NULL, &to, &from, &nine, &(struct kern_pad_dim){1, 2, 5});
    ck_assert_mem_eq(out, ((int32_t[]){9, 9, 9}), 12);
}
END_TEST

START_TEST(iota_wraps_and_rounds)
{
    int8_t bytes[300], nibbles[20];
    uint16_t halves[300];
    struct c64 pairs[3];
    struct view v;
    view_dense(&v, DT_S8, 1, (int64_t[]){300}, bytes);
    kern_iota(NULL, &v, 0);
    ck_assert_int_eq(bytes[127], 127);
    ck_assert_int_eq(bytes[128], -128);
    view_dense(&v, DT_S4, 1, (int64_t[]){20}, nibbles);
    kern_iota(NULL, &v, 0);
    ck_assert_int_eq(nibbles[7], 7);
    ck_assert_int_eq(nibbles[8], -8);
    ck_assert_int_eq(nibbles[17], 1);
    view_dense(&v, DT_BF16, 1, (int64_t[]){300}, halves);
    kern_iota(NULL, &v, 0);
    ck_assert(bf16_to_f32(halves[257]) == 256 && bf16_to_f32(halves[259]) == 260);
    view_dense(&v, DT_C64, 1, (int64_t[]){3}, pairs);
    kern_iota(NULL, &v, 0);
    ck_assert(pairs[2].re == 2 && pairs[2].im == 0);
}
END_TEST

START_TEST(iota_of_any_dimension)
{
    for (int seed = 0; seed < 100; seed++) {
        struct random r = {(uint64_t)seed};
        int64_t dims[VIEW_MAX_RANK], i[VIEW_MAX_RANK] = {0};
        int rank = (int)random_in(&r, 1, 4), d = (int)random_in(&r, 0, rank - 1);
        random_dims(&r, rank, 8, dims);
        if (seed % 10 == 0)
            dims[d] = 2500;
        struct random_view out = random_layout(&r, DT_S32, rank, dims);
        kern_iota(NULL, &out.view, d);
        if (view_elements(&out.view) > 0)
            do
                ck_assert_int_eq(*(int32_t *)(void *)view_at(&out.view, i), i[d]);
            while (index_next(rank, dims, i));
        free(out.block);
    }
}
END_TEST

START_TEST(views_of_views)
{
    int32_t data[24];
    struct view x, v;
    view_dense(&x, DT_S32, 2, (int64_t[]){4, 6}, data);
    kern_iota(NULL, &x, 1);
    kern_view_slice(&v, &x, (int64_t[]){1, 1}, (int64_t[]){4, 6}, (int64_t[]){2, 3});
    ck_assert(v.dims[0] == 2 && v.dims[1] == 2);
    ck_assert_int_eq(*(int32_t *)(void *)view_at(&v, (int64_t[]){1, 1}), 4);
    kern_view_reverse(&v, &x, (int64_t[]){1}, 1);
    ck_assert_int_eq(*(int32_t *)(void *)view_at(&v, (int64_t[]){0, 0}), 5);
    kern_view_pick(&v, &x, x.rank, (int64_t[]){1, 0});
    ck_assert(v.dims[0] == 6 && v.dims[1] == 4);
    ck_assert_int_eq(*(int32_t *)(void *)view_at(&v, (int64_t[]){3, 2}), 3);
    ck_assert(!kern_view_reshape(&v, &v, 1, (int64_t[]){24}));
    ck_assert(kern_view_reshape(&v, &x, 3, (int64_t[]){2, 2, 6}));
    ck_assert_int_eq(*(int32_t *)(void *)view_at(&v, (int64_t[]){1, 1, 4}), 4);
    kern_view_broadcast(&v, &x, 3, (int64_t[]){6, 5, 4}, (int64_t[]){2, 0});
    ck_assert_int_eq(*(int32_t *)(void *)view_at(&v, (int64_t[]){3, 4, 1}), 3);
}
END_TEST

/* ---- reduce.c, window.c ---- */

/* acc = acc * 2 + value on s32 and f32; two operands: the larger value with its companion. */
static bool doubling(void *context, const void *const *args, void *const *results)
{
    enum dtype t = *(enum dtype *)context;
    if (t == DT_F32)
        *(float *)results[0] = *(const float *)args[0] / 2 + *(const float *)args[1];
    else
        *(uint32_t *)results[0] = *(const uint32_t *)args[0] * 2 + *(const uint32_t *)args[1];
    return true;
}

/* doubling() as code on tiles. */
struct doubling_lanes {
    uint32_t factor[KERN_LANES];
    const void *constants[1];
    struct kern_lane_op ops[2];
    struct kern_lane_code code;
};

static void make_doubling_lanes(struct doubling_lanes *d, enum dtype t)
{
    const float half = 0.5f;
    for (int k = 0; k < KERN_LANES; k++)
        d->factor[k] = 2;
    for (int k = 0; k < KERN_LANES && t == DT_F32; k++)
        memcpy(&d->factor[k], &half, sizeof half);
    d->constants[0] = d->factor;
    d->ops[0] =
        (struct kern_lane_op){.fn = kern_find_elementwise("multiply", t), .out = 4, .args = {0, 3}};
    d->ops[1] =
        (struct kern_lane_op){.fn = kern_find_elementwise("add", t), .out = 2, .args = {4, 1}};
    d->code = (struct kern_lane_code){.arg_count = 2,
                                      .result_count = 1,
                                      .constant_count = 1,
                                      .tile_count = 5,
                                      .op_count = 2,
                                      .workspace = 4 * KERN_LANES,
                                      .tile_bytes = 4 * KERN_LANES,
                                      .constants = d->constants,
                                      .ops = d->ops};
}

static bool larger_pair(void *context, const void *const *args, void *const *results)
{
    (void)context;
    bool keep = *(const float *)args[0] >= *(const float *)args[2];
    memcpy(results[0], keep ? args[0] : args[2], 4);
    memcpy(results[1], keep ? args[1] : args[3], 4);
    return true;
}

static bool refuse(void *context, const void *const *args, void *const *results)
{
    (void)context;
    (void)args;
    (void)results;
    return false;
}

static enum kern_combine any_combine(struct random *r, enum dtype t)
{
    if (dtype_is_complex(t))
        return random_in(r, 0, 1) ? KERN_ADD : KERN_MULTIPLY;
    if (dtype_is_float(t))
        return (enum kern_combine)random_in(r, KERN_ADD, KERN_MINIMUM);
    return (enum kern_combine)random_in(r, KERN_ADD, KERN_XOR);
}

START_TEST(reduce_agrees_with_reference)
{
    for (int seed = 0; seed < 1500; seed++) {
        struct random r = {(uint64_t)seed, .specials = seed % 3 == 0};
        int64_t dims[VIEW_MAX_RANK], out_dims[VIEW_MAX_RANK];
        int rank = (int)random_in(&r, 0, 6), kept = 0;
        bool reduced[VIEW_MAX_RANK];
        enum dtype t = random_type(&r), acc = t, calling = random_in(&r, 0, 1) ? DT_F32 : DT_S32;
        struct kern_body body = {.combine = any_combine(&r, t)};
        struct doubling_lanes lanes;
        if (seed % 5 == 0) {
            t = acc = calling;
            make_doubling_lanes(&lanes, t);
            body = (struct kern_body){.combine = KERN_CALL,
                                      .call = doubling,
                                      .context = &calling,
                                      .lanes = seed % 2 ? &lanes.code : NULL};
        } else if (dtype_is_float(t) &&
                   seed % 2) { /* mixed precision: a body of another float type */
            acc = random_in(&r, 0, 1) ? DT_F32 : DT_BF16;
            body.call = refuse;
        }
        random_dims(&r, rank, rank > 2 ? 20 : 70, dims);
        if (rank > 0 && seed % 50 == 7)
            dims[random_in(&r, 0, rank - 1)] = 2100;
        for (int d = 0; d < rank; d++) {
            reduced[d] = random_in(&r, 0, 1);
            if (!reduced[d])
                out_dims[kept++] = dims[d];
        }
        char init[16] = {0};
        random_element(&r, acc, init);
        struct random_view x = random_operand(&r, t, rank, dims);
        struct random_view out = random_layout(&r, t, kept, out_dims),
                           expected = random_layout(&r, t, kept, out_dims);
        ck_assert(kern_reduce(NULL, 1, &out.view, &x.view, (const void *const[]){init}, &acc,
                              reduced, &body));
        ck_assert(plain_reduce(NULL, 1, &expected.view, &x.view, (const void *const[]){init}, &acc,
                               reduced, &body));
        ck_assert_msg(views_agree(&out.view, &expected.view, rounding(t), 0), "reduce, seed %d",
                      seed);
        FREE_VIEWS(&x, &out, &expected);
    }
}
END_TEST

START_TEST(reduce_examples)
{
    float x[3] = {1e8f, 1, -1e8f}, zero = 0, out[3];
    uint16_t ones[400], sum;
    int32_t bytes_out;
    struct view from, to;
    struct kern_body add = {.combine = KERN_ADD};
    enum dtype f32 = DT_F32, bf16 = DT_BF16;
    view_dense(&from, DT_F32, 1, (int64_t[]){3}, x);
    view_dense(&to, DT_F32, 0, NULL, out);
    kern_reduce(NULL, 1, &to, &from, (const void *const[]){&zero}, &f32, (bool[]){true}, &add);
    ck_assert_msg(out[0] == 1, "the sum runs in double");
    for (int i = 0; i < 400; i++)
        ones[i] = f32_to_bf16(1);
    view_dense(&from, DT_BF16, 1, (int64_t[]){400}, ones);
    view_dense(&to, DT_BF16, 0, NULL, &sum);
    kern_reduce(NULL, 1, &to, &from, (const void *const[]){(uint16_t[]){0}}, &bf16, (bool[]){true},
                &add);
    ck_assert_msg(bf16_to_f32(sum) == 400, "bf16 sums do not stop at 256");
    float pair[2][3] = {{1, 7, 7}, {0, 1, 2}};
    float start[2] = {-INFINITY, -1};
    struct kern_body largest = {.combine = KERN_CALL, .call = larger_pair},
                     none = {.combine = KERN_CALL, .call = refuse};
    struct view two[2], outs[2];
    for (int k = 0; k < 2; k++) {
        view_dense(&two[k], DT_F32, 1, (int64_t[]){3}, pair[k]);
        view_dense(&outs[k], DT_F32, 0, NULL, &out[k]);
    }
    const void *inits[2] = {&start[0], &start[1]};
    ck_assert(kern_reduce(NULL, 2, outs, two, inits, (enum dtype[]){DT_F32, DT_F32}, (bool[]){true},
                          &largest));
    ck_assert(out[0] == 7 && out[1] == 1);
    ck_assert_msg(!kern_reduce(NULL, 2, outs, two, inits, (enum dtype[]){DT_F32, DT_F32},
                               (bool[]){true}, &none),
                  "a failing body stops the kernel");
    (void)bytes_out;
}
END_TEST

START_TEST(reduce_window_agrees_with_reference)
{
    for (int seed = 0; seed < 1000; seed++) {
        struct random r = {(uint64_t)seed, .specials = seed % 3 == 0};
        int64_t dims[VIEW_MAX_RANK], out_dims[VIEW_MAX_RANK];
        struct kern_window_dim w[VIEW_MAX_RANK];
        int rank = (int)random_in(&r, 0, 6);
        enum dtype t = random_type(&r), calling = DT_F32;
        struct kern_body body = {
            .combine = any_combine(&r, t), .call = doubling, .context = &calling};
        if (seed % 7 == 0 || (dtype_is_complex(t) && body.combine == KERN_MULTIPLY)) {
            t = DT_F32;
            body.combine = KERN_CALL;
        }
        char init[16] = {0};
        random_element(&r, t, init);
        random_dims(&r, rank, 7, dims);
        random_window(&r, rank, dims, w, out_dims);
        struct random_view x = random_operand(&r, t, rank, dims);
        struct random_view out = random_layout(&r, t, rank, out_dims),
                           expected = random_layout(&r, t, rank, out_dims);
        ck_assert(kern_reduce_window(NULL, 1, &out.view, &x.view, (const void *const[]){init}, &t,
                                     w, &body));
        ck_assert(plain_reduce_window(NULL, 1, &expected.view, &x.view, (const void *const[]){init},
                                      &t, w, &body));
        ck_assert_msg(views_agree(&out.view, &expected.view, rounding(t), 1),
                      "reduce-window, seed %d", seed);
        FREE_VIEWS(&x, &out, &expected);
    }
}
END_TEST

START_TEST(long_windows_agree_with_reference)
{
    for (int seed = 0; seed < 60; seed++) {
        struct random r = {(uint64_t)seed, .specials = seed % 3 == 0};
        enum dtype t = random_type(&r);
        int64_t dims[3], out_dims[3], n = random_in(&r, 1, 150);
        int d = (int)random_in(&r, 0, 2);
        struct kern_body body = {.combine = any_combine(&r, t)};
        char init[16] = {0};
        random_element(&r, t, init);
        random_dims(&r, 3, 4, dims);
        random_window(&r, 3, dims, (struct kern_window_dim[3]){{0}}, out_dims);
        struct kern_window_dim w[3];
        random_window(&r, 3, dims, w, out_dims);
        dims[d] = n;
        w[d] = (struct kern_window_dim){
            random_in(&r, 32, 90), 1, random_in(&r, 0, 60), random_in(&r, 0, 60), 1, 1, false};
        w[d].base_dilation = random_in(&r, 1, 6) / 3 + 1;
        w[d].window_dilation = random_in(&r, 1, 6) / 3 + 1;
        int64_t places = (n - 1) * w[d].base_dilation + 1 + w[d].pad_low + w[d].pad_high -
                         (w[d].size - 1) * w[d].window_dilation;
        out_dims[d] = places < 0 ? 0 : places;
        struct random_view x = random_operand(&r, t, 3, dims);
        struct random_view out = random_layout(&r, t, 3, out_dims),
                           expected = random_layout(&r, t, 3, out_dims);
        ck_assert(kern_reduce_window(NULL, 1, &out.view, &x.view, (const void *const[]){init}, &t,
                                     w, &body));
        ck_assert(plain_reduce_window(NULL, 1, &expected.view, &x.view, (const void *const[]){init},
                                      &t, w, &body));
        ck_assert_msg(views_agree(&out.view, &expected.view, rounding(t), 1),
                      "long window, seed %d", seed);
        FREE_VIEWS(&x, &out, &expected);
    }
}
END_TEST

START_TEST(cumulative_windows_agree_with_reference)
{
    for (int seed = 0; seed < 300; seed++) {
        struct random r = {(uint64_t)seed, .specials = seed % 3 == 0};
        enum dtype t = seed % 4 ? random_type(&r) : DT_F32;
        int64_t dims[VIEW_MAX_RANK];
        int rank = (int)random_in(&r, 1, 4), d = (int)random_in(&r, 0, rank - 1);
        struct kern_body body = {.combine = any_combine(&r, t)};
        struct kern_window_dim w[VIEW_MAX_RANK];
        char init[16] = {0};
        random_element(&r, t, init);
        random_dims(&r, rank, rank == 1 ? 600 : 9, dims);
        if (rank == 2 && seed % 3 == 0)
            dims[!d] = seed % 2 ? 150 : 100;
        for (int k = 0; k < rank; k++)
            w[k] = (struct kern_window_dim){1, 1, 0, 0, 1, 1, false};
        w[d].size = random_in(&r, 1, 3) + dims[d];
        *(random_in(&r, 0, 1) ? &w[d].pad_low : &w[d].pad_high) = w[d].size - 1;
        struct random_view x = random_operand(&r, t, rank, dims);
        struct random_view out = random_layout(&r, t, rank, dims),
                           expected = random_layout(&r, t, rank, dims);
        ck_assert(kern_reduce_window(NULL, 1, &out.view, &x.view, (const void *const[]){init}, &t,
                                     w, &body));
        ck_assert(plain_reduce_window(NULL, 1, &expected.view, &x.view, (const void *const[]){init},
                                      &t, w, &body));
        ck_assert_msg(views_agree(&out.view, &expected.view, rounding(t), 1), "cumulative, seed %d",
                      seed);
        FREE_VIEWS(&x, &out, &expected);
    }
}
END_TEST

START_TEST(padding_contributes_nothing)
{
    float x[4] = {1, 2, 3, 4}, five = 5, out[5], expected[5] = {6, 8, 10, 12, 9};
    enum dtype f32 = DT_F32;
    struct view from, to;
    view_dense(&from, DT_F32, 1, (int64_t[]){4}, x);
    view_dense(&to, DT_F32, 1, (int64_t[]){5}, out);
    struct kern_window_dim w = {2, 1, 1, 1, 1, 1, false};
    ck_assert(kern_reduce_window(NULL, 1, &to, &from, (const void *const[]){&five}, &f32, &w,
                                 &(struct kern_body){.combine = KERN_ADD}));
    ck_assert_mem_eq(out, expected, sizeof expected);
}
END_TEST

START_TEST(select_and_scatter_agrees_with_reference)
{
    for (int seed = 0; seed < 500; seed++) {
        struct random r = {(uint64_t)seed, .specials = seed % 3 == 0};
        int64_t dims[VIEW_MAX_RANK], out_dims[VIEW_MAX_RANK];
        struct kern_window_dim w[VIEW_MAX_RANK];
        int rank = (int)random_in(&r, 0, 6);
        enum dtype t = real_type(&r);
        struct kern_body select = {
            .combine = (enum kern_combine)random_in(&r, KERN_SELECT_GE, KERN_SELECT_LT)};
        struct kern_body scatter = {.combine = any_combine(&r, t)};
        char init[16] = {0};
        random_element(&r, t, init);
        random_dims(&r, rank, 7, dims);
        random_window(&r, rank, dims, w, out_dims);
        if (rank > 0 && seed % 3 == 0) { /* features that no window combines */
            int d = (int)random_in(&r, 0, rank - 1);
            dims[d] = out_dims[d] = random_in(&r, 8, 30);
            w[d] = (struct kern_window_dim){1, 1, 0, 0, 1, 1, false};
        }
        struct random_view x = random_operand(&r, t, rank, dims),
                           source = random_operand(&r, t, rank, out_dims);
        struct random_view out = random_layout(&r, t, rank, dims),
                           expected = random_layout(&r, t, rank, dims);
        ck_assert(kern_select_and_scatter(NULL, &out.view, &x.view, &source.view, init, w, &select,
                                          &scatter));
        ck_assert(plain_select_and_scatter(NULL, &expected.view, &x.view, &source.view, init, w,
                                           &select, &scatter));
        ck_assert_msg(views_agree(&out.view, &expected.view, EQUAL_NUMBERS, 0),
                      "select-and-scatter, seed %d", seed);
        FREE_VIEWS(&x, &source, &out, &expected);
    }
}
END_TEST

/* ---- gather.c ---- */

/* The dims of a gather's result: those of its batch, and among them the `kept` offset dims, in
 * order, at random places. */
static void random_offsets(struct random *r, struct kern_gather_dims *g, const int64_t *batch_dims,
                           int batch, int kept, int *out_rank, int64_t *out_dims)
{
    *out_rank = batch + kept;
    g->offset_count = kept;
    for (int d = 0, left = kept, next = 0; d < *out_rank; d++)
        if (left > 0 && random_in(r, 0, *out_rank - d - 1) < left) {
            g->offset_dims[next++] = d;
            left--;
        }
    for (int d = 0, b = 0, next = 0, source = 0; d < *out_rank; d++) {
        if (next < kept && g->offset_dims[next] == d) {
            for (bool skip = true; skip; source += skip) {
                skip = g->batching_count && g->operand_batching[0] == source;
                for (int k = 0; k < g->collapsed_count; k++)
                    skip |= g->collapsed[k] == source;
            }
            out_dims[d] = g->slice_sizes[source++];
            next++;
        } else {
            out_dims[d] = batch_dims[b++];
        }
    }
}

/* Random attributes for an array of `rank`; sizes[d] of the window, dims of the indices and of the
 * gather's result. */
static void random_gather(struct random *r, int rank, const int64_t *dims,
                          struct kern_gather_dims *g, int *index_rank, int64_t *index_dims,
                          int *out_rank, int64_t *out_dims)
{
    int batch = (int)random_in(r, 0, 2), kept = 0, mapped[VIEW_MAX_RANK], maps = 0;
    int64_t batch_dims[VIEW_MAX_RANK];
    memset(g, 0, sizeof *g);
    for (int b = 0; b < batch; b++)
        batch_dims[b] = random_in(r, 0, 15) ? random_in(r, 1, 4) : random_in(r, 30, 40);
    for (int d = 0; d < rank; d++) {
        if (batch > 0 && g->batching_count == 0 && dims[d] > 0 && random_in(r, 0, 4) == 0) {
            g->operand_batching[0] = d;
            g->indices_batching[0] =
                random_in(r, 0, batch - 1); /* as if index_vector_dim were the last */
            g->batching_count = 1;
            batch_dims[g->indices_batching[0]] = dims[d];
            g->slice_sizes[d] = 1;
            continue;
        }
        g->slice_sizes[d] = random_in(r, 0, dims[d]);
        if (dims[d] > 0 && random_in(r, 0, 1)) {
            g->slice_sizes[d] = 1;
            g->collapsed[g->collapsed_count++] = d;
        } else {
            kept++;
        }
        if (random_in(r, 0, 2))
            mapped[maps++] = d;
    }
    for (; maps > 0; g->map_count++) { /* in any order */
        int at = (int)random_in(r, 0, maps - 1);
        g->start_index_map[g->map_count] = mapped[at];
        mapped[at] = mapped[--maps];
    }
    g->index_vector_dim = g->map_count == 1 && random_in(r, 0, 1) ? batch : random_in(r, 0, batch);
    bool implicit = g->index_vector_dim == batch && g->map_count == 1 && random_in(r, 0, 1);
    *index_rank = 0;
    for (int b = 0; b <= batch; b++) {
        if (b == g->index_vector_dim && !implicit)
            index_dims[(*index_rank)++] = g->map_count;
        if (b < batch)
            index_dims[(*index_rank)++] = batch_dims[b];
    }
    if (g->batching_count && !implicit && g->indices_batching[0] >= g->index_vector_dim)
        g->indices_batching[0]++;
    random_offsets(r, g, batch_dims, batch, kept, out_rank, out_dims);
}

static void random_indices(struct random *r, struct view *v, int64_t max)
{
    int64_t i[VIEW_MAX_RANK] = {0};
    if (view_elements(v) == 0)
        return;
    do {
        int64_t value = random_in(r, -2, max + 1);
        memcpy(view_at(v, i), &value, dtype_bytes(v->dtype));
    } while (index_next(v->rank, v->dims, i));
}

START_TEST(gather_agrees_with_reference)
{
    static const enum dtype index_types[] = {DT_S8, DT_U8, DT_S32, DT_U32, DT_S64, DT_U64};
    for (int seed = 0; seed < 1500; seed++) {
        struct random r = {(uint64_t)seed, .specials = true};
        int64_t dims[VIEW_MAX_RANK], index_dims[VIEW_MAX_RANK], out_dims[VIEW_MAX_RANK];
        struct kern_gather_dims g;
        int rank = (int)random_in(&r, 1, 6), index_rank, out_rank;
        enum dtype t = random_type(&r);
        random_dims(&r, rank, 6, dims);
        random_gather(&r, rank, dims, &g, &index_rank, index_dims, &out_rank, out_dims);
        struct random_view x = random_operand(&r, t, rank, dims);
        struct random_view at =
            random_layout(&r, index_types[random_in(&r, 0, 5)], index_rank, index_dims);
        struct random_view out = random_layout(&r, t, out_rank, out_dims),
                           expected = random_layout(&r, t, out_rank, out_dims);
        random_indices(&r, &at.view, 5);
        kern_gather(NULL, &out.view, &x.view, &at.view, &g);
        plain_gather(NULL, &expected.view, &x.view, &at.view, &g);
        ck_assert_msg(views_agree(&out.view, &expected.view, 0, 0), "gather, seed %d", seed);
        FREE_VIEWS(&x, &at, &out, &expected);
    }
}
END_TEST

START_TEST(scatter_agrees_with_reference)
{
    for (int seed = 0; seed < 1500; seed++) {
        struct random r = {(uint64_t)seed, .specials = seed % 3 == 0};
        int64_t dims[VIEW_MAX_RANK], index_dims[VIEW_MAX_RANK], update_dims[VIEW_MAX_RANK];
        struct kern_gather_dims g;
        int rank = (int)random_in(&r, 1, 6), index_rank, update_rank;
        enum dtype t = random_type(&r), calling = DT_F32;
        struct kern_body body = {
            .combine = any_combine(&r, t), .call = doubling, .context = &calling};
        if (seed % 3 == 0)
            body.combine = KERN_TAKE_VALUE;
        if (seed % 5 == 0) {
            t = DT_F32;
            body.combine = KERN_CALL;
        }
        random_dims(&r, rank, 6, dims);
        random_gather(&r, rank, dims, &g, &index_rank, index_dims, &update_rank, update_dims);
        struct random_view updates = random_operand(&r, t, update_rank, update_dims),
                           out = random_array(&r, t, rank, dims);
        struct random_view at = random_layout(&r, DT_S32, index_rank, index_dims),
                           expected = random_layout(&r, t, rank, dims);
        random_indices(&r, &at.view, 5);
        kern_copy(NULL, &expected.view, &out.view);
        ck_assert(kern_scatter(NULL, 1, &out.view, &at.view, &updates.view, &g, &body));
        ck_assert(plain_scatter(NULL, 1, &expected.view, &at.view, &updates.view, &g, &body));
        ck_assert_msg(views_agree(&out.view, &expected.view, EQUAL_NUMBERS, 0), "scatter, seed %d",
                      seed);
        FREE_VIEWS(&updates, &at, &out, &expected);
    }
}
END_TEST

START_TEST(scatter_examples)
{
    int32_t out[4] = {0}, at[5] = {1, 1, 2, 1, 2}, from[5] = {1, 2, 3, 4, 5};
    struct kern_gather_dims g = {.collapsed_count = 1, .map_count = 1, .index_vector_dim = 1};
    struct view result, indices, updates;
    view_dense(&result, DT_S32, 1, (int64_t[]){4}, out);
    view_dense(&indices, DT_S32, 1, (int64_t[]){5}, at);
    view_dense(&updates, DT_S32, 1, (int64_t[]){5}, from);
    ck_assert(kern_scatter(NULL, 1, &result, &indices, &updates, &g,
                           &(struct kern_body){.combine = KERN_TAKE_VALUE}));
    ck_assert_mem_eq(out, ((int32_t[]){0, 4, 5, 0}), sizeof out);
    /* a/2 + b, windows of 2 at 0, 1, 1 */
    float slots[4] = {0}, windows[6] = {1, 2, 3, 4, 5, 6};
    enum dtype f32 = DT_F32;
    int64_t starts[3] = {0, 1, 1};
    struct kern_gather_dims wide = {
        .offset_count = 1, .offset_dims = {0}, .map_count = 1, .index_vector_dim = 1};
    view_dense(&result, DT_F32, 1, (int64_t[]){4}, slots);
    view_dense(&indices, DT_S64, 1, (int64_t[]){3}, starts);
    view_dense(&updates, DT_F32, 2, (int64_t[]){2, 3}, windows);
    ck_assert(kern_scatter(NULL, 1, &result, &indices, &updates, &wide,
                           &(struct kern_body){KERN_CALL, doubling, &f32}));
    ck_assert_mem_eq(slots, ((float[]){1, 5, 8.5f, 0}), sizeof slots);
}
END_TEST

START_TEST(indices_of_every_type)
{
    ck_assert_int_eq(kern_load_index(DT_U64, &(uint64_t){UINT64_MAX}), INT64_MAX);
    ck_assert_int_eq(kern_load_index(DT_S8, &(int8_t){-128}), -128);
    ck_assert_int_eq(kern_load_index(DT_U8, &(uint8_t){255}), 255);
    ck_assert_int_eq(kern_load_index(DT_U32, &(uint32_t){UINT32_MAX}), UINT32_MAX);
    ck_assert_int_eq(kern_load_index(DT_S4, &(int8_t){-8}), -8);
}
END_TEST

/* ---- sort.c ---- */

static bool less_s32(void *context, const void *const *args, void *const *results)
{
    (void)context;
    *(uint8_t *)results[0] = *(const int32_t *)args[0] < *(const int32_t *)args[1];
    return true;
}

START_TEST(sort_agrees_with_reference)
{
    for (int seed = 0; seed < 300; seed++) {
        struct random r = {(uint64_t)seed};
        int64_t dims[VIEW_MAX_RANK];
        int rank = (int)random_in(&r, 1, 5), n = (int)random_in(&r, 1, 3),
            d = (int)random_in(&r, 0, rank - 1);
        struct kern_comparator less = {
            (enum kern_order)random_in(&r, KERN_ORDER_LESS, KERN_ORDER_GREATER),
            (int)random_in(&r, 0, n - 1), random_in(&r, 0, 1), NULL, NULL};
        struct random_view x[3], out[3], expected[3];
        struct view xs[3], outs[3], expected_views[3];
        r.specials = less.total_order;
        random_dims(&r, rank, rank == 1 ? 60 : 12, dims);
        if (seed % 30 == 0)
            dims[d] = 700;
        for (int k = 0; k < n; k++) {
            enum dtype t = k == less.key ? real_type(&r) : random_type(&r);
            if (seed % 7 == 0 && k == 0) {
                t = DT_S32;
                less = (struct kern_comparator){KERN_ORDER_CALL, 0, false, less_s32, NULL};
            }
            x[k] = random_operand(&r, t, rank, dims);
            out[k] = random_layout(&r, t, rank, dims);
            expected[k] = random_layout(&r, t, rank, dims);
            xs[k] = x[k].view;
            outs[k] = out[k].view;
            expected_views[k] = expected[k].view;
        }
        ck_assert(kern_sort(NULL, n, outs, xs, d, &less));
        ck_assert(plain_sort(NULL, n, expected_views, xs, d, &less));
        for (int k = 0; k < n; k++) {
            ck_assert_msg(views_agree(&outs[k], &expected_views[k], 0, 0), "sort, seed %d", seed);
            FREE_VIEWS(&x[k], &out[k], &expected[k]);
        }
    }
}
END_TEST

/* The order documented at the kernel where the specification leaves it open: NaNs are last and
 * equal. */
static bool stated_order(void *context, const void *const *args, void *const *results)
{
    const struct kern_comparator *c = context;
    const enum dtype t = c->keys[0].type;
    double a = float_load(t, args[0]), b = float_load(t, args[1]), swap = a;
    if (c->order == KERN_ORDER_GREATER)
        a = b, b = swap;
    *(uint8_t *)results[0] = isnan(a) ? false : isnan(b) ? true : a < b;
    return true;
}

/* Many keys, few keys, many encodings of equal floats: every sorting algorithm. */
START_TEST(long_sorts_agree_with_reference)
{
    for (int seed = 0; seed < 150; seed++) {
        struct random r = {(uint64_t)seed};
        int n = seed % 3 ? 1 : 2, d = (int)random_in(&r, 0, 1);
        enum dtype t = real_type(&r);
        struct kern_comparator less = {
            (enum kern_order)random_in(&r, KERN_ORDER_LESS, KERN_ORDER_GREATER), 0,
            random_in(&r, 0, 1), NULL, NULL};
        int64_t dims[2] = {2, 2};
        struct random_view x[2], out[2], expected[2];
        dims[d] = random_in(&r, 1, seed % 10 ? 700 : 3000);
        r.specials = true;
        for (int k = 0; k < n; k++) {
            enum dtype type = k == 0 ? t : random_type(&r);
            x[k] = random_operand(&r, type, 2, dims);
            out[k] = random_layout(&r, type, 2, dims);
            expected[k] = random_layout(&r, type, 2, dims);
            int64_t i[2] = {0};
            do /* bits unlike those of small numbers */
                if (random_in(&r, 0, 1) && dtype_bytes(type) > 1 && k == 0) {
                    uint64_t bits = random_bits(&r);
                    memcpy(view_at(&x[k].view, i), &bits, dtype_bytes(type));
                }
            while (index_next(2, dims, i));
        }
        struct kern_comparator stated = {.order = less.order, .keys = {{.type = t}}}, slow = less;
        if (dtype_is_float(t) && !less.total_order)
            slow = (struct kern_comparator){.call = stated_order, .context = &stated};
        ck_assert(kern_sort(NULL, n, (struct view[]){out[0].view, out[n - 1].view},
                            (struct view[]){x[0].view, x[n - 1].view}, d, &less));
        ck_assert(plain_sort(NULL, n, (struct view[]){expected[0].view, expected[n - 1].view},
                             (struct view[]){x[0].view, x[n - 1].view}, d, &slow));
        for (int k = 0; k < n; k++) {
            ck_assert_msg(views_agree(&out[k].view, &expected[k].view, 0, 0), "long line, seed %d",
                          seed);
            FREE_VIEWS(&x[k], &out[k], &expected[k]);
        }
    }
}
END_TEST

START_TEST(total_order_of_every_small_float)
{
    static const enum dtype types[] = {DT_F8E4M3FN, DT_F8E5M2, DT_F8E4M3FNUZ, DT_F8E8M0FNU,
                                       DT_F8E3M4};
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        uint8_t codes[256], out[256], less;
        struct view from, to;
        for (int c = 0; c < 256; c++)
            codes[c] = (uint8_t)(c * 77 + 5);
        view_dense(&from, types[i], 1, (int64_t[]){256}, codes);
        view_dense(&to, types[i], 1, (int64_t[]){256}, out);
        struct kern_comparator order = {.order = KERN_ORDER_LESS, .total_order = true};
        ck_assert(kern_sort(NULL, 1, &to, &from, 0, &order));
        for (int c = 0; c < 255; c++) {
            kern_find_compare(KERN_LT, true,
                              types[i])(&less, (const void *const[]){&out[c], &out[c + 1]}, 1);
            ck_assert_msg(less, "%s: code %02x before %02x", dtype_spelling(types[i]), out[c],
                          out[c + 1]);
        }
    }
}
END_TEST

START_TEST(topk_examples)
{
    float x[10] = {3, NAN, -0.0f, 0, 1, -NAN, INFINITY, -INFINITY, 2, NAN}, best[10];
    int32_t at[10];
    struct view from, values, indices;
    if (!signbit(x[5]))
        x[5] = copysignf(x[5], -1);
    x[1] = copysignf(x[1], 1);
    x[9] = copysignf(x[9], 1);
    view_dense(&from, DT_F32, 1, (int64_t[]){10}, x);
    view_dense(&values, DT_F32, 1, (int64_t[]){6}, best);
    view_dense(&indices, DT_S32, 1, (int64_t[]){6}, at);
    ck_assert(kern_topk(NULL, &values, &indices, &from, 6, true));
    ck_assert_mem_eq(at, ((int32_t[]){1, 9, 6, 0, 8, 4}), 24);
    ck_assert(best[3] == 3);
    ck_assert(kern_topk(NULL, &values, &indices, &from, 6, false));
    ck_assert_mem_eq(at, ((int32_t[]){5, 7, 2, 3, 4, 8}), 24);
}
END_TEST

START_TEST(topk_agrees_with_sort)
{
    for (int seed = 0; seed < 100; seed++) {
        struct random r = {(uint64_t)seed};
        int64_t n = seed % 10 ? random_in(&r, 1, 50) : 3000, k = random_in(&r, 1, n),
                rows = random_in(&r, 1, 3);
        enum dtype t = real_type(&r);
        bool largest = random_in(&r, 0, 1);
        struct random_view x = random_array(&r, t, 2, (int64_t[]){rows, n});
        struct random_view iota = random_layout(&r, DT_S32, 2, (int64_t[]){rows, n});
        struct random_view sorted = random_layout(&r, t, 2, (int64_t[]){rows, n}),
                           order = random_layout(&r, DT_S32, 2, (int64_t[]){rows, n});
        struct random_view values = random_layout(&r, t, 2, (int64_t[]){rows, k}),
                           at = random_layout(&r, DT_S32, 2, (int64_t[]){rows, k});
        kern_iota(NULL, &iota.view, 1);
        struct kern_comparator less = {.order = largest ? KERN_ORDER_GREATER : KERN_ORDER_LESS,
                                       .total_order = true};
        ck_assert(kern_sort(NULL, 2, (struct view[]){sorted.view, order.view},
                            (struct view[]){x.view, iota.view}, 1, &less));
        ck_assert(kern_topk(NULL, &values.view, &at.view, &x.view, k, largest));
        ck_assert_msg(views_agree(&values.view, &sorted.view, 0, 0), "values of topk, seed %d",
                      seed);
        ck_assert_msg(views_agree(&at.view, &order.view, 0, 0), "indices of topk, seed %d", seed);
        FREE_VIEWS(&x, &iota, &sorted, &order, &values, &at);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kern_structured");
    TCase *tests = tcase_create("structured");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, elements_at_a_distance);
    tcase_add_test(tests, copy_moves_every_element);
    tcase_add_test(tests, pad_agrees_with_reference);
    tcase_add_test(tests, pad_examples);
    tcase_add_test(tests, iota_wraps_and_rounds);
    tcase_add_test(tests, iota_of_any_dimension);
    tcase_add_test(tests, views_of_views);
    tcase_add_test(tests, reduce_agrees_with_reference);
    tcase_add_test(tests, reduce_examples);
    tcase_add_test(tests, reduce_window_agrees_with_reference);
    tcase_add_test(tests, long_windows_agree_with_reference);
    tcase_add_test(tests, cumulative_windows_agree_with_reference);
    tcase_add_test(tests, padding_contributes_nothing);
    tcase_add_test(tests, select_and_scatter_agrees_with_reference);
    tcase_add_test(tests, gather_agrees_with_reference);
    tcase_add_test(tests, scatter_agrees_with_reference);
    tcase_add_test(tests, scatter_examples);
    tcase_add_test(tests, indices_of_every_type);
    tcase_add_test(tests, sort_agrees_with_reference);
    tcase_add_test(tests, long_sorts_agree_with_reference);
    tcase_add_test(tests, total_order_of_every_small_float);
    tcase_add_test(tests, topk_examples);
    tcase_add_test(tests, topk_agrees_with_sort);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
