/*
 * Tests of verify on modules built by calls: written shapes, modes, many errors.
 */
#include "verify/verify.h"

#include "inst_case.h"

/* ---- written shapes ---- */

static const struct {
    struct op_case c; /* the result shape is the written one */
    bool accepted;
} written[] = {
    {{OP_ADD, {"f32[2]", "f32[2]"}, {{0}}, "f32[2]"}, true},
    {{OP_ADD, {"f32[2]", "f32[2]"}, {{0}}, "f32[3]"}, false},
    {{OP_ADD, {"f32[2]", "f32[]"}, {{0}}, "f32[2]"}, false},
    {{OP_ADD, {"f32[2]", "bf16[2]"}, {{0}}, "f32[2]"}, false},
    {{OP_ADD, {"f32[<=2]", "f32[2]"}, {{0}}, "f32[2]"}, true},
    {{OP_NEGATE, {"f32[2]"}, {{0}}, "f32[?]"}, false},
    {{OP_BROADCAST, {"f32[2]"}, {{A_DIMENSIONS, "1"}}, "f32[3,2]"}, true},
    {{OP_BROADCAST, {"f32[2]"}, {{A_DIMENSIONS, "0"}}, "f32[3,2]"}, false},
    {{OP_RESHAPE, {"f32[2,3]"}, {{0}}, "f32[6]"}, true},
    {{OP_RESHAPE, {"f32[2,3]"}, {{0}}, "s32[6]"}, false},
    {{OP_RESHAPE, {"f32[2,3]"}, {{0}}, "f32[7]"}, false},
    {{OP_IOTA, {NULL}, {{A_IOTA_DIMENSION, "1"}}, "s32[2]"}, false},
    {{OP_CONVERT, {"f32[2]"}, {{0}}, "s8[2]"}, true},
    {{OP_CONVERT, {"f32[2]"}, {{0}}, "s8[3]"}, false},
    {{OP_BITCAST_CONVERT, {"f32[2]"}, {{0}}, "u8[2,4]"}, true},
    {{OP_BITCAST_CONVERT, {"u8[2,4]"}, {{0}}, "f32[2]"}, true},
    {{OP_BITCAST_CONVERT, {"u8[2,2]"}, {{0}}, "f32[2]"}, false},
    {{OP_DOT,
      {"f32[2,3]", "s8[3,4]"},
      {{A_LHS_CONTRACTING_DIMS, "1"}, {A_RHS_CONTRACTING_DIMS, "0"}},
      "pred[2,4]"},
     true},
    {{OP_COPY, {"(f32[2], bf16[2])"}, {{0}}, "(f32[2], bf16[2])"}, false},
    {{OP_RNG_GET_AND_UPDATE_STATE, {NULL}, {{A_DELTA, "1"}}, "u64[3]"}, false},
};

START_TEST(written_shapes)
{
    struct bench b;
    bench_open(&b);
    b.main->root = make(&b, &written[_i].c, shape_of(b.m, written[_i].c.result));
    ck_assert(computation_finish(b.main));
    module_link(b.m);
    bool ok = verify_module(&b.ds, b.m, &(struct verify_options){0});
    ck_assert_msg(ok == written[_i].accepted, "%s with %s", op_spelling(written[_i].c.op),
                  written[_i].c.result);
    ck_assert_uint_eq(b.ds.errors, !ok);
    bench_close(&b);
}
END_TEST

/* Mixed precision and layouts are checked on request only. */
START_TEST(verification_options)
{
    struct bench b;
    bench_open(&b);
    struct op_case mixed = {OP_ADD, {"f32[2]", "bf16[2]"}, {{0}}, NULL};
    make(&b, &mixed, shape_of(b.m, "f32[2]"));
    struct inst *p = param(b.main, "f32[2,2]{0,1}");
    const struct shape *plain = shape_of(b.m, "(f32[2,2])");
    b.main->root = inst_new(b.main, OP_TUPLE, STR("t"), plain, 1, &p);
    p->number = 2;
    ck_assert(computation_finish(b.main));
    module_link(b.m);
    ck_assert(!verify_module(&b.ds, b.m, &(struct verify_options){0}));
    ck_assert(verify_module(&b.ds, b.m, &(struct verify_options){.mixed_precision = true}));
    ck_assert(!verify_module(
        &b.ds, b.m, &(struct verify_options){.mixed_precision = true, .layout_sensitive = true}));
    bench_close(&b);
}
END_TEST

/* ---- many errors ---- */

START_TEST(one_message_for_each_instruction)
{
    struct bench b;
    bench_open(&b);
    struct inst *p = param(b.main, "pred[2]");
    for (int k = 0; k < 30; k++)
        inst_new(b.main, OP_NEGATE, STR("n"), p->shape, 1, &p);
    ck_assert(computation_finish(b.main));
    module_link(b.m);
    ck_assert(!verify_module(&b.ds, b.m, &(struct verify_options){0}));
    ck_assert_uint_eq(b.ds.errors, 30);
    ck_assert_uint_eq(b.ds.dropped, 30 - DIAG_ERROR_LIMIT);
    bench_close(&b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("verify");
    TCase *tcase = tcase_create("verify");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, written_shapes, 0, (int)COUNT_OF(written));
    tcase_add_test(tcase, verification_options);
    tcase_add_test(tcase, one_message_for_each_instruction);
    suite_add_tcase(suite, tcase);
    return check_run(suite);
}
