/*
 * Tests of edited modules: replacement and removal of instructions, and the attributes of the
 * header. For random modules: a copy prints the same, and accepted edits give a module that
 * verifies, prints, and parses again.
 *
 * `test_edit FILE...` also tests the modules of these files.
 */
#include "fuzz/generate.h"
#include "hlo_advanced.h"

#include "check_quiet.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 600, EDITS = 3 };

/* ---- a module, its listing and an edit of it ---- */

static hlo_messages *m;
static hlo_module *module;
static hlo_listing *l;
static hlo_edit *e;

static void open_text(const char *text, size_t size)
{
    m = hlo_messages_new();
    hlo_file *f = hlo_file_of_text("edit.hlo", text, size, false);
    module = hlo_parse(f, 0, m);
    ck_assert_msg(module != NULL && hlo_verify(module, m), "%.3000s", text);
    hlo_file_free(f);
    l = hlo_list(module);
    e = hlo_edit_new(l);
}

static void close_all(void)
{
    hlo_listing_free(l);
    hlo_module_free(module);
    hlo_messages_free(m);
}

static size_t at(const char *name)
{
    long i = hlo_list_find(l, name);
    ck_assert_msg(i >= 0, "%s", name);
    return (size_t)i;
}

static hlo_literal *literal(const char *text)
{
    hlo_literal *v = hlo_literal_parse(text, strlen(text), m);
    ck_assert_ptr_nonnull(v);
    return v;
}

static void constant(const char *name, const char *value)
{
    hlo_literal *v = literal(value);
    ck_assert(hlo_edit_constant(e, at(name), v, m));
    hlo_literal_free(v);
}

/* The edited module verifies and has these computations, in the short form. */
static void expect(const char *text)
{
    hlo_module *made = hlo_edit_finish(e, m);
    hlo_text errors = hlo_messages_draw(m, false);
    ck_assert_msg(made != NULL, "%s", errors.data);
    close_all(); /* the new module is independent */
    m = hlo_messages_new();
    hlo_text_free(&errors);
    bool ok = hlo_verify(made, m);
    errors = hlo_messages_draw(m, false);
    hlo_text printed = hlo_print(made, HLO_PRINT_SHORT);
    const char *body = strstr(printed.data, "\n\n");
    ck_assert_msg(ok, "%s%s", errors.data, printed.data);
    ck_assert_str_eq(body + 2, text);
    hlo_text_free(&errors);
    hlo_text_free(&printed);
    hlo_module_free(made);
    hlo_messages_free(m);
}

static void expect_refused(bool done, const char *why)
{
    hlo_text errors = hlo_messages_draw(m, false);
    ck_assert(!done);
    ck_assert_msg(strstr(errors.data, why) != NULL, "%s", errors.data);
    hlo_text_free(&errors);
}

#define OPEN(text) open_text(text, sizeof(text) - 1)

static const char chain[] = "HloModule chain\n"
                            "ENTRY main {\n"
                            "  x = f32[2] parameter(0)\n"
                            "  y = f32[2] parameter(1)\n"
                            "  a = f32[2] add(x, y)\n"
                            "  b = f32[2] multiply(a, a)\n"
                            "  c = f32[2] negate(x), control-predecessors={b}\n"
                            "  ROOT r = (f32[2], f32[2]) tuple(b, c)\n"
                            "}\n";

/* ---- replaced instructions ---- */

START_TEST(constants_replace_the_instruction)
{
    OPEN(chain);
    constant("a", "f32[2] {1, 2.5}");
    expect("ENTRY main {\n  y = f32[2]{0} parameter(1)\n  a = f32[2]{0} constant({1, 2.5})\n  b = "
           "f32[2]{0} multiply(a, a)\n"
           "  x = f32[2]{0} parameter(0)\n  c = f32[2]{0} negate(x)\n  ROOT r = (f32[2]{0}, "
           "f32[2]{0}) tuple(b, c)\n}\n\n");
}
END_TEST

START_TEST(unused_parameters_are_removed_on_request)
{
    OPEN(chain);
    constant("x", "f32[2] {1, 2}");
    constant("c", "f32[2] {3, 4}");
    hlo_edit_drop_parameters(e);
    expect("ENTRY main {\n  x = f32[2]{0} constant({1, 2})\n  y = f32[2]{0} parameter(0)\n  a = "
           "f32[2]{0} add(x, y)\n"
           "  b = f32[2]{0} multiply(a, a)\n  c = f32[2]{0} constant({3, 4})\n  ROOT r = "
           "(f32[2]{0}, f32[2]{0}) tuple(b, c)\n}\n\n");
}
END_TEST

