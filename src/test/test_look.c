/*
 * Tests of look: statistics, slices, abridged values, plots, and comparison of values.
 */
#include "hlo.h"

#include "look/look.h"

#include "check_quiet.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

static struct arena arena;

static void set_up(void) { arena_init(&arena); }
static void tear_down(void) { arena_free(&arena); }

static hlo_literal *parsed(const char *text)
{
    hlo_messages *m = hlo_messages_new();
    hlo_literal *l = hlo_literal_parse(text, strlen(text), m);
    ck_assert_msg(l != NULL, "%s: %s", text,
                  hlo_messages_count(m) ? hlo_messages_get(m, 0).text : "");
    hlo_messages_free(m);
    return l;
}

/* ---- statistics ---- */

static const struct stats_case {
    const char *text, *summary;
    struct hlo_stats s;
} stats_cases[] = {
    {"f32[6] {1, -2, 0, nan, inf, 1e-40}",
     "f32[6] min -2 max 1 mean -0.25 nan 1 inf 1",
     {6, 4, 1, 1, 0, 1, 1, -2, 1, -0.25, 1.0897247358851685, 3, 4}},
    {"f64[3] {4e-310, -inf, 3}",
     "f64[3] min 4e-310 max 3 mean 1.5 nan 0 inf 1",
     {3, 2, 0, 0, 1, 0, 1, 4e-310, 3, 1.5, 1.5, -1, 1}},
    {"f64[2] {1.7e308, -1.7e308}",
     "f64[2] min -1.7e+308 max 1.7e+308 mean 0 nan 0 inf 0",
     {2, 2, 0, 0, 0, 0, 0, -1.7e308, 1.7e308, 0, 1.7e308, -1, -1}},
    {"f16[3] {6e-5, 0.5, -0}",
     "f16[3] min 0 max 0.5 mean 0.1667 nan 0 inf 0",
     {3, 3, 0, 0, 0, 1, 1, 0, 0.5, 0.16668667395909628, 0.2356881143771627, -1, -1}},
    {"bf16[2] {2, 4}",
     "bf16[2] min 2 max 4 mean 3 nan 0 inf 0",
     {2, 2, 0, 0, 0, 0, 0, 2, 4, 3, 1, -1, -1}},
    {"f8e5m2[3] {inf, -inf, nan}",
     "f8e5m2[3] min nan max nan mean nan nan 1 inf 2",
     {3, 0, 1, 1, 1, 0, 0, NAN, NAN, NAN, NAN, 2, 0}},
    {"f4e2m1fn[2] {0.5, 6}",
     "f4e2m1fn[2] min 0.5 max 6 mean 3.25 nan 0 inf 0",
     {2, 2, 0, 0, 0, 0, 1, 0.5, 6, 3.25, 2.75, -1, -1}},
    {"s4[3] {-8, 0, 7}",
     "s4[3] min -8 max 7 mean -0.3333",
     {3, 3, 0, 0, 0, 1, 0, -8, 7, -1.0 / 3, 6.1282587702834119, -1, -1}},
    {"u2[2] {3, 1}", "u2[2] min 1 max 3 mean 2", {2, 2, 0, 0, 0, 0, 0, 1, 3, 2, 1, -1, -1}},
    {"s16[2] {-300, 300}",
     "s16[2] min -300 max 300 mean 0",
     {2, 2, 0, 0, 0, 0, 0, -300, 300, 0, 300, -1, -1}},
    {"u64[1] {7}", "u64[1] 7", {1, 1, 0, 0, 0, 0, 0, 7, 7, 7, 0, -1, -1}},
    {"pred[4] {1, 0, 1, 1}",
     "pred[4] min 0 max 1 mean 0.75",
     {4, 4, 0, 0, 0, 1, 0, 0, 1, 0.75, 0.4330127018922193, -1, -1}},
    {"c64[2] {(3, 4), (nan, inf)}",
     "c64[2] min 5 max 5 mean 5 nan 1 inf 0",
     {2, 1, 1, 0, 0, 0, 0, 5, 5, 5, 0, 1, -1}},
    {"c128[2] {(0, 0), (inf, 1)}",
     "c128[2] min 0 max 0 mean 0 nan 0 inf 1",
     {2, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, -1, 1}},
    {"f32[0,3] {}", "f32[0,3] empty", {0, 0, 0, 0, 0, 0, 0, NAN, NAN, NAN, NAN, -1, -1}},
    {"f32[] -1.5", "f32[] -1.5", {1, 1, 0, 0, 0, 0, 0, -1.5, -1.5, -1.5, 0, -1, -1}},
    {"(f32[2] {1, 2}, (s32[1] {3}, f64[1] {nan}))",
     "(f32[2], (s32[1], f64[1])) min 1 max 3 mean 2 nan 1 inf 0",
     {4, 3, 1, 0, 0, 0, 0, 1, 3, 2, 0.81649658092772603, 3, -1}},
    {"()", "()", {0, 0, 0, 0, 0, 0, 0, NAN, NAN, NAN, NAN, -1, -1}},
};

static bool near(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-15 * fabs(b);
}

START_TEST(statistics)
{
    const struct stats_case *c = &stats_cases[_i];
    hlo_literal *l = parsed(c->text);
    struct hlo_stats s = hlo_literal_stats(l);
    const struct hlo_stats *w = &c->s;
    ck_assert_msg(s.elements == w->elements && s.finite == w->finite && s.nan == w->nan &&
                      s.positive_inf == w->positive_inf && s.negative_inf == w->negative_inf &&
                      s.zero == w->zero && s.denormal == w->denormal,
                  "%s: %lu finite, %lu nan, %lu and %lu infinite, %lu zero, %lu denormal", c->text,
                  (unsigned long)s.finite, (unsigned long)s.nan, (unsigned long)s.positive_inf,
                  (unsigned long)s.negative_inf, (unsigned long)s.zero, (unsigned long)s.denormal);
    ck_assert_msg(near(s.min, w->min) && near(s.max, w->max) && near(s.mean, w->mean) &&
                      near(s.deviation, w->deviation),
                  "%s: %g %g %.17g %.17g", c->text, s.min, s.max, s.mean, s.deviation);
    ck_assert_msg(s.first_nan == w->first_nan && s.first_inf == w->first_inf,
                  "%s: nan at %ld, inf at %ld", c->text, (long)s.first_nan, (long)s.first_inf);
    hlo_text summary = hlo_literal_summary(l);
    ck_assert_str_eq(summary.data, c->summary);
    hlo_text_free(&summary);
    hlo_literal_free(l);
}
END_TEST

