/*
 * Tests of verify on modules built by calls: shapes inferred from operands, and invalid modules.
 */
#include "verify/verify_priv.h"

#include "check_quiet.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- shapes and attributes from text: "f32[2,<=3]{0,1}", "(f32[], s32[])", "1,0" ---- */

static const struct shape *read_shape(struct arena *a, const char **at);

static const struct shape *read_tuple(struct arena *a, const char **at)
{
    const struct shape *parts[8];
    int n = 0;
    for (++*at; **at != ')'; *at += strspn(*at, ", "))
        parts[n++] = read_shape(a, at);
    ++*at;
    return shape_tuple(a, n, parts);
}

static int read_ints(const char **at, int64_t *out, bool *dynamic)
{
    int n = 0;
    while (strchr("-<?0123456789", **at) && **at) {
        if (dynamic)
            dynamic[n] = **at == '<' || **at == '?';
        if (**at == '?') {
            out[n++] = DIM_UNBOUNDED;
            ++*at;
        } else {
            char *end;
            out[n++] = strtoll(*at + (**at == '<' ? 2 : 0), &end, 10);
            *at = end;
        }
        *at += strspn(*at, ", ");
    }
    return n;
}

static const struct shape *read_shape(struct arena *a, const char **at)
{
    if (**at == '(')
        return read_tuple(a, at);
    const char *open = strchr(*at, '[');
    struct str word = {*at, (size_t)(open - *at)};
    int64_t dims[8], order[8];
    bool dynamic[8];
    *at = open + 1;
    int rank = read_ints(at, dims, dynamic);
    ++*at;
    if (str_is(word, "token"))
        return shape_token();
    struct layout l = *layout_default(a, rank);
    if (**at == '{') {
        ++*at;
        ck_assert_int_eq(read_ints(at, order, NULL), rank);
        ++*at;
        l.minor_to_major = ARENA_DUP(a, order, rank);
    }
    return shape_array(a, dtype_find(word), rank, dims, dynamic, ARENA_DUP(a, &l, 1));
}

static const struct shape *shape_of(struct module *m, const char *text)
{
    return read_shape(&m->arena, &text);
}

static union attr_value read_value(struct arena *a, enum attr_id id, const char *text)
{
    int64_t n[24];
    int count = read_ints(&text, n, NULL);
    switch (attr_table[id].kind) {
    case KIND_INT: return (union attr_value){.i = n[0]};
    case KIND_BOOL: return (union attr_value){.b = n[0] != 0};
    case KIND_ENUM: return (union attr_value){.e = (int)n[0]};
    case KIND_INT_LIST: return (union attr_value){.ints = {count, ARENA_DUP(a, n, count)}};
    case KIND_SLICES:
        return (union attr_value){
            .slices = {count / 3, arena_copy(a, n, (size_t)count * sizeof *n)}};
    case KIND_PADDING:
        return (union attr_value){
            .padding = {count / 3, arena_copy(a, n, (size_t)count * sizeof *n)}};
    default: ck_abort_msg("no reader for %s", attr_spelling(id));
    }
}

/* ---- a module under test ---- */

struct bench {
    struct diags ds;
    struct module *m;
    struct computation *main;
};

static void bench_open(struct bench *b)
{
    diags_init(&b->ds, NULL);
    b->m = module_new();
    b->main = computation_new(b->m, STR("main"));
    b->m->entry = b->main;
}

static void bench_close(struct bench *b)
{
    module_free(b->m);
    diags_free(&b->ds);
}

static struct inst *param(struct computation *c, const char *shape)
{
    struct inst *i = inst_new(c, OP_PARAMETER, STR("p"), shape_of(c->module, shape), 0, NULL);
    i->number = c->inst_count - 1;
    return i;
}

struct op_case {
    enum opcode op;
    const char *operands[4];
    struct {
        enum attr_id id;
        const char *value;
    } attrs[5];
    const char *result; /* NULL: none */
};

static struct inst *make(struct bench *b, const struct op_case *c, const struct shape *shape)
{
    struct inst *operands[4];
    int n = 0;
    for (; n < 4 && c->operands[n]; n++)
        operands[n] = param(b->main, c->operands[n]);
    struct inst *i = inst_new(b->main, c->op, STR("r"), shape, n, operands);
    for (int k = 0; k < 5 && c->attrs[k].value; k++)
        inst_set_attr(b->m, i, c->attrs[k].id,
                      read_value(&b->m->arena, c->attrs[k].id, c->attrs[k].value), NO_SPAN);
    return i;
}

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

/* ---- the parser's inference ---- */

static const struct op_case inferred[] = {
    {OP_ADD, {"f32[2,3]{0,1}", "f32[2,3]"}, {{0}}, "f32[2,3]{0,1}"},
    {OP_ADD, {"f32[2,3]{0,1}", "f32[]"}, {{0}}, "f32[2,3]"},
    {OP_ADD, {"f32[2,1]", "f32[1,3]"}, {{0}}, "f32[2,3]"},
    {OP_ADD, {"f32[2,<=3]", "f32[2,3]"}, {{0}}, "f32[2,<=3]"},
    {OP_ADD, {"bf16[2]", "f32[2]"}, {{0}}, "f32[2]"},
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

START_TEST(parser_inference)
{
    struct bench b;
    bench_open(&b);
    check_shape(&b, &inferred[_i],
                verify_infer_for_parser(&b.ds, b.m, make(&b, &inferred[_i], NULL), false));
    bench_close(&b);
}
END_TEST

START_TEST(what_can_be_inferred)
{
    ck_assert(verify_can_infer(OP_ADD, true));
    ck_assert(!verify_can_infer(OP_SLICE, true));
    ck_assert(verify_can_infer(OP_SLICE, false));
    ck_assert(!verify_can_infer(OP_OPT_BARRIER, true));
    ck_assert(verify_can_infer(OP_OPT_BARRIER, false));
    ck_assert(!verify_can_infer(OP_RESHAPE, false));
}
END_TEST

/* ---- the verifier: written shapes ---- */

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
START_TEST(modes)
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
        const struct shape *s = verify_infer_for_parser(&b.ds, b.m, i, true);
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
    tcase_add_loop_test(tcase, parser_inference, 0, (int)COUNT_OF(inferred));
    tcase_add_test(tcase, what_can_be_inferred);
    tcase_add_loop_test(tcase, written_shapes, 0, (int)COUNT_OF(written));
    tcase_add_test(tcase, modes);
    tcase_add_test(tcase, reducers);
    tcase_add_test(tcase, windows);
    tcase_add_test(tcase, one_message_for_each_instruction);
    suite_add_tcase(suite, tcase);
    return check_run(suite);
}
