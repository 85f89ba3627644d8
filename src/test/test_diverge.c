/*
 * Tests of comparing two runs: which instructions are paired, and which is the first that differs.
 */
#include "hlo_advanced.h"

#include "check_quiet.h"

#include <stdlib.h>
#include <string.h>

struct side {
    hlo_file *file;
    hlo_module *module;
    hlo_listing *listing;
    hlo_program *program;
};

static struct side side_of(const char *text, hlo_messages *m)
{
    struct side s = {.file = hlo_file_of_text("m.hlo", text, strlen(text), false)};
    s.module = hlo_parse(s.file, 0, m);
    ck_assert_msg(s.module && hlo_verify(s.module, m), "%s",
                  hlo_messages_count(m) ? hlo_messages_get(m, 0).text : "");
    s.listing = hlo_list(s.module);
    s.program = hlo_plan(s.module, &HLO_WITH(hlo_run_options, .traced = true, .threads = 1), m);
    ck_assert(s.program != NULL);
    return s;
}

static void free_side(struct side *s)
{
    hlo_program_free(s->program);
    hlo_listing_free(s->listing);
    hlo_module_free(s->module);
    hlo_file_free(s->file);
}

/* x grows by a factor, eight times; by a slightly larger one in the second form, so that the
 * difference increases. */
#define LOOP(factor)                                                                               \
    "HloModule m\n"                                                                                \
    "more { t = (s32[], f32[3]) parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] "   \
    "constant(8)\n"                                                                                \
    "  ROOT l = pred[] compare(i, n), direction=LT }\n"                                            \
    "body { t = (s32[], f32[3]) parameter(0) i = s32[] get-tuple-element(t), index=0 o = s32[] "   \
    "constant(1)\n"                                                                                \
    "  j = s32[] add(i, o) x = f32[3] get-tuple-element(t), index=1\n"                             \
    "  y = f32[3] multiply(x, x), metadata={op_name=\"square\"} k = f32[] constant(" factor        \
    ") b = f32[3] broadcast(k), dimensions={}\n"                                                   \
    "  z = f32[3] multiply(x, b) ROOT r = (s32[], f32[3]) tuple(j, z) }\n"                         \
    "ENTRY e { x = f32[3] parameter(0) c = s32[] constant(0) t = (s32[], f32[3]) tuple(c, x)\n"    \
    "  ROOT w = (s32[], f32[3]) while(t), condition=more, body=body }\n"

START_TEST(first_divergent_value)
{
    static const struct {
        double rel;
        const char *name; /* of the first that differs and that the result depends on; NULL: none */
        uint64_t occurrence;
    } cases[] = {
        {0, "k", 0},
        {0.0015, "z", 1},
        {0.0045, "z", 4},
        {0.1, NULL, 0},
    };
    hlo_messages *m = hlo_messages_new();
    struct side a = side_of(LOOP("1.5"), m), b = side_of(LOOP("1.5015"), m);
    hlo_literal *x = hlo_literal_parse("f32[3] {1, -2, 3}", 17, m);
    const hlo_literal *args[] = {x};
    hlo_pairing *p = hlo_pair(a.listing, b.listing);
    struct hlo_divergence d;
    const struct hlo_tolerance tolerance = {.size = sizeof tolerance, .rel = cases[_i].rel};
    struct hlo_comparison c = {.size = sizeof c,
                               .a = a.program,
                               .b = b.program,
                               .pairing = p,
                               .args = args,
                               .count = 1,
                               .tolerance = &tolerance};
    ck_assert(hlo_diverge(&c, &d, m));
    ck_assert(d.found == (cases[_i].name != NULL));
    if (d.found) {
        ck_assert_str_eq(hlo_list_inst(a.listing, d.a).name, cases[_i].name);
        ck_assert_msg(d.occurrence == cases[_i].occurrence, "%lu", (unsigned long)d.occurrence);
        struct hlo_difference again = hlo_literal_difference(d.value_b, d.value_a, &tolerance);
        ck_assert(again.outside == d.difference.outside && again.outside > 0);
    }
    ck_assert(d.results_agree == !(cases[_i].rel < 0.01));
    hlo_divergence_free(&d);
    hlo_pairing_free(p);
    hlo_literal_free(x);
    free_side(&a);
    free_side(&b);
    hlo_messages_free(m);
}
END_TEST