/* Many blocks with a partial last one, against sums in the wider type. */
START_TEST(statistics_of_large_arrays)
{
    static const char *const types[] = {"f32", "f64", "f16", "bf16", "f8e4m3fn", "s32"};
    hlo_messages *m = hlo_messages_new();
    int64_t n = 100003;
    enum dtype t = dtype_find(str_of(types[_i]));
    hlo_literal *l = hlo_literal_new(types[_i], 1, &n, m);
    char *data = hlo_literal_leaf(l, 0).data;
    long double sum = 0, squares = 0, low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        double v = (double)((i * 7919) % 2003) - 900;
        int32_t whole = (int32_t)v;
        if (t == DT_S32)
            memcpy(data + i * 4, &whole, 4);
        else
            float_store(t, data + (size_t)i * dtype_bytes(t), v / 4);
        v = look_number(t, data + (size_t)i * dtype_bytes(t));
        sum += v;
        low = fminl(low, v), high = fmaxl(high, v);
    }
    for (int64_t i = 0; i < n; i++)
        squares +=
            powl(look_number(t, data + (size_t)i * dtype_bytes(t)) - sum / (long double)n, 2);
    struct hlo_stats s = hlo_literal_stats(l);
    ck_assert(s.elements == (uint64_t)n && s.finite == s.elements && s.min == low && s.max == high);
    ck_assert_msg(fabs(s.mean - (double)(sum / n)) < 1e-12 &&
                      fabs(s.deviation - (double)sqrtl(squares / n)) < 1e-10,
                  "%s: %.17g %.17g", types[_i], s.mean, s.deviation);
    if (t == DT_F32 || t == DT_F64) {
        float_store(t, data + 77777 * dtype_bytes(t), NAN);
        float_store(t, data + 99999 * dtype_bytes(t), -INFINITY);
        s = hlo_literal_stats(l);
        ck_assert(s.first_nan == 77777 && s.first_inf == 99999 && s.nan == 1 &&
                  s.negative_inf == 1 && s.finite == (uint64_t)n - 2);
        ck_assert(s.min == low && s.max == high);
    }
    hlo_literal_free(l);
    hlo_messages_free(m);
}
END_TEST

/* Blocks that are finite by themselves, but whose sum exceeds the range of double. */
START_TEST(statistics_beyond_double_range)
{
    hlo_messages *m = hlo_messages_new();
    int64_t n = 3000;
    hlo_literal *l = hlo_literal_new("f64", 1, &n, m);
    double *data = hlo_literal_leaf(l, 0).data;
    for (int64_t i = 0; i < n; i++)
        data[i] = i < n / 2 ? 3e307 : -1e307;
    struct hlo_stats s = hlo_literal_stats(l);
    ck_assert_msg(fabs(s.mean / 1e307 - 1) < 1e-12 && fabs(s.deviation / 2e307 - 1) < 1e-12,
                  "%g %g", s.mean, s.deviation);
    hlo_literal_free(l);
    hlo_messages_free(m);
}
END_TEST

START_TEST(statistics_as_json)
{
    hlo_literal *l = parsed("f32[3] {1, nan, inf}"), *none = parsed("f32[1] {nan}");
    struct hlo_stats s = hlo_literal_stats(l);
    hlo_text text = hlo_stats_json(&s);
    ck_assert_str_eq(
        text.data,
        "{\"elements\":3,\"finite\":1,\"nan\":1,\"positive_inf\":1,\"negative_inf\":0,\"zero\":0,"
        "\"denormal\":0,\"min\":1,\"max\":1,\"mean\":1,\"deviation\":0,\"first_nan\":1,\"first_"
        "inf\":2}");
    hlo_text_free(&text);
    s = hlo_literal_stats(none);
    text = hlo_stats_json(&s);
    ck_assert(strstr(text.data, "\"min\":\"nan\",\"max\":\"nan\""));
    hlo_text_free(&text);
    hlo_literal_free(l);
    hlo_literal_free(none);
}
END_TEST

/* ---- slices ---- */

static const char a34[] = "s32[3,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}";

