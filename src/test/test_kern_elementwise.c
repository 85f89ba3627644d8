/*
 * Tests of the tile kernels of elementwise operations and comparisons, by grammar/values.md:
 * comments name its sections.
 */
#include "kern/kern.h"
#include "op/op.h"

#include "check_quiet.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- calling kernels ---- */

static void apply(const char *opcode, enum dtype t, void *out, const void *x, const void *y,
                  const void *z, int64_t n)
{
    kern_tile_fn *fn = kern_find_elementwise(opcode, t);
    ck_assert_msg(fn != NULL, "no kernel for %s of %s", opcode, dtype_spelling(t));
    fn(out, (const void *const[]){x, y, z}, n);
}

/* Repeats an element, so that vector loops and their remainder are covered. */
static void apply_widely(const char *opcode, enum dtype t, void *out, const void *x, const void *y)
{
    enum { N = 37 };
    char xs[N * 8], ys[N * 8], outs[N * 8];
    const size_t size = dtype_bytes(t);
    for (size_t i = 0; i < N; i++) {
        memcpy(xs + i * size, x, size);
        memcpy(ys + i * size, y, size);
    }
    apply(opcode, t, outs, xs, ys, NULL, N);
    memcpy(out, outs, size);
    const double first = float_load(t, out);
    for (size_t i = 1; i < N; i++) {
        const double other = float_load(t, outs + i * size);
        ck_assert_msg(isnan(first) ? isnan(other) : memcmp(&first, &other, sizeof first) == 0,
                      "%s of %s: %g and %g", opcode, dtype_spelling(t), first, other);
    }
}

static float f32(const char *opcode, float x, float y)
{
    float out;
    apply_widely(opcode, DT_F32, &out, &x, &y);
    return out;
}

static double f64(const char *opcode, double x, double y)
{
    double out;
    apply_widely(opcode, DT_F64, &out, &x, &y);
    return out;
}

static int64_t load_int(enum dtype t, const void *p)
{
    switch (dtype_bytes(t)) {
    case 1: return dtype_is_signed(t) ? *(const int8_t *)p : *(const uint8_t *)p;
    case 2: return dtype_is_signed(t) ? *(const int16_t *)p : *(const uint16_t *)p;
    case 4:
        return dtype_is_signed(t) ? (int64_t) * (const int32_t *)p
                                  : (int64_t) * (const uint32_t *)p;
    default: return *(const int64_t *)p;
    }
}

/* An integer operation on one element of any integer type. */
static int64_t integer(const char *opcode, enum dtype t, int64_t x, int64_t y)
{
    int64_t out = 0;
    apply(opcode, t, &out, &x, &y, NULL, 1); /* little-endian: the low bytes are the element */
    return load_int(t, &out);
}

static bool compare(enum kern_direction d, bool total, enum dtype t, const void *x, const void *y)
{
    uint8_t out = 7;
    kern_tile_fn *fn = kern_find_compare(d, total, t);
    ck_assert(fn != NULL);
    fn(&out, (const void *const[]){x, y}, 1);
    ck_assert_uint_le(out, 1);
    return out;
}

static bool same_f32(float a, float b)
{
    return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0;
}
static bool same_f64(double a, double b)
{
    return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0;
}
#define CHECK_FLOAT(expression, expected)                                                          \
    do {                                                                                           \
        const float got_ = (expression), expected_ = (expected);                                   \
        ck_assert_msg(same_f32(got_, expected_), #expression " is %.9g, not %.9g", (double)got_,   \
                      (double)expected_);                                                          \
    } while (0)
#define CHECK_DOUBLE(expression, expected)                                                         \
    do {                                                                                           \
        const double got_ = (expression), expected_ = (expected);                                  \
        ck_assert_msg(same_f64(got_, expected_), #expression " is %.17g, not %.17g", got_,         \
                      expected_);                                                                  \
    } while (0)

static const enum dtype integers[] = {DT_S1, DT_S2, DT_S4, DT_S8, DT_S16, DT_S32, DT_S64,
                                      DT_U1, DT_U2, DT_U4, DT_U8, DT_U16, DT_U32, DT_U64};

/* ---- every operation has a kernel for every type that the verifier accepts ---- */

static bool defined(const char *op,
                    enum dtype t) /* where the verifier accepts more than the language defines */
{
    if (strncmp(op, "shift", 5) == 0 || strcmp(op, "mulhi") == 0)
        return dtype_is_integer(t);
    if (strcmp(op, "complex") == 0)
        return t == DT_F32 || t == DT_F64;
    return !(dtype_is_complex(t) && strcmp(op, "remainder") == 0);
}

START_TEST(every_type_has_a_kernel)
{
    static const uint8_t classes[] = {[DC_PRED] = TY_PRED,
                                      [DC_SIGNED] = TY_SIGNED,
                                      [DC_UNSIGNED] = TY_UNSIGNED,
                                      [DC_FLOAT] = TY_FLOAT,
                                      [DC_COMPLEX] = TY_COMPLEX};
    int found = 0;
    for (int op = 0; op < OP_COUNT; op++) {
        if (op_table[op].family != FAMILY_elementwise)
            continue;
        const unsigned types = op_table[op].types == TY_ANY ? TY_ARRAY : op_table[op].types;
        for (enum dtype t = 0; t < DT_COUNT; t++) {
            if (!dtype_is_array(t) || !(types & classes[dtype_class(t)]))
                continue;
            kern_tile_fn *fn = kern_find_elementwise(op_table[op].spelling, t);
            ck_assert_msg((fn != NULL) == defined(op_table[op].spelling, t), "%s of %s",
                          op_table[op].spelling, dtype_spelling(t));
            found += fn != NULL;
        }
    }
    ck_assert_int_gt(found, 800);
    ck_assert(kern_find_elementwise("nonsense", DT_F32) == NULL);
    for (enum dtype t = 0; t < DT_COUNT; t++)
        for (int d = KERN_EQ; d <= KERN_LT && dtype_is_array(t); d++)
            for (int total = 0; total < 2; total++)
                ck_assert(kern_find_compare((enum kern_direction)d, total, t) != NULL);
}
END_TEST

