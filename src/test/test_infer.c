/*
 * Tests of infer on instructions built by calls: shapes that the parser infers from operands, valid
 * reducers, sizes of windows.
 */
#include "infer/infer_priv.h"

#include "inst_case.h"

static void check_shape(struct bench *b, const struct op_case *c, const struct shape *s)
{
    struct buf got = {0};
    if (s)
        shape_print(&got, s, true);
    buf_puts(&got, "");
    struct buf expected = {0};
    if (c->result)
        shape_print(&expected, shape_of(b->m, c->result), true);
    buf_puts(&expected, "");
    ck_assert_msg(str_eq(buf_view(&got), buf_view(&expected)), "%s gives %s, expected %s",
                  op_spelling(c->op), got.data, expected.data);
    ck_assert_msg((s != NULL) == (b->ds.errors == 0), "%s: %u errors", op_spelling(c->op),
                  b->ds.errors);
    buf_free(&got);
    buf_free(&expected);
}

/* ---- omitted shapes ---- */

static const struct op_case inferred[] = {
    {OP_ADD, {"f32[2,3]{0,1}", "f32[2,3]"}, {{0}}, "f32[2,3]{0,1}"},
    {OP_ADD, {"f32[2,3]{0,1}", "f32[]"}, {{0}}, "f32[2,3]"},
    {OP_ADD, {"f32[2,1]", "f32[1,3]"}, {{0}}, "f32[2,3]"},
    {OP_ADD, {"f32[2,<=3]", "f32[2,3]"}, {{0}}, "f32[2,<=3]"},
    {OP_ADD, {"f32[2,3]{0,1}", "f32[2,<=3]"}, {{0}}, "f32[2,<=3]{0,1}"},
    {OP_ADD, {"bf16[2]", "f32[2]"}, {{0}}, "f32[2]"},
    {OP_ADD, {"bf16[2,3]{0,1}", "f32[2,3]"}, {{0}}, "f32[2,3]{0,1}"},
    {OP_ADD, {"f32[?]", "f32[?]"}, {{0}}, "f32[?]"},
    {OP_ADD, {"f32[2]", "f32[2,2]"}, {{0}}, NULL},
    {OP_ADD, {"f32[2]", "f32[3]"}, {{0}}, NULL},
    {OP_ADD, {"f32[2]", "s32[2]"}, {{0}}, NULL},
    {OP_AND, {"f32[2]", "f32[2]"}, {{0}}, NULL},
    {OP_ABS, {"c64[2]"}, {{0}}, "f32[2]"},
    {OP_ABS, {"u8[2]"}, {{0}}, NULL},
    {OP_IS_FINITE, {"f32[2,2]{0,1}"}, {{0}}, "pred[2,2]{0,1}"},
    {OP_COMPARE, {"s32[2]", "s32[2]"}, {{A_DIRECTION, "0"}}, "pred[2]"},
    {OP_COMPLEX, {"f64[2]", "f64[2]"}, {{0}}, "c128[2]"},
    {OP_COMPLEX, {"f16[2]", "f16[2]"}, {{0}}, NULL},
    {OP_CLAMP, {"f32[]", "f32[2]", "f32[2]"}, {{0}}, "f32[2]"},
    {OP_CLAMP, {"f32[3]", "f32[2]", "f32[]"}, {{0}}, NULL},
    {OP_SELECT, {"pred[2,2]{0,1}", "f32[2,2]", "bf16[2,2]"}, {{0}}, "f32[2,2]{0,1}"},
    {OP_SELECT, {"pred[1]", "f32[2]", "f32[2]"}, {{0}}, NULL},
    {OP_BROADCAST, {"f32[4]"}, {{A_DIMENSIONS, "3"}}, "f32[3,4]"},
    {OP_TRANSPOSE, {"f32[2,3]{1,0}"}, {{A_DIMENSIONS, "1,0"}}, "f32[3,2]{0,1}"},
    {OP_TRANSPOSE, {"f32[2,3]"}, {{A_DIMENSIONS, "1,1"}}, NULL},
    {OP_REVERSE, {"f32[2,3]"}, {{A_DIMENSIONS, "1"}}, "f32[2,3]"},
    {OP_CONCATENATE, {"f32[<=2,3]", "f32[4,3]"}, {{A_DIMENSIONS, "0"}}, "f32[<=6,3]"},
    {OP_CONCATENATE, {"f32[2,3]", "f32[4,2]"}, {{A_DIMENSIONS, "0"}}, NULL},
    {OP_PAD, {"f32[4]", "f32[]"}, {{A_PADDING, "1,-2,3"}}, "f32[12]"},
    {OP_PAD, {"f32[4]", "f32[]"}, {{A_PADDING, "-3,-2,0"}}, NULL},
    {OP_SLICE, {"f32[<=10,5]"}, {{A_SLICE, "0,5,2,1,2,1"}}, "f32[<=3,1]"},
    {OP_SLICE, {"f32[10]"}, {{A_SLICE, "3,11,1"}}, NULL},
    {OP_DOT,
     {"f32[5,2,3]", "f32[3,5,4]"},
     {{A_LHS_BATCH_DIMS, "0"},
      {A_LHS_CONTRACTING_DIMS, "2"},
      {A_RHS_BATCH_DIMS, "1"},
      {A_RHS_CONTRACTING_DIMS, "0"}},
     "f32[5,2,4]"},
    {OP_DOT,
     {"f32[2,3]", "f32[4,4]"},
     {{A_LHS_CONTRACTING_DIMS, "1"}, {A_RHS_CONTRACTING_DIMS, "0"}},
     NULL},
    {OP_FFT, {"f32[2,8]"}, {{A_FFT_TYPE, "2"}, {A_FFT_LENGTH, "8"}}, "c64[2,5]"},
    {OP_FFT, {"c64[2,5]"}, {{A_FFT_TYPE, "3"}, {A_FFT_LENGTH, "9"}}, "f32[2,9]"},
    {OP_FFT, {"c64[2,5]"}, {{A_FFT_TYPE, "3"}, {A_FFT_LENGTH, "10"}}, NULL},
    {OP_TOPK, {"f32[3,8]"}, {{A_K, "2"}}, "(f32[3,2], s32[3,2])"},
    {OP_TOPK, {"f32[3,8]"}, {{A_K, "9"}}, NULL},
    {OP_CHOLESKY, {"f32[3,2,2]"}, {{0}}, "f32[3,2,2]"},
    {OP_CHOLESKY, {"f32[3,2,4]"}, {{0}}, NULL},
    {OP_TRIANGULAR_SOLVE,
     {"f32[2,2]", "f32[2,5]"},
     {{A_LEFT_SIDE, "1"}, {A_TRANSPOSE_A, "1"}},
     "f32[2,5]"},
    {OP_TRIANGULAR_SOLVE, {"f32[2,2]", "f32[2,5]"}, {{A_LEFT_SIDE, "1"}}, NULL},
    {OP_BATCH_NORM_TRAINING,
     {"f32[4,<=3]", "f32[3]", "f32[3]"},
     {{A_FEATURE_INDEX, "1"}},
     "(f32[4,<=3], f32[<=3], f32[<=3])"},
    {OP_BATCH_NORM_TRAINING, {"f32[4,3]", "f32[4]", "f32[3]"}, {{A_FEATURE_INDEX, "1"}}, NULL},
    {OP_GATHER,
     {"f32[10,20]", "s32[5,1]"},
     {{A_OFFSET_DIMS, "1"},
      {A_COLLAPSED_SLICE_DIMS, "0"},
      {A_START_INDEX_MAP, "0"},
      {A_INDEX_VECTOR_DIM, "1"},
      {A_SLICE_SIZES, "1,20"}},
     "f32[5,20]"},
    {OP_GATHER,
     {"f32[10,20]", "s32[5,1]"},
     {{A_OFFSET_DIMS, "1"},
      {A_COLLAPSED_SLICE_DIMS, "0"},
      {A_START_INDEX_MAP, "0"},
      {A_INDEX_VECTOR_DIM, "1"},
      {A_SLICE_SIZES, "2,20"}},
     NULL},
    {OP_SET_DIMENSION_SIZE, {"f32[2,3]", "s32[]"}, {{A_DIMENSIONS, "1"}}, "f32[2,<=3]"},
    {OP_GET_DIMENSION_SIZE, {"f32[2,3]"}, {{A_DIMENSIONS, "1"}}, "s32[]"},
    {OP_TUPLE, {"f32[2]", "token[]"}, {{0}}, "(f32[2], token[])"},
    {OP_TUPLE, {NULL}, {{0}}, "()"},
    {OP_GET_TUPLE_ELEMENT, {"(f32[2], s32[3])"}, {{A_INDEX, "1"}}, "s32[3]"},
    {OP_GET_TUPLE_ELEMENT, {"(f32[2], s32[3])"}, {{A_INDEX, "2"}}, NULL},
    {OP_DYNAMIC_SLICE,
     {"f32[4,5]", "s32[]", "s32[]"},
     {{A_DYNAMIC_SLICE_SIZES, "2,5"}},
     "f32[2,5]"},
    {OP_DYNAMIC_SLICE, {"f32[4,5]", "s32[]", "s64[]"}, {{A_DYNAMIC_SLICE_SIZES, "2,5"}}, NULL},
    {OP_DYNAMIC_UPDATE_SLICE, {"f32[4]{0}", "f32[2]", "u8[]"}, {{0}}, "f32[4]"},
    {OP_DYNAMIC_UPDATE_SLICE, {"f32[4]", "f32[5]", "u8[]"}, {{0}}, NULL},
};

