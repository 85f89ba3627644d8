/*
 * Tests of the syntax of entries at the prompt: kinds, ends, and parts of a module's text.
 */
#include "repl/syntax.h"

#include "check_quiet.h"
#include <stdlib.h>

static const struct row {
    const char *text;
    enum reading_kind kind;
    const char *name, *op;
} rows[] = {
    {"", READ_BLANK, "", ""},
    {" // a remark", READ_BLANK, "", ""},
    {".load x", READ_COMMAND, "", ""},
    {"!ls (", READ_COMMAND, "", ""},
    {"x = add(a, b)", READ_INSTRUCTION, "x", "add"},
    {"ROOT %x.1 = f32[2]{0} add(a, b), metadata={op_name=\"a}b\"}", READ_INSTRUCTION, "x.1", "add"},
    {"f32[4]{0} %y = f32[4]{0} abs(x)", READ_INSTRUCTION, "y", "abs"},
    {"t = (f32[2], s32[]) tuple(a, b)", READ_INSTRUCTION, "t", "tuple"},
    {"x = f32[3] {1, 2, 3}", READ_INSTRUCTION, "x", ""},
    {"x = (f32[] 1, s32[] 2)", READ_INSTRUCTION, "x", ""},
    {"x = @x.npy", READ_INSTRUCTION, "x", ""},
    {"ROOT = add(a, b)", READ_INSTRUCTION, "ROOT", "add"},
    {"add(a, b), dimensions={0}", READ_EXPRESSION, "", "add"},
    {"f32[2] add(a, b)", READ_EXPRESSION, "", "add"},
    {"(f32[], f32[]) while(x), condition=c, body=b", READ_EXPRESSION, "", "while"},
    {"f32[2]{1, 2}", READ_LITERAL, "", ""},
    {"-5", READ_LITERAL, "", ""},
    {"(f32[] 1, s32[] 2)", READ_LITERAL, "", ""},
    {"%dot.3[0,:4]", READ_NAME, "dot.3", ""},
    {"body/x", READ_NAME, "body/x", ""},
    {"t[1][0]", READ_NAME, "t", ""},
    {"f { ROOT r = f32[] constant(1) }", READ_COMPUTATION, "f", ""},
    {"%f (p: f32[2]{0}) -> f32[2]{0} { p = f32[2] parameter(0) }", READ_COMPUTATION, "f", ""},
    {"f { a = f32[] constant(1) } ENTRY e { b = f32[] constant(1) }", READ_MODULE, "", NULL},
    {"HloModule m\nENTRY e { b = f32[] constant(1) }", READ_MODULE, "", NULL},
    {"x=add(a, b)", READ_INSTRUCTION, "x", "add"},
    {"größe = add(a, b)", READ_INSTRUCTION, "größe", "add"},
    {"y[1] = add(a, b)", READ_OTHER, "", ""},
    {"x == y", READ_OTHER, "", ""},
    {"x==y", READ_OTHER, "", ""},
    {"x!=y", READ_OTHER, "", ""},
    {"x<=y", READ_OTHER, "", ""},
    {"x + y", READ_OTHER, "", ""},
    {"z = x==y", READ_INSTRUCTION, "z", ""},
    {"it's none", READ_OTHER, "", ""},
    {"x = custom-call(a), custom_call_target='f(', metadata={op_name='}'}", READ_INSTRUCTION, "x",
     "custom-call"},
    {"x = add(a", READ_UNCLOSED, "", ""},
    {"x = add(a))", READ_UNOPENED, "", ""},
    {"load a b", READ_OTHER, "", ""},
};

START_TEST(entry_kinds)
{
    const struct row *row = &rows[_i];
    struct reading r = syntax_read(str_of(row->text));
    ck_assert_msg(r.kind == row->kind, "'%s' is of kind %d", row->text, (int)r.kind);
    if (!row->op)
        return;
    ck_assert_msg(str_is(r.name, row->name) || r.kind == READ_COMPUTATION,
                  "'%s': name '" STR_FMT "'", row->text, STR_ARG(r.name));
    ck_assert_msg(str_is(r.op, row->op), "'%s': op '" STR_FMT "'", row->text, STR_ARG(r.op));
}
END_TEST

START_TEST(entry_modifiers)
{
    struct reading r = syntax_read(STR("ROOT r = add(a, b) ;\n"));
    ck_assert(r.root && r.quiet && str_is(r.text, "r = add(a, b)") && str_is(r.right, "add(a, b)"));
    r = syntax_read(STR("x[0, :4]"));
    ck_assert(!r.quiet && str_is(r.index, "[0, :4]"));
}
END_TEST

