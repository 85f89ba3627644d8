/*
 * Tests of the builder in hlo_advanced.h: modules are built, printed, verified and run; text with
 * the same instructions gives the same module; errors are messages with a location.
 */
#include "hlo_advanced.h"

#include "check_quiet.h"
#include <stdlib.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

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

/* Runs the built module on these literals, and compares the printed result. */
static void expect_result(const char *const *args, size_t count, const char *expected_text)
{
    hlo_module *module = finish();
    hlo_program *p = hlo_plan(module, NULL, m);
    hlo_literal *values[6];
    for (size_t k = 0; k < count; k++)
        values[k] = literal(args[k]);
    hlo_literal *result = p ? hlo_run(p, (const hlo_literal *const *)values, count, m) : NULL,
                *expected = literal(expected_text);
    expect_no_message();
    hlo_text why = {0};
    bool same = hlo_literal_compare(result, expected, &HLO_WITH(hlo_tolerance, .abs = 1e-6), &why);
    ck_assert_msg(same, "%s", why.data);
    for (size_t k = 0; k < count; k++)
        hlo_literal_free(values[k]);
    hlo_literal_free(result);
    hlo_literal_free(expected);
    hlo_text_free(&why);
    hlo_program_free(p);
    hlo_module_free(module);
}
#define EXPECT_RESULT(expected_text, ...)                                                          \
    expect_result((const char *const[]){__VA_ARGS__}, N(((const char *const[]){__VA_ARGS__})),     \
                  expected_text)

/* The built module prints as this text after parsing. */
static void expect_like(const char *text)
{
    hlo_module *module = finish();
    hlo_file *f = hlo_file_of_text("text", text, strlen(text), false);
    hlo_module *read = hlo_parse(f, 0, m);
    expect_no_message();
    hlo_text built = hlo_print(module, HLO_PRINT_FULL), messages = hlo_print(read, HLO_PRINT_FULL);
    ck_assert_str_eq(built.data, messages.data);
    hlo_text_free(&built);
    hlo_text_free(&messages);
    hlo_module_free(read);
    hlo_module_free(module);
    hlo_file_free(f);
}

/* `what`(operands...), attributes */
#define OP(what, attributes, ...)                                                                  \
    hlo_build(c, what, (hlo_inst *[]){__VA_ARGS__}, N(((hlo_inst *[]){__VA_ARGS__})), attributes)

static hlo_inst *constant(hlo_computation *in, const char *text)
{
    hlo_literal *l = literal(text);
    hlo_inst *i = hlo_constant(in, l);
    hlo_literal_free(l);
    return i;
}

/* ---- values ---- */

START_TEST(broadcasting)
{
    hlo_inst *x = param(0, "f32[2,3]"), *row = param(1, "f32[3]"), *s = param(2, "f32[]"),
             *thin = param(3, "f32[2,1]");
    hlo_inst *parts[] = {OP("add", NULL, x, s), OP("sub", "broadcast_dimensions={1}", x, row),
                         OP("mul", NULL, thin, x), OP("compare", "direction=GT", x, s),
                         OP("select", NULL, OP("less-than", NULL, x, s), x, s)};
    hlo_tuple(c, parts, N(parts));
    EXPECT_RESULT(
        "(f32[2,3] {{4, 5, 6}, {7, 8, 9}}, f32[2,3] {{-9, -18, -27}, {-6, -15, -24}}, f32[2,3] "
        "{{2, 4, 6}, {20, 25, 30}},"
        " pred[2,3] {{false, false, false}, {true, true, true}}, f32[2,3] {{1, 2, 3}, {3, 3, 3}})",
        "f32[2,3] {{1, 2, 3}, {4, 5, 6}}", "f32[3] {10, 20, 30}", "f32[] 3", "f32[2,1] {{2}, {5}}");
}
END_TEST

/* The specification's own: Collapse, Reshape, Broadcast, BroadcastInDim, Slice, DynamicSlice, Pad.
 */