START_TEST(new_parameter_is_appended)
{
    OPEN(chain);
    ck_assert(hlo_edit_parameter(e, at("a"), m));
    expect("ENTRY main {\n  y = f32[2]{0} parameter(1)\n  a = f32[2]{0} parameter(2)\n  b = "
           "f32[2]{0} multiply(a, a)\n"
           "  x = f32[2]{0} parameter(0)\n  c = f32[2]{0} negate(x)\n  ROOT r = (f32[2]{0}, "
           "f32[2]{0}) tuple(b, c)\n}\n\n");
}
END_TEST

START_TEST(instruction_is_replaced_by_another)
{
    OPEN(chain);
    ck_assert(hlo_edit_replace(e, at("b"), at("c"), m));
    ck_assert(hlo_edit_replace(e, at("c"), at("x"), m));
    hlo_edit_drop_parameters(e);
    expect("ENTRY main {\n  x = f32[2]{0} parameter(0)\n  ROOT r = (f32[2]{0}, f32[2]{0}) tuple(x, "
           "x)\n}\n\n");
}
END_TEST

START_TEST(large_zeros_are_a_broadcast)
{
    OPEN("ENTRY main {\n  x = f32[2] parameter(0)\n  y = f32[100] parameter(1)\n  t = (f32[2], "
         "f32[100], token[]) custom-call(x, "
         "y), "
         "custom_call_target=\"t\"\n  g = f32[100] get-tuple-element(t), index=1\n  ROOT r = "
         "f32[100] add(g, y)\n}\n");
    ck_assert(hlo_edit_zeros(e, at("t"), m));
    hlo_edit_drop_parameters(e);
    expect("ENTRY main {\n  t.value = f32[2]{0} constant({0, 0})\n  t.zero = f32[] constant(0)\n"
           "  t.value.1 = f32[100]{0} broadcast(t.zero), dimensions={}\n  t.token = token[] "
           "after-all()\n"
           "  t = (f32[2]{0}, f32[100]{0}, token[]) tuple(t.value, t.value.1, t.token)\n"
           "  g = f32[100]{0} get-tuple-element(t), index=1\n  y = f32[100]{0} parameter(0)\n  "
           "ROOT r = f32[100]{0} add(g, "
           "y)\n}\n\n");
}
END_TEST

START_TEST(constants_of_bounded_shapes_keep_their_size)
{
    OPEN("ENTRY main {\n  x = f32[<=4,2] parameter(0)\n  ROOT r = f32[<=4,2] negate(x)\n}\n");
    constant("x", "f32[1,2] {{1, 2}}");
    expect("ENTRY main {\n  x.value = f32[4,2]{1,0} constant({ { 1, 2 }, { 0, 0 }, { 0, 0 }, { 0, "
           "0 } })\n"
           "  x.size = s32[] constant(1)\n  x = f32[<=4,2]{1,0} set-dimension-size(x.value, "
           "x.size), dimensions={0}\n"
           "  ROOT r = f32[<=4,2]{1,0} negate(x)\n}\n\n");
}
END_TEST

/* ---- another result ---- */

START_TEST(any_instructions_may_be_the_root)
{
    OPEN(chain);
    const size_t roots[] = {at("c"), at("a")};
    ck_assert(hlo_edit_root(e, roots, 2, m));
    expect("ENTRY main {\n  x = f32[2]{0} parameter(0)\n  c = f32[2]{0} negate(x)\n  y = f32[2]{0} "
           "parameter(1)\n"
           "  a = f32[2]{0} add(x, y)\n  ROOT result = (f32[2]{0}, f32[2]{0}) tuple(c, a)\n}\n\n");
}
END_TEST

static const char loop[] = "HloModule loop\n"
                           "body {\n"
                           "  p = (s32[], f32[2]) parameter(0)\n"
                           "  i = s32[] get-tuple-element(p), index=0\n"
                           "  one = s32[] constant(1)\n"
                           "  n = s32[] add(i, one)\n"
                           "  v = f32[2] get-tuple-element(p), index=1\n"
                           "  w = f32[2] add(v, v)\n"
                           "  ROOT t = (s32[], f32[2]) tuple(n, w)\n"
                           "}\n"
                           "cond {\n"
                           "  p = (s32[], f32[2]) parameter(0)\n"
                           "  i = s32[] get-tuple-element(p), index=0\n"
                           "  three = s32[] constant(3)\n"
                           "  ROOT c = pred[] compare(i, three), direction=LT\n"
                           "}\n"
                           "ENTRY main {\n"
                           "  x = f32[2] parameter(0)\n"
                           "  zero = s32[] constant(0)\n"
                           "  init = (s32[], f32[2]) tuple(zero, x)\n"
                           "  ROOT loop = (s32[], f32[2]) while(init), condition=cond, body=body\n"
                           "}\n";

