/*
 * Tests of fast kernels (or views) against plain ones on random shapes, strides, types and
 * attributes: rearrangements, iota, topk, bitcast-convert, and bodies with several operands.
 */
#include "check_quiet.h"

#include "kern/plain/plain.h"
#include "random_view.h"

static void shuffle(struct random *r, int n, int64_t *order)
{
    for (int d = 0; d < n; d++) {
        int64_t other = random_in(r, 0, d);
        order[d] = order[other];
        order[other] = d;
    }
}

/* The view of x must have the elements that the reference kernel wrote. */
/* ---- every result element from its operand element ---- */

static void move(const struct view *out, const int64_t *o, const struct view *x, const int64_t *at)
{
    memcpy(view_at(out, o), view_at(x, at), dtype_bytes(out->dtype));
}

/* spec: BroadcastInDim. out[o] = x[o[dimensions[0]], o[dimensions[1]], ...] */
static void expect_broadcast(const struct view *out, const struct view *x,
                             const int64_t *dimensions)
{
    int64_t o[VIEW_MAX_RANK] = {0}, at[VIEW_MAX_RANK];
    if (view_elements(out) == 0)
        return;
    do {
        for (int d = 0; d < x->rank; d++)
            at[d] = o[dimensions[d]];
        move(out, o, x, at);
    } while (index_next(out->rank, out->dims, o));
}

/* spec: Transpose. Dimension k of the result is dimension permutation[k] of the operand. */
static void expect_transpose(const struct view *out, const struct view *x,
                             const int64_t *permutation)
{
    int64_t o[VIEW_MAX_RANK] = {0}, at[VIEW_MAX_RANK];
    if (view_elements(out) == 0)
        return;
    do {
        for (int d = 0; d < out->rank; d++)
            at[permutation[d]] = o[d];
        move(out, o, x, at);
    } while (index_next(out->rank, out->dims, o));
}

/* spec: Reshape. Both arrays are the same row-major sequence. */
static void expect_reshape(const struct view *out, const struct view *x)
{
    int64_t o[VIEW_MAX_RANK] = {0}, at[VIEW_MAX_RANK] = {0};
    if (view_elements(out) == 0)
        return;
    do {
        move(out, o, x, at);
        index_next(x->rank, x->dims, at);
    } while (index_next(out->rank, out->dims, o));
}

/* spec: Rev (reverse) */
static void expect_reverse(const struct view *out, const struct view *x, const int64_t *dimensions,
                           int count)
{
    int64_t o[VIEW_MAX_RANK] = {0}, at[VIEW_MAX_RANK];
    if (view_elements(out) == 0)
        return;
    do {
        memcpy(at, o, sizeof at);
        for (int k = 0; k < count; k++)
            at[dimensions[k]] = out->dims[dimensions[k]] - 1 - o[dimensions[k]];
        move(out, o, x, at);
    } while (index_next(out->rank, out->dims, o));
}

/* spec: Slice */
static void expect_slice(const struct view *out, const struct view *x, const int64_t *start,
                         const int64_t *stride)
{
    int64_t o[VIEW_MAX_RANK] = {0}, at[VIEW_MAX_RANK];
    if (view_elements(out) == 0)
        return;
    do {
        for (int d = 0; d < out->rank; d++)
            at[d] = start[d] + o[d] * stride[d];
        move(out, o, x, at);
    } while (index_next(out->rank, out->dims, o));
}

static void check_moved(struct view *fast, struct random_view *expected, const char *op, int seed)
{
    ck_assert_msg(views_agree(fast, &expected->view, 0, 0), "%s, seed %d", op, seed);
    free(expected->block);
}

START_TEST(transpose_is_a_view)
{
    for (int seed = 0; seed < 300; seed++) {
        struct random r = {(uint64_t)seed, .specials = true};
        int64_t dims[VIEW_MAX_RANK], permutation[VIEW_MAX_RANK];
        int rank = (int)random_in(&r, 0, 6);
        enum dtype t = random_type(&r);
        random_dims(&r, rank, 6, dims);
        shuffle(&r, rank, permutation);
        struct random_view x = random_operand(&r, t, rank, dims);
        struct view fast;
        kern_view_pick(&fast, &x.view, x.view.rank, permutation);
        struct random_view expected = random_layout(&r, t, rank, fast.dims);
        expect_transpose(&expected.view, &x.view, permutation);
        check_moved(&fast, &expected, "transpose", seed);
        free(x.block);
    }
}
END_TEST