static const struct slice_case {
    const char *of, *slice, *piece; /* or the error */
} slice_cases[] = {
    {a34, "", "s32[3,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}"},
    {a34, "[0,:2]", "s32[2] {0, 1}"},
    {a34, " [ -1 , 1 : -1 ] ", "s32[2] {9, 10}"},
    {a34, "[..., -1]", "s32[3] {3, 7, 11}"},
    {a34, "[1, ...]", "s32[4] {4, 5, 6, 7}"},
    {a34, "[1, ..., 2]", "s32[] 6"},
    {a34, "[...]", a34},
    {a34, "[1]", "s32[4] {4, 5, 6, 7}"},
    {a34, "[1][2]", "s32[] 6"},
    {a34, "[::2, 3:]", "s32[2,1] {{3}, {11}}"},
    {a34, "[::-1, ::-3]", "s32[3,2] {{11, 8}, {7, 4}, {3, 0}}"},
    {a34, "[2:0:-1, 0]", "s32[2] {8, 4}"},
    {a34, "[5:, 0]", "s32[0] {}"},
    {a34, "[-100:100, 0]", "s32[3] {0, 4, 8}"},
    {a34, "[::9223372036854775807, ::-9223372036854775808]", "s32[1,1] {{3}}"},
    {a34, "[2:1]", "s32[0,4] {}"},
    {"f32[] 3", "[...]", "f32[] 3"},
    {"f32[0,2] {}", "[::-1, 1]", "f32[0] {}"},
    {"c64[2] {(1, 2), (3, 4)}", "[1]", "c64[] (3, 4)"},
    {"(f32[2] {1, 2}, (s32[1] {3}))", "[0][1]", "f32[] 2"},
    {"(f32[2] {1, 2}, (s32[1] {3}))", "[-1][0][0]", "s32[] 3"},
    {"(f32[2] {1, 2}, (s32[1] {3}))", "[1]", "(s32[1] {3})"},
    {a34, "[3]", "'[3]': index 3 is out of range for dimension 0, of size 3"},
    {a34, "[0,-5]", "'[0,-5]': index -5 is out of range for dimension 1, of size 4"},
    {a34, "[0,0,0]", "'[0,0,0]': 3 indices for an array of rank 2"},
    {a34, "[...,0,...]", "'[...,0,...]': duplicate '...' at character 12"},
    {a34, "[::0]", "'[::0]': step must not be 0 at character 5"},
    {a34, "[]", "'[]': expected an integer, ':' or '...' at character 2"},
    {a34, "[0 1]", "'[0 1]': expected ',' or ']' at character 4"},
    {a34, "[0", "'[0': expected ',' or ']' at character 3"},
    {a34, "0", "'0': expected '[' at character 1"},
    {a34, "[..]", "'[..]': expected '...' at character 2"},
    {a34, "[99999999999999999999]",
     "'[99999999999999999999]': expected a 64-bit integer at character 2"},
    {a34, "[-]", "'[-]': expected a 64-bit integer at character 2"},
    {"(f32[2] {1, 2}, f32[] 1)", "[2]", "'[2]': index 2 is out of range for a tuple of 2 elements"},
    {"(f32[2] {1, 2}, f32[] 1)", "[0,1]",
     "'[0,1]': select a tuple element first, as in '[1][0,:4]'"},
};

START_TEST(slices_as_in_numpy)
{
    const struct slice_case *c = &slice_cases[_i];
    hlo_messages *m = hlo_messages_new();
    hlo_literal *l = parsed(c->of), *piece = hlo_literal_slice(l, c->slice, m);
    hlo_text text = {0};
    if (piece) {
        hlo_literal *expected = parsed(c->piece);
        ck_assert_msg(
            hlo_literal_compare(piece, expected, &HLO_WITH(hlo_tolerance, .bits = true), &text),
            "%s: %s", c->slice, text.data);
        hlo_literal_free(expected);
    } else {
        ck_assert_str_eq(hlo_messages_get(m, 0).text, c->piece);
    }
    ck_assert_msg((piece == NULL) == (c->piece[0] == '\''), "%s", c->slice);
    hlo_text_free(&text);
    hlo_literal_free(piece);
    hlo_literal_free(l);
    hlo_messages_free(m);
}
END_TEST

/* ---- what is shown ---- */

static const struct show_case {
    const char *of;
    struct hlo_view v;
    const char *text;
} show_cases[] = {
    {"f32[2] {1, 2.5}", {0}, "f32[2] {1, 2.5}"},
    {"pred[] true", {0}, "pred[] true"},
    {"f32[2,2]{0,1} {{1, 2}, {3, nan}}", {0}, "f32[2,2] { { 1, 2 }, { 3, nan } }"},
    {"s32[1,1,1,2] {{{{1, 2}}}}", {0}, "s32[1,1,1,2] { { /*i0=0*/ { /*i1=0*/ { 1, 2 } } } }"},
    {"(f32[] 1, (), (s32[1] {2}))", {0}, "(\n  f32[] 1,\n  (),\n  (\n    s32[1] {2}\n  )\n)"},
    {"f32[0,3] {}", {0}, "f32[0,3] {  }"},
    {"f32[2,3] {{1, 2, 3}, {4, 5, -6.25}}",
     {.width = 20},
     "f32[2,3] {\n  {     1,     2,\n        3 },\n  {     4,     5,\n    -6.25 }\n}"},
    {"f32[4] {1, 20, 3, 4}", {.width = 14}, "f32[4] {\n   1, 20,\n   3,  4\n}"},
    {"(f32[4] {1, 20, 3, 4})", {.width = 14}, "(\n  f32[4] {\n     1, 20,\n     3,  4\n  }\n)"},
    {"f32[3] {0.1, -2, inf}", {.hex = true}, "f32[3] {0x1.99999ap-4, -0x1p+1, inf}"},
    {"f64[2] {-0, 5e-324}", {.hex = true}, "f64[2] {-0x0p+0, 0x1p-1074}"},
    {"f32[2] {0.333333343, 12345.678}", {.precision = 3}, "f32[2] {0.333, 1.23e+04}"},
    {"c64[1] {(0.333333343, 2)}", {.precision = 2}, "c64[1] {(0.33, 2)}"},
    {"bf16[2] {1, -2}", {.bits = true}, "bf16[2] {1 /*0x3f80*/, -2 /*0xc000*/}"},
    {"s32[9] {1, 2, 3, 4, 5, 6, 7, 8, 9}",
     {.max = 8, .edge = 2},
     "s32[9] /* min 1 max 9 mean 5 */ {1, 2, ..., 8, 9}"},
    {"s32[9] {1, 2, 3, 4, 5, 6, 7, 8, 9}",
     {.max = 8, .edge = 5},
     "s32[9] /* min 1 max 9 mean 5 */ {1, 2, 3, 4, 5, 6, 7, 8, 9}"},
    {"f32[4,2] {{1, 2}, {3, 4}, {5, 6}, {7, 8}}",
     {.max = 4, .edge = 1},
     "f32[4,2] /* min 1 max 8 mean 4.5 nan 0 inf 0 */ { { 1, 2 }, ..., { 7, 8 } }"},
    {"f32[4,2] {{1, 2}, {3, 4}, {5, 6}, {7, 8}}",
     {.max = 4, .edge = 1, .width = 30},
     "f32[4,2] /* min 1 max 8 mean 4.5 nan 0 inf 0 */ {\n  { 1, 2 },\n  ...,\n  { 7, 8 }\n}"},
};