/* ---- integers ---- */

static int64_t wrap(enum dtype t, int64_t v)
{
    const unsigned shift = 64 - dtype_bits(t);
    return dtype_is_signed(t) ? (int64_t)((uint64_t)v << shift) >> shift
                              : (int64_t)((uint64_t)v << shift >> shift);
}

static int64_t slow_power(enum dtype t, int64_t x, int64_t y)
{
    if (y < 0)
        return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
    int64_t r = 1;
    for (int64_t i = 0; i < y; i++)
        r = wrap(t, r * x);
    return r;
}

static int64_t slow_binary(int op, enum dtype t, int64_t x, int64_t y)
{
    const int w = (int)dtype_bits(t);
    const int64_t bits = y & ((1 << w) - 1), low = x & ((1 << w) - 1);
    const int64_t extended = (int64_t)((uint64_t)x << (64 - w)) >> (64 - w);
    switch (op) {
    case 0: return x + y;
    case 1: return x & y;
    case 2: return y == 0 ? -1 : x / y;
    case 3: return x > y ? x : y;
    case 4: return x < y ? x : y;
    case 5: return (x * y) >> w;
    case 6: return x * y;
    case 7: return x | y;
    case 8: return slow_power(t, x, y);
    case 9: return y == 0 ? x : x % y;
    case 10: return bits < w ? low << bits : 0;
    case 11: return extended >> (bits < w ? bits : w - 1);
    case 12: return bits < w ? low >> bits : 0;
    case 13: return x - y;
    default: return x ^ y;
    }
}

static const char *const binary_names[] = {
    "add",
    "and",
    "divide",
    "maximum",
    "minimum",
    "mulhi",
    "multiply",
    "or",
    "power",
    "remainder",
    "shift-left",
    "shift-right-arithmetic",
    "shift-right-logical",
    "subtract",
    "xor",
};

static int64_t slow_unary(int op, enum dtype t, int64_t x)
{
    const int w = (int)dtype_bits(t);
    int ones = 0, zeros = 0;
    for (int i = 0; i < w; i++)
        ones += (int)(x >> i & 1);
    while (zeros < w && !(x >> (w - 1 - zeros) & 1))
        zeros++;
    switch (op) {
    case 0: return x < 0 ? -x : x;
    case 1: return zeros;
    case 2: return -x;
    case 3: return ~x;
    case 4: return ones;
    default: return (x > 0) - (x < 0);
    }
}

static const char *const unary_names[] = {"abs", "count-leading-zeros", "negate", "not", "popcnt",
                                          "sign"};

/* All pairs of all types up to 8 bits. Sections 3, 4 and 7.5. */
START_TEST(small_integers_exhaustively)
{
    for (size_t k = 0; k < COUNT_OF(integers); k++) {
        const enum dtype t = integers[k];
        if (dtype_bits(t) > 8)
            continue;
        int8_t x[256], y[256], out[256];
        const int n = 1 << dtype_bits(t);
        for (int i = 0; i < n; i++)
            x[i] = (int8_t)wrap(t, i);
        for (int op = 0; op < (int)COUNT_OF(unary_names); op++) {
            apply(unary_names[op], t, out, x, NULL, NULL, n);
            for (int i = 0; i < n; i++)
                ck_assert_msg(
                    load_int(t, &out[i]) == wrap(t, slow_unary(op, t, load_int(t, &x[i]))),
                    "%s %s(%" PRIi64 ")", dtype_spelling(t), unary_names[op], load_int(t, &x[i]));
        }
        for (int j = 0; j < n; j++) {
            memset(y, x[j], sizeof y);
            for (int op = 0; op < (int)COUNT_OF(binary_names); op++) {
                apply(binary_names[op], t, out, x, y, NULL, n);
                for (int i = 0; i < n; i++) {
                    const int64_t a = load_int(t, &x[i]), b = load_int(t, &y[i]);
                    const int64_t expected = wrap(t, slow_binary(op, t, a, b));
                    ck_assert_msg(load_int(t, &out[i]) == expected,
                                  "%s %s(%" PRIi64 ", %" PRIi64 ") is %" PRIi64 ", not %" PRIi64,
                                  dtype_spelling(t), binary_names[op], a, b, load_int(t, &out[i]),
                                  expected);
                }
            }
        }
    }
}
END_TEST

