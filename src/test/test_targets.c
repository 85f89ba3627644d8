/*
 * Tests of custom-call targets of programs that embed the library: functions, rules, libraries;
 * and of the attributes of typed calls.
 */
#include "check_quiet.h"
#include "hlo_advanced.h"
#include "world/ffi_abi.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- runs ---- */

struct outcome {
    hlo_messages *m;
    hlo_literal *results[8];
    bool ok;
    hlo_text messages;
};

/* Runs a module without parameters on all its participants. */
static struct outcome run(const char *text, const hlo_targets *targets)
{
    struct outcome o = {.m = hlo_messages_new()};
    struct hlo_run_options options = {.size = sizeof options, .targets = targets};
    hlo_file *f = hlo_file_of_text("m", text, strlen(text), false);
    hlo_module *module = hlo_parse(f, 0, o.m);
    ck_assert(module && hlo_verify(module, o.m));
    hlo_program *p = hlo_plan(module, &options, o.m);
    ck_assert(p && hlo_participants(p) <= 8);
    o.ok = hlo_run_all(p, NULL, 0, NULL, o.results, o.m);
    o.messages = hlo_messages_draw(o.m, false);
    hlo_program_free(p);
    hlo_module_free(module);
    hlo_file_free(f);
    return o;
}

static void outcome_free(struct outcome *o)
{
    for (size_t k = 0; k < 8; k++)
        hlo_literal_free(o->results[k]);
    hlo_text_free(&o->messages);
    hlo_messages_free(o->m);
}

static void check_result(const struct outcome *o, size_t participant, const char *expected)
{
    ck_assert_msg(o->ok, "%s", o->messages.data);
    hlo_text got = hlo_literal_print(o->results[participant], false);
    ck_assert_str_eq(got.data, expected);
    hlo_text_free(&got);
}

#define CALL(shape, target, rest)                                                                  \
    "HloModule m\nENTRY e {\n  x = s32[2] constant({3, 4})\n  ROOT r = " shape                     \
    " custom-call(x), custom_call_target=\"" target "\"" rest "\n}\n"

/* ---- functions ---- */

struct seen {
    atomic_int calls, participants;
    const char *error_message;
};

static bool add_participant(void *context, const struct hlo_call *c, char *why, size_t capacity)
{
    struct seen *s = context;
    s->calls++;
    s->participants |= 1 << c->participant;
    if (s->error_message) {
        snprintf(why, capacity, "%s of %s, config %.*s", s->error_message, c->target,
                 (int)c->config_size, c->config);
        return false;
    }
    ck_assert_uint_eq(c->operand_count, 1);
    ck_assert_str_eq(c->operands[0].dtype, "s32");
    ck_assert_uint_eq(c->operands[0].elements, c->results[0].elements);
    for (size_t k = 0; k < c->operands[0].elements; k++)
        ((int32_t *)c->results[0].data)[k] =
            ((const int32_t *)c->operands[0].data)[k] + (int32_t)c->participant;
    return true;
}

START_TEST(functions_run_for_each_participant)
{
    struct seen seen = {0};
    hlo_targets *t = hlo_targets_new();
    hlo_targets_add_function(t, "mine", add_participant, &seen);
    struct outcome o =
        run("HloModule m, replica_count=4\nENTRY e {\n  x = s32[2] constant({3, 4})\n"
            "  ROOT r = s32[2]{0} custom-call(x), custom_call_target=\"mine\"\n}\n",
            t);
    check_result(&o, 0, "{3, 4}");
    check_result(&o, 3, "{6, 7}");
    ck_assert_int_eq(seen.calls, 4);
    ck_assert_int_eq(seen.participants, 15);
    outcome_free(&o);
    hlo_targets_free(t);
}
END_TEST

START_TEST(failing_functions)
{
    struct seen seen = {.error_message = "no luck"};
    hlo_targets *t = hlo_targets_new();
    hlo_targets_add_function(t, "mine", add_participant, &seen);
    struct outcome o = run(CALL("s32[2]", "mine", ", backend_config=\"a b\""), t);
    ck_assert(!o.ok);
    ck_assert_msg(strstr(o.messages.data,
                         "m:4:3: error: custom call 'mine' failed: no luck of mine, config a b"),
                  "%s", o.messages.data);
    outcome_free(&o);
    seen.error_message = "";
    o = run(CALL("s32[2]", "mine", ""), t);
    ck_assert(!o.ok && strstr(o.messages.data, " of mine, config "));
    outcome_free(&o);
    hlo_targets_free(t);
}
END_TEST

/* ---- precedence ---- */