START_TEST(loop_body_becomes_entry_computation)
{
    OPEN(loop);
    const size_t root = at("w");
    ck_assert(hlo_edit_root(e, &root, 1, m));
    constant("body/p", "(s32[] 7, f32[2] {1, 2})");
    expect("ENTRY body {\n  p.value = s32[] constant(7)\n  p.value.1 = f32[2]{0} constant({1, 2})\n"
           "  p = (s32[], f32[2]{0}) tuple(p.value, p.value.1)\n  v = f32[2]{0} "
           "get-tuple-element(p), index=1\n"
           "  ROOT w = f32[2]{0} add(v, v)\n}\n\n");
}
END_TEST

START_TEST(loop_body_is_inlined)
{
    OPEN(loop);
    ck_assert(hlo_edit_inline(e, at("loop"), 0, m));
    expect("ENTRY main {\n  zero = s32[] constant(0)\n  x = f32[2]{0} parameter(0)\n  init = "
           "(s32[], f32[2]{0}) tuple(zero, x)\n"
           "  i = s32[] get-tuple-element(init), index=0\n  one = s32[] constant(1)\n  n = s32[] "
           "add(i, one)\n"
           "  v = f32[2]{0} get-tuple-element(init), index=1\n  w = f32[2]{0} add(v, v)\n  ROOT t "
           "= (s32[], f32[2]{0}) tuple(n, "
           "w)\n}\n\n");
}
END_TEST

/* ---- calls ---- */

static const char fused[] = "HloModule fused\n"
                            "f {\n"
                            "  p = f32[2] parameter(0)\n"
                            "  q = f32[2] parameter(1)\n"
                            "  s = f32[2] add(p, q)\n"
                            "  ROOT t = f32[2] multiply(s, p)\n"
                            "}\n"
                            "ENTRY main {\n"
                            "  x = f32[2] parameter(0)\n"
                            "  y = f32[2] negate(x)\n"
                            "  ROOT r = f32[2] fusion(x, y), kind=kLoop, calls=f\n"
                            "}\n";

START_TEST(operands_of_removed_parameters_are_dropped)
{
    OPEN(fused);
    ck_assert(hlo_edit_replace(e, at("s"), at("p"), m));
    expect("f {\n  p = f32[2]{0} parameter(0)\n  ROOT t = f32[2]{0} multiply(p, p)\n}\n\n"
           "ENTRY main {\n  x = f32[2]{0} parameter(0)\n  ROOT r = f32[2]{0} fusion(x), "
           "kind=kLoop, calls=f\n}\n\n");
}
END_TEST

START_TEST(calls_are_inlined)
{
    OPEN(fused);
    ck_assert(hlo_edit_inline(e, at("r"), 0, m));
    expect("ENTRY main {\n  x = f32[2]{0} parameter(0)\n  y = f32[2]{0} negate(x)\n  s = f32[2]{0} "
           "add(x, y)\n"
           "  ROOT t = f32[2]{0} multiply(s, x)\n}\n\n");
}
END_TEST

/* The reduction passes both arguments, so p stays, and no fusion may leave it unused. */
START_TEST(fusion_with_unused_parameter_is_inlined)
{
    OPEN("f {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT s = f32[] add(p, q)\n}\n"
         "ENTRY main {\n  x = f32[2] parameter(0)\n  y = f32[] parameter(1)\n"
         "  a = f32[] reduce(x, y), dimensions={0}, to_apply=f\n"
         "  b = f32[] fusion(a, y), kind=kLoop, calls=f\n"
         "  ROOT r = (f32[], f32[]) tuple(a, b)\n}\n");
    ck_assert(hlo_edit_replace(e, at("s"), at("q"), m));
    expect("f {\n  p = f32[] parameter(0)\n  ROOT q = f32[] parameter(1)\n}\n\n"
           "ENTRY main {\n  x = f32[2]{0} parameter(0)\n  y = f32[] parameter(1)\n"
           "  a = f32[] reduce(x, y), dimensions={0}, to_apply=f\n"
           "  ROOT r = (f32[], f32[]) tuple(a, y)\n}\n\n");
}
END_TEST

