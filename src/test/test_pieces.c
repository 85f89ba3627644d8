/*
 * Tests of texts made of pieces, to which messages refer, and of arguments in text form.
 */
#include "hlo_advanced.h"

#include "check_quiet.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char typed[] = "x = f32[2] constant({1, 2})\nadd(x, z)\n";

static struct hlo_piece made(const char *text)
{
    return (struct hlo_piece){.text = text, .size = strlen(text)};
}

static struct hlo_piece from(size_t begin, size_t end)
{
    return (struct hlo_piece){typed + begin, end - begin, "typed", typed, sizeof typed - 1, 7};
}

static hlo_module *module_of(const char *name, hlo_messages *m)
{
    const struct hlo_piece pieces[] = {made("HloModule s\nENTRY main {\n  "),
                                       from(0, 27),
                                       made("\n  "),
                                       made(name),
                                       from(28, 37),
                                       made("\n}\n")};
    hlo_file *f = hlo_file_of_pieces("session", pieces, sizeof pieces / sizeof *pieces);
    hlo_module *module = hlo_parse(f, 0, m);
    hlo_file_free(f);
    return module;
}

START_TEST(messages_refer_to_source_text)
{
    hlo_messages *m = hlo_messages_new();
    ck_assert_ptr_null(module_of("_1 = ", m));
    hlo_text drawn = hlo_messages_draw(m, false), json = hlo_messages_json(m);
    ck_assert_ptr_nonnull(strstr(drawn.data, "typed:8:8: error: "));
    ck_assert_ptr_nonnull(strstr(drawn.data, "  add(x, z)\n         ^\n")
                              ? drawn.data
                              : strstr(drawn.data, "add(x, z)\n       ^\n"));
    ck_assert_ptr_nonnull(strstr(json.data, "\"file\":\"typed\",\"line\":8,\"column\":8"));
    ck_assert_str_eq(hlo_messages_get(m, 0).file, "typed");
    ck_assert_uint_eq(hlo_messages_get(m, 0).line, 8);
    hlo_text_free(&drawn);
    hlo_text_free(&json);
    hlo_messages_free(m);
}
END_TEST

/* An error in a generated piece has no location, unless text of the user follows on the same
 * line. */
START_TEST(inserted_text_has_no_location)
{
    hlo_messages *m = hlo_messages_new();
    ck_assert_ptr_null(module_of("y = f32[] constant(no)\n  _1 = ", m));
    ck_assert_uint_eq(hlo_messages_get(m, 0).line, 0);
    ck_assert_str_eq(hlo_messages_get(m, 0).file, "session");
    hlo_messages_free(m);
    m = hlo_messages_new();
    ck_assert_ptr_null(module_of("= ", m));
    ck_assert_uint_eq(hlo_messages_get(m, 0).line, 8);
    ck_assert_uint_eq(hlo_messages_get(m, 0).column, 1);
    hlo_messages_free(m);
}
END_TEST

/* A message about text that replaces other text is about that. */
START_TEST(replacements_have_the_location_of_the_original)
{
    struct hlo_piece op = made("negative");
    op.name = "typed";
    op.whole = typed;
    op.whole_size = sizeof typed - 1;
    op.first_line = 7;
    op.at = typed + 28;
    op.replaced = 3;
    const struct hlo_piece pieces[] = {made("HloModule s\nENTRY main {\n  "), from(0, 27),
                                       made("\n  y = "), op, made("(x)\n}\n")};
    hlo_messages *m = hlo_messages_new();
    hlo_file *f = hlo_file_of_pieces("session", pieces, sizeof pieces / sizeof *pieces);
    ck_assert_ptr_null(hlo_parse(f, 0, m));
    hlo_messages_add_at(m, &op, "first");
    hlo_text drawn = hlo_messages_draw(m, false), one = hlo_messages_draw_one(m, 1, NULL),
             none = hlo_messages_draw_one(m, 2, NULL);
    ck_assert_ptr_nonnull(strstr(drawn.data, "typed:8:1: error: unknown opcode 'negative'"));
    ck_assert_ptr_nonnull(strstr(drawn.data, "add(x, z)\n^~~\n"));
    ck_assert_str_eq(one.data, "typed:8:1: error: first\nadd(x, z)\n^~~\n");
    ck_assert_uint_eq(none.size, 0);
    hlo_text_free(&drawn);
    hlo_text_free(&one);
    hlo_text_free(&none);
    hlo_file_free(f);
    hlo_messages_free(m);
}
END_TEST