START_TEST(broadcast_is_a_view)
{
    for (int seed = 0; seed < 300; seed++) {
        struct random r = {(uint64_t)seed, .specials = true};
        int64_t dims[VIEW_MAX_RANK], out_dims[VIEW_MAX_RANK], dimensions[VIEW_MAX_RANK];
        int out_rank = (int)random_in(&r, 0, 6), rank = (int)random_in(&r, 0, out_rank);
        enum dtype t = random_type(&r);
        random_dims(&r, out_rank, 5, out_dims);
        shuffle(&r, out_rank, dimensions);
        for (int d = 0; d < rank; d++)
            dims[d] = out_dims[dimensions[d]];
        struct random_view x = random_operand(&r, t, rank, dims),
                           expected = random_layout(&r, t, out_rank, out_dims);
        struct view fast;
        kern_view_broadcast(&fast, &x.view, out_rank, out_dims, dimensions);
        expect_broadcast(&expected.view, &x.view, dimensions);
        check_moved(&fast, &expected, "broadcast", seed);
        free(x.block);
    }
}
END_TEST

START_TEST(slice_and_reverse_are_views)
{
    for (int seed = 0; seed < 300; seed++) {
        struct random r = {(uint64_t)seed, .specials = true};
        int64_t dims[VIEW_MAX_RANK], start[VIEW_MAX_RANK], limit[VIEW_MAX_RANK],
            stride[VIEW_MAX_RANK];
        int64_t turned[VIEW_MAX_RANK];
        int rank = (int)random_in(&r, 0, 6);
        enum dtype t = random_type(&r);
        random_dims(&r, rank, 8, dims);
        for (int d = 0; d < rank; d++) {
            start[d] = random_in(&r, 0, dims[d]);
            limit[d] = random_in(&r, start[d], dims[d]);
            stride[d] = random_in(&r, 1, 3);
        }
        struct random_view x = random_operand(&r, t, rank, dims);
        struct view fast;
        kern_view_slice(&fast, &x.view, start, limit, stride);
        struct random_view expected = random_layout(&r, t, rank, fast.dims);
        expect_slice(&expected.view, &x.view, start, stride);
        check_moved(&fast, &expected, "slice", seed);
        int count = (int)random_in(&r, 0, rank);
        shuffle(&r, rank, turned);
        kern_view_reverse(&fast, &x.view, turned, count);
        expected = random_layout(&r, t, rank, dims);
        expect_reverse(&expected.view, &x.view, turned, count);
        check_moved(&fast, &expected, "reverse", seed);
        free(x.block);
    }
}
END_TEST

/* The same elements in other dims: factors of each dimension, moved to a neighboring one. */
START_TEST(reshape_is_a_copy_or_a_view)
{
    for (int seed = 0; seed < 300; seed++) {
        struct random r = {(uint64_t)seed, .specials = true};
        int64_t dims[VIEW_MAX_RANK], out_dims[VIEW_MAX_RANK];
        int rank = (int)random_in(&r, 1, 6), out_rank = 0;
        enum dtype t = random_type(&r);
        random_dims(&r, rank, 6, dims);
        for (int d = 0; d < rank; d++) {
            bool join = out_rank > 0 && random_in(&r, 0, 1);
            if (join)
                out_dims[out_rank - 1] *= dims[d];
            else
                out_dims[out_rank++] = dims[d];
            if (dims[d] % 2 == 0 && random_in(&r, 0, 1) && out_dims[out_rank - 1] > 0) {
                out_dims[out_rank - 1] /= 2;
                out_dims[out_rank++] = 2;
            }
        }
        struct random_view x = random_operand(&r, t, rank, dims),
                           expected = random_layout(&r, t, out_rank, out_dims);
        expect_reshape(&expected.view, &x.view);
        struct view fast, whole;
        char *storage = malloc((size_t)view_elements(&x.view) * dtype_bytes(t) + 1);
        view_dense(&whole, t, rank, dims,
                   storage); /* the evaluator copies if no view is possible */
        kern_copy(NULL, &whole, &x.view);
        ck_assert(kern_view_reshape(&fast, &whole, out_rank, out_dims));
        check_moved(&fast, &expected, "reshape", seed);
        free(storage);
        free(x.block);
    }
}
END_TEST