START_TEST(inlining_does_not_duplicate_fusions)
{
    OPEN("f {\n  p = f32[] parameter(0)\n  ROOT n = f32[] negate(p)\n}\n"
         "g {\n  q = f32[] parameter(0)\n  ROOT u = f32[] fusion(q), kind=kLoop, calls=f\n}\n"
         "ENTRY main {\n  x = f32[] parameter(0)\n  a = f32[] call(x), to_apply=g\n"
         "  ROOT b = f32[] call(a), to_apply=g\n}\n");
    ck_assert(hlo_edit_inline(e, at("a"), 0, m));
    ck_assert(hlo_edit_inline(e, at("b"), 0, m));
    expect("f {\n  p = f32[] parameter(0)\n  ROOT n = f32[] negate(p)\n}\n\n"
           "ENTRY main {\n  x = f32[] parameter(0)\n  u = f32[] fusion(x), kind=kLoop, calls=f\n"
           "  ROOT n.1 = f32[] negate(u)\n}\n\n");
}
END_TEST

START_TEST(computation_inlined_twice)
{
    OPEN("f {\n  p = f32[] parameter(0)\n  ROOT d = f32[] add(p, p)\n}\nENTRY main {\n  x = f32[] "
         "parameter(0)\n"
         "  a = f32[] call(x), to_apply=f\n  ROOT b = f32[] call(a), to_apply=f\n}\n");
    ck_assert(hlo_edit_inline(e, at("a"), 0, m));
    ck_assert(hlo_edit_inline(e, at("b"), 0, m));
    expect("ENTRY main {\n  x = f32[] parameter(0)\n  d = f32[] add(x, x)\n  ROOT d.1 = f32[] "
           "add(d, d)\n}\n\n");
}
END_TEST

START_TEST(conditional_branch_is_inlined)
{
    OPEN("f {\n  p = f32[] parameter(0)\n  ROOT d = f32[] add(p, p)\n}\ng {\n  q = f32[] "
         "parameter(0)\n  ROOT n = f32[] "
         "negate(q)\n}\n"
         "ENTRY main {\n  x = f32[] parameter(0)\n  k = pred[] parameter(1)\n"
         "  ROOT c = f32[] conditional(k, x, x), true_computation=f, false_computation=g\n}\n");
    expect_refused(hlo_edit_inline(e, at("c"), 2, m), "no called computation to inline");
    ck_assert(hlo_edit_inline(e, at("c"), 1, m));
    hlo_edit_drop_parameters(e);
    expect("ENTRY main {\n  x = f32[] parameter(0)\n  ROOT n = f32[] negate(x)\n}\n\n");
}
END_TEST

START_TEST(side_effects_are_preserved)
{
    static const char text[] =
        "ENTRY main {\n  x = f32[] parameter(0)\n  t = token[] after-all()\n  o = token[] "
        "outfeed(x, t), "
        "outfeed_shape=f32[]\n  y = f32[] negate(x)\n  ROOT r = f32[] add(y, x)\n}\n";
    OPEN(text);
    constant("y", "f32[] 1");
    expect("ENTRY main {\n  x = f32[] parameter(0)\n  t = token[] after-all()\n  o = token[] "
           "outfeed(x, t), outfeed_shape=f32[]\n"
           "  y = f32[] constant(1)\n  ROOT r = f32[] add(y, x)\n}\n\n");
    OPEN(text);
    const size_t root = at("r");
    ck_assert(hlo_edit_root(e, &root, 1, m));
    expect("ENTRY main {\n  x = f32[] parameter(0)\n  y = f32[] negate(x)\n  ROOT r = f32[] add(y, "
           "x)\n}\n\n");
}
END_TEST

/* Each call of f advances the generator state of `g`, so its results differ. */
START_TEST(unused_random_numbers_are_preserved)
{
    OPEN("f {\n  z = f32[] parameter(0)\n  u = f32[] constant(1)\n"
         "  ROOT g = f32[] rng(z, u), distribution=rng_uniform\n}\n"
         "ENTRY main {\n  x = f32[] parameter(0)\n  a = f32[] call(x), to_apply=f\n"
         "  y = f32[] negate(x)\n  ROOT b = f32[] call(y), to_apply=f\n}\n");
    constant("y", "f32[] 0");
    expect("f {\n  z = f32[] parameter(0)\n  u = f32[] constant(1)\n"
           "  ROOT g = f32[] rng(z, u), distribution=rng_uniform\n}\n\n"
           "ENTRY main {\n  x = f32[] parameter(0)\n  a = f32[] call(x), to_apply=f\n"
           "  y = f32[] constant(0)\n  ROOT b = f32[] call(y), to_apply=f\n}\n\n");
}
END_TEST

/* ---- the header ---- */

static void expect_header(const char *text)
{
    hlo_module *made = hlo_edit_finish(e, m);
    ck_assert(made && hlo_verify(made, m));
    hlo_text printed = hlo_print(made, HLO_PRINT_FULL);
    *strchr(printed.data, '\n') = '\0';
    ck_assert_str_eq(printed.data, text);
    hlo_text_free(&printed);
    hlo_module_free(made);
    close_all();
}