START_TEST(wide_integers)
{
    for (size_t k = 0; k < COUNT_OF(integers); k++) {
        const enum dtype t = integers[k];
        const int64_t all_ones = wrap(t, -1),
                      min = wrap(t, (int64_t)((uint64_t)1 << (dtype_bits(t) - 1)));
        ck_assert_int_eq(integer("divide", t, 0, 0), all_ones); /* 4.2 */
        ck_assert_int_eq(integer("divide", t, min, 0), all_ones);
        ck_assert_int_eq(integer("remainder", t, min, 0), min);                          /* 4.3 */
        ck_assert_int_eq(integer("power", t, 0, 0), wrap(t, 1));                         /* 4.4 */
        ck_assert_int_eq(integer("shift-right-arithmetic", t, min, all_ones), all_ones); /* 4.8 */
        ck_assert_int_eq(integer("shift-left", t, all_ones, all_ones), 0);
        ck_assert_int_eq(integer("count-leading-zeros", t, 0, 0), wrap(t, dtype_bits(t)));
        ck_assert_int_eq(integer("popcnt", t, all_ones, 0), wrap(t, dtype_bits(t)));
        if (dtype_is_signed(t)) {
            ck_assert_int_eq(integer("divide", t, min, -1), min);
            ck_assert_int_eq(integer("remainder", t, min, -1), 0);
            ck_assert_int_eq(integer("abs", t, min, 0), min);
            ck_assert_int_eq(integer("negate", t, min, 0), min);
            ck_assert_int_eq(integer("count-leading-zeros", t, -1, 0), 0);
        }
    }
    ck_assert_int_eq(integer("power", DT_S64, 3, 64), 8733086111712066817); /* 4.4, EV26 */
    ck_assert_int_eq(integer("power", DT_S32, 3, 70), -102221863);
    ck_assert_int_eq(integer("power", DT_S64, 2, 64), 0);
    ck_assert_int_eq(integer("power", DT_S32, -1, -7), -1);
    ck_assert_int_eq(integer("power", DT_S32, -1, -2), 1);
    ck_assert_int_eq(integer("power", DT_S32, 0, -1), 0);
    ck_assert_int_eq(integer("power", DT_U32, 3, 0x80000001), 3); /* 3 has order 2^30 */
    ck_assert_int_eq(integer("remainder", DT_S32, -7, 3), -1);    /* 4.3 */
    ck_assert_int_eq(integer("remainder", DT_S32, 7, -3), 1);
    ck_assert_int_eq(integer("shift-right-logical", DT_S8, -128, 7), 1); /* 4.8 */
    ck_assert_int_eq(integer("shift-right-arithmetic", DT_U8, 255, 7), 255);
    ck_assert_int_eq(integer("shift-left", DT_S32, 1, -1), 0);
    ck_assert_int_eq(integer("mulhi", DT_S64, INT64_MIN, INT64_MIN), (int64_t)1 << 62); /* 4.9 */
    ck_assert_int_eq(integer("mulhi", DT_U64, -1, -1), -2);
    ck_assert_int_eq(integer("mulhi", DT_S32, -1, 1), -1);
    ck_assert_int_eq(integer("mulhi", DT_U32, 0xffffffff, 0xffffffff), 0xfffffffe);
    ck_assert_int_eq(integer("mulhi", DT_U16, 0xffff, 0xffff), 0xfffe);
    ck_assert_int_eq(integer("mulhi", DT_S16, -32768, 32767), -16384);
}
END_TEST

START_TEST(clamp_applies_the_upper_bound_last) /* 5.4 */
{
    int32_t out, low = 5, x = 1, high = 2;
    apply("clamp", DT_S32, &out, &low, &x, &high, 1);
    ck_assert_int_eq(out, 2);
    const float f[][4] = {{0, -0.0f, 0, 0}, {5, 1, 2, 2}, {NAN, 1, 2, NAN}, {0, NAN, 2, NAN},
                          {0, 1, NAN, NAN}, {0, 3, 2, 2}, {0, -3, 2, 0},    {0, INFINITY, 2, 2}};
    for (size_t i = 0; i < COUNT_OF(f); i++) {
        float r;
        apply("clamp", DT_F32, &r, &f[i][0], &f[i][1], &f[i][2], 1);
        CHECK_FLOAT(r, f[i][3]);
    }
}
END_TEST