START_TEST(complete_entries)
{
    static const char *const whole[] = {"x = add(a, b)",     "x = add(a))", ".help (", "a \"(\" b",
                                        "/* ( */",           "x // (",      "",        "!ls /*",
                                        "/* a\n */ .load (", "it's (a)"};
    static const char *const open[] = {"x = add(a,", "f {", "a \"b", "/* (", "x = f32[2] {1,\n2"};
    for (size_t i = 0; i < COUNT_OF(whole); i++)
        ck_assert_msg(syntax_complete(str_of(whole[i])), "'%s'", whole[i]);
    for (size_t i = 0; i < COUNT_OF(open); i++)
        ck_assert_msg(!syntax_complete(str_of(open[i])), "'%s'", open[i]);
}
END_TEST

START_TEST(incremental_completeness)
{
    static const char *const texts[] = {"f {\n  a = \"}\\\"\n}\"\n  // }\n  /* } *\n / */\n}\n",
                                        " /* {\n*/\n// {\n.list (\n", "x = (\n]\n"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct syntax_progress p = {0};
        const char *at = texts[i];
        while (*at) {
            at = strchr(at, '\n') + 1;
            const size_t looked_at = p.nesting.at;
            const bool whole =
                syntax_complete_so_far(&p, (struct str){texts[i], (size_t)(at - texts[i])});
            ck_assert_msg(whole == syntax_complete((struct str){texts[i], (size_t)(at - texts[i])}),
                          "'%.*s'", (int)(at - texts[i]), texts[i]);
            ck_assert_msg(p.nesting.at > looked_at || p.nesting.depth < 0 || p.command,
                          "text %zu, at %zu", i, p.nesting.at);
            ck_assert(whole == !*at || i == 1);
        }
    }
}
END_TEST

START_TEST(values_of_a_literal)
{
    ck_assert_uint_eq(syntax_literal_values(STR("f32[2] {1, 2}")), 7);
    ck_assert_uint_eq(syntax_literal_values(STR("f32[2]{0} {1, 2}")), 10);
    ck_assert_uint_eq(syntax_literal_values(STR("f32[2]{1, 2}")), 6);
    ck_assert_uint_eq(syntax_literal_values(STR("f32[] 5")), 6);
    ck_assert_uint_eq(syntax_literal_values(STR("{1, 2}")), 0);
}
END_TEST

START_TEST(module_parts)
{
    struct arena a;
    struct syntax_module m;
    arena_init(&a);
    ck_assert(syntax_module(
        &a,
        STR("// head\nHloModule m, entry_computation_layout={(f32[2]{0})->f32[]}\n\nFileNames\n1 "
            "\"a.py\"\n\nFileLocations\n"
            "1 {file_name_id=1 line=2}\n\n%add (x: f32[2]{0}, y: f32[]) -> f32[2]{0} { ROOT r = "
            "f32[] add(x, y) }, "
            "execution_thread=\"t\"\n/* { = */ ENTRY %e { a = f32[] constant(1) // }\n }"),
        &m));
    ck_assert_uint_eq(m.count, 2);
    ck_assert(str_is(m.computations[0].name, "add") && !m.computations[0].entry);
    ck_assert(str_is(m.computations[0].tail, ", execution_thread=\"t\""));
    ck_assert(str_is(m.computations[0].body, " ROOT r = f32[] add(x, y) "));
    ck_assert(str_is(m.computations[1].name, "e") && m.computations[1].entry);
    ck_assert(str_is(str_trim(m.computations[1].body), "a = f32[] constant(1) // }"));
    ck_assert(str_starts(m.header, STR("// head\nHloModule m")));
    ck_assert(!syntax_module(&a, STR("HloModule m\n\nENTRY e { a = f32[] constant(1)"), &m));
    ck_assert(!syntax_module(&a, STR("1 2 3"), &m));
    arena_free(&a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("syntax");
    TCase *t = tcase_create("syntax");
    tcase_add_loop_test(t, entry_kinds, 0, (int)COUNT_OF(rows));
    tcase_add_test(t, entry_modifiers);
    tcase_add_test(t, complete_entries);
    tcase_add_test(t, incremental_completeness);
    tcase_add_test(t, values_of_a_literal);
    tcase_add_test(t, module_parts);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