START_TEST(module_header_is_updated)
{
    static const char text[] =
        "HloModule h, input_output_alias={ {0}: (2, {}, may-alias) }, buffer_donor={ (1, {}), (0, "
        "{}) }, "
        "entry_computation_layout={(f32[2,2]{0,1}, f32[2], f32[3])->(f32[3], f32[2,2]{0,1})}\n"
        "ENTRY main {\n  x = f32[2,2] parameter(0)\n  y = f32[2] parameter(1)\n  z = f32[3] "
        "parameter(2)\n"
        "  n = f32[2,2] negate(x)\n  ROOT r = (f32[3], f32[2,2]) tuple(z, n)\n}\n";
    OPEN(text);
    hlo_edit_drop_parameters(e);
    expect_header(
        "HloModule h, input_output_alias={ {0}: (1, {}, may-alias) }, buffer_donor={ (0, {}) }, "
        "entry_computation_layout={(f32[2,2]{0,1}, f32[3]{0})->(f32[3]{0}, f32[2,2]{0,1})}");
    OPEN(text);
    const size_t root = at("n");
    ck_assert(hlo_edit_root(e, &root, 1, m));
    expect_header(
        "HloModule h, buffer_donor={ (0, {}), (1, {}) }, "
        "entry_computation_layout={(f32[2,2]{0,1}, f32[2]{0}, f32[3]{0})->f32[2,2]{1,0}}");
    OPEN(text);
    hlo_edit_strip(e, HLO_STRIP_HINTS);
    expect_header("HloModule h, entry_computation_layout={(f32[2,2]{0,1}, f32[2]{0}, "
                  "f32[3]{0})->(f32[3]{0}, f32[2,2]{0,1})}");
}
END_TEST

START_TEST(metadata_is_removed)
{
    OPEN(
        "ENTRY main {\n  x = f32[2] parameter(0), sharding={replicated}, metadata={op_name=\"x\"}\n"
        "  ROOT c = f32[2] custom-call(x), custom_call_target=\"t\", backend_config=\"kept\", "
        "frontend_attributes={a=\"b\"}\n}\n");
    hlo_edit_strip(e, HLO_STRIP_METADATA | HLO_STRIP_SHARDING | HLO_STRIP_HINTS);
    expect("ENTRY main {\n  x = f32[2]{0} parameter(0)\n  ROOT c = f32[2]{0} custom-call(x), "
           "custom_call_target=\"t\", "
           "backend_config=\"kept\"\n}\n\n");
}
END_TEST

START_TEST(composite_without_name_is_a_call)
{
    OPEN(
        "f {\n  a = f32[2] parameter(0)\n  ROOT b = f32[2] negate(a)\n}\n"
        "ENTRY main {\n  x = f32[2] parameter(0)\n  ROOT c = f32[2] call(x), to_apply=f, "
        "is_composite=true, frontend_attributes={composite.name=\"a.b\",composite.version=\"1\"}\n}"
        "\n");
    hlo_edit_strip(e, HLO_STRIP_HINTS);
    expect("f {\n  a = f32[2]{0} parameter(0)\n  ROOT b = f32[2]{0} negate(a)\n}\n\n"
           "ENTRY main {\n  x = f32[2]{0} parameter(0)\n  ROOT c = f32[2]{0} call(x), "
           "to_apply=f\n}\n\n");
}
END_TEST

/* ---- rejected edits ---- */

START_TEST(rejected_edits)
{
    OPEN(chain);
    hlo_literal *wrong = literal("f32[3] {1, 2, 3}");
    expect_refused(hlo_edit_constant(e, at("a"), wrong, m),
                   "'a' cannot become a constant: value has a different shape");
    expect_refused(hlo_edit_replace(e, at("a"), at("r"), m),
                   "'a' cannot become 'r': shapes differ");
    expect_refused(hlo_edit_replace(e, at("a"), at("a"), m),
                   "replacement depends on the instruction it replaces");
    expect_refused(hlo_edit_inline(e, at("a"), 0, m), "no called computation to inline");
    ck_assert(hlo_edit_replace(e, at("a"), at("b"), m)); /* which depends on it */
    expect_refused(hlo_edit_finish(e, m) != NULL, "instruction would depend on itself");
    hlo_literal_free(wrong);
    close_all();
    OPEN(chain);
    ck_assert(hlo_edit_replace(e, at("c"), at("b"), m));
    ck_assert(hlo_edit_replace(e, at("a"), at("c"), m));
    expect_refused(
        hlo_edit_replace(e, at("c"), at("a"), m),
        "replacement depends on the instruction it replaces"); /* indirectly, not at the end */
    hlo_edit_free(e);
    close_all();
    OPEN(loop);
    expect_refused(hlo_edit_parameter(e, at("w"), m),
                   "parameters can only be added to the entry computation");
    const size_t both[] = {at("w"), at("x")};
    expect_refused(hlo_edit_root(e, both, 2, m), "instructions are in different computations");
    expect_refused(hlo_edit_replace(e, at("w"), at("x"), m),
                   "instructions are in different computations");
    hlo_edit_free(e);
    close_all();
    OPEN("ENTRY main {\n  x = f32[2] parameter(0)\n  s = (f32[2], f32[2], u32[]) copy-start(x)\n  "
         "ROOT d = f32[2] "
         "copy-done(s)\n}\n");
    expect_refused(hlo_edit_zeros(e, at("s"), m), "its -done instruction requires it unchanged");
    ck_assert(hlo_edit_zeros(e, at("d"), m));
    expect(
        "ENTRY main {\n  x = f32[2]{0} parameter(0)\n  ROOT d = f32[2]{0} constant({0, 0})\n}\n\n");
}
END_TEST