START_TEST(copy_and_iota_agree_with_reference)
{
    for (int seed = 0; seed < 400; seed++) {
        struct random r = {(uint64_t)seed, .specials = true};
        int64_t dims[VIEW_MAX_RANK];
        int rank = (int)random_in(&r, 1, 6), d = (int)random_in(&r, 0, rank - 1);
        enum dtype t = random_type(&r);
        random_dims(&r, rank, rank > 2 ? 8 : 40, dims);
        if (seed % 20 == 0)
            dims[d] = rank > 2 ? 60 : 2500;
        struct random_view x = random_operand(&r, t, rank, dims),
                           out = random_layout(&r, t, rank, dims),
                           expected = random_layout(&r, t, rank, dims);
        kern_copy(NULL, &out.view, &x.view);
        plain_copy(NULL, &expected.view, &x.view);
        ck_assert_msg(views_agree(&out.view, &expected.view, 0, 0), "copy, seed %d", seed);
        kern_iota(NULL, &out.view, d);
        plain_iota(NULL, &expected.view, d);
        ck_assert_msg(views_agree(&out.view, &expected.view, 0, 0), "iota, seed %d", seed);
        FREE_VIEWS(&x, &out, &expected);
    }
}
END_TEST

START_TEST(topk_agrees_with_reference)
{
    for (int seed = 0; seed < 300; seed++) {
        struct random r = {(uint64_t)seed, .specials = true};
        int64_t dims[VIEW_MAX_RANK];
        int rank = (int)random_in(&r, 1, 4);
        enum dtype t = random_type(&r);
        bool largest = random_in(&r, 0, 1);
        if (dtype_is_complex(t))
            continue;
        random_dims(&r, rank, 5, dims);
        int64_t n = dims[rank - 1] = seed % 30 ? random_in(&r, 1, 40) : 900,
                k = random_in(&r, 0, n < 20 ? n : 20);
        struct random_view x = random_operand(&r, t, rank, dims);
        dims[rank - 1] = k;
        struct random_view best = random_layout(&r, t, rank, dims),
                           at = random_layout(&r, DT_S32, rank, dims),
                           expected = random_layout(&r, t, rank, dims),
                           expected_at = random_layout(&r, DT_S32, rank, dims);
        ck_assert(kern_topk(NULL, &best.view, &at.view, &x.view, k, largest));
        ck_assert(plain_topk(NULL, &expected.view, &expected_at.view, &x.view, k, largest));
        ck_assert_msg(views_agree(&best.view, &expected.view, 0, 0), "values of topk, seed %d",
                      seed);
        ck_assert_msg(views_agree(&at.view, &expected_at.view, 0, 0), "indices of topk, seed %d",
                      seed);
        FREE_VIEWS(&x, &best, &at, &expected, &expected_at);
    }
}
END_TEST

START_TEST(bitcast_convert_agrees_with_reference)
{
    for (int seed = 0; seed < 1500; seed++) {
        struct random r = {(uint64_t)seed, .specials = true};
        int64_t dims[VIEW_MAX_RANK], out_dims[VIEW_MAX_RANK];
        int rank = (int)random_in(&r, 0, 5), out_rank = rank;
        enum dtype from = random_type(&r), to = random_type(&r);
        unsigned wide = dtype_bits(from), narrow = dtype_bits(to);
        random_dims(&r, rank, 5, dims);
        bool join = wide < narrow;
        if ((join && rank == 0) || dtype_is_complex(from) != dtype_is_complex(to))
            continue;
        if (join)
            dims[rank - 1] = narrow / wide;
        memcpy(out_dims, dims, sizeof out_dims);
        if (join)
            out_rank--;
        else if (wide > narrow)
            out_dims[out_rank++] = wide / narrow;
        struct random_view x = random_operand(&r, from, rank, dims),
                           out = random_layout(&r, to, out_rank, out_dims),
                           expected = random_layout(&r, to, out_rank, out_dims);
        kern_bitcast_convert(NULL, &out.view, &x.view);
        plain_bitcast_convert(NULL, &expected.view, &x.view);
        ck_assert_msg(views_agree(&out.view, &expected.view, 0, 0),
                      "bitcast-convert of %s, seed %d", dtype_spelling(from), seed);
        FREE_VIEWS(&x, &out, &expected);
    }
}
END_TEST