static const struct shape *infer_for_parser(struct bench *b, const struct inst *i, bool strict)
{
    struct infer ctx = {
        .ds = &b->ds, .m = b->m, .arena = &b->m->arena, .parsing = true, .strict = strict};
    return infer_result(&ctx, i);
}

START_TEST(parser_inference)
{
    struct bench b;
    bench_open(&b);
    check_shape(&b, &inferred[_i], infer_for_parser(&b, make(&b, &inferred[_i], NULL), false));
    bench_close(&b);
}
END_TEST

START_TEST(inferable_opcodes)
{
    ck_assert(infer_is_possible(OP_ADD, true));
    ck_assert(!infer_is_possible(OP_SLICE, true));
    ck_assert(infer_is_possible(OP_SLICE, false));
    ck_assert(!infer_is_possible(OP_OPT_BARRIER, true));
    ck_assert(infer_is_possible(OP_OPT_BARRIER, false));
    ck_assert(!infer_is_possible(OP_RESHAPE, false));
}
END_TEST

/* ---- computations ---- */

static struct computation *adder(struct module *m, const char *x, const char *y, const char *result)
{
    struct computation *c = computation_new(m, STR("adder"));
    struct inst *operands[2] = {param(c, x), param(c, y)};
    inst_new(c, OP_ADD, STR("s"), shape_of(m, result), 2, operands);
    ck_assert(computation_finish(c));
    return c;
}