/* ---- extraction ---- */

static hlo_module *extract(const char *name, size_t height, uint64_t execution, bool parameters,
                           const char *arg)
{
    const struct hlo_extract what = {.size = sizeof what,
                                     .inst = at(name),
                                     .height = height,
                                     .execution = execution,
                                     .parameters = parameters};
    const struct hlo_run_options options = {.size = sizeof options, .threads = 1};
    hlo_literal *x = literal(arg);
    const hlo_literal *args[] = {x};
    hlo_module *made = hlo_extract(l, &what, &options, args, 1, m);
    hlo_literal_free(x);
    return made;
}

static void expect_result(hlo_module *made, const char *text)
{
    const struct hlo_run_options options = {.size = sizeof options, .threads = 1};
    ck_assert(made && hlo_verify(made, m));
    ck_assert_uint_eq(hlo_param_count(made), 0);
    hlo_program *p = hlo_plan(made, &options, m);
    hlo_literal *result = p ? hlo_run(p, NULL, 0, m) : NULL;
    ck_assert_ptr_nonnull(result);
    hlo_text printed = hlo_literal_print(result, true);
    ck_assert_str_eq(printed.data, text);
    hlo_text_free(&printed);
    hlo_literal_free(result);
    hlo_program_free(p);
    hlo_module_free(made);
}

START_TEST(extracted_modules_reproduce_values)
{
    OPEN(loop);
    hlo_edit_free(e);
    expect_result(extract("w", 0, 0, false, "f32[2] {1, 0.5}"), "f32[2]{0} {2, 1}");
    expect_result(extract("w", SIZE_MAX, 2, false, "f32[2] {1, 0.5}"), "f32[2]{0} {8, 4}");
    expect_result(extract("body/n", 1, 1, false, "f32[2] {1, 0.5}"), "s32[] 2");
    expect_result(extract("loop", 0, 0, false, "f32[2] {1, 0.5}"), "( s32[] 3, f32[2]{0} {8, 4} )");
    expect_result(extract("x", 5, 0, false, "f32[2] {1, 0.5}"), "f32[2]{0} {1, 0.5}");
    hlo_module *made = extract("w", 0, 0, true, "f32[2] {1, 0.5}");
    ck_assert_uint_eq(hlo_param_count(made), 1);
    ck_assert_str_eq(hlo_param_name(made, 0), "v");
    hlo_module_free(made);
    expect_refused(extract("w", 0, 3, false, "f32[2] {1, 0.5}") != NULL,
                   "'w' was executed 3 times");
    close_all();
}
END_TEST

/* ---- reduction ---- */

struct reduction {
    const char *expected; /* text of an instruction without its shape */
    size_t calls, max;
    const hlo_literal *value;
};

static bool has_text(void *context, const hlo_module *candidate)
{
    struct reduction *s = context;
    hlo_text text = hlo_print(candidate, HLO_PRINT_SHORT);
    bool has = strstr(text.data, s->expected) != NULL;
    hlo_text_free(&text);
    s->calls++;
    return has;
}

static const hlo_literal *known_value(void *context, const char *name)
{
    struct reduction *s = context;
    return strcmp(name, "w") == 0 || strcmp(name, "v") == 0 ? s->value : NULL;
}

static bool within_call_limit(void *context, size_t instructions, size_t calls)
{
    struct reduction *s = context;
    ck_assert_uint_gt(instructions, 0);
    return calls < s->max;
}

static hlo_module *shrink(struct reduction *s, bool faithful)
{
    const struct hlo_shrink how = {.size = sizeof how,
                                   .context = s,
                                   .bad = has_text,
                                   .value = known_value,
                                   .progress = within_call_limit,
                                   .faithful = faithful};
    s->calls = 0;
    return hlo_shrink(module, &how);
}