START_TEST(argument_texts)
{
    static const char text[] =
        "ENTRY e {\n  p = f32[2] parameter(0)\n  ROOT r = f32[2] negate(p)\n}\n";
    hlo_messages *m = hlo_messages_new();
    hlo_file *f = hlo_file_of_text("e.hlo", text, sizeof text - 1, false);
    hlo_module *module = hlo_parse(f, 0, m);
    char path[] = "/tmp/test_pieces.XXXXXX";
    int fd = mkstemp(path);
    FILE *out = fdopen(fd, "w");
    fputs("{3, 4}\n", out);
    fclose(out);
    char file[sizeof path + 1];
    snprintf(file, sizeof file, "@%s", path);
    const char *const good[] = {"{3, 4}", " f32[2] {3, 4}", "[3, 4]", "f32[2] [3,4]", file};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        hlo_literal *l = hlo_read_argument(module, 0, 0, good[i], m);
        ck_assert_ptr_nonnull(l);
        hlo_text t = hlo_literal_print(l, false);
        ck_assert_str_eq(t.data, "{3, 4}");
        hlo_text_free(&t);
        hlo_literal_free(l);
    }
    ck_assert_uint_eq(hlo_messages_errors(m), 0);
    ck_assert_ptr_null(hlo_read_argument(module, 0, 0, "f32[3] {1, 2, 3}", m));
    ck_assert_uint_eq(hlo_messages_get(m, 0).line, 2); /* of the parameter */
    ck_assert_ptr_null(hlo_read_argument(module, 0, 0, "@/nowhere/x", m));
    ck_assert_uint_eq(hlo_messages_errors(m), 2);
    ck_assert(hlo_arrays_many("a.npz") && hlo_arrays_many("a.safetensors") && hlo_arrays_many("/"));
    ck_assert(!hlo_arrays_many("a.npy") && !hlo_arrays_many("a.bin") && !hlo_arrays_many("a.raw") &&
              !hlo_arrays_many("a.txt"));
    unlink(path);
    hlo_module_free(module);
    hlo_file_free(f);
    hlo_messages_free(m);
}
END_TEST

START_TEST(argument_names)
{
    ck_assert_uint_eq(hlo_argument_value("x=5"), 2);
    ck_assert_uint_eq(hlo_argument_value("%x.1@2=@a=b"), 7);
    ck_assert_uint_eq(hlo_argument_value("{1, 2}"), 0);
    ck_assert_uint_eq(hlo_argument_value("f32[2] {1, 2}"), 0);
    ck_assert_uint_eq(hlo_argument_value("@x=y.npy"), 0);
    ck_assert_uint_eq(hlo_argument_value("params['a b=1'][0]=[1]"), 19);
    ck_assert_uint_eq(hlo_argument_value("f32[2]{1}"), 0);
    ck_assert_uint_eq(hlo_argument_value("[1, 2]"), 0);
    ck_assert_uint_eq(hlo_argument_value("x[1=2"), 0);
    ck_assert(hlo_literal_has_shape("f32[2] {1}", 10) && hlo_literal_has_shape("(f32[] 1)", 9));
    ck_assert(hlo_literal_has_shape("(\n (f32[] 1))", 13) && hlo_literal_has_shape("()", 2));
    ck_assert(!hlo_literal_has_shape("(1, 2)", 6) && !hlo_literal_has_shape("({1}, inf)", 10));
    ck_assert(!hlo_literal_has_shape("{1}", 3) && !hlo_literal_has_shape("5", 1) &&
              !hlo_literal_has_shape("", 0));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("pieces");
    TCase *t = tcase_create("pieces");
    tcase_add_test(t, messages_refer_to_source_text);
    tcase_add_test(t, inserted_text_has_no_location);
    tcase_add_test(t, replacements_have_the_location_of_the_original);
    tcase_add_test(t, argument_texts);
    tcase_add_test(t, argument_names);
    suite_add_tcase(s, t);
    return check_run(s);
}
