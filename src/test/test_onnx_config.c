/*
 * Tests of the backend_config of calls to onnx.Loop: its contents and accepted forms.
 */
#include "ir/ir.h"

#include "check_quiet.h"

static const struct {
    const char *text;
    int version;
    bool count, condition;
} read[] = {
    {"", 25, true, true},
    {" \n", 25, true, true},
    {"{}", 25, true, true},
    {" { } ", 25, true, true},
    {"{\"version\": 16, \"inputs\": [\"M\", \"cond\"]}", 16, true, true},
    {"{\"inputs\":[\"M\",\"cond\"],\"version\":16}", 16, true, true},
    {"{version: 1}", 1, true, true},
    {"version=25", 25, true, true},
    {"version = '9', inputs = M", 9, true, false},
    {"{\"inputs\": []}", 25, false, false},
    {"{\"inputs\": [ ]}", 25, false, false},
    {"{\"inputs\": \"\"}", 25, false, false},
    {"{\"inputs\": [\"M\"]}", 25, true, false},
    {"{\"inputs\": [trip_count]}", 25, true, false},
    {"{\"inputs\": [\"cond\"]}", 25, false, true},
    {"{\"inputs\": cond}", 25, false, true},
    {"{\"inputs\": \"M,cond\"}", 25, true, true},
    {"{\"inputs\": \" M , cond \", \"version\": \"13\"}", 13, true, true},
    {"{\"inputs\": [\"M,cond\"]}", 25, true, true},
    {"{version = 16 : i64, inputs = [\"M\"]}", 16, true, false},
    {"version: 1,", 1, true, true},
    {"inputs: [M, ]", 25, true, false},
};

START_TEST(accepted_forms)
{
    struct arena a;
    struct onnx_loop l;
    arena_init(&a);
    const char *problem = onnx_loop_config(str_of(read[_i].text), &a, &l);
    ck_assert_msg(!problem, "%s: %s", read[_i].text, problem);
    ck_assert_msg(l.version == read[_i].version && l.has_count == read[_i].count &&
                      l.has_condition == read[_i].condition,
                  "%s: version %d, M %d, cond %d", read[_i].text, (int)l.version, l.has_count,
                  l.has_condition);
    arena_free(&a);
}
END_TEST

static const char *const refused[] = {
    "{",
    "}",
    "[",
    "{]",
    "version",
    "version:",
    "version: x",
    "version: -1",
    "version: 0",
    "version: 26",
    "version: 99999999999999999999",
    "version: 1.5",
    "version: 1 2",
    "{version: 1",
    "version: 1}",
    "version: '1",
    "inputs: [",
    "inputs: [M",
    "inputs: [M,",
    "inputs: M cond",
    "inputs: cond, M",
    "inputs: [[M]]",
    "inputs: {}",
    "inputs: array<M>",
    "version: [1]",
    "inputs: [cond, M]",
    "inputs: 'cond,M'",
    "inputs: [M, M]",
    "inputs: [cond, cond]",
    "inputs: ',M'",
    "inputs: v1",
    "version: 1, version: 1",
    "opset: 1",
    "{}{}",
    "{},",
    ",",
    "\"version\": 1 \"inputs\": M",
    "1",
};

/* Every prefix of each text is rejected or accepted, without reading beyond its end. */
START_TEST(malformed_configs)
{
    struct arena a;
    struct onnx_loop l;
    arena_init(&a);
    struct str text = str_of(refused[_i]);
    ck_assert_msg(onnx_loop_config(text, &a, &l) != NULL, "%s", refused[_i]);
    for (size_t n = 0; n < text.len; n++) {
        const char *piece = arena_copy(&a, text.ptr, n);
        onnx_loop_config((struct str){piece, n}, &a, &l);
    }
    ck_assert(onnx_loop_config((struct str){"version: 1\0", 11}, &a, &l) != NULL);
    arena_free(&a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx_config");
    TCase *tcase = tcase_create("onnx_config");
    tcase_add_loop_test(tcase, accepted_forms, 0, (int)COUNT_OF(read));
    tcase_add_loop_test(tcase, malformed_configs, 0, (int)COUNT_OF(refused));
    suite_add_tcase(suite, tcase);
    return check_run(suite);
}
