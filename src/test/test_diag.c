/*
 * Tests of diagnostics: collection, limits and rendering.
 *
 * The texts in the catalog belong to the components that use them, so messages are created by
 * diag_report with texts of the test's own.
 */
#include "diag/diag.h"

#include "check_quiet.h"

enum { ANY = 0 };

static struct diag *add_message(struct diags *ds, uint32_t begin, uint32_t end, const char *text)
{
    struct diag *d = diag_report(ds, (struct span){begin, end}, (enum msg)ANY, "%s", text);
    d->severity = SEV_ERROR;
    return d;
}

static void check_drawing(struct diags *ds, const char *expected)
{
    struct buf out = {0};
    diags_draw(&out, ds, NULL);
    ck_assert_str_eq(out.size ? out.data : "", expected);
    buf_free(&out);
    diags_free(ds);
    if (ds->source)
        source_free(ds->source);
}

START_TEST(locations)
{
    struct source s;
    source_init(&s, STR("a"), STR("one\ntwo\r\n\nfour"));
    s.first_line = 10;
    struct place p = source_place(&s, 0);
    ck_assert(p.line == 10 && p.column == 1);
    p = source_place(&s, 3);
    ck_assert(p.line == 10 && p.column == 4);
    p = source_place(&s, 4);
    ck_assert(p.line == 11 && p.column == 1);
    p = source_place(&s, 9);
    ck_assert(p.line == 12 && p.column == 1);
    p = source_place(&s, 1000);
    ck_assert(p.line == 13 && p.column == 5);
    ck_assert(str_is(source_line(&s, 11), "two"));
    ck_assert(str_is(source_line(&s, 12), ""));
    ck_assert(str_is(source_line(&s, 13), "four"));
    ck_assert(str_is(source_line(&s, 14), "") && str_is(source_line(&s, 9), ""));
    source_free(&s);
}
END_TEST

START_TEST(rendering)
{
    struct source s;
    source_init(&s, STR("m.hlo"),
                STR("ENTRY e {\n\tp = f32[] parameter(0)\n  ROOT r = f32[] ad(p)\n}\n"));
    struct diags ds;
    diags_init(&ds, &s);
    struct diag *d = add_message(&ds, 51, 53, "unknown opcode 'ad'");
    diag_note(&ds, d, (struct span){11, 12}, "%s is here", "p");
    diag_note(&ds, d, NO_SPAN, "no place");
    diag_suggest(&ds, d, STR("add"));
    d->where = STR("model.py:12");
    check_drawing(&ds, "m.hlo:3:18: error: unknown opcode 'ad'\n"
                       "  ROOT r = f32[] ad(p)\n"
                       "                 ^~\n"
                       "m.hlo:2:2: note: p is here\n"
                       "\tp = f32[] parameter(0)\n"
                       "\t^\n"
                       "m.hlo: note: no place\n"
                       "note: traced from model.py:12\n"
                       "help: did you mean 'add'?\n");
}
END_TEST

START_TEST(missing_locations)
{
    struct source s;
    source_init(&s, STR("m.hlo"), STR("abc"));
    struct diags ds;
    diags_init(&ds, NULL);
    add_message(&ds, 0, 0, "no source");
    check_drawing(&ds, "hlo: error: no source\n");
    diags_init(&ds, &s);
    add_message(&ds, 0, 0, "whole file");
    add_message(&ds, 3, 3, "ends here");
    add_message(&ds, 1, 30, "runs out");
    check_drawing(&ds, "m.hlo: error: whole file\nm.hlo:1:4: error: ends here\nabc\n   ^\n"
                       "m.hlo:1:2: error: runs out\nabc\n ^~\n");
}
END_TEST

START_TEST(carets_are_placed_by_character)
{
    struct source s;
    source_init(&s, STR("u"), STR("x \xc3\xa9\xe2\x82\xac bad\x1b[31m"));
    struct diags ds;
    diags_init(&ds, &s);
    add_message(&ds, 8, 11, "a\x1b[0mb");
    add_message(&ds, 2, 7, "wide");
    check_drawing(&ds, "u:1:9: error: a?[0mb\nx \xc3\xa9\xe2\x82\xac bad?[31m\n     ^~~\n"
                       "u:1:3: error: wide\nx \xc3\xa9\xe2\x82\xac bad?[31m\n  ^~\n");
}
END_TEST

START_TEST(unprintable_bytes_are_replaced)
{
    struct source s;
    source_init(&s, STR("l"),
                STR("\xd0"
                    "a \x80 \xc2\x9b"
                    "1m \xff bad"));
    struct diags ds;
    diags_init(&ds, &s);
    add_message(&ds, 12, 15, "x");
    check_drawing(&ds, "l:1:13: error: x\n?a  ?1m ? bad\n          ^~~\n");
}
END_TEST

START_TEST(long_lines_are_abbreviated)
{
    char text[1001];
    for (int i = 0; i < 1000; i++)
        text[i] = (char)('0' + i % 10);
    memcpy(text + 500, "ERROR", 5);
    text[1000] = '\0';
    struct source s;
    source_init(&s, STR("l"), str_of(text));
    struct diags ds;
    diags_init(&ds, &s);
    add_message(&ds, 500, 505, "x");
    struct buf expected = {0};
    buf_printf(&expected, "l:1:501: error: x\n...%.*s...\n", 100, text + 440);
    buf_printf(&expected, "%63s^~~~~\n", "");
    check_drawing(&ds, expected.data);
    diags_init(&ds, &s);
    add_message(&ds, 990, 2000, "y");
    add_message(&ds, 1, 2, "z");
    expected.size = 0;
    buf_printf(&expected, "l:1:991: error: y\n...%s\n%93s^~~~~~~~~~\n", text + 900, "");
    buf_printf(&expected, "l:1:2: error: z\n%.100s...\n ^\n", text);
    check_drawing(&ds, expected.data);
    buf_free(&expected);
}
END_TEST

