/*
 * Tests in a locale with a decimal comma in which `i` is not the lower case of `I`: nothing that
 * the library reads or writes may depend on it. The locale is generated here, by localedef, so
 * that every machine has it.
 */
#include "hlo_advanced.h"

#include "check_quiet.h"
#include <ctype.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Numbers as in German, letters as in Turkish. */
static const char source[] = "comment_char %\n"
                             "escape_char /\n"
                             "LC_CTYPE\n"
                             "upper <U0041>;<U0049>;<U00DD>\n"
                             "lower <U0061>;<U0069>;<U00FD>\n"
                             "toupper (<U0061>,<U0041>);(<U0069>,<U00DD>);(<U00FD>,<U0049>)\n"
                             "tolower (<U0041>,<U0061>);(<U00DD>,<U0069>);(<U0049>,<U00FD>)\n"
                             "END LC_CTYPE\n"
                             "LC_NUMERIC\n"
                             "decimal_point \"<U002C>\"\n"
                             "thousands_sep \"<U002E>\"\n"
                             "grouping 3;3\n"
                             "END LC_NUMERIC\n";

static const char characters[] = "<code_set_name> ISO-8859-9\n"
                                 "<mb_cur_min> 1\n"
                                 "<mb_cur_max> 1\n"
                                 "<escape_char> /\n"
                                 "<comment_char> %\n"
                                 "CHARMAP\n"
                                 "<U0000>..<U00FF> /x00 any\n"
                                 "END CHARMAP\n";

/* Keywords of any case, numbers in attributes and constants, a reduction that needs memory, an
 * error with a number. */
static const char text[] = "// peers: param=0 range=-2.5,7.25\n"
                           "HloModule numbers\n"
                           "add {\n"
                           "  a = f32[] parameter(0)\n"
                           "  b = f32[] parameter(1)\n"
                           "  ROOT s = f32[] add(a, b)\n"
                           "}\n"
                           "ENTRY main {\n"
                           "  x = f32[8,1024] parameter(0)\n"
                           "  h = f32[] constant(0.5)\n"
                           "  hs = f32[8,1024] broadcast(h), dimensions={}\n"
                           "  y = f32[8,1024] multiply(x, hs)\n"
                           "  k = f32[4] constant({1e-3, -inf, nan, 12345.678})\n"
                           "  w = f32[1024,2] iota(), iota_dimension=0\n"
                           "  d = f32[8,2] dot(y, w), lhs_contracting_dims={1}, "
                           "rhs_contracting_dims={0}, operand_precision={HIGHEST,dEfault}\n"
                           "  e = f32[4] exponential(k)\n"
                           "  z = f32[] constant(0)\n"
                           "  r = f32[8] reduce(d, z), dimensions={1}, to_apply=add\n"
                           "  ROOT t = (f32[8], f32[4]) tuple(r, e)\n"
                           "}\n";

struct messages {
    char *text;
    size_t size;
};

static void keep(struct messages *s, hlo_text t)
{
    s->text = realloc(s->text, s->size + t.size + 2);
    ck_assert_ptr_nonnull(s->text);
    memcpy(s->text + s->size, t.data, t.size);
    s->size += t.size;
    s->text[s->size++] = '\n';
    s->text[s->size] = '\0';
    hlo_text_free(&t);
}

static void keep_value(struct messages *s, const hlo_literal *l, const hlo_literal *other)
{
    const struct hlo_tolerance exact = HLO_TOLERANCE_INIT;
    const struct hlo_stats stats = hlo_literal_stats(l);
    const struct hlo_difference d = hlo_literal_difference(other, l, &exact);
    keep(s, hlo_literal_print(l, true));
    keep(s, hlo_literal_show(l, NULL));
    keep(s, hlo_literal_json(l, NULL));
    keep(s, hlo_literal_summary(l));
    keep(s, hlo_stats_json(&stats));
    keep(s, hlo_literal_plot(l, HLO_PLOT_HISTOGRAM, NULL));
    keep(s, hlo_literal_plot(l, HLO_PLOT_CURVE, NULL));
    keep(s, hlo_difference_print(&d, other, l, NULL));
    keep(s, hlo_difference_json(&d));
}

static hlo_literal *value_of(const char *z, hlo_messages *m)
{
    hlo_literal *l = hlo_literal_parse(z, strlen(z), m);
    ck_assert_ptr_nonnull(l);
    return l;
}

