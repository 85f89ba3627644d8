/*
 * Tests of vectorized kernels: as accurate as libm, and bitwise identical on every instruction set
 * and at any position in an array.
 */
#include "check_quiet.h"
#include <math.h>
#include <stdlib.h>

#include "kern/cpu.h"
#include "kern/kern.h"
#include "kern/tile.h"
#include "op/op.h"
#include "random_view.h"

enum { N = 2048, MAX_BYTES = 16 };

static uint64_t next_word(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Any bits; moderate numbers; special values. */
static double number(uint64_t *state)
{
    static const double corners[] = {
        0,   -0.0, 1,   -1,       0.5,       -0.5,   2,        3,         -3,     -8,
        88,  -104, 20,  4,        1e-45,     -1e-45, 0x1p-126, 0x1p-1022, 5e-324, 0x1p24,
        1e9, 3e38, NAN, INFINITY, -INFINITY, 0x1p20, 1.5e300,  -1e308,    710,    -745};
    const uint64_t w = next_word(state);
    switch (w % 5) {
    case 0: return corners[(w >> 8) % COUNT_OF(corners)];
    case 1: return (double)(int64_t)(w >> 8) * 0x1p-54;               /* -0.. 1 */
    case 2: return ((double)(int64_t)(w >> 12) * 0x1p-52 - 0.5) * 40; /* -20..20 */
    case 3: return 1 + ((double)(int64_t)(w >> 12) * 0x1p-52 - 0.5) * exp2(-(double)(w >> 3 & 31));
    default:
        return ldexp((double)(int64_t)(w >> 12) * (w & 64 ? -0x1p-52 : 0x1p-52),
                     (int)(w >> 16 & 2047) - 1060);
    }
}

static void fill(enum dtype t, char *out, int64_t n, uint64_t *state)
{
    kern_tile_fn *convert = kern_find_convert(t, DT_F64);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t bits[2] = {next_word(state), next_word(state)};
        const double x = number(state);
        char *at = out + (size_t)i * dtype_bytes(t);
        if ((dtype_is_float(t) || dtype_is_complex(t)) && bits[0] % 4)
            convert(at, (const void *const[]){&x}, 1);
        else if (t == DT_PRED ||
                 dtype_bits(t) < 8) /* what can be stored: only so many bits count */
            kern_find_convert(t, DT_S64)(at, (const void *const[]){bits}, 1);
        else
            memcpy(at, bits, dtype_bytes(t));
        if (dtype_is_float(t) &&
            isnan(float_load(t, at))) /* no signaling NaN, which libm's pow handles differently */
            convert(at, (const void *const[]){(const double[]){NAN}}, 1);
    }
}

/* ---- accuracy ---- */

static int64_t place(double x, enum dtype t) /* floats of a type in order, one apart */
{
    union {
        float f;
        int32_t i;
    } a = {(float)x};
    union {
        double f;
        int64_t i;
    } b = {x};
    if (t == DT_F32)
        return a.i < 0 ? -(int64_t)(a.i & INT32_MAX) : a.i;
    return b.i < 0 ? -(b.i & INT64_MAX) : b.i;
}

static bool close(double got, double expected, enum dtype t)
{
    if (isnan(got) || isnan(expected))
        return isnan(got) && isnan(expected);
    return isinf(got) == isinf(expected) && !signbit(got) == !signbit(expected) &&
           llabs(place(got, t) - place(expected, t)) <= 1;
}

/* libm's result in f64, rounded: its f32 functions are sometimes off by more than one unit. */
static void through_f64(const char *opcode, float *out, const float *x, const float *y)
{
    static double wide[3][N];
    kern_tile_fn *widen = kern_find_convert(DT_F64, DT_F32);
    widen(wide[0], (const void *const[]){x}, N);
    widen(wide[1], (const void *const[]){y}, N);
    kern_find_elementwise(opcode, DT_F64)(wide[2], (const void *const[]){wide[0], wide[1]}, N);
    kern_find_convert(DT_F32, DT_F64)(out, (const void *const[]){wide[2]}, N);
}

