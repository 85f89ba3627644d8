/*
 * Tests of the builder in hlo.h: modules are built, printed, verified and run; text with the same instructions gives the same
 * module; mistakes are messages with a place.
 */
#include "hlo.h"

#include "check_quiet.h"
#include <stdlib.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))
#define INTS(...) ((const int64_t[]){__VA_ARGS__}), N(((const int64_t[]){__VA_ARGS__}))

static hlo_messages *m;
static hlo_builder *b;
static hlo_computation *c;

static void set_up(void)
{
    m = hlo_messages_new();
    b = hlo_builder_new("built", m);
    c = hlo_computation_new(b, "main");
}

static void tear_down(void) { hlo_messages_free(m); }

static hlo_inst *param(size_t number, const char *shape)
{
    static const char *const names[] = {"x", "y", "z", "u", "v", "w"};
    return hlo_parameter(c, number, shape, names[number]);
}

/* A finished computation of two scalars; its root is `opcode` of them. */
static hlo_computation *scalar(const char *name, const char *opcode, const char *attributes)
{
    hlo_computation *f = hlo_computation_new(b, name);
    hlo_inst *both[] = {hlo_parameter(f, 0, "f32[]", NULL), hlo_parameter(f, 1, "f32[]", NULL)};
    hlo_build(f, opcode, both, 2, attributes);
    ck_assert(hlo_computation_finish(f, NULL));
    return f;
}

static void expect_no_message(void)
{
    hlo_text text = hlo_messages_draw(m, false);
    ck_assert_str_eq(text.data, "");
    hlo_text_free(&text);
}

static hlo_module *finish(void)
{
    hlo_computation_finish(c, NULL);
    hlo_module *module = hlo_builder_finish(b, c);
    expect_no_message();
    ck_assert_ptr_nonnull(module);
    ck_assert(hlo_verify(module, m));
    return module;
}

static hlo_literal *literal(const char *text)
{
    hlo_literal *l = hlo_literal_parse(text, strlen(text), m);
    ck_assert_ptr_nonnull(l);
    return l;
}

/* Runs the module that was built on these literals; its result, in words. */
static void expect_result(const char *const *args, size_t count, const char *wanted)
{
    hlo_module *module = finish();
    hlo_program *p = hlo_plan(module, &(struct hlo_run_options){0}, m);
    hlo_literal *values[6];
    for (size_t k = 0; k < count; k++)
        values[k] = literal(args[k]);
    hlo_literal *result = p ? hlo_run(p, (const hlo_literal *const *)values, count, m) : NULL, *expected = literal(wanted);
    expect_no_message();
    hlo_text why = {0};
    bool same = hlo_literal_compare(result, expected, &(struct hlo_tolerance){.abs = 1e-6}, &why);
    ck_assert_msg(same, "%s", why.data);
    for (size_t k = 0; k < count; k++)
        hlo_literal_free(values[k]);
    hlo_literal_free(result);
    hlo_literal_free(expected);
    hlo_text_free(&why);
    hlo_program_free(p);
    hlo_module_free(module);
}
#define EXPECT_RESULT(wanted, ...)                                                                                               \
    expect_result((const char *const[]){__VA_ARGS__}, N(((const char *const[]){__VA_ARGS__})), wanted)

/* What was built prints as this text does, once it has been read. */
static void expect_like(const char *text)
{
    hlo_module *module = finish();
    hlo_file *f = hlo_file_of_text("text", text, strlen(text), false);
    hlo_module *read = hlo_parse(f, 0, m);
    expect_no_message();
    hlo_text built = hlo_print(module, HLO_PRINT_FULL), said = hlo_print(read, HLO_PRINT_FULL);
    ck_assert_str_eq(built.data, said.data);
    hlo_text_free(&built);
    hlo_text_free(&said);
    hlo_module_free(read);
    hlo_module_free(module);
    hlo_file_free(f);
}

/* ---- values ---- */

START_TEST(broadcasting)
{
    hlo_inst *x = param(0, "f32[2,3]"), *row = param(1, "f32[3]"), *s = param(2, "f32[]"), *thin = param(3, "f32[2,1]");
    hlo_inst *parts[] = {hlo_binary(c, "add", x, s, NULL, 0), hlo_binary(c, "sub", x, row, INTS(1)),
                         hlo_binary(c, "mul", thin, x, NULL, 0), hlo_compare(c, x, s, "GT", NULL, 0),
                         hlo_select(c, hlo_binary(c, "less-than", x, s, NULL, 0), x, s)};
    hlo_tuple(c, parts, N(parts));
    EXPECT_RESULT(
        "(f32[2,3] {{4, 5, 6}, {7, 8, 9}}, f32[2,3] {{-9, -18, -27}, {-6, -15, -24}}, f32[2,3] {{2, 4, 6}, {20, 25, 30}},"
        " pred[2,3] {{false, false, false}, {true, true, true}}, f32[2,3] {{1, 2, 3}, {3, 3, 3}})",
        "f32[2,3] {{1, 2, 3}, {4, 5, 6}}", "f32[3] {10, 20, 30}", "f32[] 3", "f32[2,1] {{2}, {5}}");
}
END_TEST