START_TEST(instruction_pairing)
{
    static const char first[] =
        "HloModule m\n"
        "f { p = f32[2] parameter(0) ROOT n = f32[2] negate(p) }\n"
        "f2 { p = f32[2] parameter(0) ROOT n = f32[2] floor(p) }\n"
        "ENTRY e { x = f32[2] parameter(0) y = f32[2] parameter(1)\n"
        "  a = f32[2] add(x, y) s = f32[2] sine(a), metadata={op_name=\"s\"}\n"
        "  m1 = f32[2] abs(s) m2 = f32[2] abs(m1) c = f32[2] call(m2), to_apply=f\n"
        "  g = f32[2] exponential(c) only = f32[2] tanh(c) i = s32[] constant(1)\n"
        "  b = f32[2] conditional(i, a, a, a, a), branch_computations={f, f2, f, f2}\n"
        "  ROOT t = (f32[2], f32[2]) tuple(g, only) }\n";
    static const char second[] =
        "HloModule m\n"
        "h { p = f32[2] parameter(0) ROOT q = f32[2] negate(p) }\n"
        "h2 { p = f32[2] parameter(0) ROOT q = f32[2] floor(p) }\n"
        "ENTRY main { u = f32[2] parameter(0) v = f32[2] parameter(1)\n"
        "  a = f32[2] add(v, u) z = f32[2] cosine(a) k = f32[2] sine(a), metadata={op_name=\"s\"}\n"
        "  b1 = f32[2] abs(k) b2 = f32[2] abs(b1) c = f32[2] call(b2), to_apply=h\n"
        "  g = f32[2] log(c) i = s32[] constant(1)\n"
        "  b = f32[2] conditional(i, a, a, a, a), branch_computations={h, h2, h, h2}\n"
        "  ROOT t = (f32[2], f32[2]) tuple(g, c) }\n";
    static const struct {
        const char *a, *b;
        enum hlo_paired how;
        bool changed;
    } pairs[] = {
        {"x", "u", HLO_PAIRED_PLACE, false},    {"y", "v", HLO_PAIRED_PLACE, false},
        {"a", "a", HLO_PAIRED_NAME, true},      {"s", "k", HLO_PAIRED_METADATA, false},
        {"m1", "b1", HLO_PAIRED_PLACE, false},  {"m2", "b2", HLO_PAIRED_PLACE, false},
        {"c", "c", HLO_PAIRED_NAME, false},     {"f/n", "h/q", HLO_PAIRED_PLACE, false},
        {"g", "g", HLO_PAIRED_OTHERWISE, true}, {"b", "b", HLO_PAIRED_NAME, false},
        {"only", NULL, HLO_UNPAIRED, false},    {"t", "t", HLO_PAIRED_NAME, true},
    };
    hlo_messages *m = hlo_messages_new();
    struct side a = side_of(first, m), b = side_of(second, m);
    hlo_pairing *p = hlo_pair(a.listing, b.listing);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        long x = hlo_list_find(a.listing, pairs[i].a),
             y = pairs[i].b ? hlo_list_find(b.listing, pairs[i].b) : -1;
        ck_assert_msg(x >= 0 && hlo_pair_of_a(p, (size_t)x).other == y &&
                          hlo_pair_of_a(p, (size_t)x).how == pairs[i].how,
                      "%s", pairs[i].a);
        ck_assert_msg(y < 0 || hlo_pair_of_b(p, (size_t)y).other == x, "%s", pairs[i].a);
        ck_assert_msg(hlo_pair_changed(p, (size_t)x) == pairs[i].changed, "%s", pairs[i].a);
    }
    ck_assert(hlo_pair_of_b(p, (size_t)hlo_list_find(b.listing, "z")).other == -1);
    hlo_pairing_free(p);
    free_side(&a);
    free_side(&b);
    hlo_messages_free(m);
}
END_TEST

/* Pairs of optimized modules: operands confirm pairs of the same op_name, through the parameters of
 * fusions; constants are paired by value; bitwise equal values count as compared. */
START_TEST(pairing_of_optimized_modules)
{
    static const char first[] =
        "HloModule m\n"
        "ENTRY e { x = f32[2] parameter(0) y = f32[2] parameter(1)\n"
        "  two = f32[] constant(2) three = f32[] constant(3)\n"
        "  b = f32[2] broadcast(two), dimensions={}, metadata={op_name=\"k\"}\n"
        "  c = f32[2] broadcast(three), dimensions={}, metadata={op_name=\"l\"}\n"
        "  p = f32[2] sine(x), metadata={op_name=\"s\"} q = f32[2] sine(y), "
        "metadata={op_name=\"s\"}\n"
        "  u = f32[2] divide(p, b) v = f32[2] divide(q, c) w = f32[2] negate(u)\n"
        "  ROOT t = (f32[2], f32[2]) tuple(w, v) }\n";
    static const char second[] =
        "HloModule m\n"
        "f { k0 = f32[2] parameter(0) k1 = f32[2] parameter(1) four = f32[] constant(2)\n"
        "  q2 = f32[2] sine(k0), metadata={op_name=\"s\"} p2 = f32[2] sine(k1), "
        "metadata={op_name=\"s\"}\n"
        "  d = f32[2] broadcast(four), dimensions={}, metadata={op_name=\"k\"}\n"
        "  uu = f32[2] divide(p2, d) w2 = f32[2] negate(uu)\n"
        "  third = f32[] constant(0.33332) g = f32[2] broadcast(third), dimensions={}, "
        "metadata={op_name=\"l\"}\n"
        "  v2 = f32[2] multiply(q2, g) ROOT t2 = (f32[2], f32[2]) tuple(w2, v2) }\n"
        "ENTRY e { x = f32[2] parameter(0) y = f32[2] parameter(1)\n"
        "  o = (f32[2], f32[2]) fusion(y, x), kind=kLoop, calls=f\n"
        "  a0 = f32[2] get-tuple-element(o), index=0 a1 = f32[2] get-tuple-element(o), index=1\n"
        "  ROOT t = (f32[2], f32[2]) tuple(a0, a1) }\n";
    static const struct {
        const char *a, *b;
    } pairs[] = {{"p", "f/p2"}, {"q", "f/q2"}, {"b", "f/d"}, {"c", NULL}, {"three", NULL}};
    hlo_messages *m = hlo_messages_new();
    struct side a = side_of(first, m), b = side_of(second, m);
    hlo_pairing *p = hlo_pair(a.listing, b.listing);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        long x = hlo_list_find(a.listing, pairs[i].a),
             y = pairs[i].b ? hlo_list_find(b.listing, pairs[i].b) : -1;
        ck_assert_msg(hlo_pair_of_a(p, (size_t)x).other == y, "%s", pairs[i].a);
    }
    hlo_literal *x = hlo_literal_parse("f32[2] {1, 2}", 13, m);
    const hlo_literal *args[] = {x, x};
    struct hlo_divergence d;
    struct hlo_comparison c = {
        .size = sizeof c, .a = a.program, .b = b.program, .pairing = p, .args = args, .count = 2};
    c.tolerance = &HLO_WITH(hlo_tolerance, .usual = true);
    ck_assert(hlo_diverge(&c, &d, m) && d.results_agree && !d.found);
    ck_assert_uint_eq(d.instructions, 9); /* parameters and tuples have values of others */
    ck_assert_uint_eq(d.compared, 7);     /* all but three and c */
    hlo_divergence_free(&d);
    hlo_literal_free(x);
    hlo_pairing_free(p);
    free_side(&a);
    free_side(&b);
    hlo_messages_free(m);
}
END_TEST