static long double logisticl(long double x) { return 1 / (1 + expl(-x)); }

/* The same for f64, by long double. */
static void through_long_double(const char *opcode, double *out, const double *x, const double *y)
{
    static const struct {
        const char *opcode;
        long double (*unary)(long double);
        long double (*binary)(long double, long double);
    } wide[] = {
        {"acos", acosl, NULL},         {"acosh", acoshl, NULL},
        {"asin", asinl, NULL},         {"asinh", asinhl, NULL},
        {"atan2", NULL, atan2l},       {"atanh", atanhl, NULL},
        {"cbrt", cbrtl, NULL},         {"cosh", coshl, NULL},
        {"cosine", cosl, NULL},        {"erf", erfl, NULL},
        {"exponential", expl, NULL},   {"exponential-minus-one", expm1l, NULL},
        {"log", logl, NULL},           {"log-plus-one", log1pl, NULL},
        {"logistic", logisticl, NULL}, {"power", NULL, powl},
        {"remainder", NULL, fmodl},    {"sine", sinl, NULL},
        {"sinh", sinhl, NULL},         {"tan", tanl, NULL},
        {"tanh", tanhl, NULL},
    };
    for (size_t k = 0; k < COUNT_OF(wide); k++)
        for (size_t i = 0; i < N && strcmp(wide[k].opcode, opcode) == 0; i++)
            out[i] = (double)(wide[k].unary ? wide[k].unary(x[i]) : wide[k].binary(x[i], y[i]));
}

/* Within one unit in the last place of libm, or of its result in a wider type. */
static void check_close(const char *opcode, enum dtype t, kern_tile_fn *lanes, const void *x,
                        const void *y)
{
    static char fast[N * 8] __attribute__((aligned(8))), plain[N * 8],
        wide[N * 8] __attribute__((aligned(8)));
    lanes(fast, (const void *const[]){x, y}, N);
    kern_find_elementwise(opcode, t)(plain, (const void *const[]){x, y}, N);
    memcpy(wide, plain, sizeof wide);
    if (t == DT_F32)
        through_f64(opcode, (float *)(void *)wide, x, y);
    else
        through_long_double(opcode, (double *)(void *)wide, x, y);
    for (size_t i = 0; i < N; i++) {
        const size_t at = i * dtype_bytes(t);
        const double got = float_load(t, fast + at), expected = float_load(t, plain + at);
        ck_assert_msg(close(got, expected, t) || close(got, float_load(t, wide + at), t),
                      "%s(%a, %a) is %a, of libm %a", opcode, float_load(t, (const char *)x + at),
                      float_load(t, (const char *)y + at), got, expected);
    }
}

START_TEST(accuracy_against_libm)
{
    static const enum dtype types[] = {DT_F32, DT_F64};
    static double x[N], y[N];
    uint64_t state = 1;
    for (size_t k = 0; k < COUNT_OF(types); k++)
        for (int op = 0; op < OP_COUNT; op++) {
            const char *opcode = op_table[op].spelling;
            kern_tile_fn *lanes = kern_tiles()->vector(opcode, types[k]),
                         *libm = kern_find_elementwise(opcode, types[k]);
            ck_assert((lanes == NULL) == (libm == NULL));
            for (int round = 0; lanes != libm && round < 20; round++) {
                fill(types[k], (char *)x, N, &state);
                fill(types[k], (char *)y, N, &state);
                check_close(opcode, types[k], lanes, x, y);
            }
        }
}
END_TEST