/* The specification's own: Collapse, Reshape, Broadcast, BroadcastInDim, Slice, DynamicSlice, Pad. */
START_TEST(dimensions)
{
    hlo_inst *v = param(0, "s32[2,3]"), *a = param(1, "s32[5]"), *at = param(2, "s32[1]"), *two = param(3, "s32[]");
    hlo_inst *parts[] = {hlo_collapse(c, v, INTS(0, 1)),
                         hlo_reshape_order(c, v, INTS(1, 0), INTS(2, 3)),
                         hlo_broadcast(c, two, INTS(2, 3)),
                         hlo_broadcast_in_dim(c, at, INTS(2, 1), INTS(1)),
                         hlo_slice(c, a, (const int64_t[]){1}, (const int64_t[]){4}, (const int64_t[]){2}, 1),
                         hlo_dynamic_slice(c, a, &at, 1, INTS(2)),
                         hlo_dynamic_update_slice(c, a, hlo_broadcast(c, two, INTS(2)), &two, 1),
                         hlo_pad(c, v, two, (const struct hlo_padding[]){{0, 0, 1}, {1, -1, 0}}, 2),
                         hlo_concat_in_dim(c, (hlo_inst *[]){a, at}, 2, 0),
                         hlo_rev(c, v, INTS(0)),
                         hlo_transpose(c, v, INTS(1, 0))};
    hlo_tuple(c, parts, N(parts));
    EXPECT_RESULT(
        "(s32[6] {1, 2, 3, 4, 5, 6}, s32[2,3] {{1, 4, 2}, {5, 3, 6}}, s32[2,3] {{2, 2, 2}, {2, 2, 2}}, s32[2,1] {{2}, {2}},"
        " s32[2] {1, 3}, s32[2] {2, 3}, s32[5] {0, 1, 2, 2, 4}, s32[3,3] {{2, 1, 2}, {2, 2, 2}, {2, 4, 5}},"
        " s32[6] {0, 1, 2, 3, 4, 2}, s32[2,3] {{4, 5, 6}, {1, 2, 3}}, s32[3,2] {{1, 4}, {2, 5}, {3, 6}})",
        "s32[2,3] {{1, 2, 3}, {4, 5, 6}}", "s32[5] {0, 1, 2, 3, 4}", "s32[1] {2}", "s32[] 2");
}
END_TEST

START_TEST(windows_and_products)
{
    hlo_computation *min = scalar("smaller", "minimum", NULL), *add = scalar("add", "add", NULL),
                    *ge = scalar("ge", "compare", "direction=GE");
    hlo_inst *x = param(0, "f32[5]"), *most = param(1, "f32[]"), *m2 = param(2, "f32[2,2]"), *k = param(3, "f32[1,1,3]");
    struct hlo_window valid = {
        .rank = 1, .size = (const int64_t[]){3}, .stride = (const int64_t[]){2}, .word = HLO_PADDING_VALID};
    struct hlo_window same = valid, list = valid;
    same.word = HLO_PADDING_SAME;
    list.word = HLO_PADDING_LIST;
    list.high = (const int64_t[]){2};
    hlo_inst *v = hlo_reshape(c, hlo_slice(c, m2, (const int64_t[]){0, 0}, (const int64_t[]){1, 2}, NULL, 2), INTS(2));
    hlo_inst *image = hlo_reshape(c, x, INTS(1, 1, 5));
    hlo_literal *nought = literal("f32[] 0");
    hlo_inst *zero = hlo_constant(c, nought);
    hlo_literal_free(nought);
    hlo_inst *parts[] = {
        hlo_reduce_window(c, &x, &most, 1, min, &valid),
        hlo_reduce_window(c, &x, &most, 1, min, &same),
        hlo_reduce_window(c, &x, &most, 1, min, &list),
        hlo_select_and_scatter(c, x, hlo_reduce_window(c, &x, &most, 1, min, &valid), zero, ge, add, &valid),
        hlo_dot(c, v, v),
        hlo_dot(c, m2, v),
        hlo_dot(c, m2, m2),
        hlo_dot_general(c, m2, m2,
                        &(struct hlo_dot_dimensions){
                            .lhs_contracting = (const int64_t[]){0}, .rhs_contracting = (const int64_t[]){0}, .contracting = 1}),
        hlo_conv(c, image, k, &(struct hlo_window){.rank = 1, .word = HLO_PADDING_SAME}, NULL),
        hlo_conv(c, image, k, &(struct hlo_window){.rank = 1, .stride = (const int64_t[]){2}}, "dim_labels=bf0_oi0->bf0"),
        hlo_reduce(c, &x, &zero, 1, add, INTS(0))};
    hlo_tuple(c, parts, N(parts));
    EXPECT_RESULT("(f32[2] {100, 1}, f32[3] {1000, 10, 1}, f32[3] {100, 1, 1}, f32[5] {100, 0, 1, 0, 0}, f32[] 5, f32[2] {5, 11},"
                  " f32[2,2] {{7, 10}, {15, 22}}, f32[2,2] {{10, 14}, {14, 20}}, f32[1,1,5] {{{11000, 11100, 1110, 111, 11}}},"
                  " f32[1,1,2] {{{11100, 111}}}, f32[] 11111)",
                  "f32[5] {10000, 1000, 100, 10, 1}", "f32[] 3e38", "f32[2,2] {{1, 2}, {3, 4}}", "f32[1,1,3] {{{1, 1, 1}}}");
}
END_TEST