static void keep_values(struct messages *s, hlo_messages *m)
{
    hlo_literal *a = value_of("f32[4] {1.5, -2.25e-3, inf, 0.1}", m),
                *b = value_of("f32[4] {1.25, 3, -inf, 0.1}", m);
    keep_value(s, a, b);
    hlo_literal_free(a);
    hlo_literal_free(b);
    a = value_of("c64[2] {(1.5, 0.25), (-1e9, 1e-9)}", m);
    b = value_of("c64[2] {(1.5, 0.5), (-1e9, nan)}", m);
    keep_value(s, a, b);
    hlo_literal_free(a);
    hlo_literal_free(b);
    ck_assert_ptr_null(hlo_literal_parse("f32[1] {1,5}", 12, m)); /* two elements in any locale */
}

static void keep_module(struct messages *s, hlo_messages *m)
{
    const struct hlo_run_options options = {.size = sizeof options, .threads = 1},
                                 hasty = {.size = sizeof hasty, .threads = 1, .timeout = 1.5e-9};
    hlo_file *f = hlo_file_of_text("numbers.hlo", text, strlen(text), false);
    hlo_module *module = hlo_parse(f, 0, m);
    ck_assert(module && hlo_verify(module, m));
    hlo_program *p = hlo_plan(module, &options, m), *late = hlo_plan(module, &hasty, m);
    ck_assert(p && late);
    hlo_literal *x = hlo_random_param(module, 0, 3, m);
    const hlo_literal *const args[] = {x};
    hlo_literal *y = hlo_run(p, args, 1, m);
    ck_assert_ptr_nonnull(y);
    ck_assert_ptr_null(hlo_run(late, args, 1, m)); /* a message with a number */
    keep(s, hlo_print(module, HLO_PRINT_FULL));
    keep(s, hlo_literal_print(y, true));
    keep(s, hlo_plan_print(p, HLO_PLAN_VERBOSE));
    keep(s, hlo_plan_print(p, HLO_PLAN_JSON));
    hlo_literal_free(x);
    hlo_literal_free(y);
    hlo_program_free(p);
    hlo_program_free(late);
    hlo_module_free(module);
    hlo_file_free(f);
}

static struct messages everything(void)
{
    struct messages s = {0};
    hlo_messages *m = hlo_messages_new();
    keep_values(&s, m);
    keep_module(&s, m);
    keep(&s, hlo_messages_draw(m, false));
    keep(&s, hlo_messages_json(m));
    hlo_messages_free(m);
    return s;
}

static void put_file(const char *name, const char *z)
{
    FILE *f = fopen(name, "w");
    ck_assert(f && fputs(z, f) >= 0 && fclose(f) == 0);
}

static void choose_locale(void)
{
    char dir[] = "/tmp/hlo_locale_XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(chdir(dir), 0);
    put_file("source", source);
    put_file("characters", characters);
    /* localedef warns about missing categories, and returns a failure. */
    ck_assert_int_ne(system("localedef --no-archive -c -i source -f characters ./comma >log 2>&1"),
                     -1);
    setenv("LOCPATH", dir, 1);
    ck_assert_ptr_nonnull(setlocale(LC_NUMERIC, "comma"));
    ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "comma"));
    ck_assert_int_ne(system("rm -rf source characters log comma"), -1);
    ck_assert_int_eq(rmdir(dir), 0);
}

/* Reports the first difference. */
static void check_same(const struct messages *a, const struct messages *b)
{
    size_t at = 0;
    while (at < a->size && at < b->size && a->text[at] == b->text[at])
        at++;
    const size_t from = at > 40 ? at - 40 : 0;
    ck_assert_msg(at == a->size && at == b->size, "expected '%.80s', got '%.80s'", a->text + from,
                  b->text + from);
}

START_TEST(results_do_not_depend_on_locale)
{
    struct messages before = everything();
    choose_locale();
    char comma[16];
    snprintf(comma, sizeof comma, "%.1f", 0.5);
    /* Otherwise nothing would be tested. musl accepts any locale, but has the conventions of C. */
    if (strcmp(localeconv()->decimal_point, ".") != 0) {
        ck_assert_str_eq(comma, "0,5");
        ck_assert_int_ne(tolower('I'), 'i');
    }
    struct messages after = everything();
    check_same(&before, &after);
    ck_assert_ptr_nonnull(strstr(after.text, "0.5"));
    free(before.text);
    free(after.text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("locale");
    TCase *tcase = tcase_create("locale");
    tcase_add_test(tcase, results_do_not_depend_on_locale);
    suite_add_tcase(suite, tcase);
    return check_run(suite);
}