/* Within a few units in the last place of the greater part, or both without a number. */
static bool close_complex(const float *got, const double *expected)
{
    const double size = fmax(fabs(expected[0]), fabs(expected[1]));
    bool ok = true;
    for (int k = 0; k < 2; k++) {
        const double e = expected[k];
        ok &= isnan(e) || isinf((float)e)
                  ? isnan(got[k]) == isnan(e) && (isnan(e) || got[k] == (float)e)
                  : fabs(got[k] - e) <= 0x1p-22 * size + 0x1p-148;
    }
    return ok;
}

static bool same_parts(const float *x, const float *y)
{
    bool ok = true;
    for (int k = 0; k < 2; k++)
        ok &= (isnan(x[k]) && isnan(y[k])) || memcmp(&x[k], &y[k], sizeof x[k]) == 0;
    return ok;
}

static void check_complex(const char *opcode, kern_tile_fn *lanes, const float *x, const float *y)
{
    static float fast[2 * N], plain[2 * N];
    static double wide[3][2 * N];
    const bool real = strcmp(opcode, "abs") == 0;
    kern_tile_fn *widen = kern_find_convert(DT_C128, DT_C64);
    lanes(fast, (const void *const[]){x, y}, N);
    kern_find_elementwise(opcode, DT_C64)(plain, (const void *const[]){x, y}, N);
    widen(wide[0], (const void *const[]){x}, N);
    widen(wide[1], (const void *const[]){y}, N);
    kern_find_elementwise(opcode, DT_C128)(wide[2], (const void *const[]){wide[0], wide[1]}, N);
    for (size_t i = 0; i < N; i++) {
        const size_t k = real ? i : 2 * i;
        const float got[] = {fast[k], real ? 0 : fast[k + 1]},
                    libm[] = {plain[k], real ? 0 : plain[k + 1]};
        const double expected[] = {wide[2][k], real ? 0 : wide[2][k + 1]};
        ck_assert_msg(same_parts(got, libm) || close_complex(got, expected),
                      "%s(%a + %a i, %a + %a i) is %a + %a i, expected %a + %a i", opcode, x[2 * i],
                      x[2 * i + 1], y[2 * i], y[2 * i + 1], got[0], got[1], expected[0],
                      expected[1]);
    }
}

START_TEST(accuracy_of_complex_numbers)
{
    static float x[2 * N], y[2 * N];
    uint64_t state = 6;
    int tried = 0;
    for (int op = 0; op < OP_COUNT; op++) {
        const char *opcode = op_table[op].spelling;
        kern_tile_fn *lanes = kern_tiles()->vector(opcode, DT_C64);
        if (!lanes || lanes == kern_find_elementwise(opcode, DT_C64))
            continue;
        tried++;
        for (int round = 0; round < 20; round++) {
            fill(DT_F32, (char *)x, 2 * N, &state);
            fill(DT_F32, (char *)y, 2 * N, &state);
            check_complex(opcode, lanes, x, y);
        }
    }
    ck_assert_int_ge(tried, 10);
}
END_TEST

/* ---- reproducibility ---- */

/* All NaNs count as equal. */
static bool same(enum dtype t, const char *a, const char *b, int64_t n)
{
    const enum dtype part = dtype_component(t);
    const size_t size = dtype_bytes(part);
    const int64_t parts = n * (dtype_is_complex(t) ? 2 : 1);
    for (int64_t i = 0; i < parts; i++, a += size, b += size)
        if (memcmp(a, b, size) != 0 &&
            !(dtype_is_float(part) && isnan(float_load(part, a)) && isnan(float_load(part, b))))
            return false;
    return true;
}

static enum dtype result_type(enum opcode op, enum dtype t)
{
    switch (op) {
    case OP_IS_FINITE: return DT_PRED;
    case OP_ABS:
    case OP_REAL:
    case OP_IMAG: return dtype_component(t);
    case OP_COMPLEX: return t == DT_F64 ? DT_C128 : DT_C64;
    default: return t;
    }
}