START_TEST(dimensions)
{
    hlo_inst *v = param(0, "s32[2,3]"), *a = param(1, "s32[5]"), *at = param(2, "s32[1]"),
             *two = param(3, "s32[]");
    hlo_inst *parts[] = {
        OP("collapse", "dimensions={0,1}", v),
        OP("reshape", "dimensions={1,0}, sizes={2,3}", v),
        OP("broadcast", "sizes={2,3}", two),
        OP("broadcast-in-dim", "sizes={2,1}, broadcast_dimensions={1}", at),
        OP("slice", "slice={[1:4:2]}", a),
        OP("dynamic-slice", "dynamic_slice_sizes={2}", a, at),
        OP("dynamic-update-slice", NULL, a, OP("broadcast", "sizes={2}", two), two),
        OP("pad", "padding=0_0_1x1_-1", v, two),
        OP("concatenate", "dimensions={0}", a, at),
        OP("reverse", "dimensions={0}", v),
        OP("transpose", "dimensions={1,0}", v)};
    hlo_tuple(c, parts, N(parts));
    EXPECT_RESULT("(s32[6] {1, 2, 3, 4, 5, 6}, s32[2,3] {{1, 4, 2}, {5, 3, 6}}, s32[2,3] {{2, 2, "
                  "2}, {2, 2, 2}}, s32[2,1] {{2}, {2}},"
                  " s32[2] {1, 3}, s32[2] {2, 3}, s32[5] {0, 1, 2, 2, 4}, s32[3,3] {{2, 1, 2}, {2, "
                  "2, 2}, {2, 4, 5}},"
                  " s32[6] {0, 1, 2, 3, 4, 2}, s32[2,3] {{4, 5, 6}, {1, 2, 3}}, s32[3,2] {{1, 4}, "
                  "{2, 5}, {3, 6}})",
                  "s32[2,3] {{1, 2, 3}, {4, 5, 6}}", "s32[5] {0, 1, 2, 3, 4}", "s32[1] {2}",
                  "s32[] 2");
}
END_TEST

START_TEST(windows_and_products)
{
    scalar("smaller", "minimum", NULL);
    scalar("add", "add", NULL);
    scalar("ge", "compare", "direction=GE");
    hlo_inst *x = param(0, "f32[5]"), *max = param(1, "f32[]"), *m2 = param(2, "f32[2,2]"),
             *k = param(3, "f32[1,1,3]");
    hlo_inst *v = OP("reshape", "sizes={2}", OP("slice", "slice={[0:1], [0:2]}", m2));
    hlo_inst *image = OP("reshape", "sizes={1,1,5}", x), *zero = constant(c, "f32[] 0");
    const char *valid =
        "window_dimensions={3}, window_strides={2}, padding=valid, to_apply=smaller";
    hlo_inst *min = OP("reduce-window", valid, x, max);
    hlo_inst *parts[] = {
        min,
        OP("reduce-window",
           "window_dimensions={3}, window_strides={2}, padding=same, to_apply=smaller", x, max),
        OP("reduce-window", "window={size=3 stride=2 pad=0_2}, to_apply=smaller", x, max),
        OP("select-and-scatter", "window={size=3 stride=2}, select=ge, scatter=add", x, min, zero),
        OP("f32[] dot", NULL, v, v),
        OP("f32[2] dot", NULL, m2, v),
        OP("f32[2,2] dot", NULL, m2, m2),
        OP("dot", "lhs_contracting_dims={0}, rhs_contracting_dims={0}", m2, m2),
        OP("conv", "padding=same", image, k),
        OP("conv", "window={size=3 stride=2}, dim_labels=bf0_oi0->bf0", image, k),
        OP("reduce", "dimensions={0}, to_apply=add", x, zero)};
    hlo_tuple(c, parts, N(parts));
    EXPECT_RESULT("(f32[2] {100, 1}, f32[3] {1000, 10, 1}, f32[3] {100, 1, 1}, f32[5] {100, 0, 1, "
                  "0, 0}, f32[] 5, f32[2] {5, 11},"
                  " f32[2,2] {{7, 10}, {15, 22}}, f32[2,2] {{10, 14}, {14, 20}}, f32[1,1,5] "
                  "{{{11000, 11100, 1110, 111, 11}}},"
                  " f32[1,1,2] {{{11100, 111}}}, f32[] 11111)",
                  "f32[5] {10000, 1000, 100, 10, 1}", "f32[] 3e38", "f32[2,2] {{1, 2}, {3, 4}}",
                  "f32[1,1,3] {{{1, 1, 1}}}");
}
END_TEST