START_TEST(pred_operations) /* 4.1, 4.7 */
{
    const uint8_t x[] = {0, 0, 1, 1}, y[] = {0, 1, 0, 1};
    static const struct {
        const char *opcode;
        uint8_t expected[4];
    } rows[] = {
        {"add", {0, 1, 1, 1}},     {"and", {0, 0, 0, 1}},      {"maximum", {0, 1, 1, 1}},
        {"minimum", {0, 0, 0, 1}}, {"multiply", {0, 0, 0, 1}}, {"not", {1, 1, 0, 0}},
        {"or", {0, 1, 1, 1}},      {"xor", {0, 1, 1, 0}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint8_t out[4];
        apply(rows[i].opcode, DT_PRED, out, x, y, NULL, 4);
        ck_assert_mem_eq(out, rows[i].expected, 4);
    }
    uint8_t low[] = {0, 1, 1, 0}, v[] = {1, 0, 1, 0}, high[] = {0, 1, 0, 1}, out[4];
    apply("clamp", DT_PRED, out, low, v, high, 4);
    ck_assert_mem_eq(out, ((uint8_t[]){0, 1, 0, 0}), 4);
}
END_TEST

/* ---- f32 and f64 ---- */

static const double inf = INFINITY, nan_ = NAN;

/* Rows of sections 3 and 4 that hold in every float type: exact results only. */
static const struct {
    const char *opcode;
    double x, y, expected;
} corners[] = {
    {"abs", -0.0, 0, 0},
    {"abs", -INFINITY, 0, INFINITY},
    {"negate", 0, 0, -0.0},
    {"negate", NAN, 0, NAN},
    {"sign", -0.0, 0, -0.0},
    {"sign", -3, 0, -1},
    {"sign", 2, 0, 1},
    {"sign", NAN, 0, NAN},
    {"floor", -0.0, 0, -0.0},
    {"floor", 0.5, 0, 0},
    {"floor", -0.5, 0, -1},
    {"floor", INFINITY, 0, INFINITY},
    {"ceil", -0.5, 0, -0.0},
    {"ceil", 0.5, 0, 1},
    {"ceil", NAN, 0, NAN},
    {"ceil", 1.5, 0, 2},
    {"round-nearest-afz", 0.5, 0, 1},
    {"round-nearest-afz", 2.5, 0, 3},
    {"round-nearest-afz", -0.5, 0, -1},
    {"round-nearest-afz", -0.25, 0, -0.0},
    {"round-nearest-even", 0.5, 0, 0},
    {"round-nearest-even", 1.5, 0, 2},
    {"round-nearest-even", 2.5, 0, 2},
    {"round-nearest-even", -0.5, 0, -0.0},
    {"round-nearest-even", 3.5, 0, 4},
    {"sqrt", -0.0, 0, -0.0},
    {"sqrt", -1, 0, NAN},
    {"sqrt", 4, 0, 2},
    {"sqrt", INFINITY, 0, INFINITY},
    {"rsqrt", 0, 0, INFINITY},
    {"rsqrt", -0.0, 0, -INFINITY},
    {"rsqrt", INFINITY, 0, 0},
    {"rsqrt", -1, 0, NAN},
    {"rsqrt", 4, 0, 0.5},
    {"cbrt", -0.0, 0, -0.0},
    {"cbrt", -8, 0, -2},
    {"cbrt", -INFINITY, 0, -INFINITY},
    {"exponential", -INFINITY, 0, 0},
    {"exponential", INFINITY, 0, INFINITY},
    {"exponential", 0, 0, 1},
    {"exponential-minus-one", -0.0, 0, -0.0},
    {"exponential-minus-one", -INFINITY, 0, -1},
    {"log", 0, 0, -INFINITY},
    {"log", -0.0, 0, -INFINITY},
    {"log", -1, 0, NAN},
    {"log", 1, 0, 0},
    {"log-plus-one", -0.0, 0, -0.0},
    {"log-plus-one", -1, 0, -INFINITY},
    {"log-plus-one", -2, 0, NAN},
    {"logistic", -INFINITY, 0, 0},
    {"logistic", INFINITY, 0, 1},
    {"logistic", 0, 0, 0.5},
    {"tanh", -0.0, 0, -0.0},
    {"tanh", INFINITY, 0, 1},
    {"tanh", -INFINITY, 0, -1},
    {"sine", INFINITY, 0, NAN},
    {"sine", -0.0, 0, -0.0},
    {"cosine", 0, 0, 1},
    {"cosine", -INFINITY, 0, NAN},
    {"tan", -0.0, 0, -0.0},
    {"tan", INFINITY, 0, NAN},
    {"erf", INFINITY, 0, 1},
    {"erf", -INFINITY, 0, -1},
    {"erf", -0.0, 0, -0.0},
    {"acos", 2, 0, NAN},
    {"acos", 1, 0, 0},
    {"asin", -0.0, 0, -0.0},
    {"asin", -2, 0, NAN},
    {"acosh", 0.5, 0, NAN},
    {"acosh", 1, 0, 0},
    {"acosh", INFINITY, 0, INFINITY},
    {"asinh", -0.0, 0, -0.0},
    {"asinh", -INFINITY, 0, -INFINITY},
    {"sinh", -0.0, 0, -0.0},
    {"sinh", INFINITY, 0, INFINITY},
    {"cosh", -INFINITY, 0, INFINITY},
    {"cosh", 0, 0, 1},
    {"atanh", 1, 0, INFINITY},
    {"atanh", -1, 0, -INFINITY},
    {"atanh", 2, 0, NAN},
    {"atanh", -0.0, 0, -0.0},
    {"real", -2.5, 0, -2.5},
    {"imag", -2.5, 0, 0},
    {"imag", NAN, 0, 0},
    {"add", INFINITY, -INFINITY, NAN},
    {"add", -0.0, 0, 0},
    {"subtract", INFINITY, INFINITY, NAN},
    {"multiply", INFINITY, 0, NAN},
    {"multiply", -1, 0, -0.0},
    {"divide", 1, 0, INFINITY},
    {"divide", -1, 0, -INFINITY},
    {"divide", 0, 0, NAN},
    {"divide", 1, -INFINITY, -0.0},
    {"remainder", -7, 3, -1},
    {"remainder", 5, INFINITY, 5},
    {"remainder", INFINITY, 2, NAN},
    {"remainder", 1, 0, NAN},
    {"remainder", -0.0, 3, -0.0},
    {"power", 1, NAN, 1},
    {"power", NAN, 0, 1},
    {"power", -1, INFINITY, 1},
    {"power", -0.0, -1, -INFINITY},
    {"power", -0.0, -2, INFINITY},
    {"power", 0, -1, INFINITY},
    {"power", -8, 0.333, NAN},
    {"power", -INFINITY, 3, -INFINITY},
    {"power", -INFINITY, -3, -0.0},
    {"power", -INFINITY, 0.5, INFINITY},
    {"power", -0.0, 0.5, 0},
    {"power", 0.5, INFINITY, 0},
    {"power", 0.5, -INFINITY, INFINITY},
    {"power", 2, 3, 8},
    {"atan2", -0.0, 0, -0.0},
    {"atan2", 0, 0, 0},
    {"atan2", NAN, 1, NAN},
    {"maximum", NAN, 1, NAN},
    {"maximum", 1, NAN, NAN},
    {"maximum", -0.0, 0, 0},
    {"maximum", 0, -0.0, 0},
    {"maximum", -0.0, -0.0, -0.0},
    {"maximum", 1, 2, 2},
    {"maximum", -INFINITY, -3, -3},
    {"maximum", 2, 2, 2},
    {"minimum", NAN, 1, NAN},
    {"minimum", 1, NAN, NAN},
    {"minimum", -0.0, 0, -0.0},
    {"minimum", 0, -0.0, -0.0},
    {"minimum", 0, 0, 0},
    {"minimum", 1, 2, 1},
    {"minimum", INFINITY, 3, 3},
    {"minimum", -2, -2, -2},
};

START_TEST(float_special_values)
{
    static const enum dtype types[] = {DT_F16, DT_BF16, DT_F32, DT_F64};
    for (size_t i = 0; i < COUNT_OF(corners); i++) {
        for (size_t k = 0; k < COUNT_OF(types); k++) {
            char x[8], y[8], out[8];
            float_store(types[k], x, corners[i].x);
            float_store(types[k], y, corners[i].y);
            apply_widely(corners[i].opcode, types[k], out, x, y);
            const double got = float_load(types[k], out);
            ck_assert_msg(same_f64(got, corners[i].expected), "%s %s(%g, %g) is %g, not %g",
                          dtype_spelling(types[k]), corners[i].opcode, corners[i].x, corners[i].y,
                          got, corners[i].expected);
        }
    }
}
END_TEST

START_TEST(float_values)
{
    CHECK_DOUBLE(f64("atan2", 0, -0.0), M_PI); /* 4.5 */
    CHECK_DOUBLE(f64("atan2", -0.0, -0.0), -M_PI);
    CHECK_DOUBLE(f64("atan2", inf, inf), M_PI / 4);
    CHECK_DOUBLE(f64("atan2", inf, -inf), 3 * M_PI / 4);
    CHECK_DOUBLE(f64("atan2", 1, -inf), M_PI);
    CHECK_DOUBLE(f64("acos", -1, 0), M_PI);
    CHECK_DOUBLE(f64("remainder", 1e300, 3), fmod(1e300, 3)); /* exact for huge ratios too */
    CHECK_FLOAT(f32("divide", 5, 3), 1.6666666269f);          /* 1.7: no reciprocals */
    CHECK_FLOAT(f32("exponential", 88.73f, 0), (float)inf);   /* 3 */
    ck_assert(f32("exponential", 88.72f, 0) < 3.4e38f);
    CHECK_FLOAT(f32("add", 0x1p-149f, 0x1p-149f), 0x1p-148f); /* 1.4: subnormals stay */
    CHECK_FLOAT(f32("multiply", 0x1p-126f, 0.5f), 0x1p-127f);
    CHECK_FLOAT(f32("maximum", 0x1p-149f, 0), 0x1p-149f);
    CHECK_FLOAT(f32("remainder", 0x1p-149f, 0x1p-149f), 0);
    CHECK_DOUBLE(f64("log", 0x1p-1074, 0), -1074 * 0.693147180559945309417);
    ck_assert(fabsf(f32("logistic", -15, 0) - 3.0590222e-7f) < 1e-13f);
    CHECK_FLOAT(f32("round-nearest-afz", 0x1.fffffep-2f, 0),
                0); /* below a half, though x + 0.5 is not below 1 */
    CHECK_FLOAT(f32("round-nearest-afz", 4194304.5f, 0), 4194305);
    CHECK_FLOAT(f32("round-nearest-afz", 8388609, 0), 8388609);
    CHECK_FLOAT(f32("round-nearest-even", 4194304.5f, 0), 4194304);
    CHECK_DOUBLE(f64("round-nearest-afz", 0x1.fffffffffffffp-2, 0), 0);
    uint8_t finite[5];
    apply("is-finite", DT_F32, finite, ((float[]){1, -0.0f, INFINITY, -INFINITY, NAN}), NULL, NULL,
          5);
    ck_assert_mem_eq(finite, ((uint8_t[]){1, 1, 0, 0, 0}), 5);
}
END_TEST

START_TEST(nan_bits_are_preserved) /* 1.5 */
{
    const uint32_t nans[] = {0x7fc12345, 0xff812345, 0x7f800001};
    uint32_t out[3];
    apply("negate", DT_F32, out, nans, NULL, NULL, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(out[i], nans[i] ^ 0x80000000);
    apply("abs", DT_F32, out, nans, NULL, NULL, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(out[i], nans[i] & 0x7fffffff);
    apply("real", DT_F32, out, nans, NULL, NULL, 3);
    ck_assert_mem_eq(out, nans, sizeof nans);
    apply("select", DT_F32, out, ((uint8_t[]){1, 0, 1}), nans, ((uint32_t[]){1, 2, 3}), 3);
    ck_assert_mem_eq(out, ((uint32_t[]){0x7fc12345, 2, 0x7f800001}), sizeof out);
    const uint16_t halves[] = {0x7e01, 0xfd55, 0x8000};
    uint16_t half[3];
    apply("negate", DT_F16, half, halves, NULL, NULL, 3);
    ck_assert_mem_eq(half, ((uint16_t[]){0xfe01, 0x7d55, 0}), sizeof half);
    uint8_t code;
    apply("negate", DT_F8E5M2, &code, ((uint8_t[]){0x7d}), NULL, NULL, 1); /* 2 */
    ck_assert_uint_eq(code, 0xfd);
}
END_TEST

/* ---- narrow floats ---- */

static const enum dtype bytes[] = {DT_F4E2M1FN, DT_F6E2M3FN,      DT_F6E3M2FN, DT_F8E3M4,
                                   DT_F8E4M3,   DT_F8E4M3B11FNUZ, DT_F8E4M3FN, DT_F8E4M3FNUZ,
                                   DT_F8E5M2,   DT_F8E5M2FNUZ,    DT_F8E8M0FNU};

static int code_count(enum dtype t) /* an f6 has fewer codes than its 8 bits can represent */
{
    return t == DT_F8E8M0FNU
               ? 256
               : 2 << (float_format(t)->exponent_bits + float_format(t)->mantissa_bits);
}

static bool same_code(enum dtype t, unsigned a, unsigned b)
{
    return a == b || (float_code_is_nan(t, a) && float_code_is_nan(t, b));
}

/* All pairs of codes against one f32 operation rounded by float_encode (1.2). */
START_TEST(byte_floats_exhaustively)
{
    for (size_t k = 0; k < COUNT_OF(bytes); k++) {
        const enum dtype t = bytes[k];
        const int n = code_count(t);
        uint8_t x[256], y[256], out[4][256];
        for (int j = 0; j < n; j++) {
            for (int i = 0; i < n; i++) {
                x[i] = (uint8_t)i;
                y[i] = (uint8_t)j;
            }
            apply("add", t, out[0], x, y, NULL, n);
            apply("multiply", t, out[1], x, y, NULL, n);
            apply("divide", t, out[2], x, y, NULL, n);
            apply("maximum", t, out[3], x, y, NULL, n);
            for (int i = 0; i < n; i++) {
                const float a = (float)float_decode(t, x[i]), b = (float)float_decode(t, y[i]);
                const float expected[] = {a + b, a * b, a / b,
                                          isnan(a) || isnan(b) ? NAN
                                          : a > b              ? a
                                          : b > a              ? b
                                          : signbit(a)         ? b
                                                               : a};
                for (int op = 0; op < 4; op++)
                    ck_assert_msg(
                        same_code(t, out[op][i], (unsigned)float_encode(t, (double)expected[op])),
                        "%s op %d of %02x, %02x is %02x", dtype_spelling(t), op, i, j, out[op][i]);
            }
        }
    }
}
END_TEST

START_TEST(byte_floats_negate) /* 2 */
{
    for (size_t k = 0; k < COUNT_OF(bytes); k++) {
        const enum dtype t = bytes[k];
        uint8_t x[256], minus[256], size[256], finite[256];
        const int n = code_count(t);
        for (int i = 0; i < n; i++)
            x[i] = (uint8_t)i;
        apply("negate", t, minus, x, NULL, NULL, n);
        apply("abs", t, size, x, NULL, NULL, n);
        apply("is-finite", t, finite, x, NULL, NULL, n);
        for (int i = 0; i < n; i++) {
            const double v = float_decode(t, (uint64_t)i);
            ck_assert_uint_eq(finite[i], isfinite(v) != 0);
            if (isnan(v)) {
                ck_assert(float_code_is_nan(t, minus[i]) && float_code_is_nan(t, size[i]));
                continue;
            }
            ck_assert_uint_eq(minus[i], float_encode(t, -v));
            ck_assert_uint_eq(size[i], float_encode(t, fabs(v)));
        }
    }
    uint8_t out;
    apply("negate", DT_F8E4M3FNUZ, &out, ((uint8_t[]){0x00}), NULL, NULL, 1);
    ck_assert_uint_eq(out, 0);
    apply("abs", DT_F8E4M3FNUZ, &out, ((uint8_t[]){0x80}), NULL, NULL, 1);
    ck_assert_uint_eq(out, 0x80);
    apply("negate", DT_F8E8M0FNU, &out, ((uint8_t[]){0x7f}), NULL, NULL, 1);
    ck_assert_uint_eq(out, 0xff);
}
END_TEST

START_TEST(every_operation_rounds) /* 1.2 */
{
    uint16_t x = f32_to_bf16(256), one = f32_to_bf16(1), sum;
    apply("add", DT_BF16, &sum, &x, &one, NULL, 1);
    apply("subtract", DT_BF16, &sum, &sum, &x, NULL, 1);
    ck_assert_uint_eq(sum, 0);
    uint8_t out; /* 384 + 352 overflows to NaN */
    apply("add", DT_F8E4M3FN, &out, ((uint8_t[]){0x7c}), ((uint8_t[]){0x7b}), NULL, 1);
    ck_assert_uint_eq(out, 0x7f);
}
END_TEST

/* Longer than the buffers of any kernel, and in place. */
START_TEST(long_tiles)
{
    enum { N = 2777 };
    uint16_t x[N], y[N], out[N];
    for (int i = 0; i < N; i++) {
        x[i] = f32_to_bf16((float)(i % 251));
        y[i] = f32_to_bf16((float)(i % 7) - 3);
    }
    apply("multiply", DT_BF16, out, x, y, NULL, N);
    for (int i = 0; i < N; i++)
        ck_assert_uint_eq(out[i], f32_to_bf16((float)(i % 251) * (float)(i % 7 - 3)));
    apply("multiply", DT_BF16, x, x, y, NULL, N);
    ck_assert_mem_eq(x, out, sizeof out);
    float f[N], g[N];
    for (int i = 0; i < N; i++)
        f[i] = g[i] = (float)i;
    apply("add", DT_F32, f, f, f, NULL, N);
    apply("multiply", DT_F32, f, g, f, NULL, N);
    for (int i = 0; i < N; i++)
        CHECK_FLOAT(f[i], (float)i * (2 * (float)i));
}
END_TEST

/* ---- complex numbers ---- */

static struct c128 c128(const char *opcode, double a, double b, double c, double d)
{
    struct c128 x = {a, b}, y = {c, d}, out;
    apply(opcode, DT_C128, &out, &x, &y, NULL, 1);
    struct c64 fx = {(float)a, (float)b}, fy = {(float)c, (float)d}, fout;
    apply(opcode, DT_C64, &fout, &fx, &fy, NULL, 1);
    if (fmax(hypot(a, b), hypot(c, d)) < 1e37 && isfinite(out.re) &&
        isfinite(out.im)) /* the two agree */
        ck_assert_msg(hypot((double)fout.re - out.re, (double)fout.im - out.im) <=
                          2e-6 * (hypot(out.re, out.im) + 1e-30),
                      "c64 %s(%g%+gi, %g%+gi) is %g%+gi", opcode, a, b, c, d, (double)fout.re,
                      (double)fout.im);
    return out;
}
#define CHECK_COMPLEX(expression, real, imaginary)                                                 \
    do {                                                                                           \
        const struct c128 got_ = (expression);                                                     \
        ck_assert_msg(same_f64(got_.re, real) && same_f64(got_.im, imaginary),                     \
                      #expression " is %.17g%+.17gi", got_.re, got_.im);                           \
    } while (0)

START_TEST(complex_arithmetic) /* 9 */
{
    CHECK_COMPLEX(c128("add", 1, 2, 3, -0.5), 4, 1.5);
    CHECK_COMPLEX(c128("subtract", 1, 2, 3, -0.5), -2, 2.5);
    CHECK_COMPLEX(c128("multiply", 1, 2, 3, 4), -5, 10);
    CHECK_COMPLEX(c128("multiply", inf, nan_, 1, 1), nan_, nan_); /* the plain formula */
    CHECK_COMPLEX(c128("divide", -5, 10, 3, 4), 1, 2);
    CHECK_COMPLEX(c128("divide", 1, 1, 0, 0), inf, inf);
    CHECK_COMPLEX(c128("divide", 0, 0, 0, 0), nan_, nan_);
    CHECK_COMPLEX(c128("divide", inf, nan_, 1, 1), inf, -inf);
    CHECK_COMPLEX(c128("divide", 1, 1, inf, inf), 0, 0);
    CHECK_COMPLEX(c128("divide", 1e300, 1e300, 1e300, 1e300), 1, 0);
    CHECK_COMPLEX(c128("negate", 0, -1, 0, 0), -0.0, 1);
    CHECK_COMPLEX(c128("sign", 0, 0, 0, 0), 0, 0);
    CHECK_COMPLEX(c128("sign", 3, -4, 0, 0), 0.6, -0.8);
}
END_TEST

START_TEST(complex_functions) /* 9 */
{
    CHECK_COMPLEX(c128("sqrt", -4, 0, 0, 0), 0, 2);
    CHECK_COMPLEX(c128("sqrt", -4, -0.0, 0, 0), 0, -2);
    CHECK_COMPLEX(c128("sqrt", 1, -inf, 0, 0), inf, -inf);
    CHECK_COMPLEX(c128("rsqrt", 0, 0, 0, 0), inf, nan_);
    CHECK_COMPLEX(c128("rsqrt", 4, 0, 0, 0), 0.5, 0);
    CHECK_COMPLEX(c128("log", -1, -0.0, 0, 0), 0, -M_PI);
    CHECK_COMPLEX(c128("log", 0, 0, 0, 0), -inf, 0);
    CHECK_COMPLEX(c128("exponential", 0, 0, 0, 0), 1, 0);
    CHECK_COMPLEX(c128("exponential", inf, 2, 0, 0), -inf, inf);
    CHECK_COMPLEX(c128("power", nan_, 1, 0, 0), 1, 0);
    CHECK_COMPLEX(c128("power", 1, 0, nan_, 7), 1, 0);
    CHECK_COMPLEX(c128("power", 0, 0, 2, 0), 0, 0);
    CHECK_COMPLEX(c128("power", inf, 0, 2, 0), inf, 0);
    CHECK_COMPLEX(c128("power", inf, 0, -2, 0), 0, 0);
    CHECK_COMPLEX(c128("tanh", inf, 3, 0, 0), 1, c128("tanh", inf, 3, 0, 0).im);
    CHECK_COMPLEX(c128("logistic", 0, 0, 0, 0), 0.5, 0);
    float size;
    apply("abs", DT_C64, &size, &(struct c64){1e-30f, 1e-30f}, NULL, NULL, 1);
    ck_assert(fabsf(size - 1.41421356e-30f) < 1e-36f);
    apply("abs", DT_C64, &size, &(struct c64){INFINITY, NAN}, NULL, NULL, 1);
    CHECK_FLOAT(size, (float)inf);
    const struct c128 i2 = c128("power", 1, 1, 2, 0); /* (1 + i)^2 = 2i */
    ck_assert(fabs(i2.re) < 1e-15 && fabs(i2.im - 2) < 1e-15);
    const struct c128 tiny = c128("log-plus-one", 1e-20, 1e-20, 0, 0),
                      grown = c128("exponential-minus-one", 1e-20, 1e-20, 0, 0);
    ck_assert(tiny.re == 1e-20 && tiny.im == 1e-20 && grown.re == 1e-20 && grown.im == 1e-20);
    const struct c128 quarter = c128("atan2", 1, 0, 1, 0); /* real arguments: the real function */
    ck_assert(fabs(quarter.re - M_PI / 4) < 1e-15 && fabs(quarter.im) < 1e-15);
    static const char *const inverse[][2] = {
        {"sine", "asin"}, {"cosine", "acos"}, {"sinh", "asinh"}, {"tanh", "atanh"}};
    for (size_t i = 0; i < COUNT_OF(inverse); i++) {
        const struct c128 there = c128(inverse[i][1], 0.3, -0.4, 0, 0),
                          back = c128(inverse[i][0], there.re, there.im, 0, 0);
        ck_assert(hypot(back.re - 0.3, back.im + 0.4) < 1e-15);
    }
    struct c64 z;
    apply("complex", DT_F32, &z, ((float[]){-0.0f}), ((float[]){3}), NULL, 1);
    CHECK_FLOAT(z.re, -0.0f);
    CHECK_FLOAT(z.im, 3);
}
END_TEST

/* ---- compare ---- */

START_TEST(partial_order) /* 5.1 */
{
    const float values[] = {NAN, -1, -0.0f, 0, 1, INFINITY};
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        for (size_t j = 0; j < COUNT_OF(values); j++) {
            const float a = values[i], b = values[j];
            uint16_t ha = (uint16_t)float_encode(DT_F16, (double)a),
                     hb = (uint16_t)float_encode(DT_F16, (double)b);
            const bool expected[] = {[KERN_EQ] = a == b, [KERN_NE] = a != b, [KERN_GE] = a >= b,
                                     [KERN_GT] = a > b,  [KERN_LE] = a <= b, [KERN_LT] = a < b};
            for (int d = KERN_EQ; d <= KERN_LT; d++) {
                ck_assert_int_eq(compare((enum kern_direction)d, false, DT_F32, &a, &b),
                                 expected[d]);
                ck_assert_int_eq(compare((enum kern_direction)d, false, DT_F16, &ha, &hb),
                                 expected[d]);
            }
        }
    }
    ck_assert(compare(KERN_GT, false, DT_U8, &(uint8_t){200}, &(uint8_t){100}));
    ck_assert(compare(KERN_LT, false, DT_S8, &(int8_t){-56}, &(int8_t){100}));
    ck_assert(compare(KERN_LT, true, DT_S8, &(int8_t){-56}, &(int8_t){100}));
    ck_assert(compare(KERN_LT, false, DT_PRED, &(uint8_t){0}, &(uint8_t){1}));
    ck_assert(compare(KERN_GT, false, DT_U64, &(uint64_t){UINT64_MAX}, &(uint64_t){1}));
    ck_assert(compare(KERN_LT, false, DT_S64, &(int64_t){-1}, &(int64_t){1}));
    ck_assert(compare(KERN_EQ, false, DT_C64, &(struct c64){0, 1}, &(struct c64){-0.0f, 1}));
    ck_assert(compare(KERN_NE, false, DT_C64, &(struct c64){0, 1}, &(struct c64){0, 2}));
    ck_assert(compare(KERN_NE, false, DT_C128, &(struct c128){0, NAN}, &(struct c128){0, NAN}));
}
END_TEST

static void check_ascending(enum dtype t, const void *codes, int n)
{
    const char *p = codes;
    const size_t size = dtype_bytes(t);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            const void *a = p + (size_t)i * size, *b = p + (size_t)j * size;
            ck_assert_msg(compare(KERN_LT, true, t, a, b) == (i < j), "%s %d < %d",
                          dtype_spelling(t), i, j);
            ck_assert(compare(KERN_LE, true, t, a, b) == (i <= j));
            ck_assert(compare(KERN_GT, true, t, a, b) == (i > j));
            ck_assert(compare(KERN_GE, true, t, a, b) == (i >= j));
            ck_assert(compare(KERN_EQ, true, t, a, b) == (i == j));
            ck_assert(compare(KERN_NE, true, t, a, b) == (i != j));
        }
    }
}

START_TEST(total_order) /* 5.2 */
{
    check_ascending(DT_F32,
                    ((uint32_t[]){0xffc00001, 0xffc00000, 0xff800001, 0xff800000, 0xbf800000,
                                  0x80000001, 0x80000000, 0, 1, 0x3f800000, 0x7f800000, 0x7f800001,
                                  0x7fc00000, 0x7fc00001}),
                    14);
    check_ascending(DT_F64,
                    ((uint64_t[]){0xfff8000000000000, 0xfff0000000000000, 0x8000000000000000, 0, 1,
                                  0x7ff0000000000000, 0x7ff8000000000000}),
                    7);
    check_ascending(DT_BF16, ((uint16_t[]){0xffc0, 0xff80, 0x8000, 0, 0x7f80, 0x7fc0}), 6);
    check_ascending(DT_F16, ((uint16_t[]){0xfe00, 0xfc00, 0x8000, 0, 0x7c00, 0x7e00}), 6);
    uint8_t codes[256];
    for (size_t k = 0; k < COUNT_OF(bytes); k++) {
        const enum dtype t = bytes[k];
        const int n = code_count(t), half = n / 2;
        const bool fnuz = t == DT_F8E4M3B11FNUZ || t == DT_F8E4M3FNUZ || t == DT_F8E5M2FNUZ;
        for (int i = 0; i < n; i++)
            codes[i] = (uint8_t)(t == DT_F8E8M0FNU ? i : i >= half ? i - half : n - 1 - i);
        if (fnuz) /* NaN 0x80 is the smallest, 0x81 is just below 0 */
            for (int i = 0; i < half; i++)
                codes[i] = (uint8_t)(i == 0 ? 0x80 : n - i);
        check_ascending(t, codes, n);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kern_elementwise");
    TCase *tcase = tcase_create("kern_elementwise");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, every_type_has_a_kernel);
    tcase_add_test(tcase, small_integers_exhaustively);
    tcase_add_test(tcase, wide_integers);
    tcase_add_test(tcase, clamp_applies_the_upper_bound_last);
    tcase_add_test(tcase, pred_operations);
    tcase_add_test(tcase, float_special_values);
    tcase_add_test(tcase, float_values);
    tcase_add_test(tcase, nan_bits_are_preserved);
    tcase_add_test(tcase, byte_floats_exhaustively);
    tcase_add_test(tcase, byte_floats_negate);
    tcase_add_test(tcase, every_operation_rounds);
    tcase_add_test(tcase, long_tiles);
    tcase_add_test(tcase, complex_arithmetic);
    tcase_add_test(tcase, complex_functions);
    tcase_add_test(tcase, partial_order);
    tcase_add_test(tcase, total_order);
    suite_add_tcase(suite, tcase);
    return check_run(suite);
}