/* The height of the screen limits the elements at the ends, then leaves statistics. */
static const struct show_case tall_cases[] = {
    {"s32[9] {1, 2, 3, 4, 5, 6, 7, 8, 9}", {.summary = true}, "s32[9] min 1 max 9 mean 5"},
    {"(f32[2] {0, -0}, (f32[] 7, f32[0] {}))",
     {.summary = true},
     "(\n  f32[2] all elements 0,\n  (\n    f32[] 7,\n    f32[0] empty\n  )\n)"},
    {"f32[2] {nan, -nan}", {.summary = true}, "f32[2] all elements nan"},
    {"c64[2] {(1, 0), (0, 1)}", {.summary = true}, "c64[2] min 1 max 1 mean 1 nan 0 inf 0"},
    {"pred[2] {1, 1}", {.summary = true}, "pred[2] all elements 1"},
    {"s32[2,2] {{1, 2}, {3, 4}}", {.lines = 4}, "s32[2,2] { { 1, 2 }, { 3, 4 } }"},
    {"s32[5,1] {{1}, {2}, {3}, {4}, {5}}",
     {.lines = 5},
     "s32[5,1] /* min 1 max 5 mean 3 */ { {1}, ..., {5} }"},
    {"s32[5,1] {{1}, {2}, {3}, {4}, {5}}", {.lines = 4}, "s32[5,1] min 1 max 5 mean 3"},
    {"s32[] 5", {.lines = 1}, "s32[] 5"},
    {"s32[3] {1, 2, 3}", {.lines = 1}, "s32[3] {1, 2, 3}"},
    {"s32[5] {1, 2, 3, 4, 5}", {.max = 4, .lines = 1, .width = 40}, "s32[5] min 1 max 5 mean 3"},
};

struct pieces {
    struct buf all;
    size_t count, most;
};

static bool take_piece(void *context, const char *text, size_t size)
{
    struct pieces *p = context;
    buf_bytes(&p->all, text, size);
    return ++p->count < p->most;
}

/* The pieces of a long text make up the text; it ends early if `put` returns false. */
START_TEST(long_values_are_written_in_pieces)
{
    int64_t n = 100000;
    hlo_messages *m = hlo_messages_new();
    hlo_literal *h = hlo_literal_new("f32", 1, &n, m);
    float *data = hlo_literal_leaf(h, 0).data;
    for (int64_t i = 0; i < n; i++)
        data[i] = (float)i / 7;
    const struct hlo_view views[] = {
        HLO_WITH(hlo_view, .max = SIZE_MAX),
        HLO_WITH(hlo_view, .max = SIZE_MAX, .width = SIZE_MAX),
    };
    for (int k = 0; k < 4; k++) {
        const struct hlo_view *v = &views[k % 2];
        hlo_text text = k < 2 ? hlo_literal_show(h, v) : hlo_literal_json(h, v);
        struct pieces p = {.most = SIZE_MAX};
        ck_assert(hlo_literal_write(h, v, k >= 2, take_piece, &p, m));
        ck_assert_uint_gt(p.count, 5);
        ck_assert_uint_eq(p.all.size, text.size);
        ck_assert(memcmp(p.all.data, text.data, text.size) == 0);
        p.all.size = p.count = 0;
        p.most = 2;
        ck_assert(!hlo_literal_write(h, v, k >= 2, take_piece, &p, m));
        ck_assert_uint_eq(p.count, 2);
        buf_free(&p.all);
        hlo_text_free(&text);
    }
    hlo_literal_free(h);
    hlo_messages_free(m);
}
END_TEST

START_TEST(values_on_a_screen)
{
    const struct show_case *c = &tall_cases[_i];
    hlo_literal *l = parsed(c->of);
    struct hlo_view view = c->v;
    view.size = sizeof view;
    hlo_text text = hlo_literal_show(l, &view);
    ck_assert_str_eq(text.data, c->text);
    hlo_text_free(&text);
    hlo_literal_free(l);
}
END_TEST

START_TEST(abridged_values)
{
    const struct show_case *c = &show_cases[_i];
    hlo_literal *l = parsed(c->of);
    struct hlo_view view = c->v;
    view.size = sizeof view;
    hlo_text text = hlo_literal_show(l, &view);
    ck_assert_str_eq(text.data, c->text);
    if (!strstr(text.data, "...") && c->v.precision == 0) { /* it can be read again */
        hlo_literal *back = parsed(text.data);
        ck_assert(hlo_literal_compare(back, l, &HLO_WITH(hlo_tolerance, .bits = true), NULL));
        hlo_literal_free(back);
    }
    hlo_text_free(&text);
    hlo_literal_free(l);
}
END_TEST

/* On one line, the text equals that of hlo_literal_print. */
START_TEST(full_values_equal_literal_print)
{
    static const char *const values[] = {"f32[3] {1, 0.1, -nan}",
                                         "s4[2,2] {{1, 2}, {-3, 4}}",
                                         "f16[1,2,2,1] {{{{1}, {2}}, {{3}, {4}}}}",
                                         "c64[2,1] {{(1, 2)}, {(3, 4)}}",
                                         "pred[] false",
                                         "f32[2,0] {{}, {}}",
                                         "f32[0,0,0,3] {}",
                                         "u64[1,1] {{18446744073709551615}}"};
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        hlo_literal *l = parsed(values[i]);
        hlo_text shown =
                     hlo_literal_show(l, &HLO_WITH(hlo_view, .max = SIZE_MAX, .width = SIZE_MAX)),
                 text = hlo_literal_print(l, false);
        hlo_text shape = hlo_literal_shape(l);
        ck_assert(strncmp(shown.data, shape.data, shape.size) == 0 &&
                  shown.data[shape.size] == ' ');
        ck_assert_str_eq(shown.data + shape.size + 1, text.data);
        hlo_text_free(&shape);
        hlo_text_free(&text);
        hlo_text_free(&shown);
        hlo_literal_free(l);
    }
}
END_TEST