START_TEST(results_do_not_depend_on_instruction_set)
{
    static char x[3][N * MAX_BYTES], expected[N * MAX_BYTES], got[N * MAX_BYTES];
    uint64_t state = 2;
    for (int op = 0; op < OP_COUNT; op++)
        for (int k = 0; k < DT_COUNT; k++) {
            const enum dtype t = (enum dtype)k, result = result_type((enum opcode)op, t);
            setenv("HLO_ISA", "baseline", 1);
            kern_tile_fn *fn = kern_tiles()->vector(op_table[op].spelling, t);
            if (!fn || op == OP_SELECT)
                continue;
            for (int a = 0; a < 3; a++)
                fill(t, x[a], N, &state);
            fn(expected, (const void *const[]){x[0], x[1], x[2]}, N);
            for (int isa = CPU_AVX2; isa < CPU_ISA_COUNT; isa++) {
                setenv("HLO_ISA", cpu_isa_name((enum cpu_isa)isa), 1);
                kern_tile_fn *own = kern_tiles()->vector(op_table[op].spelling, t);
                own(got, (const void *const[]){x[0], x[1], x[2]}, N);
                if (t == DT_F64 && kern_find_elementwise(op_table[op].spelling, t) != own)
                    continue; /* requires fused multiply-add */
                ck_assert_msg(same(result, got, expected, N), "%s of %s with %s",
                              op_table[op].spelling, dtype_spelling(t),
                              cpu_isa_name((enum cpu_isa)isa));
            }
        }
    unsetenv("HLO_ISA");
}
END_TEST

START_TEST(conversions_do_not_depend_on_instruction_set)
{
    static char x[N * MAX_BYTES], expected[N * MAX_BYTES], got[N * MAX_BYTES];
    uint64_t state = 3;
    for (int from = 0; from < DT_COUNT; from++)
        for (int to = 0; to < DT_COUNT; to++) {
            setenv("HLO_ISA", "baseline", 1);
            kern_tile_fn *fn = kern_find_convert((enum dtype)to, (enum dtype)from);
            if (!fn)
                continue;
            fill((enum dtype)from, x, N, &state);
            fn(expected, (const void *const[]){x}, N);
            for (int isa = CPU_AVX2; isa < CPU_ISA_COUNT; isa++) {
                setenv("HLO_ISA", cpu_isa_name((enum cpu_isa)isa), 1);
                kern_find_convert((enum dtype)to, (enum dtype)from)(got, (const void *const[]){x},
                                                                    N);
                ck_assert_msg(same((enum dtype)to, got, expected, N), "%s to %s with %s",
                              dtype_spelling((enum dtype)from), dtype_spelling((enum dtype)to),
                              cpu_isa_name((enum cpu_isa)isa));
            }
        }
    unsetenv("HLO_ISA");
}
END_TEST

/* Alone, among a few or in an array, in place or not. */
START_TEST(results_do_not_depend_on_position)
{
    static const enum dtype types[] = {DT_F32, DT_F64, DT_BF16};
    char x[N * 8], y[N * 8], expected[N * 8], got[N * 8];
    uint64_t state = 4;
    for (size_t k = 0; k < COUNT_OF(types); k++)
        for (int op = 0; op < OP_COUNT; op++) {
            const enum dtype t = types[k];
            const size_t size = dtype_bytes(t);
            kern_tile_fn *fn = kern_tiles()->vector(op_table[op].spelling, t);
            if (!fn || op == OP_SELECT || result_type((enum opcode)op, t) != t)
                continue;
            fill(t, x, N, &state);
            fill(t, y, N, &state);
            fn(expected, (const void *const[]){x, y, y}, N);
            for (size_t i = 0; i < 200; i++)
                fn(got + i * size, (const void *const[]){x + i * size, y + i * size, y + i * size},
                   1);
            ck_assert_msg(same(t, got, expected, 200), "%s one at a time", op_table[op].spelling);
            for (size_t i = 0, n = 1; i < 200; i += n, n = n % 17 + 1)
                fn(got + i * size, (const void *const[]){x + i * size, y + i * size, y + i * size},
                   (int64_t)n);
            ck_assert_msg(same(t, got, expected, 200), "%s a few at a time", op_table[op].spelling);
            fn(x, (const void *const[]){x, y, y}, N);
            ck_assert_msg(same(t, x, expected, N), "%s in place", op_table[op].spelling);
        }
}
END_TEST

