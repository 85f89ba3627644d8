/*
 * Tests of generated arguments: their values are valid for each use of the parameter, anywhere in
 * the module.
 */
#include "hlo_advanced.h"

#include "check_quiet.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- generated values ---- */

enum { MAX_ELEMENTS = 512 };
struct generated {
    size_t count;
    double at[MAX_ELEMENTS];
};

static double element(const struct hlo_array *a, size_t i)
{
    const char *p = (const char *)a->data + i * a->element_size;
    union {
        float f;
        double d;
        int8_t b;
        int32_t w;
        int64_t l;
    } v;
    memcpy(&v, p, a->element_size);
    if (strcmp(a->dtype, "f32") == 0)
        return (double)v.f;
    if (strcmp(a->dtype, "f64") == 0)
        return v.d;
    return a->element_size == 1 ? v.b : a->element_size == 4 ? v.w : (double)v.l;
}

/* All elements of leaf LEAF of parameter PARAM of a module with this text after its first line. */
static struct generated make(const char *text, size_t param, size_t leaf, enum hlo_fake kind,
                             uint64_t seed)
{
    char whole[4096];
    struct generated out = {0};
    int n = snprintf(whole, sizeof whole, "HloModule m\n%s\n", text);
    hlo_messages *m = hlo_messages_new();
    hlo_file *f = hlo_file_of_text("m", whole, (size_t)n, false);
    hlo_module *module = hlo_parse(f, 0, m);
    ck_assert_msg(module && hlo_verify(module, m), "%s", hlo_messages_draw(m, false).data);
    hlo_literal *l = hlo_fake_param(module, param, kind, seed, m);
    ck_assert_ptr_nonnull(l);
    struct hlo_array a = hlo_literal_leaf(l, leaf);
    ck_assert_uint_le(a.elements, MAX_ELEMENTS);
    for (; out.count < a.elements; out.count++)
        out.at[out.count] = element(&a, out.count);
    hlo_literal_free(l);
    hlo_module_free(module);
    hlo_file_free(f);
    hlo_messages_free(m);
    return out;
}

static void expect_within(const struct generated *v, double low, double high)
{
    ck_assert_uint_gt(v->count, 0);
    for (size_t i = 0; i < v->count; i++)
        ck_assert_msg(v->at[i] >= low && v->at[i] <= high, "%g is not from %g to %g", v->at[i], low,
                      high);
}

/* ---- constraints of uses ---- */

static const struct range_case {
    const char *text;
    size_t param, leaf;
    double low, high;
} range_cases[] = {
    {"ENTRY e { x = f32[10,4] parameter(0) i = s32[60,1] parameter(1)\n"
     "ROOT g = f32[60,2,4] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={}, "
     "start_index_map={0}, index_vector_dim=1, "
     "slice_sizes={2,4} }",
     1, 0, 0, 8},
    /* negative indices are wrapped, as in JAX */
    {"ENTRY e { x = f32[10] parameter(0) i = s64[] parameter(1) n = s64[] constant(10) z = s64[] "
     "constant(0)\n"
     "c = pred[] compare(i, z), direction=LT a = s64[] add(i, n) s = s64[] select(c, a, i) k = "
     "s32[] convert(s)\n"
     "ROOT d = f32[3] dynamic-slice(x, k), dynamic_slice_sizes={3} }",
     1, 0, 0, 7},
    {"ENTRY e { x = f32[10,9] parameter(0) u = f32[4,4] parameter(1) i = s32[] parameter(2) j = "
     "s32[] parameter(3)\n"
     "ROOT d = f32[10,9] dynamic-update-slice(x, u, i, j) }",
     3, 0, 0, 5},
    /* in a tuple, through a call, after a reshape */
    {"f { p = f32[6] parameter(0) ROOT l = f32[6] log(p) }\n"
     "ENTRY e { t = (s32[], f32[2,3]) parameter(0) g = f32[2,3] get-tuple-element(t), index=1 r = "
     "f32[6] reshape(g) ROOT c = "
     "f32[6] call(r), to_apply=f }",
     0, 1, 0.5, 1.5},
    {"ENTRY e { x = s32[50] parameter(0) y = s32[50] parameter(1) ROOT d = s32[50] divide(x, y) }",
     1, 0, 1, 8},
    {"ENTRY e { x = s32[50] parameter(0) y = s32[50] parameter(1) ROOT d = s32[50] shift-left(x, "
     "y) }",
     1, 0, 0, 31},
    {"ENTRY e { x = f64[50] parameter(0) ROOT d = f64[50] acosh(x) }", 0, 0, 1, 2},
    /* trip count of a loop */
    {"c { s = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] "
     "get-tuple-element(s), index=1 ROOT l "
     "= pred[] compare(i, n), direction=LT }\n"
     "b { s = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] "
     "get-tuple-element(s), index=1 o = "
     "s32[] constant(1) a = s32[] add(i, o) ROOT t = (s32[], s32[]) tuple(a, n) }\n"
     "ENTRY e { n = s32[] parameter(0) z = s32[] constant(0) t = (s32[], s32[]) tuple(z, n) ROOT w "
     "= (s32[], s32[]) while(t), "
     "condition=c, body=b }",
     0, 0, 1, 4},
    {"m { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] multiply(a, b) }\n"
     "ENTRY e { x = f32[5] parameter(0) i = f32[] parameter(1) ROOT r = f32[] reduce(x, i), "
     "dimensions={0}, to_apply=m }",
     1, 0, 1, 1},
    {"a { p = f32[] parameter(0) ROOT c = f32[] copy(p) }\n"
     "ENTRY e { i = s32[] parameter(0) x = f32[] parameter(1) ROOT r = f32[] conditional(i, x, x, "
     "x), branch_computations={a, a, "
     "a} }",
     0, 0, 0, 2},
    /* 100 products in a sum */
    {"ENTRY e { x = f32[2,100] parameter(0) y = f32[100,2] parameter(1) ROOT d = f32[2,2] dot(x, "
     "y), lhs_contracting_dims={1}, "
     "rhs_contracting_dims={0} }",
     0, 0, -0.1, 0.1},
};