START_TEST(applied_computations)
{
    hlo_computation *below = hlo_computation_new(b, "below"), *next = hlo_computation_new(b, "next");
    hlo_computation *scale = scalar("scale", "multiply", NULL), *add = scalar("add", "add", NULL);
    hlo_inst *i = hlo_parameter(below, 0, "s32[]", "i"), *j = hlo_parameter(next, 0, "s32[]", "j");
    hlo_literal *ten = literal("s32[] 10"), *one = literal("s32[] 1");
    hlo_binary(below, "lt", i, hlo_constant(below, ten), NULL, 0);
    hlo_binary(next, "add", j, hlo_constant(next, one), NULL, 0);
    hlo_literal_free(ten);
    hlo_literal_free(one);
    ck_assert(hlo_computation_finish(below, NULL) && hlo_computation_finish(next, NULL));
    hlo_inst *x = param(0, "f32[3]"), *s = param(1, "f32[]"), *n = param(2, "s32[]"), *p = param(3, "pred[]");
    hlo_inst *pair[] = {x, s}, *tuple = hlo_tuple(c, pair, 2),
             *other = hlo_tuple(c, (hlo_inst *[]){hlo_unary(c, "neg", x), s}, 2);
    hlo_inst *parts[] = {hlo_while(c, below, next, n),
                         hlo_map(c, &x, 1, scale, &s, 1),
                         hlo_sort(c, &x, 1, NULL, -1, true),
                         hlo_call(c, add, (hlo_inst *[]){s, s}, 2),
                         hlo_get_tuple_element(c, hlo_select(c, p, tuple, other), 0),
                         hlo_clamp(c, s, x, s),
                         hlo_cross_replica_sum(c, x),
                         hlo_convert(c, x, "s32"),
                         hlo_bitcast_convert(c, s, "u32"),
                         hlo_iota(c, "s32[3]", 0),
                         hlo_rng_bernoulli(c, hlo_binary(c, "sub", s, s, NULL, 0), "u32[2]")};
    hlo_tuple(c, parts, N(parts));
    EXPECT_RESULT(
        "(s32[] 10, f32[3] {6, 2, 4}, f32[3] {1, 2, 3}, f32[] 4, f32[3] {-3, -1, -2}, f32[3] {2, 2, 2}, f32[3] {3, 1, 2},"
        " s32[3] {3, 1, 2}, u32[] 1073741824, s32[3] {0, 1, 2}, u32[2] {0, 0})",
        "f32[3] {3, 1, 2}", "f32[] 2", "s32[] 3", "pred[] false");
}
END_TEST

START_TEST(batch_norm)
{
    hlo_inst *x = param(0, "f32[2,2]"), *one = param(1, "f32[2]"), *zero = param(2, "f32[2]");
    hlo_inst *parts[] = {hlo_batch_norm_training(c, x, one, zero, 0.0, 1),
                         hlo_batch_norm_inference(c, x, one, zero, one, one, 0.0, 0),
                         hlo_batch_norm_grad(c, x, one, zero, one, x, 0.0, 1)};
    hlo_tuple(c, parts, N(parts));
    EXPECT_RESULT("((f32[2,2] {{-1, -1}, {1, 1}}, f32[2] {2, 4}, f32[2] {1, 4}), f32[2,2] {{0, 1}, {2, 5}},"
                  " (f32[2,2] {{-6, -42}, {-14, -118}}, f32[2] {10, 40}, f32[2] {4, 8}))",
                  "f32[2,2] {{1, 2}, {3, 6}}", "f32[2] {1, 1}", "f32[2] {0, 0}");
}
END_TEST

