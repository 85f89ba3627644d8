/*
 * test_eval_config: backend_config read as a dictionary, in the ways it is written and in ways it is not.
 */
#include "check_quiet.h"

#include "eval/config.h"

static struct arena arena;

static struct config read_config(const char *text)
{
    struct config c;
    struct config_error error;
    ck_assert_msg(config_read(&arena, str_of(text), &c, &error), "%s: wanted %s", text, error.wanted);
    return c;
}

static const struct config *found(const struct config *c, const char *name, enum config_kind kind)
{
    const struct config *v = config_find(c, name);
    ck_assert_msg(v && v->kind == kind, "%s", name);
    return v;
}

START_TEST(mlir)
{
    struct config c = read_config("{uplo = 76 : ui8, low = -1 : i32, left = true, eps = 1.5e-3 : f32, unit, name = \"a\\\"b\\0A\", "
                                  "sizes = array<i64: 1, 2>, none = array<i64>, m = dense<[3, 4]> : tensor<2xi32>, v = #x.y<z>, }");
    ck_assert_int_eq(found(&c, "uplo", CONFIG_INT)->i, 76);
    ck_assert(str_is(found(&c, "uplo", CONFIG_INT)->type, "ui8"));
    ck_assert_int_eq(found(&c, "low", CONFIG_INT)->i, -1);
    ck_assert_int_eq(found(&c, "left", CONFIG_BOOL)->i, 1);
    ck_assert(found(&c, "eps", CONFIG_FLOAT)->f == 1.5e-3);
    ck_assert_int_eq(found(&c, "unit", CONFIG_BOOL)->i, 1);
    ck_assert(str_is(found(&c, "name", CONFIG_STRING)->s, "a\"b\n"));
    const struct config *sizes = found(&c, "sizes", CONFIG_LIST);
    ck_assert_int_eq(sizes->count, 2);
    ck_assert_int_eq(sizes->items[1].value.i, 2);
    ck_assert_int_eq(found(&c, "none", CONFIG_LIST)->count, 0);
    ck_assert(str_is(found(&c, "m", CONFIG_LIST)->type, "tensor<2xi32>"));
    ck_assert_int_eq(found(&c, "m", CONFIG_LIST)->items[0].value.i, 3);
    ck_assert(str_is(found(&c, "v", CONFIG_WORD)->s, "#x.y<z>"));
    ck_assert_ptr_null(config_find(&c, "upl"));
}
END_TEST

START_TEST(json)
{
    struct config c = read_config(" {\"a\": 1, \"b\" : [\"x\", \"y\\n\"], \"c\": {\"d\": false}} ");
    ck_assert_int_eq(found(&c, "a", CONFIG_INT)->i, 1);
    ck_assert(str_is(found(&c, "b", CONFIG_LIST)->items[1].value.s, "y\n"));
    ck_assert_int_eq(found(found(&c, "c", CONFIG_DICT), "d", CONFIG_BOOL)->i, 0);
    ck_assert_int_eq(read_config("").count, 0);
    ck_assert_int_eq(read_config(" {} ").count, 0);
}
END_TEST

START_TEST(refused)
{
    static const char *const texts[] = {"x", "{", "{a", "{a = }", "{a = 1", "{a 1}", "{= 1}", "{a = \"b}", "{a = [1}", "{a = array}",
                                        "{a = array<i64 1>}", "{a = dense<1}", "{a = 1} b", "{a = #x<y}", "{a = 1 : tensor<2}", "[1]"};
    for (size_t k = 0; k < COUNT_OF(texts); k++) {
        struct config c;
        struct config_error error;
        ck_assert_msg(!config_read(&arena, str_of(texts[k]), &c, &error), "%s", texts[k]);
        ck_assert_msg(error.wanted && error.rest.ptr >= texts[k] && error.rest.ptr + error.rest.len == texts[k] + strlen(texts[k]),
                      "%s", texts[k]);
    }
    char deep[4096];
    memset(deep, '[', sizeof deep);
    memcpy(deep, "{a = ", 5);
    struct config c;
    struct config_error error;
    ck_assert(!config_read(&arena, (struct str){deep, sizeof deep}, &c, &error));
    ck_assert_str_eq(error.wanted, "fewer brackets inside brackets");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config");
    TCase *tests = tcase_create("config");
    tcase_add_test(tests, mlir);
    tcase_add_test(tests, json);
    tcase_add_test(tests, refused);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    arena_init(&arena);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    arena_free(&arena);
    return failed ? 1 : 0;
}