START_TEST(later_targets_take_precedence)
{
    struct seen seen = {0};
    hlo_targets *t = hlo_targets_new();
    hlo_messages *m = hlo_messages_new();
    ck_assert(hlo_targets_add_rule(t, "*=zeros", m));
    hlo_targets_add_function(t, "mine", add_participant, &seen);
    ck_assert(hlo_targets_add_rule(t, "mi*=identity", m));
    ck_assert(hlo_targets_add_rule(t, "Shard*=zeros", m));
    ck_assert(hlo_targets_add_rule(t, "*=zeros", m));
    struct outcome o = run(CALL("s32[2]", "mine", ""), t);
    check_result(&o, 0, "{3, 4}");
    ck_assert_int_eq(seen.calls, 0);
    outcome_free(&o);
    o = run(CALL("s32[2]", "Sharding", ""), t);
    check_result(&o, 0, "{0, 0}");
    outcome_free(&o);
    o = run(CALL("s32[2]", "LayoutConstraint", ""),
            t); /* `*` matches targets without another implementation */
    check_result(&o, 0, "{3, 4}");
    outcome_free(&o);
    o = run(CALL("f32[]", "unheard-of", ""), t);
    check_result(&o, 0, "0");
    outcome_free(&o);
    o = run(CALL("s32[2]", "Sharding", ""), NULL);
    check_result(&o, 0, "{3, 4}");
    outcome_free(&o);
    hlo_messages_free(m);
    hlo_targets_free(t);
}
END_TEST

START_TEST(invalid_rules_and_libraries)
{
    static const char *const rules[] = {"", "x", "x=", "=zeros", "="};
    hlo_targets *t = hlo_targets_new();
    hlo_messages *m = hlo_messages_new();
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
        ck_assert_msg(!hlo_targets_add_rule(t, rules[k], m), "%s", rules[k]);
    ck_assert(!hlo_targets_add_library(t, "no-such-library.so", m));
    ck_assert_uint_eq(hlo_messages_errors(m), 6);
    struct outcome o = run(CALL("s32[2]", "x", ""), t);
    ck_assert(!o.ok && strstr(o.messages.data, "unknown custom-call target 'x'"));
    outcome_free(&o);
    hlo_messages_free(m);
    hlo_targets_free(t);
    hlo_targets_free(NULL);
}
END_TEST

/* ---- libraries: the one in the directory of this program ---- */

static hlo_targets *library(void)
{
    hlo_targets *t = hlo_targets_new();
    hlo_messages *m = hlo_messages_new();
    bool ok = hlo_targets_add_library(t, getenv("CUSTOM_CALLS"), m);
    hlo_text messages = hlo_messages_draw(m, false);
    ck_assert_msg(ok, "%s", messages.data);
    hlo_text_free(&messages);
    hlo_messages_free(m);
    return t;
}

START_TEST(library_functions)
{
    hlo_targets *t = library();
    struct outcome o = run(CALL("u8[6]", "bytes_of", ""), t);
    check_result(&o, 0, "{3, 0, 0, 0, 4, 0}");
    outcome_free(&o);
    o = run(CALL("s32[2]", "too_far", ""), t);
    ck_assert(!o.ok &&
              strstr(o.messages.data, "out-of-bounds write to leaf 0 of its result, s32[2]"));
    outcome_free(&o);
    /* on a slice, which starts in the middle of its array */
    o = run(
        "ENTRY e {\n  x = s32[5] constant({1, 2, 3, 4, 5})\n  y = s32[3] slice(x), slice={[1:4]}\n"
        "  ROOT r = u8[6] custom-call(y), custom_call_target=\"bytes_of\"\n}\n",
        t);
    check_result(&o, 0, "{2, 0, 0, 0, 3, 0}");
    outcome_free(&o);
    hlo_targets_free(t);
}
END_TEST

/* ---- attributes ---- */

static void put_attrs(struct buf *out, const struct ffi_attrs *attrs);

static void put_numbers(struct buf *out, enum ffi_dtype t, const void *data, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        buf_puts(out, k ? " " : "");
        switch (t) {
        case FFI_DT_PRED: buf_puts(out, ((const bool *)data)[k] ? "true" : "false"); break;
        case FFI_DT_S8: buf_int(out, ((const int8_t *)data)[k]); break;
        case FFI_DT_U8: buf_int(out, ((const uint8_t *)data)[k]); break;
        case FFI_DT_S32: buf_int(out, ((const int32_t *)data)[k]); break;
        case FFI_DT_S64: buf_int(out, ((const int64_t *)data)[k]); break;
        case FFI_DT_U64: buf_uint(out, ((const uint64_t *)data)[k]); break;
        case FFI_DT_F32: buf_g(out, ((const float *)data)[k], 9); break;
        case FFI_DT_F64: buf_g(out, ((const double *)data)[k], 17); break;
        default: buf_puts(out, "?"); break;
        }
    }
}

static void put_value(struct buf *out, enum ffi_attr_type type, const void *v)
{
    const struct ffi_scalar *scalar = v;
    const struct ffi_array *array = v;
    const struct ffi_bytes *bytes = v;
    switch (type) {
    case FFI_SCALAR:
        buf_printf(out, "%d:", scalar->dtype);
        put_numbers(out, scalar->dtype, scalar->value, 1);
        break;
    case FFI_ARRAY:
        buf_printf(out, "%d[", array->dtype);
        put_numbers(out, array->dtype, array->data, array->count);
        buf_puts(out, "]");
        break;
    case FFI_STRING: buf_printf(out, "'%.*s'", (int)bytes->len, bytes->ptr); break;
    case FFI_DICTIONARY: put_attrs(out, v); break;
    }
}