static const struct show_case json_cases[] = {
    {"f32[2] {1, -nan}", {0}, "{\"shape\":\"f32[2]\",\"values\":[1,\"nan\"]}"},
    {"f64[2,1] {{-inf}, {0.1}}", {0}, "{\"shape\":\"f64[2,1]\",\"values\":[[\"-inf\"],[0.1]]}"},
    {"pred[2] {1, 0}", {0}, "{\"shape\":\"pred[2]\",\"values\":[true,false]}"},
    {"s4[] -8", {0}, "{\"shape\":\"s4[]\",\"values\":-8}"},
    {"c64[1] {(1, inf)}", {0}, "{\"shape\":\"c64[1]\",\"values\":[[1,\"inf\"]]}"},
    {"f32[2,0] {{}, {}}", {0}, "{\"shape\":\"f32[2,0]\",\"values\":[[],[]]}"},
    {"f32[1] {0.5}", {.hex = true}, "{\"shape\":\"f32[1]\",\"values\":[\"0x1p-1\"]}"},
    {"f32[1] {0.123456}", {.precision = 2}, "{\"shape\":\"f32[1]\",\"values\":[0.12]}"},
    {"(u8[] 3, ())",
     {0},
     "{\"shape\":\"(u8[], "
     "())\",\"elements\":[{\"shape\":\"u8[]\",\"values\":3},{\"shape\":\"()\",\"elements\":[]}]}"},
    {"u8[2] {3, 5}",
     {.max = 1},
     "{\"shape\":\"u8[2]\",\"stats\":{\"elements\":2,\"finite\":2,\"nan\":0,\"positive_inf\":0,"
     "\"negative_inf\":0,"
     "\"zero\":0,\"denormal\":0,\"min\":3,\"max\":5,\"mean\":4,\"deviation\":1,\"first_nan\":-1,"
     "\"first_inf\":-1}}"},
};

START_TEST(values_as_json)
{
    const struct show_case *c = &json_cases[_i];
    hlo_literal *l = parsed(c->of);
    struct hlo_view view = c->v;
    view.size = sizeof view;
    hlo_text text = hlo_literal_json(l, &view);
    ck_assert_str_eq(text.data, c->text);
    hlo_text_free(&text);
    hlo_literal_free(l);
}
END_TEST

/* ---- pictures ---- */

static const struct plot_case {
    const char *of;
    enum hlo_plot kind;
    struct hlo_canvas c;
    const char *text;
} plot_cases[] = {
    {"f32[2,3] {{1, 2, 3}, {nan, 5, inf}}",
     HLO_PLOT_AUTO,
     {.width = 20, .height = 5},
     "f32[2,3] min 1 max 5 mean 2.75 nan 1 inf 1\n"
     "0 ..--++|\n"
     "1 NN@@II|\n"
     "  0    2\n"
     "  1 .:-=+*#%@ 5\n"},
    {"f32[2,3] {{1, 2, 3}, {nan, 5, inf}}",
     HLO_PLOT_AUTO,
     {.width = 20, .height = 5, .utf8 = true},
     "f32[2,3] min 1 max 5 mean 2.75 nan 1 inf 1\n"
     "0   \u2591\u2591\u2592\u2592|\n"
     "1 NN\u2588\u2588II|\n"
     "  0    2\n"
     "  1  \u2591\u2592\u2593\u2588 5\n"},
    {"f32[2,1] {{1}, {nan}}",
     HLO_PLOT_HEAT,
     {.width = 5, .height = 4, .color = true, .utf8 = true},
     "f32[2,1] min 1 max 1 mean 1 nan 1 inf 0\n"
     "0 \033[38;5;41m\033[48;5;196m\u2580\033[0m\n"
     "  0\n"
     "  1 \033[48;5;17m \033[48;5;18m \033[48;5;19m \033[48;5;25m \033[48;5;31m \033[48;5;37m "
     "\033[48;5;36m \033[48;5;35m "
     "\033[48;5;41m \033[48;5;77m \033[48;5;113m \033[48;5;149m \033[48;5;185m \033[48;5;221m "
     "\033[48;5;227m \033[48;5;229m "
     "\033[0m 1\n"},
    {"s32[2,4,4] {{{0, 0, 8, 8}, {0, 0, 8, 8}, {1, 1, 2, 2}, {1, 1, 2, 2}}, {{9, 9, 9, 9}, {9, 9, "
     "9, 9}, {9, 9, 9, 9}, {9, 9, 9, "
     "9}}}",
     HLO_PLOT_AUTO,
     {.width = 5, .height = 5},
     "s32[2,4,4] min 0 max 9 mean 5.875; [0,:,:]\n"
     "0 .@|\n"
     "3 :-|\n"
     "  0 3\n"
     "  0 .:-=+*#%@ 8\n"},
    {"f32[2] {nan, nan}",
     HLO_PLOT_HEAT,
     {.width = 6, .height = 4},
     "f32[2] all elements nan\n0 NN|\n  0 1\n  no finite values\n"},
    {"s32[4] {0, 1, 4, 9}",
     HLO_PLOT_AUTO,
     {.width = 16, .height = 7},
     "s32[4] min 0 max 9 mean 3.5\n"
     "         9 |   *\n"
     "           |   *\n"
     "           |  *\n"
     "         0 |**\n"
     "           +----\n"
     "            0  3\n"},
    {"f32[4] {0, nan, -inf, 1}",
     HLO_PLOT_CURVE,
     {.width = 16, .height = 5},
     "f32[4] min 0 max 1 mean 0.5 nan 1 inf 1\n"
     "         1 |   *\n"
     "         0 |*\n"
     "           +-NI-\n"
     "            0  3\n"},
    {"f32[2] {0, 1}",
     HLO_PLOT_CURVE,
     {.width = 14, .height = 4, .utf8 = true},
     "f32[2] min 0 max 1 mean 0.5 nan 0 inf 0\n"
     "         1 |\u2860\u280a\n"
     "           +--\n"
     "            0 1\n"},
    {"s32[4] {3, 5, 5, 4}",
     HLO_PLOT_HISTOGRAM,
     {.width = 44, .height = 6},
     "s32[4] min 3 max 5 mean 4.25\n"
     "                       3           1 ###\n"
     "                       4           1 ###\n"
     "                       5           2 ######\n"},
    {"f32[6] {0, 0.25, 1, nan, inf, -inf}",
     HLO_PLOT_HISTOGRAM,
     {.width = 40, .height = 5, .utf8 = true},
     "f32[6] min 0 max 1 mean 0.4167 nan 1 inf 2\n"
     "                0 .. 0.5           2 \u2588\u2588\n"
     "                0.5 .. 1           1 \u2588\n"
     "                     nan           1\n"
     "                     inf           1\n"
     "                    -inf           1\n"},
    {"f64[2] {0, 5e-324}",
     HLO_PLOT_HISTOGRAM,
     {.width = 40, .height = 5},
     "f64[2] min 0 max 4.941e-324 mean 0 nan 0 inf 0\n"
     "                  0 .. 0           1 ##\n"
     "         0 .. 4.941e-324           1 ##\n"},
    {"f64[2] {-1.7e308, 1.7e308}",
     HLO_PLOT_HISTOGRAM,
     {.width = 40, .height = 5},
     "f64[2] min -1.7e+308 max 1.7e+308 mean 0 nan 0 inf 0\n"
     "          -1.7e+308 .. 0           1 ##\n"
     "           0 .. 1.7e+308           1 ##\n"},
    {"f32[] 3", HLO_PLOT_AUTO, {0}, "f32[] 3\n"},
    {"(f32[0] {}, s32[1] {3})",
     HLO_PLOT_HISTOGRAM,
     {.width = 40, .height = 5},
     "s32[1] 3\n                       3           1 ##\n"},
    {"f32[0,2] {}", HLO_PLOT_HEAT, {0}, "f32[0,2] empty\n"},
};

