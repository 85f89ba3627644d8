/*
 * Tests of dictionaries in text, well-formed in all accepted forms, and malformed.
 */
#include "check_quiet.h"

#include "base/dict.h"

static struct arena arena;

static struct dict_value read_loose(const char *text)
{
    struct dict_value c;
    struct dict_error error;
    ck_assert_msg(dict_read(&arena, str_of(text), DICT_LOOSE, &c, &error), "%s: expected %s", text,
                  error.expected);
    return c;
}

static const struct dict_value *found(const struct dict_value *c, const char *name,
                                      enum dict_kind kind)
{
    const struct dict_value *v = dict_find(c, str_of(name));
    ck_assert_msg(v && v->kind == kind, "%s", name);
    return v;
}

START_TEST(mlir_dictionaries)
{
    struct dict_value c = read_loose("{uplo = 76 : ui8, low = -1 : i32, left = true, eps = 1.5e-3 "
                                     ": f32, unit, name = \"a\\\"b\\0A\", "
                                     "sizes = array<i64: 1, 2>, none = array<i64>, m = dense<[3, "
                                     "4]> : tensor<2xi32>, v = #x.y<z>, }");
    ck_assert_int_eq(found(&c, "uplo", DICT_INT)->i, 76);
    ck_assert(str_is(found(&c, "uplo", DICT_INT)->type, "ui8"));
    ck_assert_int_eq(found(&c, "low", DICT_INT)->i, -1);
    ck_assert_int_eq(found(&c, "left", DICT_BOOL)->i, 1);
    ck_assert(found(&c, "eps", DICT_FLOAT)->f == 1.5e-3);
    ck_assert_int_eq(found(&c, "unit", DICT_UNIT)->i, 1);
    ck_assert(str_is(found(&c, "name", DICT_STRING)->s, "a\"b\n"));
    const struct dict_value *sizes = found(&c, "sizes", DICT_ARRAY);
    ck_assert(sizes->count == 2 && str_is(sizes->type, "i64"));
    ck_assert_int_eq(sizes->items[1].value.i, 2);
    ck_assert_uint_eq(found(&c, "none", DICT_ARRAY)->count, 0);
    ck_assert(str_is(found(&c, "m", DICT_LIST)->type, "tensor<2xi32>"));
    ck_assert_int_eq(found(&c, "m", DICT_LIST)->items[0].value.i, 3);
    ck_assert(str_is(found(&c, "v", DICT_WORD)->s, "#x.y<z>"));
    ck_assert_ptr_null(dict_find(&c, STR("upl")));
}
END_TEST

START_TEST(json_dictionaries)
{
    struct dict_value c =
        read_loose(" {\"a\": 1, \"b\" : [\"x\", \"y\\n\"], \"c\": {\"d\": false}} ");
    ck_assert_int_eq(found(&c, "a", DICT_INT)->i, 1);
    ck_assert(str_is(found(&c, "b", DICT_LIST)->items[1].value.s, "y\n"));
    ck_assert_int_eq(found(found(&c, "c", DICT_DICT), "d", DICT_BOOL)->i, 0);
    ck_assert_uint_eq(read_loose("").count, 0);
    ck_assert_uint_eq(read_loose(" {} ").count, 0);
}
END_TEST

START_TEST(lenient_form)
{
    struct dict_value c = read_loose(
        "a: 'it\"s', 'b' = [x, 'y',], c, d = 18446744073709551616, e = dense<7> : tensor<3xi8>,");
    ck_assert(str_is(found(&c, "a", DICT_STRING)->s, "it\"s"));
    ck_assert(str_is(found(&c, "b", DICT_LIST)->s, "[x, 'y',]"));
    ck_assert(str_is(found(&c, "b", DICT_LIST)->items[0].value.s, "x"));
    ck_assert_int_eq(found(&c, "c", DICT_UNIT)->i, 1);
    ck_assert(str_is(found(&c, "d", DICT_FLOAT)->s, "18446744073709551616"));
    ck_assert_int_eq(found(&c, "e", DICT_LIST)->items[0].value.i, 7);
    ck_assert_uint_eq(read_loose(" \n").count, 0);
}
END_TEST