START_TEST(reducers)
{
    static const struct {
        const char *x, *y, *result, *init;
        bool fits;
    } cases[] = {
        {"f32[]", "f32[]", "f32[]", "f32[]", true},   {"f32[]", "s32[]", "f32[]", "f32[]", false},
        {"s32[]", "f32[]", "f32[]", "f32[]", false},  {"f32[]", "f32[]", "f32[2]", "f32[]", false},
        {"f32[]", "f32[]", "f32[]", "f32[2]", false}, {"f64[]", "bf16[]", "f64[]", "f32[]", true},
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct bench b;
        bench_open(&b);
        struct op_case c = {OP_REDUCE, {"f32[2,3]", cases[k].init}, {{A_DIMENSIONS, "1"}}, NULL};
        struct inst *i = make(&b, &c, NULL);
        struct computation *f = adder(b.m, cases[k].x, cases[k].y, cases[k].result);
        inst_set_attr(b.m, i, A_TO_APPLY, (union attr_value){.computation = f}, NO_SPAN);
        const struct shape *s = infer_for_parser(&b, i, true);
        ck_assert_msg((s != NULL) == cases[k].fits, "case %zu", k);
        bench_close(&b);
    }
}
END_TEST

/* ---- windows ---- */

START_TEST(windows)
{
    static const struct {
        struct window_dim w;
        int64_t base, out; /* -1: rejected */
    } cases[] = {
        {{3, 1, 0, 0, 1, 1, false}, 5, 3},
        {{3, 2, 1, 1, 1, 1, false}, 5, 3},
        {{3, 1, 0, 0, 1, 2, false}, 5, 1},
        {{3, 1, 0, 0, 2, 1, false}, 5, 7},
        {{3, 1, 0, 0, 1, 1, false}, 2, 0},
        {{3, 1, 0, 0, 1, 1, false}, 0, 0},
        {{1, 1, -2, -2, 1, 1, false}, 3, -1},
        {{0, 1, 0, 0, 1, 1, false}, 5, -1},
        {{1, 0, 0, 0, 1, 1, false}, 5, -1},
        {{1, 1, 0, 0, 0, 1, false}, 5, -1},
        {{1, 1, 0, 0, INT64_MAX, 1, false}, 5, -1},
        {{1, 1, 0, 0, 1, 1, false}, DIM_UNBOUNDED, DIM_UNBOUNDED},
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        int64_t out = -7;
        bool ok = window_output_size(&cases[k].w, cases[k].base, &out);
        ck_assert_msg(ok == (cases[k].out != -1), "case %zu", k);
        if (ok)
            ck_assert_int_eq(out, cases[k].out);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("infer");
    TCase *tcase = tcase_create("infer");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, parser_inference, 0, (int)COUNT_OF(inferred));
    tcase_add_test(tcase, inferable_opcodes);
    tcase_add_test(tcase, reducers);
    tcase_add_test(tcase, windows);
    suite_add_tcase(suite, tcase);
    return check_run(suite);
}