START_TEST(value_ranges)
{
    const struct range_case *c = &range_cases[_i];
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct generated uniform = make(c->text, c->param, c->leaf, HLO_FAKE_UNIFORM, seed);
        expect_within(&uniform, c->low, c->high);
    }
}
END_TEST

static const char scatter[] =
    "a { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }\n"
    "ENTRY e { x = s32[5,5] parameter(0) i = s32[12,2] parameter(1) u = s32[12] parameter(2)\n"
    "ROOT s = s32[5,5] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0,1}, "
    "scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, %s to_apply=a }";

/* Each pair of indices as one number, in order. */
static void pairs(const char *attribute, uint64_t seed, double *out)
{
    char text[1024];
    snprintf(text, sizeof text, scatter, attribute);
    struct generated v = make(text, 1, 0, HLO_FAKE_UNIFORM, seed);
    expect_within(&v, 0, 4);
    for (size_t i = 0; i < 12; i++)
        out[i] = 5 * v.at[2 * i] + v.at[2 * i + 1];
}

START_TEST(index_attributes)
{
    double v[12];
    for (uint64_t seed = 0; seed < 8; seed++) {
        pairs("unique_indices=true,", seed, v);
        bool rising = true;
        for (size_t i = 0; i < 12; i++)
            for (size_t j = 0; j < i; j++) {
                ck_assert_double_ne(v[i], v[j]);
                rising &= v[i] > v[j];
            }
        ck_assert(!rising); /* not required here */
        pairs("indices_are_sorted=true, unique_indices=true,", seed, v);
        for (size_t i = 1; i < 12; i++)
            ck_assert_double_lt(v[i - 1], v[i]);
    }
}
END_TEST

START_TEST(cholesky_operand)
{
    struct generated v =
        make("ENTRY e { x = f64[4,4] parameter(0) ROOT c = f64[4,4] cholesky(x), lower=true }", 0,
             0, HLO_FAKE_NORMAL, 5);
    for (size_t i = 0; i < 16; i++)
        ck_assert(i % 5 == 0 ? v.at[i] == 2 : fabs(v.at[i]) < 1.5);
}
END_TEST

/* ---- kinds ---- */

#define PLAIN                                                                                      \
    "ENTRY e { x = f32[400] parameter(0) i = s32[400] parameter(1) b = f8e4m3fn[40] parameter(2) " \
    "ROOT t = (f32[400], s32[400], "                                                               \
    "f8e4m3fn[40]) tuple(x, i, b) }"

START_TEST(kinds_of_values)
{
    struct generated v = make(PLAIN, 0, 0, HLO_FAKE_IOTA, 1),
                     e = make(PLAIN, 0, 0, HLO_FAKE_EDGE, 1),
                     i = make(PLAIN, 1, 0, HLO_FAKE_EDGE, 1);
    struct generated narrow = make(PLAIN, 2, 0, HLO_FAKE_IOTA, 1),
                     normal = make(PLAIN, 0, 0, HLO_FAKE_NORMAL, 1);
    size_t nan = 0, inf = 0, minus_zero = 0, denormal = 0, min = 0;
    double sum = 0, squares = 0;
    for (size_t k = 0; k < 400; k++) {
        ck_assert_double_eq(v.at[k], (double)k);
        nan += isnan(e.at[k]) != 0;
        inf += isinf(e.at[k]) != 0;
        minus_zero += e.at[k] == 0 && signbit(e.at[k]);
        denormal += e.at[k] != 0 && fabs(e.at[k]) < 0x1p-126;
        min += i.at[k] == INT32_MIN;
        sum += normal.at[k];
        squares += normal.at[k] * normal.at[k];
    }
    ck_assert(nan && inf && minus_zero && denormal && min);
    ck_assert_double_eq(narrow.at[15], narrow.at[31]); /* four bits of mantissa count to 16 */
    ck_assert(fabs(sum / 400) < 0.2 && fabs(squares / 400 - 1) < 0.2);
}
END_TEST

START_TEST(seeds)
{
    struct generated a = make(PLAIN, 0, 0, HLO_FAKE_UNIFORM, 1),
                     b = make(PLAIN, 0, 0, HLO_FAKE_UNIFORM, 1),
                     c = make(PLAIN, 0, 0, HLO_FAKE_UNIFORM, 2);
    ck_assert_mem_eq(a.at, b.at, sizeof a.at);
    ck_assert_mem_ne(a.at, c.at, sizeof a.at);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("fake");
    TCase *t = tcase_create("fake");
    tcase_add_loop_test(t, value_ranges, 0, sizeof range_cases / sizeof *range_cases);
    tcase_add_test(t, index_attributes);
    tcase_add_test(t, cholesky_operand);
    tcase_add_test(t, kinds_of_values);
    tcase_add_test(t, seeds);
    suite_add_tcase(s, t);
    return check_run(s);
}