START_TEST(applied_computations)
{
    hlo_computation *below = hlo_computation_new(b, "below"),
                    *next = hlo_computation_new(b, "next");
    hlo_inst *i = hlo_parameter(below, 0, "s32[]", "i"), *j = hlo_parameter(next, 0, "s32[]", "j");
    hlo_build(below, "lt", (hlo_inst *[]){i, constant(below, "s32[] 10")}, 2, NULL);
    hlo_build(next, "add", (hlo_inst *[]){j, constant(next, "s32[] 1")}, 2, NULL);
    ck_assert(hlo_computation_finish(below, NULL) && hlo_computation_finish(next, NULL));
    scalar("scale", "multiply", NULL);
    scalar("add", "add", NULL);
    hlo_inst *x = param(0, "f32[3]"), *s = param(1, "f32[]"), *n = param(2, "s32[]"),
             *p = param(3, "pred[]");
    hlo_inst *first = OP("tuple", NULL, x, s), *second = OP("tuple", NULL, OP("neg", NULL, x), s);
    hlo_inst *parts[] = {OP("while", "condition=below, body=next", n),
                         OP("map", "to_apply=scale, static_operands={y}", x),
                         OP("sort", "is_stable=true", x),
                         OP("call", "to_apply=add", s, s),
                         hlo_get_tuple_element(c, OP("select", NULL, p, first, second), 0),
                         OP("clamp", NULL, s, x, s),
                         OP("cross-replica-sum", NULL, x),
                         OP("convert", "new_element_type=s32", x),
                         OP("u32[] bitcast-convert", NULL, s),
                         hlo_build(c, "s32[3] iota", NULL, 0, "iota_dimension=0"),
                         OP("rng-bernoulli", "shape=u32[2]", OP("sub", NULL, s, s))};
    hlo_tuple(c, parts, N(parts));
    EXPECT_RESULT("(s32[] 10, f32[3] {6, 2, 4}, f32[3] {1, 2, 3}, f32[] 4, f32[3] {-3, -1, -2}, "
                  "f32[3] {2, 2, 2}, f32[3] {3, 1, 2},"
                  " s32[3] {3, 1, 2}, u32[] 1073741824, s32[3] {0, 1, 2}, u32[2] {0, 0})",
                  "f32[3] {3, 1, 2}", "f32[] 2", "s32[] 3", "pred[] false");
}
END_TEST

START_TEST(batch_norm)
{
    hlo_inst *x = param(0, "f32[2,2]"), *one = param(1, "f32[2]"), *zero = param(2, "f32[2]");
    hlo_inst *parts[] = {
        OP("batch-norm-training", "epsilon=0, feature_index=1", x, one, zero),
        OP("batch-norm-inference", "epsilon=0, feature_index=0", x, one, zero, one, one),
        OP("batch-norm-grad", "epsilon=0, feature_index=1", x, one, zero, one, x)};
    hlo_tuple(c, parts, N(parts));
    EXPECT_RESULT(
        "((f32[2,2] {{-1, -1}, {1, 1}}, f32[2] {2, 4}, f32[2] {1, 4}), f32[2,2] {{0, 1}, {2, 5}},"
        " (f32[2,2] {{-6, -42}, {-14, -118}}, f32[2] {10, 40}, f32[2] {4, 8}))",
        "f32[2,2] {{1, 2}, {3, 6}}", "f32[2] {1, 1}", "f32[2] {0, 0}");
}
END_TEST

/* ---- the same as text ---- */