/* ---- sort.c ---- */

static enum dtype real_type(struct random *r)
{
    enum dtype t;
    do
        t = random_type(r);
    while (dtype_is_complex(t));
    return t;
}

/* Lexicographic by the keys of the comparator, which are its first operands. */
static bool keys_in_order(void *context, const void *const *args, void *const *results)
{
    const struct kern_comparator *c = context;
    uint8_t *answer = results[0];
    *answer = 0;
    for (int k = 0; k < c->make_keys->result_count; k++) {
        const struct kern_sort_key *key = &c->keys[k];
        const enum kern_direction d = key->descending ? KERN_GT : KERN_LT;
        const void *swapped[2] = {args[2 * k + 1], args[2 * k]};
        uint8_t after;
        kern_find_compare(d, true, key->type)(answer, args + 2 * k, 1);
        kern_find_compare(d, true, key->type)(&after, swapped, 1);
        if (*answer || after)
            return true;
    }
    return true;
}

/* Several keys, in one word or in groups, and the same order by merging. */
START_TEST(lexicographic_sorts_agree_with_reference)
{
    enum { KEYS = 4 };
    for (int seed = 0; seed < 200; seed++) {
        struct random r = {(uint64_t)seed};
        int n = (int)random_in(&r, 1, KEYS);
        int64_t dims[2] = {random_in(&r, 1, 3), random_in(&r, 1, seed % 10 ? 300 : 5000)};
        struct random_view x[KEYS], out[KEYS], expected[KEYS];
        struct view xs[KEYS], outs[KEYS], expected_views[KEYS];
        struct kern_lane_op ops[KEYS];
        struct kern_lane_code keys = {
            .arg_count = 2 * n, .result_count = n, .tile_count = 3 * n, .op_count = n, .ops = ops};
        struct kern_comparator less = {.order = KERN_ORDER_LESS, .make_keys = &keys};
        less.call = keys_in_order;
        less.context = &less;
        for (int k = 0; k < n; k++) {
            enum dtype t = k + 1 < n ? (random_in(&r, 0, 1) ? DT_U8 : DT_S4) : real_type(&r);
            t = random_in(&r, 0, 2) ? t : real_type(&r);
            less.keys[k] = (struct kern_sort_key){t, true, random_in(&r, 0, 1)};
            ops[k] = (struct kern_lane_op){
                .type = t, .out = (uint8_t)(2 * n + k), .args = {(uint8_t)(2 * k)}};
            x[k] = random_operand(&r, t, 2, dims);
            out[k] = random_layout(&r, t, 2, dims);
            expected[k] = random_layout(&r, t, 2, dims);
            xs[k] = x[k].view;
            outs[k] = out[k].view;
            expected_views[k] = expected[k].view;
        }
        struct kern_comparator called = less;
        called.make_keys = seed % 2 ? &keys : NULL;
        called.order = seed % 2 ? KERN_ORDER_LESS : KERN_ORDER_CALL;
        ck_assert(kern_sort(NULL, n, outs, xs, 1, &called));
        ck_assert(plain_sort(NULL, n, expected_views, xs, 1, &less));
        for (int k = 0; k < n; k++) {
            ck_assert_msg(views_agree(&outs[k], &expected_views[k], 0, 0), "keys, seed %d", seed);
            FREE_VIEWS(&x[k], &out[k], &expected[k]);
        }
    }
}
END_TEST

/* ---- bodies of several operands: the result must not depend on how the kernel calls them ---- */

enum { OPERANDS = 3 };
struct types {
    enum dtype t[OPERANDS];
};