/* ---- the same as text ---- */

START_TEST(like_text)
{
    hlo_inst *x = param(0, "f32[2,3]"), *y = param(1, "f32[3]");
    hlo_inst *sum = hlo_build(c, "sum = add", (hlo_inst *[]){x, y}, 2, "broadcast_dimensions={1}, metadata={op_name=\"sum\"}");
    hlo_text shape = hlo_inst_shape(sum);
    ck_assert_str_eq(shape.data, "f32[2,3]");
    hlo_text_free(&shape);
    hlo_text name = hlo_inst_name(sum);
    ck_assert_str_eq(name.data, "sum");
    hlo_text_free(&name);
    hlo_build(c, "last = f32[6] reshape", &sum, 1, "dimensions={1,0}");
    expect_like("HloModule built\n"
                "ENTRY main {\n"
                "  x = f32[2,3] parameter(0)\n"
                "  y = f32[3] parameter(1)\n"
                "  sum = add(x, y), broadcast_dimensions={1}, metadata={op_name=\"sum\"}\n"
                "  ROOT last = f32[6] reshape(sum), dimensions={1,0}\n"
                "}\n");
}
END_TEST

START_TEST(feeds_and_random)
{
    hlo_inst *in = hlo_infeed(c, "f32[2]"), *s = param(0, "f32[]"), *index = param(1, "s32[]"), *p = param(2, "pred[]");
    hlo_outfeed(c, in);
    hlo_computation *f = hlo_computation_new(b, "f"), *g = hlo_computation_new(b, "f");
    ck_assert_str_eq(hlo_computation_name(g), "f.1");
    hlo_parameter(f, 0, "f32[]", "a");
    hlo_unary(g, "negate", hlo_parameter(g, 0, "f32[]", "a"));
    ck_assert(hlo_computation_finish(f, NULL) && hlo_computation_finish(g, NULL));
    const hlo_computation *branches[] = {f, g};
    hlo_inst *operands[] = {s, s};
    hlo_inst *parts[] = {hlo_rng_uniform(c, s, s, "f32[2]"), hlo_rng_normal(c, s, s, "f32[2]"), in,
                         hlo_conditional(c, p, branches, operands, 2), hlo_conditional(c, index, branches, operands, 2)};
    hlo_tuple(c, parts, N(parts));
    hlo_module *module = finish();
    hlo_text text = hlo_print(module, HLO_PRINT_SHORT);
    static const char *const words[] = {"infeed(infeed.1.after-all)", "distribution=rng_normal", "outfeed(",
                                        "true_computation=f, false_computation=f.1", "branch_computations={f, f.1}"};
    for (size_t k = 0; k < N(words); k++)
        ck_assert_msg(strstr(text.data, words[k]) != NULL, "'%s' lacks '%s'", text.data, words[k]);
    hlo_text_free(&text);
    hlo_module_free(module);
}
END_TEST

/* ---- ONNX's Loop ---- */

/* Who runs a loop learns by the id that its bounds were too small, and may build it again with larger ones. */
START_TEST(loop_beyond_its_bound)
{
    hlo_computation *body = hlo_computation_new(b, "body");
    hlo_inst *i = hlo_parameter(body, 0, "s64[]", NULL), *roots[2] = {hlo_parameter(body, 1, "pred[]", NULL), i};
    hlo_tuple(body, roots, 2);
    ck_assert(hlo_computation_finish(body, NULL));
    hlo_inst *count = param(0, "s64[]");
    hlo_build(
        c, "custom-call", &count, 1,
        "shape=s64[<=3], custom_call_target=\"onnx.Loop\", called_computations={body}, backend_config={\"inputs\": [\"M\"]}");
    hlo_module *module = finish();
    hlo_program *p = hlo_plan(module, &(struct hlo_run_options){0}, m);
    hlo_literal *few = literal("s64[] 3"), *many = literal("s64[] 4"), *expected = literal("s64[3] {0, 1, 2}");
    hlo_literal *result = hlo_run(p, (const hlo_literal *const *)&few, 1, m);
    hlo_text why = {0};
    ck_assert_msg(hlo_literal_compare(result, expected, &(struct hlo_tolerance){0}, &why), "%s", why.data);
    ck_assert(hlo_literal_compare(result, expected, &(struct hlo_tolerance){0}, NULL) &&
              !hlo_literal_compare(few, many, &(struct hlo_tolerance){0}, NULL));
    ck_assert_ptr_null(hlo_run(p, (const hlo_literal *const *)&many, 1, m));
    ck_assert_str_eq(hlo_messages_get(m, 0).id, "loop-bound");
    ck_assert(!hlo_messages_limit(m));
    hlo_text_free(&why);
    hlo_literal_free(result);
    hlo_literal_free(expected);
    hlo_literal_free(few);
    hlo_literal_free(many);
    hlo_program_free(p);
    hlo_module_free(module);
}
END_TEST