START_TEST(colors)
{
    struct source s;
    source_init(&s, STR("c"), STR("ab"));
    struct diags ds;
    diags_init(&ds, &s);
    add_message(&ds, 1, 2, "x");
    struct buf out = {0};
    struct palette p;
    ck_assert(palette_read(&p, STR("")));
    diags_draw(&out, &ds, &p);
    ck_assert_str_eq(out.data,
                     "\033[1mc:1:2:\033[0m \033[1;31merror:\033[0m x\nab\n \033[1;32m^\033[0m\n");
    buf_free(&out);
    ck_assert(palette_read(&p, STR("place=4::error=7:caret=:")));
    diags_draw(&out, &ds, &p);
    ck_assert_str_eq(out.data,
                     "\033[4mc:1:2:\033[0m \033[7merror:\033[0m x\nab\n \033[m^\033[0m\n");
    buf_free(&out);
    ck_assert(!palette_read(&p, STR("place=4:error=7\033[2J")));
    ck_assert(str_is(p.sgr[INK_PLACE], "4") && str_is(p.sgr[INK_ERROR], "1;31"));
    ck_assert(!palette_read(&p, STR("eror=7")) && !palette_read(&p, STR("31")));
    diags_free(&ds);
    source_free(&s);
}
END_TEST

START_TEST(error_limit)
{
    struct diags ds;
    diags_init(&ds, NULL);
    for (int i = 0; i < 23; i++) {
        struct diag *d = add_message(&ds, 0, 0, "x");
        ck_assert_ptr_nonnull(d);
        diag_note(&ds, d, NO_SPAN, "n");
    }
    ck_assert_uint_eq(ds.errors, 23);
    ck_assert_uint_eq(ds.dropped, 3);
    struct buf out = {0};
    diags_draw(&out, &ds, NULL);
    size_t lines = 0;
    for (size_t i = 0; i < out.size; i++)
        lines += out.data[i] == '\n';
    ck_assert_uint_eq(lines, 41);
    const char *last = "hlo: 3 more errors are not shown\n";
    ck_assert_str_eq(out.data + out.size - strlen(last), last);
    buf_free(&out);
    diags_free(&ds);
}
END_TEST

START_TEST(quiet_mode_only_counts)
{
    struct diags ds;
    diags_init(&ds, NULL);
    ds.quiet = true;
    diag_suggest(&ds, add_message(&ds, 0, 0, "x"), STR("y"));
    ck_assert_uint_eq(ds.errors, 1);
    ck_assert_ptr_null(ds.first);
    check_drawing(&ds, "");
}
END_TEST

START_TEST(suggestions)
{
    static const char *const words[] = {"abs", "add", "all-reduce", "multiply", "subtract"};
    ck_assert(str_is(diag_nearest(STR("ad"), words, 5), "add"));
    ck_assert(str_is(diag_nearest(STR("mutliply"), words, 5), "multiply"));
    ck_assert(str_is(diag_nearest(STR("allreduce"), words, 5), "all-reduce"));
    ck_assert_uint_eq(diag_nearest(STR("convolution"), words, 5).len, 0);
    ck_assert_uint_eq(diag_nearest(STR("q"), words, 5).len, 0);
}
END_TEST

START_TEST(json)
{
    struct source s;
    source_init(&s, STR("j"), STR("a\nbc d"));
    struct diags ds;
    diags_init(&ds, &s);
    struct diag *d = add_message(&ds, 2, 4, "say \"no\"");
    struct buf out = {0};
    diags_json(&out, &ds);
    struct buf expected = {0};
    buf_printf(&expected,
               "{\"id\":\"%s\",\"severity\":\"error\",\"file\":\"j\",\"line\":2,\"column\":1,\"end_"
               "line\":2,"
               "\"end_column\":3,\"message\":\"say \\\"no\\\"\",\"suggestion\":null,\"notes\":[]}",
               msg_name((enum msg)ANY));
    ck_assert_str_eq(out.data, expected.data);
    diag_suggest(&ds, d, STR("x"));
    diag_note(&ds, d, NO_SPAN, "n");
    out.size = 0;
    diags_json(&out, &ds);
    ck_assert_ptr_nonnull(
        strstr(out.data, "\"suggestion\":\"x\",\"notes\":[{\"file\":\"j\",\"line\":0,"));
    buf_free(&out);
    buf_free(&expected);
    diags_free(&ds);
    source_free(&s);
}
END_TEST

START_TEST(message_ids_are_lower_case_with_dashes)
{
    for (int m = 0; m < MSG_COUNT; m++) {
        const char *name = msg_name((enum msg)m);
        ck_assert_uint_gt(strlen(name), 0);
        ck_assert_uint_eq(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(name));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("diag");
    TCase *tcase = tcase_create("diag");
    tcase_add_test(tcase, locations);
    tcase_add_test(tcase, rendering);
    tcase_add_test(tcase, missing_locations);
    tcase_add_test(tcase, carets_are_placed_by_character);
    tcase_add_test(tcase, unprintable_bytes_are_replaced);
    tcase_add_test(tcase, long_lines_are_abbreviated);
    tcase_add_test(tcase, colors);
    tcase_add_test(tcase, error_limit);
    tcase_add_test(tcase, quiet_mode_only_counts);
    tcase_add_test(tcase, suggestions);
    tcase_add_test(tcase, json);
    tcase_add_test(tcase, message_ids_are_lower_case_with_dashes);
    suite_add_tcase(suite, tcase);
    return check_run(suite);
}