static void expect_shrunk(hlo_module *small, const char *text)
{
    ck_assert(small && hlo_verify(small, m));
    hlo_text printed = hlo_print(small, HLO_PRINT_SHORT);
    ck_assert_str_eq(strstr(printed.data, "ENTRY"), text);
    hlo_text_free(&printed);
    hlo_module_free(small);
}

START_TEST(failing_module_is_reduced)
{
    OPEN(loop);
    hlo_edit_free(e);
    hlo_literal *value = literal("f32[2] {5, 6}");
    struct reduction s = {.expected = "f32[2]{0} add(", .max = 1000, .value = value};
    expect_shrunk(
        shrink(&s, false),
        "ENTRY main {\n  v = f32[2]{0} constant({5, 6})\n  ROOT w = f32[2]{0} add(v, v)\n}\n\n");
    ck_assert_uint_lt(s.calls, 60);
    s.max = 3;
    hlo_module *early = shrink(&s, false);
    ck_assert_ptr_nonnull(early);
    ck_assert_uint_eq(s.calls, 3);
    hlo_module_free(early);
    s.expected = "nothing of the kind";
    s.max = 1000;
    ck_assert_ptr_null(shrink(&s, false));
    ck_assert_uint_eq(s.calls, 1);
    hlo_literal_free(value);
    close_all();
}
END_TEST

/* Zeros, parameters and operands would also fail, but are not faithful. */
START_TEST(faithful_reduction_uses_known_values)
{
    OPEN(chain);
    hlo_edit_free(e);
    struct reduction s = {.expected = "multiply(", .max = 1000};
    expect_shrunk(shrink(&s, true),
                  "ENTRY main {\n  x = f32[2]{0} parameter(0)\n  y = f32[2]{0} parameter(1)\n"
                  "  a = f32[2]{0} add(x, y)\n  ROOT b = f32[2]{0} multiply(a, a)\n}\n\n");
    expect_shrunk(shrink(&s, false), "ENTRY main {\n  a = f32[2]{0} constant({0, 0})\n  ROOT b = "
                                     "f32[2]{0} multiply(a, a)\n}\n\n");
    close_all();
}
END_TEST

/* ---- properties of all modules ---- */

struct random {
    uint64_t state;
};

static size_t below(struct random *r, size_t n)
{
    r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(r->state >> 33) % n;
}

static void prints_the_same(const char *what)
{
    hlo_module *copy = hlo_edit_finish(hlo_edit_new(l), m);
    ck_assert_msg(copy != NULL, "%s", what);
    hlo_text a = hlo_print(module, HLO_PRINT_FULL), b = hlo_print(copy, HLO_PRINT_FULL);
    ck_assert_msg(a.size == b.size && memcmp(a.data, b.data, a.size) == 0, "%s:\n%.3000s\n%.3000s",
                  what, a.data, b.data);
    hlo_text_free(&a);
    hlo_text_free(&b);
    hlo_module_free(copy);
}

static void change(struct random *r, hlo_edit *edit, size_t i)
{
    struct hlo_listed inst = hlo_list_inst(l, i);
    struct hlo_listed_computation c = hlo_list_computation(l, inst.computation);
    hlo_messages *messages = hlo_messages_new(); /* rejected edits */
    switch (below(r, 5)) {
    case 0: hlo_edit_zeros(edit, i, messages); break;
    case 1: hlo_edit_parameter(edit, i, messages); break;
    case 2: hlo_edit_inline(edit, i, 0, messages); break;
    case 3:
        for (size_t k = 0; k < inst.operand_count; k++)
            if (hlo_edit_replace(edit, i, inst.operands[k], messages))
                break;
        break;
    default:
        for (size_t tries = 0; tries < 8; tries++) {
            size_t by = c.first + below(r, c.count);
            if (by < i && hlo_edit_replace(edit, i, by, messages))
                break;
        }
        break;
    }
    hlo_messages_free(messages);
}

/* A randomly edited module verifies, prints, and parses and prints again as the same text. */
static void check_edited(hlo_module *made, const char *what)
{
    hlo_messages *messages = hlo_messages_new();
    bool ok = hlo_verify(made, messages);
    hlo_text errors = hlo_messages_draw(messages, false), once = hlo_print(made, HLO_PRINT_FULL);
    ck_assert_msg(ok, "%s: %.1000s\n%.5000s", what, errors.data, once.data);
    hlo_file *f = hlo_file_of_text("printed", once.data, once.size, true);
    hlo_module *read = hlo_parse(f, 0, messages);
    hlo_text_free(&errors);
    errors = hlo_messages_draw(messages, false);
    ck_assert_msg(read != NULL && hlo_verify(read, messages), "%s: %.1000s\n%.5000s", what,
                  errors.data, once.data);
    hlo_text_free(&errors);
    hlo_text_free(&once);
    hlo_module_free(read);
    hlo_file_free(f);
    hlo_messages_free(messages);
}