static void put_attrs(struct buf *out, const struct ffi_attrs *attrs)
{
    buf_puts(out, "{");
    for (int64_t k = 0; k < attrs->count; k++) {
        buf_printf(out, "%s%.*s=", k ? "," : "", (int)attrs->names[k]->len, attrs->names[k]->ptr);
        put_value(out, attrs->types[k], attrs->at[k]);
    }
    buf_puts(out, "}");
}

static const struct {
    const char *text, *expected; /* NULL: malformed dictionary */
} dictionaries[] = {
    {"", "{}"},
    {"{}", "{}"},
    {" { } ", "{}"},
    {"{b = 1 : i64, a = -2 : i32}", "{a=4:-2,b=5:1}"}, /* sorted by name */
    {"{x=7}", "{x=5:7}"},
    {"{x = true, y = false, z = 1 : i1}", "{x=1:true,y=1:false,z=1:true}"},
    {"{x = 255 : ui8, y = -128 : i8, z = 18446744073709551615 : ui64}",
     "{x=6:255,y=2:-128,z=9:18446744073709551615}"},
    {"{x = 1.500000e+00 : f32, y = 2.5, z = 1e3}", "{x=11:1.5,y=12:2.5,z=12:1000}"},
    {"{x = 0x7F800000 : f32, y = 0x3ff0000000000000 : f64}", "{x=11:inf,y=12:1}"},
    {"{x = array<i64: 1, 2>, y = array<i32>, z = array<i1: true, false>, w = array<f32: 0.5>}",
     "{w=11[0.5],x=5[1 2],y=4[],z=1[true false]}"},
    {"{s = \"a\\22\\\\b\\n\\41\", \"a name\" = \"\"}", "{a name='',s='a\"\\b\nA'}"},
    {"{d = {e = {}, f = 1 : i32}}", "{d={e={},f=4:1}}"},
    {"{", NULL},
    {"}", NULL},
    {"x", NULL},
    {"{x}", NULL},
    {"{x = }", NULL},
    {"{x = 1 : }", NULL},
    {"{x = 1 : i128}", NULL},
    {"{x = 256 : ui8}", NULL},
    {"{x = -1 : ui8}", NULL},
    {"{x = 128 : i8}", NULL},
    {"{x = -1 : ui64}", NULL},
    {"{x = 1.5 : i32}", NULL},
    {"{x = true : f32}", NULL},
    {"{x = one}", NULL},
    {"{x = \"one}", NULL},
    {"{x = \"\\", NULL},
    {"{x = array}", NULL},
    {"{x = array<>}", NULL},
    {"{x = array<i64: >}", NULL},
    {"{x = array<i64: 1,>}", NULL},
    {"{x = array<i64 1>}", NULL},
    {"{x = [1, 2]}", NULL},
    {"{x = dense<1> : tensor<2xi64>}", NULL},
    {"{x = 1,}", NULL},
    {"{x = 1 y = 2}", NULL},
    {"{} {}", NULL},
    {"{x = 0x : f32}", NULL},
    {"{x = 18446744073709551615}", NULL},
    {"{x = array<i64: 1 : i64>}", NULL},
    {"{x = array<i64: \"1\">}", NULL},
    {"{x: 1}", NULL},
    {"x = 1", NULL},
};

START_TEST(attribute_values)
{
    struct arena a;
    struct ffi_attrs attrs;
    struct buf why = {0}, got = {0};
    arena_init(&a);
    bool ok = ffi_read_attrs(&a, str_of(dictionaries[_i].text), &attrs, &why);
    if (ok)
        put_attrs(&got, &attrs);
    if (dictionaries[_i].expected)
        ck_assert_msg(ok && strcmp(got.data, dictionaries[_i].expected) == 0, "%s: %s %s",
                      dictionaries[_i].text, ok ? got.data : "not read:", ok ? "" : why.data);
    else
        ck_assert_msg(!ok && why.size > 0, "%s: %s", dictionaries[_i].text, got.data);
    buf_free(&why);
    buf_free(&got);
    arena_free(&a);
}
END_TEST

START_TEST(attribute_nesting_limit)
{
    struct arena a;
    struct ffi_attrs attrs;
    struct buf text = {0}, why = {0};
    arena_init(&a);
    for (int k = 0; k < 100000; k++)
        buf_puts(&text, "{x=");
    ck_assert(!ffi_read_attrs(&a, buf_view(&text), &attrs, &why));
    ck_assert(strstr(why.data, "expected less nesting"));
    buf_free(&text);
    buf_free(&why);
    arena_free(&a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("targets");
    TCase *tcase = tcase_create("targets");
    tcase_add_test(tcase, functions_run_for_each_participant);
    tcase_add_test(tcase, failing_functions);
    tcase_add_test(tcase, later_targets_take_precedence);
    tcase_add_test(tcase, invalid_rules_and_libraries);
    tcase_add_test(tcase, library_functions);
    tcase_add_loop_test(tcase, attribute_values, 0, sizeof dictionaries / sizeof *dictionaries);
    tcase_add_test(tcase, attribute_nesting_limit);
    suite_add_tcase(suite, tcase);
    return check_run(suite);
}