/* An instruction in a fusion whose op was changed has the operands and op_name of the original. */
START_TEST(pairing_of_changed_op)
{
    static const char first[] = "HloModule m\n"
                                "ENTRY e { x = f32[2] parameter(0) y = f32[2] parameter(1)\n"
                                "  p = f32[2] add(x, y), metadata={op_name=\"s\"} q = f32[2] "
                                "add(y, y), metadata={op_name=\"s\"}\n"
                                "  ROOT r = f32[2] multiply(p, q) }\n";
    static const char second[] =
        "HloModule m\n"
        "f { k0 = f32[2] parameter(0) k1 = f32[2] parameter(1)\n"
        "  v = f32[2] subtract(k0, k0), metadata={op_name=\"s\"}\n"
        "  w = f32[2] subtract(k1, k0), metadata={op_name=\"s\"} ROOT z = f32[2] multiply(w, v) }\n"
        "ENTRY e { x = f32[2] parameter(0) y = f32[2] parameter(1)\n"
        "  ROOT r = f32[2] fusion(y, x), kind=kLoop, calls=f }\n";
    hlo_messages *m = hlo_messages_new();
    struct side a = side_of(first, m), b = side_of(second, m);
    hlo_pairing *p = hlo_pair(a.listing, b.listing);
    const struct hlo_pair x = hlo_pair_of_a(p, (size_t)hlo_list_find(a.listing, "p")),
                          y = hlo_pair_of_a(p, (size_t)hlo_list_find(a.listing, "q"));
    ck_assert(x.how == HLO_PAIRED_OTHERWISE && x.other == hlo_list_find(b.listing, "f/w"));
    ck_assert(y.how == HLO_PAIRED_OTHERWISE && y.other == hlo_list_find(b.listing, "f/v"));
    hlo_pairing_free(p);
    free_side(&a);
    free_side(&b);
    hlo_messages_free(m);
}
END_TEST

/* If a limit ends one of the runs, there is a message and no leak. */
START_TEST(failing_run_is_reported)
{
    hlo_messages *m = hlo_messages_new();
    struct side a = side_of(LOOP("1.5"), m), b = side_of(LOOP("1.5"), m);
    hlo_program_free(b.program);
    b.program = hlo_plan(b.module, &HLO_WITH(hlo_run_options, .traced = true, .max_trip = 3), m);
    hlo_literal *x = hlo_literal_parse("f32[3] {1, -2, 3}", 17, m);
    const hlo_literal *args[] = {x};
    hlo_pairing *p = hlo_pair(a.listing, b.listing);
    struct hlo_divergence d;
    struct hlo_comparison c = {
        .size = sizeof c, .a = a.program, .b = b.program, .pairing = p, .args = args, .count = 1};
    ck_assert(!hlo_diverge(&c, &d, m) && hlo_messages_limit(m) && !d.value_a && !d.value_b);
    hlo_pairing_free(p);
    hlo_literal_free(x);
    free_side(&a);
    free_side(&b);
    hlo_messages_free(m);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("diverge");
    TCase *t = tcase_create("diverge");
    tcase_add_loop_test(t, first_divergent_value, 0, 4);
    tcase_add_test(t, instruction_pairing);
    tcase_add_test(t, pairing_of_optimized_modules);
    tcase_add_test(t, pairing_of_changed_op);
    tcase_add_test(t, failing_run_is_reported);
    suite_add_tcase(s, t);
    return check_run(s);
}