/* Operands precede their users in the printed order, so `by < i` excludes cycles. */
static void edit_at_random(uint64_t seed, const char *what, size_t *finished)
{
    struct random r = {seed};
    for (int k = 0; k < EDITS; k++) {
        hlo_edit *edit = hlo_edit_new(l);
        hlo_messages *messages = hlo_messages_new();
        struct hlo_listed_computation c =
            hlo_list_computation(l, below(&r, hlo_list_computations(l)));
        if (below(&r, 2) == 0) {
            size_t roots[3];
            for (size_t n = 0; n < 3; n++)
                roots[n] = c.first + below(&r, c.count);
            hlo_edit_root(edit, roots, 1 + below(&r, 3), messages);
        }
        for (size_t n = below(&r, 4); n > 0; n--)
            change(&r, edit, below(&r, hlo_list_count(l)));
        if (below(&r, 2) == 0)
            hlo_edit_drop_parameters(edit);
        hlo_module *made = hlo_edit_finish(edit, messages);
        if (made)
            check_edited(made, what);
        *finished += made != NULL;
        hlo_module_free(made);
        hlo_messages_free(messages);
    }
}

START_TEST(random_modules)
{
    size_t finished = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct buf text = {0};
        char what[32];
        generate_of_seed(&text, seed);
        snprintf(what, sizeof what, "seed %d", (int)seed);
        open_text(text.data, text.size);
        hlo_edit_free(e);
        prints_the_same(what);
        edit_at_random(seed, what, &finished);
        close_all();
        buf_free(&text);
    }
    ck_assert_uint_gt(finished, SEEDS * EDITS * 3 / 4);
}
END_TEST

/* ---- files ---- */

static char **paths; /* NULL-terminated */

static void check_file(const char *path)
{
    hlo_messages *messages = hlo_messages_new();
    hlo_file *f = hlo_file_open(path, false, messages);
    size_t finished = 0;
    for (size_t part = 0; f && part < hlo_file_count(f); part++) {
        m = hlo_messages_new();
        module = hlo_parse(f, part, m);
        if (module && hlo_verify(module, m)) {
            l = hlo_list(module);
            prints_the_same(path);
            edit_at_random(part + 1, path, &finished);
            hlo_listing_free(l);
        }
        hlo_module_free(module);
        hlo_messages_free(m);
    }
    hlo_file_free(f);
    hlo_messages_free(messages);
}

START_TEST(files)
{
    for (char **path = paths; *path; path++)
        check_file(*path);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *s = suite_create("edit");
    TCase *t = tcase_create("edit");
    paths = argv + 1;
    if (argc > 1)
        tcase_set_timeout(t, 0);
    tcase_add_test(t, files);
    tcase_add_test(t, constants_replace_the_instruction);
    tcase_add_test(t, unused_parameters_are_removed_on_request);
    tcase_add_test(t, new_parameter_is_appended);
    tcase_add_test(t, instruction_is_replaced_by_another);
    tcase_add_test(t, large_zeros_are_a_broadcast);
    tcase_add_test(t, constants_of_bounded_shapes_keep_their_size);
    tcase_add_test(t, any_instructions_may_be_the_root);
    tcase_add_test(t, loop_body_becomes_entry_computation);
    tcase_add_test(t, loop_body_is_inlined);
    tcase_add_test(t, operands_of_removed_parameters_are_dropped);
    tcase_add_test(t, calls_are_inlined);
    tcase_add_test(t, fusion_with_unused_parameter_is_inlined);
    tcase_add_test(t, inlining_does_not_duplicate_fusions);
    tcase_add_test(t, computation_inlined_twice);
    tcase_add_test(t, conditional_branch_is_inlined);
    tcase_add_test(t, side_effects_are_preserved);
    tcase_add_test(t, unused_random_numbers_are_preserved);
    tcase_add_test(t, module_header_is_updated);
    tcase_add_test(t, metadata_is_removed);
    tcase_add_test(t, composite_without_name_is_a_call);
    tcase_add_test(t, rejected_edits);
    tcase_add_test(t, extracted_modules_reproduce_values);
    tcase_add_test(t, failing_module_is_reduced);
    tcase_add_test(t, faithful_reduction_uses_known_values);
    tcase_add_test(t, random_modules);
    suite_add_tcase(s, t);
    return check_run(s);
}