/* ---- random bits ---- */

START_TEST(random_bits_agree_with_reference)
{
    static const int64_t shapes[][3] = {{1, 1, 1}, {1, 1, 7},  {1, 1, 4096}, {3, 5, 7},
                                        {2, 3, 5}, {3, 4, 5},  {5, 3, 2050}, {1, 2, 1031},
                                        {7, 9, 2}, {1, 600, 3}};
    static const enum dtype types[] = {DT_U32, DT_U64, DT_U8, DT_S16, DT_S4, DT_PRED, DT_F32};
    static char fast[65536 * 8], plain[65536 * 8];
    uint64_t seed = 5;
    for (size_t s = 0; s < COUNT_OF(shapes); s++)
        for (size_t k = 0; k < COUNT_OF(types) * 3; k++) {
            struct view out;
            view_dense(&out, types[k / 3], 3, shapes[s], fast);
            const enum kern_rng algorithm = k % 3 ? KERN_PHILOX : KERN_THREE_FRY;
            const int words = k % 3 == 2 ? 3 : 2;
            const uint64_t state[3] = {next_word(&seed), UINT64_MAX - next_word(&seed) % 9,
                                       next_word(&seed)};
            uint64_t next[2][3] = {{0}, {0}};
            kern_fast.rng_bits(NULL, &out, algorithm, state, words, next[0]);
            out.data = plain;
            kern_plain.rng_bits(NULL, &out, algorithm, state, words, next[1]);
            ck_assert(memcmp(next[0], next[1], sizeof next[0]) == 0);
            ck_assert_msg(
                memcmp(fast, plain, (size_t)view_elements(&out) * dtype_bytes(types[k / 3])) == 0,
                "%s, shape %zu, kind %zu", dtype_spelling(types[k / 3]), s, k % 3);
        }
}
END_TEST

/* ---- NaNs ---- */

/* What results of bf16 and f16 are rounded by: NaNs of operations on their values, in f32, have no
 * bits below theirs. */
static void expect_short_nans(const struct kern_tiles *tiles, const char *opcode)
{
    enum { CODES = 1 << 13, OTHERS = 8 };
    static const uint32_t others[OTHERS] = {0,          0x3f800000, 0xff800000, 0x7fc00000,
                                            0x7fff0000, 0xff810000, 0x40490000, 0x00010000};
    static uint32_t x[CODES], y[CODES], out[CODES];
    kern_tile_fn *fn = tiles->vector(opcode, DT_F32);
    ck_assert_msg(fn != NULL, "%s", opcode);
    for (int other = 0; other < 2 * OTHERS; other++) {
        for (uint32_t i = 0; i < CODES; i++) {
            x[i] = (8 * i + 7) << 16;
            y[i] = others[other / 2];
        }
        fn(out, other % 2 ? (const void *const[]){y, x} : (const void *const[]){x, y}, CODES);
        for (int i = 0; i < CODES; i++)
            ck_assert_msg((out[i] & 0x7fffffff) <= 0x7f800000 || (out[i] & 0xffff) == 0,
                          "%s of %#x and %#x: %#x", opcode, x[i], y[i], out[i]);
    }
}