static const struct {
    enum dict_form form; /* DICT_MLIR: this one alone */
    const char *text, *problem;
} wrong[] = {
    {DICT_JSON, "", "expected '{', got end of input"},
    {DICT_JSON, "{a: 1}", "expected a string at 'a: 1}'"},
    {DICT_JSON, "{'a': 1}", "expected a string at ''a': 1}'"},
    {DICT_JSON, "{\"a\" = 1}", "expected ':' at '= 1}'"},
    {DICT_JSON, "{\"a\"}", "expected ':' at '}'"},
    {DICT_JSON, "{\"a\": b}", "expected a value at 'b}'"},
    {DICT_JSON, "{\"a\": 1a}", "expected a value at '1a}'"},
    {DICT_JSON, "{\"a\": 1 : i8}", "expected ',' or '}' at ': i8}'"},
    {DICT_JSON, "{\"a\": [1,]}", "expected a value at ']}'"},
    {DICT_JSON, "{\"a\": 1,}", "expected a string at '}'"},
    {DICT_LOOSE, "{", "expected a name, got end of input"},
    {DICT_LOOSE, "{a", "expected '=', got end of input"},
    {DICT_LOOSE, "{a = }", "expected a value at '}'"},
    {DICT_LOOSE, "{a = 1", "expected ',' or '}', got end of input"},
    {DICT_LOOSE, "{a 1}", "expected '=' at '1}'"},
    {DICT_LOOSE, "{= 1}", "expected a name at '= 1}'"},
    {DICT_LOOSE, "{a = \"b}", "expected a closing quote, got end of input"},
    {DICT_LOOSE, "{a = \"b\\", "expected a closing quote, got end of input"},
    {DICT_LOOSE, "{a = [1}", "expected ',' or ']' at '}'"},
    {DICT_LOOSE, "{a = array}", "expected '<' at '}'"},
    {DICT_LOOSE, "{a = array<>}", "expected a type at '>}'"},
    {DICT_LOOSE, "{a = array<i64 1>}", "expected ':' at '1>}'"},
    {DICT_LOOSE, "{a = array<i64: >}", "expected a value at '>}'"},
    {DICT_LOOSE, "{a = array<i64: 1}", "expected ',' or '>' at '}'"},
    {DICT_LOOSE, "{a = dense<1}", "expected '>' at '}'"},
    {DICT_LOOSE, "{a = 1} b", "expected end of input at 'b'"},
    {DICT_LOOSE, "{a = #x<y}", "expected '>', got end of input"},
    {DICT_LOOSE, "{a = 1 : tensor<2}", "expected '>', got end of input"},
    {DICT_LOOSE, "{a = 1 : }", "expected a type at '}'"},
    {DICT_LOOSE, "[1]", "expected a name at '[1]'"},
    {DICT_LOOSE, "a = 1} and a good deal more", "expected ',' at '} and a good deal mo'"},
    {DICT_MLIR, "a = 1", "expected '{' at 'a = 1'"},
    {DICT_MLIR, "{a: 1}", "expected '=' at ': 1}'"},
    {DICT_MLIR, "{a = 'b'}", "expected a value at ''b'}'"},
    {DICT_MLIR, "{a = 1,}", "expected a name at '}'"},
};

/* Checks the message, and that no prefix of the text is read beyond its end. */
START_TEST(malformed_dictionaries)
{
    struct str text = str_of(wrong[_i].text);
    struct dict_value d;
    struct dict_error error;
    ck_assert_msg(!dict_read(&arena, text, wrong[_i].form, &d, &error), "%s", text.ptr);
    ck_assert_str_eq(dict_problem(&arena, &error), wrong[_i].problem);
    ck_assert_msg(wrong[_i].form == DICT_LOOSE || dict_read(&arena, text, DICT_LOOSE, &d, &error),
                  "%s", text.ptr);
    for (size_t n = 0; n < text.len; n++)
        dict_read(&arena, (struct str){arena_copy(&arena, text.ptr, n), n}, wrong[_i].form, &d,
                  &error);
    ck_assert(!dict_read(&arena, STR("{}\0"), DICT_LOOSE, &d, &error));
}
END_TEST

START_TEST(hexadecimal_escapes)
{
    struct dict_value d;
    struct dict_error error;
    ck_assert(dict_read(&arena, STR("{a = \"\\bcd\\0A\"}"), DICT_MLIR, &d, &error));
    ck_assert(str_is(found(&d, "a", DICT_STRING)->s, "\xbc"
                                                     "d\n"));
    d = read_loose("{a = \"\\bcd\\0A\"}");
    ck_assert(str_is(found(&d, "a", DICT_STRING)->s, "\bcd\n"));
}
END_TEST

START_TEST(json_objects)
{
    struct dict_value d;
    struct dict_error error;
    ck_assert(dict_read(&arena, STR("{\"a\": [1, -2.5e3, null, true, {}], \"b\": \"\\u00e9\\/\"}"),
                        DICT_JSON, &d, &error));
    const struct dict_value *list = found(&d, "a", DICT_LIST);
    ck_assert_uint_eq(list->count, 5);
    ck_assert(list->items[1].value.f == -2500);
    ck_assert(str_is(list->items[2].value.s, "null"));
    ck_assert_int_eq(list->items[3].value.kind, DICT_BOOL);
    ck_assert(str_is(found(&d, "b", DICT_STRING)->s, "\u00e9/"));
}
END_TEST

static const char *const nests[] = {"[", "{a = ", "dense<"};

START_TEST(nesting_limit)
{
    struct buf text = {0};
    struct dict_value d;
    struct dict_error error;
    buf_puts(&text, "{a = ");
    for (int k = 0; k < 100000; k++)
        buf_puts(&text, nests[_i]);
    ck_assert(!dict_read(&arena, buf_view(&text), DICT_MLIR, &d, &error));
    ck_assert_str_eq(error.expected, "less nesting");
    buf_free(&text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dict");
    TCase *tests = tcase_create("dict");
    tcase_add_test(tests, mlir_dictionaries);
    tcase_add_test(tests, json_dictionaries);
    tcase_add_test(tests, lenient_form);
    tcase_add_test(tests, hexadecimal_escapes);
    tcase_add_test(tests, json_objects);
    tcase_add_loop_test(tests, malformed_dictionaries, 0, (int)COUNT_OF(wrong));
    tcase_add_loop_test(tests, nesting_limit, 0, (int)COUNT_OF(nests));
    suite_add_tcase(suite, tests);
    arena_init(&arena);
    int status = check_run(suite);
    arena_free(&arena);
    return status;
}