/* ---- mistakes ---- */

START_TEST(mistakes)
{
    hlo_inst *x = param(0, "f32[2,3]"), *y = param(1, "f32[2]");
    hlo_inst *bad = hlo_binary(c, "add", x, y, NULL, 0);
    ck_assert_ptr_null(bad);
    ck_assert_uint_eq(hlo_messages_errors(m), 1);
    struct hlo_message said = hlo_messages_get(m, 0);
    ck_assert_str_eq(said.file, "built");
    ck_assert_uint_eq(said.line, 4); /* after the header and two parameters */
    ck_assert_ptr_nonnull(strstr(said.text, "broadcast_dimensions"));
    ck_assert_ptr_null(hlo_unary(c, "negate", bad)); /* one mistake, one message */
    ck_assert_uint_eq(hlo_messages_errors(m), 1);
    ck_assert_ptr_null(hlo_dot(c, x, x));
    ck_assert_ptr_null(hlo_build(c, "add", &x, 1, NULL));
    ck_assert_ptr_null(hlo_build(c, "negate", &x, 1, "sharding={replicated}}"));
    ck_assert_ptr_null(hlo_collapse(c, x, INTS(1, 0)));
    ck_assert_ptr_null(hlo_parameter(c, 2, "f32[", NULL));
    ck_assert_ptr_null(hlo_sort(c, &x, 1, hlo_computation_new(b, "open"), -1, false)); /* not finished */
    ck_assert_ptr_null(hlo_constant(c, NULL));
    hlo_text drawn = hlo_messages_draw(m, false);
    ck_assert_uint_eq(hlo_messages_errors(m), 7);
    ck_assert_ptr_nonnull(strstr(drawn.data, "add(%x, %y)"));
    hlo_text_free(&drawn);
    ck_assert_ptr_null(hlo_builder_finish(b, c));
}
END_TEST

START_TEST(wrong_places)
{
    hlo_computation *other = hlo_computation_new(b, "other");
    hlo_inst *there = hlo_parameter(other, 0, "f32[]", NULL);
    ck_assert_ptr_null(hlo_unary(c, "negate", there));
    ck_assert(!hlo_computation_finish(other, NULL)); /* the builder has failed */
    ck_assert_uint_eq(hlo_messages_errors(m), 1);
    hlo_builder_free(b);
    hlo_messages_free(m);
    set_up();
    param(1, "f32[]");
    ck_assert(!hlo_computation_finish(c, NULL)); /* parameter 0 is missing */
    ck_assert_uint_eq(hlo_messages_errors(m), 1);
    ck_assert_uint_eq(hlo_messages_get(m, 0).line, 2);
    hlo_builder_free(b);
    hlo_messages_free(m);
    set_up();
    ck_assert(!hlo_computation_finish(c, NULL)); /* empty */
    hlo_builder_free(b);
    hlo_messages_free(m);
    set_up();
    param(0, "f32[]");
    ck_assert_ptr_null(hlo_builder_finish(b, c)); /* not finished */
    ck_assert_uint_eq(hlo_messages_errors(m), 1);
    hlo_messages_free(m);
    set_up();
    param(0, "f32[]");
    ck_assert(hlo_computation_finish(c, NULL));
    ck_assert_ptr_null(param(1, "f32[]")); /* too late */
    ck_assert(!hlo_computation_finish(c, NULL));
    hlo_builder_free(b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("build");
    TCase *t = tcase_create("build");
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, broadcasting);
    tcase_add_test(t, dimensions);
    tcase_add_test(t, windows_and_products);
    tcase_add_test(t, applied_computations);
    tcase_add_test(t, batch_norm);
    tcase_add_test(t, like_text);
    tcase_add_test(t, feeds_and_random);
    tcase_add_test(t, loop_beyond_its_bound);
    tcase_add_test(t, mistakes);
    tcase_add_test(t, wrong_places);
    suite_add_tcase(s, t);
    return check_run(s);
}