START_TEST(nans_have_no_lower_bits_than_operands)
{
    static const char *const opcodes[] = {"acos",        "acosh",
                                          "add",         "asin",
                                          "asinh",       "atan2",
                                          "atanh",       "cbrt",
                                          "cosh",        "cosine",
                                          "divide",      "erf",
                                          "exponential", "exponential-minus-one",
                                          "log",         "log-plus-one",
                                          "logistic",    "multiply",
                                          "power",       "remainder",
                                          "rsqrt",       "sine",
                                          "sinh",        "sqrt",
                                          "subtract",    "tan",
                                          "tanh"};
    for (size_t k = 0; k < COUNT_OF(opcodes); k++) {
        expect_short_nans(kern_tiles(), opcodes[k]);
        expect_short_nans(kern_plain_tiles(), opcodes[k]);
    }
}
END_TEST

START_TEST(nans_of_narrow_floats_keep_their_payload)
{
    const uint16_t bf16[] = {0x7fc1, 0xffff, 0x7f81}, one[] = {0x3f80, 0x3f80, 0x3f80},
                   f16[] = {0x7e01, 0xffff, 0x7c01}, half[] = {0x3800, 0x3800, 0x3800};
    uint16_t out[3];
    kern_find_elementwise("multiply", DT_BF16)(out, (const void *const[]){bf16, one}, 3);
    ck_assert_mem_eq(out, ((uint16_t[]){0x7fc1, 0xffff, 0x7fc1}), sizeof out);
    kern_find_elementwise("multiply", DT_F16)(out, (const void *const[]){f16, half}, 3);
    ck_assert_mem_eq(out, ((uint16_t[]){0x7e01, 0xffff, 0x7e01}), sizeof out);
}
END_TEST

/* Elements whose exponents span about `span`, 256 at a time, with zeros and some infinities. */
static void random_codes(struct random *r, int span, uint16_t *x, float *wide, int64_t n)
{
    int from = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i % 256 == 0)
            from = (int)random_in(r, 0, span < 20 ? 60 : 255 - span);
        const uint64_t bits = random_bits(r);
        const int exponent = from + (int)(bits >> 40) % (span + 1);
        x[i] = (uint16_t)((bits & 0x807f) | (uint64_t)(exponent & 0xff) << 7);
        if (bits >> 60 == 0)
            x[i] &= 0x8000;
        if (exponent == 255)
            x[i] &= 0xff80;
        wide[i] = bf16_to_f32(x[i]);
    }
}

START_TEST(sums_of_bf16_are_those_of_f32)
{
    const struct tile_set *sets[] = {&tile_set_baseline, tile_set()};
    struct random r = {.state = 1};
    uint16_t x[KERN_TILE];
    float wide[KERN_TILE];
    for (int trial = 0; trial < 4000; trial++) {
        const int64_t n = random_in(&r, 1, KERN_TILE);
        random_codes(&r, (int)random_in(&r, 0, trial % 40 == 0 ? 255 : 40), x, wide, n);
        for (size_t k = 0; k < COUNT_OF(sets); k++) {
            double expected = -0.0;
            sets[k]->sum_rows_f32(&expected, wide, 1, n);
            const double sum = sets[k]->sum_bf16(x, n);
            ck_assert(isnan(sum) ? isnan(expected) : memcmp(&sum, &expected, sizeof sum) == 0);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kern_vector");
    TCase *tcase = tcase_create("kern_vector");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, accuracy_against_libm);
    tcase_add_test(tcase, accuracy_of_complex_numbers);
    tcase_add_test(tcase, results_do_not_depend_on_instruction_set);
    tcase_add_test(tcase, conversions_do_not_depend_on_instruction_set);
    tcase_add_test(tcase, results_do_not_depend_on_position);
    tcase_add_test(tcase, random_bits_agree_with_reference);
    tcase_add_test(tcase, nans_have_no_lower_bits_than_operands);
    tcase_add_test(tcase, nans_of_narrow_floats_keep_their_payload);
    tcase_add_test(tcase, sums_of_bf16_are_those_of_f32);
    suite_add_tcase(suite, tcase);
    return check_run(suite);
}