/* acc_k = acc_k * acc_k - value_k where the type subtracts, else acc_k op value_k */
static bool step_all(void *context, const void *const *args, void *const *results)
{
    const struct types *c = context;
    for (int k = 0; k < OPERANDS; k++) {
        char square[16];
        kern_tile_fn *subtract = kern_find_elementwise("subtract", c->t[k]);
        kern_find_elementwise("multiply", c->t[k])(square, (const void *const[]){args[k], args[k]},
                                                   1);
        if (!subtract)
            subtract = kern_find_elementwise("xor", c->t[k]);
        subtract(results[k], (const void *const[]){square, args[OPERANDS + k]}, 1);
    }
    return true;
}

/* step_all() as code on tiles: squares are temporary tiles. */
struct step_lanes {
    struct kern_lane_op ops[2 * OPERANDS];
    struct kern_lane_code code;
};

static void make_step_lanes(struct step_lanes *s, const struct types *c)
{
    enum { RESULTS = 2 * OPERANDS, SQUARES = 3 * OPERANDS, WIDEST = 16 };
    for (uint8_t k = 0; k < OPERANDS; k++) {
        kern_tile_fn *subtract = kern_find_elementwise("subtract", c->t[k]);
        s->ops[2 * k] = (struct kern_lane_op){.fn = kern_find_elementwise("multiply", c->t[k]),
                                              .out = (uint8_t)(SQUARES + k),
                                              .args = {k, k}};
        s->ops[2 * k + 1] =
            (struct kern_lane_op){.fn = subtract ? subtract : kern_find_elementwise("xor", c->t[k]),
                                  .out = (uint8_t)(RESULTS + k),
                                  .args = {(uint8_t)(SQUARES + k), (uint8_t)(OPERANDS + k)}};
    }
    s->code = (struct kern_lane_code){.arg_count = 2 * OPERANDS,
                                      .result_count = OPERANDS,
                                      .tile_count = 4 * OPERANDS,
                                      .op_count = 2 * OPERANDS,
                                      .workspace = OPERANDS * WIDEST * KERN_LANES,
                                      .tile_bytes = WIDEST * KERN_LANES,
                                      .ops = s->ops};
}

struct several {
    struct types types;
    struct random_view x[OPERANDS], out[OPERANDS], expected[OPERANDS];
    struct view xs[OPERANDS], outs[OPERANDS], expected_views[OPERANDS];
    char inits[OPERANDS][16];
    const void *init[OPERANDS];
};

static void make_several(struct several *s, struct random *r, int rank, const int64_t *dims,
                         int out_rank, const int64_t *out_dims)
{
    for (int k = 0; k < OPERANDS; k++) {
        enum dtype t = s->types.t[k] = random_type(r);
        s->xs[k] = (s->x[k] = random_operand(r, t, rank, dims)).view;
        s->outs[k] = (s->out[k] = random_array(r, t, out_rank, out_dims)).view;
        s->expected_views[k] = (s->expected[k] = random_layout(r, t, out_rank, out_dims)).view;
        kern_copy(NULL, &s->expected_views[k], &s->outs[k]);
        random_element(r, t, s->inits[k]);
        s->init[k] = s->inits[k];
    }
}

static void check_several(struct several *s, const char *op, int seed)
{
    for (int k = 0; k < OPERANDS; k++) {
        ck_assert_msg(views_agree(&s->outs[k], &s->expected_views[k], EQUAL_NUMBERS, 0),
                      "%s, operand %d, seed %d", op, k, seed);
        FREE_VIEWS(&s->x[k], &s->out[k], &s->expected[k]);
    }
}