START_TEST(builder_equals_text)
{
    hlo_inst *x = param(0, "f32[2,3]"), *y = param(1, "f32[3]");
    hlo_inst *sum = hlo_build(c, "sum = add", (hlo_inst *[]){x, y}, 2,
                              "broadcast_dimensions={1}, metadata={op_name=\"sum\"}");
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

START_TEST(feeds_and_random_numbers)
{
    hlo_inst *s = param(0, "f32[]"), *index = param(1, "s32[]"), *p = param(2, "pred[]");
    hlo_inst *in = hlo_build(c, "infeed", NULL, 0, "shape=f32[2]");
    OP("outfeed", NULL, in);
    hlo_computation *f = hlo_computation_new(b, "f"), *g = hlo_computation_new(b, "f");
    ck_assert_str_eq(hlo_computation_name(g), "f.1");
    hlo_parameter(f, 0, "f32[]", "a");
    hlo_build(g, "negate", (hlo_inst *[]){hlo_parameter(g, 0, "f32[]", "a")}, 1, NULL);
    ck_assert(hlo_computation_finish(f, NULL) && hlo_computation_finish(g, NULL));
    hlo_inst *parts[] = {OP("rng-uniform", "shape=f32[2]", s, s),
                         OP("rng-normal", "shape=f32[2]", s, s), in,
                         OP("conditional", "true_computation=f, false_computation=f.1", p, s, s),
                         OP("conditional", "branch_computations={f, f.1}", index, s, s)};
    hlo_tuple(c, parts, N(parts));
    hlo_module *module = finish();
    hlo_text text = hlo_print(module, HLO_PRINT_SHORT);
    static const char *const words[] = {"infeed(infeed.1.after-all)", "distribution=rng_normal",
                                        "outfeed(", "true_computation=f, false_computation=f.1",
                                        "branch_computations={f, f.1}"};
    for (size_t k = 0; k < N(words); k++)
        ck_assert_msg(strstr(text.data, words[k]) != NULL, "'%s' lacks '%s'", text.data, words[k]);
    hlo_text_free(&text);
    hlo_module_free(module);
}
END_TEST

/* ---- ONNX's Loop ---- */

/* A caller recognizes by the message id that bounds were too small, and may rebuild with larger
 * ones. */
START_TEST(loop_exceeds_its_bound)
{
    hlo_computation *body = hlo_computation_new(b, "body");
    hlo_inst *i = hlo_parameter(body, 0, "s64[]", NULL),
             *roots[2] = {hlo_parameter(body, 1, "pred[]", NULL), i};
    hlo_tuple(body, roots, 2);
    ck_assert(hlo_computation_finish(body, NULL));
    hlo_inst *count = param(0, "s64[]");
    hlo_build(c, "custom-call", &count, 1,
              "shape=s64[<=3], custom_call_target=\"onnx.Loop\", called_computations={body}, "
              "backend_config={\"inputs\": [\"M\"]}");
    hlo_module *module = finish();
    hlo_program *p = hlo_plan(module, NULL, m);
    hlo_literal *few = literal("s64[] 3"), *many = literal("s64[] 4"),
                *expected = literal("s64[3] {0, 1, 2}");
    hlo_literal *result = hlo_run(p, (const hlo_literal *const *)&few, 1, m);
    hlo_text why = {0};
    ck_assert_msg(hlo_literal_compare(result, expected, NULL, &why), "%s", why.data);
    ck_assert(hlo_literal_compare(result, expected, NULL, NULL) &&
              !hlo_literal_compare(few, many, NULL, NULL));
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

/* ---- errors ---- */

START_TEST(invalid_instructions)
{
    hlo_inst *x = param(0, "f32[2,3]"), *y = param(1, "f32[2]");
    hlo_inst *bad = OP("add", NULL, x, y);
    ck_assert_ptr_null(bad);
    ck_assert_uint_eq(hlo_messages_errors(m), 1);
    struct hlo_message first = hlo_messages_get(m, 0);
    ck_assert_str_eq(first.file, "built");
    ck_assert_uint_eq(first.line, 4); /* after the header and two parameters */
    ck_assert_ptr_nonnull(strstr(first.text, "broadcast_dimensions"));
    ck_assert_ptr_null(OP("negate", NULL, bad)); /* no second message for the same error */
    ck_assert_uint_eq(hlo_messages_errors(m), 1);
    ck_assert_ptr_null(OP("ad", NULL, x, x)); /* no such opcode */
    ck_assert_str_eq(hlo_messages_get(m, 1).id, "unknown-opcode");
    ck_assert_ptr_null(OP("add", NULL, x));
    ck_assert_ptr_null(OP("negate", "sharding={replicated}}", x));
    ck_assert_ptr_null(OP("collapse", "dimensions={1,0}", x));
    ck_assert_ptr_null(hlo_parameter(c, 2, "f32[", NULL));
    hlo_computation_new(b, "open");
    ck_assert_ptr_null(OP("sort", "to_apply=open", x)); /* not finished */
    ck_assert_ptr_null(hlo_constant(c, NULL));
    hlo_text drawn = hlo_messages_draw(m, false);
    ck_assert_uint_eq(hlo_messages_errors(m), 7);
    ck_assert_ptr_nonnull(strstr(drawn.data, "add(%x, %y)"));
    hlo_text_free(&drawn);
    ck_assert_ptr_null(hlo_builder_finish(b, c));
}
END_TEST

START_TEST(invalid_computations)
{
    hlo_computation *other = hlo_computation_new(b, "other");
    hlo_inst *there = hlo_parameter(other, 0, "f32[]", "there");
    ck_assert_ptr_null(OP("negate", NULL, there));
    ck_assert_str_eq(hlo_messages_get(m, 0).text,
                     "operand 'there' belongs to computation 'other', not 'main'");
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
    tcase_add_test(t, builder_equals_text);
    tcase_add_test(t, feeds_and_random_numbers);
    tcase_add_test(t, loop_exceeds_its_bound);
    tcase_add_test(t, invalid_instructions);
    tcase_add_test(t, invalid_computations);
    suite_add_tcase(s, t);
    return check_run(s);
}