START_TEST(text_plots)
{
    const struct plot_case *c = &plot_cases[_i];
    hlo_literal *l = parsed(c->of);
    struct hlo_canvas canvas = c->c;
    canvas.size = sizeof canvas;
    hlo_text text = hlo_literal_plot(l, c->kind, &canvas);
    ck_assert_str_eq(text.data, c->text);
    hlo_text_free(&text);
    hlo_literal_free(l);
}
END_TEST

static uint32_t u32_at(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* 256 pixels per element: checks the sizes, the checksum of each chunk, and the contents of
 * rows. */
START_TEST(png_plots)
{
    char path[] = "/tmp/test_look_XXXXXX";
    int fd = mkstemp(path);
    hlo_messages *m = hlo_messages_new();
    hlo_literal *l = parsed("f32[2,2] {{0, 1}, {nan, -inf}}"), *none = parsed("f32[0] {}");
    struct file_bytes f;
    ck_assert(fd >= 0 && hlo_write_png(path, l, m) && file_read(path, &f));
    const unsigned char *p = (const unsigned char *)f.data, *end = p + f.size;
    ck_assert(memcmp(p, "\211PNG\r\n\032\n", 8) == 0);
    for (p += 8; p < end; p += u32_at(p) + 12) {
        uint32_t size = u32_at(p);
        ck_assert_uint_eq(u32_at(p + 8 + size), crc32(0, p + 4, size + 4));
        if (memcmp(p + 4, "IHDR", 4) == 0)
            ck_assert(u32_at(p + 8) == 512 && u32_at(p + 12) == 512);
        if (memcmp(p + 4, "IDAT", 4) == 0) {
            enum { LINE = 513 };
            unsigned char *pixels = malloc(LINE * 512);
            uLongf unpacked = LINE * 512;
            ck_assert(uncompress(pixels, &unpacked, p + 8, size) == Z_OK && unpacked == LINE * 512);
            ck_assert(pixels[0] == 0 && pixels[1] == 0 && pixels[256] == 0 && pixels[257] == 253 &&
                      pixels[LINE * 256 + 1] == 255 && pixels[LINE * 511 + 512] == 254);
            free(pixels);
        }
    }
    ck_assert(p == end);
    file_release(&f);
    ck_assert(!hlo_write_png("/nowhere/x.png", l, m) && hlo_messages_errors(m) == 1);
    ck_assert(!hlo_write_png(path, none, m) && strstr(hlo_messages_get(m, 1).text, "no elements"));
    close(fd);
    unlink(path);
    hlo_literal_free(l);
    hlo_literal_free(none);
    hlo_messages_free(m);
}
END_TEST

/* ---- differences ---- */

/* The code of 1 in f64, and so its distance from 0, is 0x3ff << 52: 19 digits. */
START_TEST(large_distances_are_short)
{
    hlo_literal *a = parsed("f64[2] {1, 7}"), *b = parsed("f64[2] {0, 7}");
    struct hlo_difference d = hlo_literal_difference(a, b, &HLO_WITH(hlo_tolerance, .ulp = 1));
    ck_assert_uint_eq(d.worst[0].ulp, UINT64_C(0x3ff) << 52);
    hlo_text text = hlo_difference_print(&d, a, b, NULL);
    ck_assert_ptr_nonnull(strstr(text.data, "worst errors: abs 1, rel inf, 4.61e+18 ulp\n"));
    ck_assert_ptr_nonnull(strstr(text.data, "  inf  4.61e+18\n"));
    hlo_text_free(&text);
    hlo_literal_free(a);
    hlo_literal_free(b);
}
END_TEST

START_TEST(difference_statistics)
{
    hlo_literal *a = parsed("(f32[4] {1, 2.5, nan, 0}, s32[2] {7, -2})"),
                *b = parsed("(f32[4] {1, 2, 3, 0}, s32[2] {7, 2})");
    struct hlo_difference d = hlo_literal_difference(a, b, &HLO_WITH(hlo_tolerance, .rel = 0.01));
    ck_assert(d.comparable && d.elements == 6 && d.outside == 3 && d.not_finite == 1 &&
              d.worst_count == 3);
    ck_assert(d.worst_abs == 4 && d.worst_rel == 2 && d.decades[0] == 3 && d.decades[30] == 1 &&
              d.decades[31] == 2);
    ck_assert(d.worst[0].leaf == 0 && d.worst[0].index == 2 && isnan(d.worst[0].actual) &&
              d.worst[0].ulp == UINT64_MAX);
    ck_assert(d.worst[1].leaf == 1 && d.worst[1].index == 1 && d.worst[1].actual == -2 &&
              d.worst[1].ulp == 4);
    ck_assert(d.worst[2].leaf == 0 && d.worst[2].index == 1 && d.worst[2].abs == 0.5 &&
              d.worst[2].rel == 0.25);
    hlo_text text = hlo_difference_print(&d, a, b, NULL);
    ck_assert_str_eq(
        text.data,
        "3 of 6 elements differ, 1 of them not finite on one side; worst errors: abs 4, rel 2, "
        "2097152 ulp\n"
        "     element  expected  actual  abs   rel      ulp\n"
        "  leaf 0 {2}         3     nan  nan   nan        -\n"
        "  leaf 1 {1}         2      -2    4     2        4\n"
        "  leaf 0 {1}         2     2.5  0.5  0.25  2097152\n"
        "relative error      elements\n"
        "  none                     3  ########################################\n"
        "  up to 1e0                1  #############\n"
        "  more                     2  ###########################\n");
    hlo_text_free(&text);
    d = hlo_literal_difference(b, b, &HLO_WITH(hlo_tolerance, .bits = true));
    ck_assert(d.comparable && d.outside == 0 && d.decades[0] == 6 && d.worst_count == 0);
    text = hlo_difference_print(&d, b, b, NULL);
    ck_assert_str_eq(text.data, "0 of 6 elements differ\n");
    hlo_text_free(&text);
    text = hlo_difference_json(&d);
    ck_assert(strstr(text.data, "{\"comparable\":true,\"elements\":6,\"outside\":0,\"not_finite\":"
                                "0,\"worst_abs\":0,\"worst_rel\":0,"
                                "\"worst_ulp\":0,\"worst\":[],\"decades\":[6,0,"));
    hlo_text_free(&text);
    d = hlo_literal_difference(a, hlo_literal_element(b, 0), NULL);
    text = hlo_difference_print(&d, a, hlo_literal_element(b, 0), NULL);
    ck_assert(!d.comparable);
    ck_assert_str_eq(text.data, "shape is (f32[4], s32[2]), expected f32[4]\n");
    hlo_text_free(&text);
    hlo_literal_free(a);
    hlo_literal_free(b);
}
END_TEST

/* The ten worst of many, in descending order, ties in order of position. */
START_TEST(worst_differences_are_first)
{
    hlo_messages *m = hlo_messages_new();
    int64_t n = 1000;
    hlo_literal *a = hlo_literal_new("f64", 1, &n, m), *b = hlo_literal_new("f64", 1, &n, m);
    double *x = hlo_literal_leaf(a, 0).data, *y = hlo_literal_leaf(b, 0).data;
    for (int64_t i = 0; i < n; i++) {
        y[i] = 1;
        x[i] = 1 + (double)((i * 37) % 500) * 1e-6;
    }
    struct hlo_difference d =
        hlo_literal_difference(a, b, &HLO_WITH(hlo_tolerance, .abs = 1.05e-5));
    ck_assert(d.outside == 978 && d.worst_count == 10 && d.decades[0] == 2);
    for (size_t i = 0; i < 10; i++) {
        ck_assert((d.worst[i].index * 37) % 500 == (int64_t)(499 - i / 2));
        ck_assert(i % 2 == 0 || d.worst[i].index == d.worst[i - 1].index + 500);
    }
    hlo_literal_free(a);
    hlo_literal_free(b);
    hlo_messages_free(m);
}
END_TEST

/* ---- comparison ---- */

static struct literal *floats(enum dtype t, int64_t count, const double *values)
{
    bool complex = dtype_is_complex(t);
    struct literal *l = literal_new(
        &arena, shape_array(&arena, t, 1, (int64_t[]){complex ? count / 2 : count}, NULL, NULL));
    size_t width = dtype_bytes(dtype_component(t));
    for (int64_t i = 0; i < count; i++)
        float_store(dtype_component(t), (char *)l->data + (size_t)i * width, values[i]);
    return l;
}

static const struct comparison_case {
    enum dtype dtype;
    double actual[2], expected[2];
    struct hlo_tolerance t;
    bool agrees;
    const char *why;
} comparisons[] = {
    {DT_F32, {1, 2}, {1, 2}, {0}, true, ""},
    {DT_F32,
     {1, 2},
     {1, 3},
     {0},
     false,
     "element {1} is 2, expected 3; 1 of 2 differ; worst errors: abs 1 at {1}, rel 0.333, "},
    {DT_F32, {NAN, 0}, {-NAN, -0.0}, {0}, true, ""},
    {DT_F32, {0, 0}, {0, -0.0}, {.zeros = true}, false, "element {1} is 0, expected -0"},
    {DT_F32,
     {0, 0},
     {0, -0.0},
     {.bits = true},
     false,
     "element {1} is 0 (0x00000000), expected -0 (0x80000000)"},
    {DT_F32, {0, 0}, {0, -0.0}, {.zeros = true, .ulp = 1}, true, ""},
    {DT_F32, {1, 0}, {1 + 0x1p-22, 0}, {.ulp = 2}, true, ""},
    {DT_F32, {1, 0}, {1 + 0x1p-22, 0}, {.ulp = 1}, false, "2 ulp"},
    {DT_F32, {0x1p-149, 0}, {-0x1p-149, 0}, {.ulp = 2}, true, ""},
    {DT_F32, {0x1.fffffep127, 0}, {INFINITY, 0}, {.ulp = 1}, false, "expected inf"},
    {DT_F32, {NAN, 0}, {1, 0}, {.abs = 1e30, .rel = 1e30, .ulp = 1 << 30}, false, "is nan"},
    {DT_BF16, {1, 0}, {1 + 0x1p-7, 0}, {.ulp = 1}, true, ""},
    {DT_F8E4M3FN, {448, 0}, {416, 0}, {.ulp = 1}, true, ""},
    {DT_F64, {100, 0}, {101, 0}, {.rel = 0.01}, true, ""},
    {DT_F64, {100, 0}, {101.2, 0}, {.rel = 0.01}, false, "abs 1.2"},
    {DT_F64, {100, 0}, {101.2, 0}, {.abs = 0.2, .rel = 0.01}, true, ""},
    {DT_F32, {1000, 0.05}, {1000, 0}, {.usual = true}, true, ""}, /* of the largest element */
    {DT_F32, {1000, 0.2}, {1000, 0}, {.usual = true}, false, "element {1}"},
    {DT_F32, {1e-5, 1e-6}, {1e-5, 2e-6}, {.usual = true}, false, "element {1}"},
    {DT_F64, {1, 0}, {1.00001, 0}, {.usual = true}, false, "element {0}"},
    {DT_BF16, {1, INFINITY}, {1.03125, INFINITY}, {.usual = true}, true, ""},
    {DT_F32, {1, NAN}, {1, 1}, {.usual = true}, false, "is nan"},
    {DT_C64, {1024, 0x1p-20}, {1024, 0}, {.ulp = 1}, true, ""}, /* the small part cancelled */
    {DT_C64, {1024, 0x1p-12}, {1024, 0}, {.ulp = 1}, false, "2 ulp"},
    {DT_C64, {INFINITY, 1}, {INFINITY, 1 + 0x1p-23}, {.ulp = 1}, true, ""},
    {DT_C64,
     {INFINITY, 1},
     {-INFINITY, 1},
     {.ulp = 1},
     false,
     "element {0} is (inf, 1), expected (-inf, 1)"},
};

START_TEST(comparison_with_tolerances)
{
    const struct comparison_case *c = &comparisons[_i];
    struct literal *a = floats(c->dtype, 2, c->actual), *b = floats(c->dtype, 2, c->expected);
    struct buf why = {0};
    bool agrees = look_compare(a, b, &c->t, &why);
    buf_reserve(&why, 1);
    why.data[why.size] = '\0';
    ck_assert_msg(agrees == c->agrees, "case %d: %s", _i, why.data);
    ck_assert_msg(strstr(why.data, c->why), "case %d: '%s' lacks '%s'", _i, why.data, c->why);
    buf_free(&why);
    literal_free_data(a);
    literal_free_data(b);
}
END_TEST

START_TEST(comparison_of_integers_and_shapes)
{
    struct literal *a =
        literal_new(&arena, shape_array(&arena, DT_S32, 1, (int64_t[]){2}, NULL, NULL));
    struct literal *b = literal_new(&arena, a->shape);
    struct literal *c =
        literal_new(&arena, shape_array(&arena, DT_S32, 1, (int64_t[]){3}, NULL, NULL));
    struct buf why = {0};
    ((int32_t *)b->data)[1] = 1;
    ck_assert(!look_compare(a, b, &HLO_WITH(hlo_tolerance, .abs = 5, .rel = 5, .ulp = 5), &why));
    ck_assert(look_compare(a, a, &HLO_WITH(hlo_tolerance, .abs = 0), &why));
    ck_assert(!look_compare(a, c, &HLO_WITH(hlo_tolerance, .abs = 0), &why));
    ck_assert(strstr(why.data, "shape is s32[2], expected s32[3]"));
    buf_free(&why);
    literal_free_data(a);
    literal_free_data(b);
    literal_free_data(c);
}
END_TEST

/* Leaves by number, also of nested and empty tuples; visiting all of them must not take quadratic
 * time, which would exceed the time limit of a test. */
START_TEST(leaves_of_nested_tuples)
{
    enum { MANY = 200000 };
    hlo_messages *m = hlo_messages_new();
    struct buf text = {0};
    buf_puts(&text, "((), (s32[] -2, ((s32[] -1)), ())");
    for (int i = 0; i < MANY; i++)
        buf_printf(&text, ", s32[] %d", i);
    buf_putc(&text, ')');
    hlo_literal *l = hlo_literal_parse(text.data, text.size, m);
    ck_assert_ptr_nonnull(l);
    ck_assert_uint_eq(hlo_literal_leaves(l), MANY + 2);
    for (size_t i = 0; i < hlo_literal_leaves(l); i++)
        ck_assert(*(const int32_t *)hlo_literal_leaf(l, i).data == (int32_t)i - 2);
    ck_assert_ptr_null(hlo_literal_leaf(l, MANY + 2).data);
    const hlo_literal *inner = hlo_literal_element(l, 1);
    ck_assert_uint_eq(hlo_literal_leaves(inner), 2);
    ck_assert(*(const int32_t *)hlo_literal_leaf(inner, 1).data == -1);
    ck_assert_uint_eq(hlo_literal_leaves(hlo_literal_element(l, 0)), 0);
    hlo_literal_free(l);
    hlo_messages_free(m);
    buf_free(&text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("look");
    TCase *t = tcase_create("look");
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_loop_test(t, statistics, 0, COUNT_OF(stats_cases));
    tcase_add_loop_test(t, statistics_of_large_arrays, 0, 6);
    tcase_add_test(t, statistics_beyond_double_range);
    tcase_add_test(t, statistics_as_json);
    tcase_add_loop_test(t, slices_as_in_numpy, 0, COUNT_OF(slice_cases));
    tcase_add_loop_test(t, abridged_values, 0, COUNT_OF(show_cases));
    tcase_add_loop_test(t, values_on_a_screen, 0, COUNT_OF(tall_cases));
    tcase_add_test(t, long_values_are_written_in_pieces);
    tcase_add_test(t, full_values_equal_literal_print);
    tcase_add_loop_test(t, values_as_json, 0, COUNT_OF(json_cases));
    tcase_add_loop_test(t, text_plots, 0, COUNT_OF(plot_cases));
    tcase_add_test(t, png_plots);
    tcase_add_test(t, large_distances_are_short);
    tcase_add_test(t, difference_statistics);
    tcase_add_test(t, worst_differences_are_first);
    tcase_add_loop_test(t, comparison_with_tolerances, 0, COUNT_OF(comparisons));
    tcase_add_test(t, comparison_of_integers_and_shapes);
    tcase_add_test(t, leaves_of_nested_tuples);
    suite_add_tcase(s, t);
    return check_run(s);
}