START_TEST(variadic_reduce)
{
    for (int seed = 0; seed < 300; seed++) {
        struct random r = {(uint64_t)seed};
        int64_t dims[VIEW_MAX_RANK], out_dims[VIEW_MAX_RANK];
        int rank = (int)random_in(&r, 0, 6), kept = 0;
        bool reduced[VIEW_MAX_RANK];
        struct several s;
        random_dims(&r, rank, rank > 2 ? 6 : 30, dims);
        for (int d = 0; d < rank; d++) {
            reduced[d] = random_in(&r, 0, 1);
            if (!reduced[d])
                out_dims[kept++] = dims[d];
        }
        make_several(&s, &r, rank, dims, kept, out_dims);
        struct kern_body body = {.combine = KERN_CALL, .call = step_all, .context = &s.types};
        struct step_lanes lanes;
        make_step_lanes(&lanes, &s.types);
        body.lanes = seed % 2 ? &lanes.code : NULL;
        ck_assert(kern_reduce(NULL, OPERANDS, s.outs, s.xs, s.init, s.types.t, reduced, &body));
        ck_assert(plain_reduce(NULL, OPERANDS, s.expected_views, s.xs, s.init, s.types.t, reduced,
                               &body));
        check_several(&s, "reduce", seed);
    }
}
END_TEST

START_TEST(variadic_reduce_window)
{
    for (int seed = 0; seed < 300; seed++) {
        struct random r = {(uint64_t)seed};
        int64_t dims[VIEW_MAX_RANK], out_dims[VIEW_MAX_RANK];
        struct kern_window_dim w[VIEW_MAX_RANK];
        int rank = (int)random_in(&r, 0, 5);
        struct several s;
        random_dims(&r, rank, 6, dims);
        random_window(&r, rank, dims, w, out_dims);
        make_several(&s, &r, rank, dims, rank, out_dims);
        struct kern_body body = {.combine = KERN_CALL, .call = step_all, .context = &s.types};
        struct step_lanes lanes;
        make_step_lanes(&lanes, &s.types);
        body.lanes = seed % 2 ? &lanes.code : NULL;
        ck_assert(kern_reduce_window(NULL, OPERANDS, s.outs, s.xs, s.init, s.types.t, w, &body));
        ck_assert(plain_reduce_window(NULL, OPERANDS, s.expected_views, s.xs, s.init, s.types.t, w,
                                      &body));
        check_several(&s, "reduce-window", seed);
    }
}
END_TEST

/* Rows of an array of several operands, at indices that may repeat or be out of bounds. */
START_TEST(variadic_scatter)
{
    for (int seed = 0; seed < 300; seed++) {
        struct random r = {(uint64_t)seed};
        int64_t dims[VIEW_MAX_RANK], update_dims[VIEW_MAX_RANK], places = random_in(&r, 0, 8);
        int rank = (int)random_in(&r, 1, 5);
        struct kern_gather_dims g = {
            .offset_count = rank - 1, .collapsed_count = 1, .map_count = 1, .index_vector_dim = 1};
        struct several s;
        random_dims(&r, rank, 5, dims);
        memcpy(update_dims, dims, sizeof update_dims);
        update_dims[0] = places;
        for (int d = 1; d < rank; d++)
            g.offset_dims[d - 1] = d;
        make_several(&s, &r, rank, update_dims, rank, dims);
        struct random_view at = random_layout(&r, DT_S32, 1, &places);
        for (int64_t i = 0; i < places; i++)
            memcpy(view_at(&at.view, &i), &(int32_t){(int32_t)random_in(&r, -1, dims[0])}, 4);
        struct kern_body body = {.combine = KERN_CALL, .call = step_all, .context = &s.types};
        ck_assert(kern_scatter(NULL, OPERANDS, s.outs, &at.view, s.xs, &g, &body));
        ck_assert(plain_scatter(NULL, OPERANDS, s.expected_views, &at.view, s.xs, &g, &body));
        check_several(&s, "scatter", seed);
        free(at.block);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kern_plain");
    TCase *tests = tcase_create("plain");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, transpose_is_a_view);
    tcase_add_test(tests, broadcast_is_a_view);
    tcase_add_test(tests, slice_and_reverse_are_views);
    tcase_add_test(tests, reshape_is_a_copy_or_a_view);
    tcase_add_test(tests, copy_and_iota_agree_with_reference);
    tcase_add_test(tests, topk_agrees_with_reference);
    tcase_add_test(tests, bitcast_convert_agrees_with_reference);
    tcase_add_test(tests, variadic_reduce);
    tcase_add_test(tests, variadic_reduce_window);
    tcase_add_test(tests, lexicographic_sorts_agree_with_reference);
    tcase_add_test(tests, variadic_scatter);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
