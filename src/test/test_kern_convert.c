/*
 * Tests of conversions, operations on bits, and tile kernels over views, by grammar/values.md:
 * comments name its sections.
 */
#include "kern/kern.h"

#include "check_quiet.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double inf = INFINITY, nan_ = NAN;

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static float f32_of(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static void convert(enum dtype to, void *out, enum dtype from, const void *x, int64_t n)
{
    kern_tile_fn *fn = kern_find_convert(to, from);
    ck_assert_msg(fn != NULL, "no conversion of %s to %s", dtype_spelling(from),
                  dtype_spelling(to));
    fn(out, &x, n);
}

/* Stores and loads an element as a number: integers must fit a double; of complex numbers the real
 * part. */
static void put(enum dtype t, void *p, double v)
{
    const int64_t i = dtype_is_float(t) || dtype_is_complex(t) ? 0
                      : v >= 0x1p64                            ? -1
                      : v >= 0x1p63                            ? (int64_t)(uint64_t)v
                                                               : (int64_t)v;
    if (dtype_is_float(t))
        float_store(t, p, v);
    else if (t == DT_C64)
        *(struct c64 *)p = (struct c64){(float)v, 5};
    else if (t == DT_C128)
        *(struct c128 *)p = (struct c128){v, 5};
    else
        memcpy(p, &i, dtype_bytes(t));
}

static double get(enum dtype t, const void *p)
{
    uint64_t u = 0;
    if (dtype_is_float(t))
        return float_load(t, p);
    if (t == DT_C64)
        return (double)((const struct c64 *)p)->re;
    if (t == DT_C128)
        return ((const struct c128 *)p)->re;
    memcpy(&u, p, dtype_bytes(t));
    const int shift = 64 - 8 * (int)dtype_bytes(t);
    return dtype_is_signed(t) ? (double)((int64_t)(u << shift) >> shift) : (double)u;
}

static double converted(enum dtype to, enum dtype from, double v)
{
    enum { N = 37 }; /* vector loops and their remainder */
    char x[N * 16] = {0}, out[N * 16];
    const size_t size = dtype_bytes(to);
    for (size_t i = 0; i < N; i++)
        put(from, x + i * dtype_bytes(from), v);
    convert(to, out, from, x, N);
    for (size_t i = 1; i < N; i++)
        ck_assert_mem_eq(out, out + i * size, size);
    return get(to, out);
}

static bool same(double a, double b) { return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0; }

/* ---- convert ---- */

START_TEST(small_numbers_in_every_pair_of_types)
{
    for (enum dtype from = 0; from < DT_COUNT; from++) {
        for (enum dtype to = 0; to < DT_COUNT; to++) {
            if (!dtype_is_array(from) || !dtype_is_array(to))
                continue;
            const double one = from == DT_S1 ? -1 : 1; /* 1 does not fit */
            const double expected =
                to == DT_PRED                      ? 1
                : dtype_is_unsigned(to) && one < 0 ? ldexp(1, (int)dtype_bits(to)) - 1
                : to == DT_F8E8M0FNU && one < 0    ? NAN
                : to == DT_S1 ? (dtype_is_integer(from) || from == DT_PRED ? -1 : 0)
                              : one;
            ck_assert_msg(same(converted(to, from, one), expected), "%s of %s 1 is %g",
                          dtype_spelling(to), dtype_spelling(from), converted(to, from, one));
            if (from == DT_F8E8M0FNU) /* has no zero */
                continue;
            ck_assert_msg(same(converted(to, from, 0),
                               to == DT_F8E8M0FNU ? NAN : to == DT_PRED && dtype_is_complex(from)),
                          "%s of %s 0 is %g", dtype_spelling(to), dtype_spelling(from),
                          converted(to, from, 0));
        }
    }
}
END_TEST

/* The tables of section 6. */
static const struct {
    enum dtype to, from;
    double x, expected;
} values[] = {
    {DT_S32, DT_F32, 2147483648.0, 2147483647},
    {DT_S32, DT_F32, -2147483904.0, -2147483648.0},
    {DT_U32, DT_F32, 4294967296.0, 4294967295.0},
    {DT_S64, DT_F32, 1e20, 0x1p63},
    {DT_S32, DT_F64, 2147483647.5, 2147483647},
    {DT_U32, DT_F32, -0.5, 0},
    {DT_U8, DT_F32, 255.5, 255},
    {DT_U8, DT_F32, 256, 255},
    {DT_S8, DT_F32, -129, -128},
    {DT_S8, DT_F32, 127.9, 127},
    {DT_S8, DT_F32, -128.9, -128},
    {DT_S4, DT_F32, 7.5, 7},
    {DT_S4, DT_F32, 8, 7},
    {DT_S4, DT_F32, -8.5, -8},
    {DT_U4, DT_F32, 20, 15},
    {DT_S2, DT_F32, 9, 1},
    {DT_U1, DT_F64, 3, 1},
    {DT_S1, DT_F32, -5, -1},
    {DT_S32, DT_F32, NAN, 0},
    {DT_U64, DT_F64, NAN, 0},
    {DT_S32, DT_F32, INFINITY, 2147483647},
    {DT_S32, DT_F16, -INFINITY, -2147483648.0},
    {DT_U64, DT_F32, INFINITY, 0x1p64},
    {DT_U64, DT_F32, -3, 0},
    {DT_S32, DT_F32, -7.9, -7},
    {DT_U16, DT_BF16, 70000, 65535},
    {DT_S32, DT_F8E5M2, INFINITY, 2147483647},
    {DT_S32, DT_C64, 7.9, 7},
    {DT_S8, DT_C128, -300, -128},
    {DT_PRED, DT_F32, NAN, 1},
    {DT_PRED, DT_F32, -0.0, 0},
    {DT_PRED, DT_F32, 0.5, 1},
    {DT_PRED, DT_S32, 256, 1},
    {DT_PRED, DT_F8E8M0FNU, 0x1p-127, 1},
    {DT_PRED, DT_F32, 0x1p-149, 1},
    {DT_F32, DT_U64, 0x1p64, 0x1p64},
    {DT_F32, DT_S32, 16777217, 16777216},
    {DT_F16, DT_S32, 65519, 65504},
    {DT_F16, DT_S32, 65520, INFINITY},
    {DT_BF16, DT_S32, 16842753, 16777216},
    {DT_F32, DT_PRED, 1, 1},
    {DT_F16, DT_F32, 65519.99, 65504},
    {DT_F16, DT_F32, 65520, INFINITY},
    {DT_BF16, DT_F32, 3.3961775e38, INFINITY},
    {DT_BF16, DT_F32, 3.3895e38, 0x1.fep127},
    {DT_BF16, DT_F32, 1 + 0x1p-8, 1},
    {DT_BF16, DT_F32, 1.01171875, 1.015625},
    {DT_F16, DT_F32, 0x1p-25, 0},
    {DT_F16, DT_F32, 0x1.000002p-25, 0x1p-24},
    {DT_BF16, DT_F64, 1 + 0x1p-8 + 0x1p-40, 1},
    {DT_F16, DT_F64, 1 + 0x1p-11 + 0x1p-40, 1},
    {DT_F8E5M2, DT_F64, 1.125 + 0x1p-40, 1.25},
    {DT_F8E5M2, DT_F64, 1.125, 1},
    {DT_S4, DT_S32, 300, -4},
    {DT_S4, DT_S32, 8, -8},
    {DT_U4, DT_S32, -9, 7},
    {DT_S8, DT_U8, 255, -1},
    {DT_U64, DT_S8, -1, 0x1p64},
    {DT_S32, DT_S4, -8, -8},
    {DT_S32, DT_U4, 15, 15},
    {DT_F64, DT_F32, 0x1p-149, 0x1p-149},
    {DT_F32, DT_F64, 0x1p-149, 0x1p-149},
    {DT_F32, DT_F64, 0x1p128, INFINITY},
    /* section 2 */
    {DT_F8E5M2, DT_F32, 61439, 57344},
    {DT_F8E5M2, DT_F32, 61440, INFINITY},
    {DT_F8E4M3, DT_F32, 247.9, 240},
    {DT_F8E4M3, DT_F32, 248, INFINITY},
    {DT_F8E4M3FN, DT_F32, 464, 448},
    {DT_F8E4M3FN, DT_F32, 465, NAN},
    {DT_F8E4M3B11FNUZ, DT_F32, 30, 30},
    {DT_F8E4M3B11FNUZ, DT_F32, 31, NAN},
    {DT_F8E4M3FNUZ, DT_F32, 247.9, 240},
    {DT_F8E4M3FNUZ, DT_F32, 248, NAN},
    {DT_F8E5M2FNUZ, DT_F32, 61439, 57344},
    {DT_F8E5M2FNUZ, DT_F32, 61440, NAN},
    {DT_F8E3M4, DT_F32, 15.75, INFINITY},
    {DT_F8E3M4, DT_F32, 15.74, 15.5},
    {DT_F4E2M1FN, DT_F32, 0.25, 0},
    {DT_F4E2M1FN, DT_F32, 0.75, 1},
    {DT_F4E2M1FN, DT_F32, 5, 4},
    {DT_F4E2M1FN, DT_F32, 1e9, 6},
    {DT_F4E2M1FN, DT_F32, INFINITY, 6},
    {DT_F4E2M1FN, DT_F32, NAN, -0.0},
    {DT_F4E2M1FN, DT_F64, -1e300, -6},
    {DT_F8E8M0FNU, DT_F32, 1.5, 2},
    {DT_F8E8M0FNU, DT_F32, 3, 4},
    {DT_F8E8M0FNU, DT_F32, 6, 8},
    {DT_F8E8M0FNU, DT_F32, 0.75, 1},
    {DT_F8E8M0FNU, DT_F32, 1.49, 1},
    {DT_F8E8M0FNU, DT_F32, 0x1.8p127, NAN},
    {DT_F8E8M0FNU, DT_F32, 0x1p-140, 0x1p-127},
    {DT_F8E8M0FNU, DT_F64, 0x1p-1000, 0x1p-127},
    {DT_F8E8M0FNU, DT_F32, -1, NAN},
    {DT_F8E8M0FNU, DT_F32, INFINITY, NAN},
    {DT_F8E8M0FNU, DT_S32, 0, NAN},
    {DT_F8E4M3FN, DT_S32, 17, 16},
    {DT_F8E4M3FN, DT_S32, 18, 18},
    {DT_F8E4M3FN, DT_S32, 19, 20},
    {DT_F8E4M3FN, DT_S32, 100000, NAN},
    {DT_F8E5M2, DT_S32, 100000, INFINITY},
    {DT_F8E5M2, DT_S32, 9, 8},
    {DT_F8E5M2, DT_S32, 11, 12},
};

START_TEST(conversion_tables)
{
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        const double got = converted(values[i].to, values[i].from, values[i].x);
        ck_assert_msg(same(got, values[i].expected), "%s %.17g -> %s is %.17g, not %.17g",
                      dtype_spelling(values[i].from), values[i].x, dtype_spelling(values[i].to),
                      got, values[i].expected);
    }
}
END_TEST

static const enum dtype narrow_types[] = {
    DT_F4E2M1FN,      DT_F6E2M3FN, DT_F6E3M2FN,   DT_F8E3M4, DT_F8E4M3,
    DT_F8E4M3B11FNUZ, DT_F8E4M3FN, DT_F8E4M3FNUZ, DT_F8E5M2, DT_F8E5M2FNUZ,
    DT_F8E8M0FNU,     DT_F16,      DT_BF16};

static unsigned code_count(enum dtype t) /* an f6 has fewer codes than its 8 bits can represent */
{
    return t == DT_F8E8M0FNU
               ? 256
               : 2u << (float_format(t)->exponent_bits + float_format(t)->mantissa_bits);
}

/* The code of x, which is the same in a vector and among the elements after the last vector. */
static uint16_t narrowed(enum dtype t, float x)
{
    float all[9];
    char codes[2 * COUNT_OF(all)];
    uint16_t first = 0, last = 0;
    for (size_t k = 0; k < COUNT_OF(all); k++)
        all[k] = x;
    convert(t, codes, DT_F32, all, COUNT_OF(all));
    memcpy(&first, codes, dtype_bytes(t));
    memcpy(&last, codes + (COUNT_OF(all) - 1) * dtype_bytes(t), dtype_bytes(t));
    ck_assert_uint_eq(first, last);
    return first;
}

static void check_encoding(enum dtype t, float x)
{
    uint16_t of_double = 0;
    const double wide = (double)x;
    const uint16_t code = narrowed(t, x);
    convert(t, &of_double, DT_F64, &wide, 1);
    ck_assert_msg(code == float_encode(t, wide), "%s of %a is %04x, not %04x", dtype_spelling(t),
                  wide, code, (unsigned)float_encode(t, wide));
    ck_assert_msg(of_double == code, "%s of double %a is %04x, not %04x", dtype_spelling(t), wide,
                  of_double, code);
}

/* Round trips of every code of every narrow type, and the values around the midpoint to the next
 * code. The encoder of `type` is an independent implementation. */
START_TEST(narrow_floats_exhaustively)
{
    for (size_t k = 0; k < COUNT_OF(narrow_types); k++) {
        const enum dtype t = narrow_types[k];
        const unsigned codes = code_count(t);
        for (unsigned i = 0; i < codes; i++) {
            uint16_t code = (uint16_t)i, back = 0;
            float x;
            convert(DT_F32, &x, t, &code, 1);
            ck_assert_msg(same((double)x, float_decode(t, code)), "%s %04x is %g",
                          dtype_spelling(t), i, (double)x);
            convert(t, &back, DT_F32, &x, 1);
            if (isnan(x)) {
                ck_assert(float_code_is_nan(t, back));
                continue;
            }
            ck_assert_uint_eq(back, code);
            const float next = (float)float_decode(t, (i + 1) % codes);
            const float middle = isfinite(next) ? x + (next - x) / 2 : x * 1.25f;
            check_encoding(t, middle);
            check_encoding(t, nextafterf(middle, (float)inf));
            check_encoding(t, nextafterf(middle, (float)-inf));
        }
        const float extremes[] = {INFINITY,   -INFINITY, 0,         -0.0f,          0x1p-149f,
                                  -0x1p-149f, 0x1p127f,  -0x1p127f, 0x1.fffffep127f};
        for (size_t i = 0; i < COUNT_OF(extremes); i++)
            check_encoding(t, extremes[i]);
        uint64_t seed = 1;
        for (int i = 0; i < 20000; i++) {
            const float x = f32_of((uint32_t)next_random(&seed));
            if (!isnan(x))
                check_encoding(t, x);
        }
    }
}
END_TEST

START_TEST(doubles_round_once) /* 2: to the types of 8 bits */
{
    uint64_t seed = 2;
    for (size_t k = 0; k < COUNT_OF(narrow_types) - 2; k++) {
        const enum dtype t = narrow_types[k];
        for (unsigned i = 0; i < code_count(t); i++) {
            const double a = float_decode(t, i), b = float_decode(t, i ^ 1);
            if (!isfinite(a) || !isfinite(b))
                continue;
            const double middle = a + (b - a) / 2,
                         near[] = {nextafter(middle, inf), nextafter(middle, -inf),
                                   middle * (1 + 0x1p-30)};
            for (size_t j = 0; j < COUNT_OF(near); j++) {
                uint8_t code;
                convert(t, &code, DT_F64, &near[j], 1);
                ck_assert_msg(code == float_encode(t, near[j]), "%s of %a", dtype_spelling(t),
                              near[j]);
            }
        }
        for (int i = 0; i < 5000; i++) {
            const double x =
                ldexp((double)(int64_t)next_random(&seed), (int)(next_random(&seed) % 80) - 110);
            uint8_t code;
            convert(t, &code, DT_F64, &x, 1);
            ck_assert_msg(code == float_encode(t, x), "%s of %a", dtype_spelling(t), x);
        }
    }
}
END_TEST

START_TEST(nan_keeps_its_sign) /* 1.5, 2 */
{
    const float nans[] = {f32_of(0x7fc12345), f32_of(0xffc12345)};
    static const struct {
        enum dtype t;
        uint16_t expected[2];
    } rows[] = {
        {DT_BF16, {0x7fc0, 0xffc0}},   {DT_F16, {0x7e00, 0xfe00}},   {DT_F8E5M2, {0x7e, 0xfe}},
        {DT_F8E4M3, {0x7c, 0xfc}},     {DT_F8E3M4, {0x78, 0xf8}},    {DT_F8E4M3FN, {0x7f, 0xff}},
        {DT_F8E4M3FNUZ, {0x80, 0x80}}, {DT_F8E8M0FNU, {0xff, 0xff}}, {DT_F4E2M1FN, {0x8, 0x8}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (int k = 0; k < 2; k++) {
            const uint16_t code = narrowed(rows[i].t, nans[k]);
            ck_assert_msg(code == rows[i].expected[k], "%s %04x", dtype_spelling(rows[i].t), code);
        }
    }
    uint8_t same_code; /* a conversion to the same type moves bits */
    convert(DT_F8E5M2, &same_code, DT_F8E5M2, ((uint8_t[]){0x7d}), 1);
    ck_assert_uint_eq(same_code, 0x7d);
}
END_TEST

START_TEST(large_integers) /* 6: wraps, without conversion to double */
{
    int64_t s;
    uint64_t u;
    int32_t s32;
    convert(DT_S64, &s, DT_U64, ((uint64_t[]){0xfedcba9876543211}), 1);
    ck_assert_int_eq(s, (int64_t)0xfedcba9876543211);
    convert(DT_S32, &s32, DT_S64, ((int64_t[]){0x123456789abcdef1}), 1);
    ck_assert_int_eq(s32, (int32_t)0x9abcdef1);
    convert(DT_U64, &u, DT_S32, ((int32_t[]){-2}), 1);
    ck_assert_uint_eq(u, UINT64_MAX - 1);
    convert(DT_S64, &s, DT_F64, ((double[]){9007199254740993.0 * 512}), 1);
    ck_assert_int_eq(s, (int64_t)9007199254740992 * 512);
    convert(DT_U64, &u, DT_F64, ((double[]){0x1.fffffffffffffp63}), 1);
    ck_assert_uint_eq(u, 0xfffffffffffff800);
}
END_TEST

START_TEST(complex_conversions) /* 6 */
{
    struct c64 z[2];
    struct c128 w[2];
    convert(DT_C64, z, DT_S8, ((int8_t[]){-3, 4}), 2);
    ck_assert(z[0].re == -3 && z[0].im == 0 && !signbit(z[0].im) && z[1].re == 4);
    convert(DT_C128, w, DT_F16, ((uint16_t[]){0x3c00, 0xfe00}), 2);
    ck_assert(w[0].re == 1 && isnan(w[1].re) && w[1].im == 0);
    convert(DT_C64, z, DT_C128, ((struct c128[]){{1e300, -2}, {0.1, -0.0}}), 2);
    ck_assert(isinf(z[0].re) && z[0].im == -2 && z[1].re == 0.1f && signbit(z[1].im));
    convert(DT_C128, w, DT_C64, ((struct c64[]){{1, 2}, {3, 4}}), 2);
    ck_assert(w[0].im == 2 && w[1].re == 3 && w[1].im == 4);
    uint8_t p[2];
    convert(DT_PRED, p, DT_C64, ((struct c64[]){{0, -0.0f}, {0, 1}}), 2);
    ck_assert(p[0] == 0 && p[1] == 1);
}
END_TEST

START_TEST(long_conversions)
{
    enum { N = 1999 };
    double x[N];
    uint8_t code[N];
    struct c128 z[N];
    for (int i = 0; i < N; i++)
        x[i] = i / 16.0;
    convert(DT_F8E4M3FN, code, DT_F64, x, N);
    convert(DT_C128, z, DT_F8E4M3FN, code, N);
    for (int i = 0; i < N; i++)
        ck_assert(z[i].re == float_decode(DT_F8E4M3FN, float_encode(DT_F8E4M3FN, x[i])) &&
                  z[i].im == 0);
}
END_TEST

/* ---- bits ---- */

static void whole(struct view *v, enum dtype t, int64_t n, void *data)
{
    view_dense(v, t, 1, &n, data);
}

static uint32_t reduced(uint32_t x, int exponent, int mantissa)
{
    struct view v;
    whole(&v, DT_F32, 1, &x);
    kern_reduce_precision(NULL, &v, &v, exponent, mantissa);
    return x;
}

START_TEST(reduce_precision) /* 8.1 */
{
    ck_assert_uint_eq(reduced(0x477ff000, 5, 10), 0x7f800000);
    ck_assert_uint_eq(reduced(0x38800000, 5, 10), 0x38800000); /* 2^-14 */
    ck_assert_uint_eq(reduced(0xb8000000, 5, 10), 0x80000000); /* -2^-15 */
    ck_assert_uint_eq(reduced(0x43800000, 4, 3), 0x7f800000);  /* 256 */
    ck_assert_uint_eq(reduced(0x3c000000, 4, 3), 0);           /* 2^-7 */
    ck_assert_uint_eq(reduced(0x3f800000, 1, 23), 0);          /* 1 */
    ck_assert_uint_eq(reduced(0x3fffffff, 1, 23), 0);
    ck_assert_uint_eq(reduced(0x40000000, 1, 23), 0x7f800000); /* 2 */
    ck_assert_uint_eq(reduced(0x00000001, 8, 23), 0x00000001);
    ck_assert_uint_eq(reduced(0x7f7fffff, 8, 7), 0x7f800000);
    ck_assert_uint_eq(reduced(0x7fc00001, 2, 0), 0x7fc00001);
    ck_assert_uint_eq(reduced(0x3f808000, 8, 7), 0x3f800000); /* tie to even */
    ck_assert_uint_eq(reduced(0x3f818000, 8, 7), 0x3f820000);
    uint16_t half = 0x0001; /* e5m10 is the format of the type: no change */
    struct view v;
    whole(&v, DT_F16, 1, &half);
    kern_reduce_precision(NULL, &v, &v, 5, 10);
    ck_assert_uint_eq(half, 1);
    uint8_t byte = 0x39; /* 1.125 to no mantissa at all */
    whole(&v, DT_F8E4M3FN, 1, &byte);
    kern_reduce_precision(NULL, &v, &v, 8, 0);
    ck_assert_uint_eq(byte, 0x38);
    uint64_t wide = 0x7fefffffffffffff;
    whole(&v, DT_F64, 1, &wide);
    kern_reduce_precision(NULL, &v, &v, 11, 51);
    ck_assert_uint_eq(wide, 0x7ff0000000000000);
}
END_TEST

START_TEST(stochastic_convert) /* 8.2 */
{
    float x[] = {1.5f, 1.5f, -1.25f, -1.25f, INFINITY, -INFINITY, NAN, 1e10f, -1e10f, 7};
    uint32_t r[] = {0x7fffffff, 0x80000000, 0x3fffffff, 0x40000000, 0, 0, 0, 0, 0, 0};
    int32_t out[10];
    const int32_t expected[] = {2, 1, -2, -1, INT32_MAX, INT32_MIN, 0, INT32_MAX, INT32_MIN, 7};
    struct view vx, vr, vout;
    whole(&vx, DT_F32, 10, x);
    whole(&vr, DT_U32, 10, r);
    whole(&vout, DT_S32, 10, out);
    kern_stochastic_convert(NULL, &vout, &vx, &vr);
    ck_assert_mem_eq(out, expected, sizeof expected);
    double d[] = {-127.5, 0.5};
    uint64_t rd[] = {0, UINT64_MAX};
    int8_t bytes[2];
    whole(&vx, DT_F64, 2, d);
    whole(&vr, DT_U64, 2, rd);
    whole(&vout, DT_S8, 2, bytes);
    kern_stochastic_convert(NULL, &vout, &vx, &vr);
    ck_assert(bytes[0] == -128 && bytes[1] == 0);
}
END_TEST

static void bitcast(enum dtype to, int64_t to_n, void *out, enum dtype from, int64_t from_n,
                    void *x, bool splits)
{
    struct view vx, vout;
    const int64_t wide = splits ? from_n : to_n, ratio = splits ? to_n / from_n : from_n / to_n;
    view_dense(&vout, to, splits ? 2 : 1, (const int64_t[]){wide, ratio}, out);
    view_dense(&vx, from, splits ? 1 : 2, (const int64_t[]){wide, ratio}, x);
    kern_bitcast_convert(NULL, &vout, &vx);
}

START_TEST(bitcast_convert) /* 7.1 */
{
    uint8_t bytes[8] = {0};
    bitcast(DT_U8, 4, bytes, DT_F32, 1, (float[]){1}, true);
    ck_assert_mem_eq(bytes, ((uint8_t[]){0, 0, 128, 63}), 4);
    int32_t pair[2];
    bitcast(DT_S32, 2, pair, DT_U64, 1, (uint64_t[]){(1ull << 32) + 7}, true);
    ck_assert(pair[0] == 7 && pair[1] == 1);
    uint32_t joined;
    bitcast(DT_U32, 1, &joined, DT_U16, 2, (uint16_t[]){1, 2}, false);
    ck_assert_uint_eq(joined, 131073);
    bitcast(DT_U4, 2, bytes, DT_U8, 1, (uint8_t[]){0x12}, true);
    ck_assert(bytes[0] == 2 && bytes[1] == 1);
    bitcast(DT_U8, 1, bytes, DT_U4, 2, (uint8_t[]){2, 1}, false);
    ck_assert_uint_eq(bytes[0], 0x12);
    bitcast(DT_U2, 4, bytes, DT_S8, 1, (int8_t[]){0x1b}, true);
    ck_assert_mem_eq(bytes, ((uint8_t[]){3, 2, 1, 0}), 4);
    bitcast(DT_S4, 2, bytes, DT_U8, 1, (uint8_t[]){0xf7}, true);
    ck_assert_mem_eq(bytes, ((uint8_t[]){7, 0xff}), 2);
    bitcast(DT_S16, 1, pair, DT_S4, 4, (int8_t[]){-1, 0, -1, -8}, false);
    ck_assert_uint_eq((uint32_t)pair[0] & 0xffff, 0x8f0f);

    struct c64 halves[2];
    struct c128 z = {1, 2};
    bitcast(DT_C64, 2, halves, DT_C128, 1, &z, true);
    ck_assert(halves[0].re == 0 && halves[0].im == 1.875f && halves[1].re == 0 &&
              halves[1].im == 2);
    z = (struct c128){0, 0};
    bitcast(DT_C128, 1, &z, DT_C64, 2, halves, false);
    ck_assert(z.re == 1 && z.im == 2);
    bitcast(DT_PRED, 2, bytes, DT_U16, 1, (uint16_t[]){0x0200}, true);
    ck_assert(bytes[0] == 0 && bytes[1] == 1);

    struct view x, out;
    whole(&x, DT_S4, 3, (int8_t[]){-1, 7, -8});
    whole(&out, DT_U4, 3, bytes);
    kern_bitcast_convert(NULL, &out, &x);
    ck_assert_mem_eq(bytes, ((uint8_t[]){15, 7, 8}), 3);
    whole(&x, DT_U8, 3, (uint8_t[]){0, 1, 2});
    whole(&out, DT_PRED, 3, bytes);
    kern_bitcast_convert(NULL, &out, &x);
    ck_assert_mem_eq(bytes, ((uint8_t[]){0, 1, 1}), 3);
    whole(&x, DT_F32, 1, (float[]){1});
    whole(&out, DT_S32, 1, pair);
    kern_bitcast_convert(NULL, &out, &x);
    ck_assert_int_eq(pair[0], 0x3f800000);
}
END_TEST

/* ---- kernels over views ---- */

enum { CAPACITY = 1 << 15 };

/* A view of random rank, or with the dims of `like`, with dimensions permuted, strided and
 * reversed. */
static void random_view(struct view *v, enum dtype t, char *storage, const struct view *like,
                        uint64_t *seed)
{
    int order[VIEW_MAX_RANK];
    v->dtype = t;
    v->rank = like ? like->rank : (int)(next_random(seed) % 4);
    for (int d = 0; d < v->rank; d++) {
        static const int64_t sizes[] = {1, 2, 3, 5, 17, 70, 1100};
        const int64_t cap = v->rank == 1 ? 7 : v->rank == 2 ? 6 : 5;
        v->dims[d] = like ? like->dims[d] : sizes[next_random(seed) % (uint64_t)cap];
        order[d] = d;
    }
    if (next_random(seed) % 2)
        for (int d = v->rank - 1; d > 0; d--) {
            const int other = (int)(next_random(seed) % (uint64_t)(d + 1)), was = order[d];
            order[d] = order[other];
            order[other] = was;
        }
    int64_t stride = (int64_t)dtype_bytes(t) * (next_random(seed) % 3 ? 1 : 2);
    v->data = storage;
    for (int i = v->rank - 1; i >= 0; i--) {
        const int d = order[i];
        v->strides[d] = stride;
        stride *= v->dims[d];
        if (like && next_random(seed) % 6 == 0) {
            v->strides[d] = 0; /* broadcast */
        } else if (next_random(seed) % 4 == 0) {
            v->data += v->strides[d] * (v->dims[d] - 1);
            v->strides[d] = -v->strides[d];
        }
    }
}

static float at(const struct view *v, const int64_t *index)
{
    return v->rank == 0 ? *(float *)v->data : *(float *)view_at(v, index);
}

START_TEST(elementwise_kernels_over_views)
{
    static float storage[4][CAPACITY];
    static uint8_t preds[CAPACITY];
    uint64_t seed = 3;
    for (int round = 0; round < 2000; round++) {
        for (int i = 0; i < CAPACITY; i += 1 + round % 7)
            for (int k = 0; k < 4; k++)
                storage[k][i] = (float)(int)(next_random(&seed) % 64);
        struct view out, args[3];
        random_view(&out, DT_F32, (char *)storage[3], NULL, &seed);
        for (int k = 0; k < 3; k++) {
            const int64_t none = 0;
            if (next_random(&seed) % 5 == 0)
                view_dense(&args[k], DT_F32, 0, &none, storage[k]);
            else
                random_view(&args[k], DT_F32, (char *)storage[k], &out, &seed);
        }
        const bool ternary = round % 3 == 0;
        kern_map_tiles(NULL, kern_find_elementwise(ternary ? "clamp" : "subtract", DT_F32), &out,
                       ternary ? 3 : 2, args);
        int64_t index[VIEW_MAX_RANK] = {0};
        do {
            const float a = at(&args[0], index), b = at(&args[1], index),
                        c = ternary ? at(&args[2], index) : 0;
            ck_assert(at(&out, index) == (ternary ? fminf(c, fmaxf(a, b)) : a - b));
        } while (index_next(out.rank, out.dims, index));
        if (round % 3 != 1)
            continue;
        struct view in_place = out; /* the result overwrites an argument */
        float before = at(&out, index), other = at(&args[1], index);
        kern_map_tiles(NULL, kern_find_elementwise("subtract", DT_F32), &in_place, 2,
                       (const struct view[]){out, args[1]});
        ck_assert(at(&out, index) == before - other);
        struct view pred = out; /* elements of different widths */
        view_dense(&pred, DT_PRED, out.rank, out.dims, preds);
        kern_map_tiles(NULL, kern_find_compare(KERN_LT, false, DT_F32), &pred, 2,
                       (const struct view[]){out, args[1]});
        do
            ck_assert((*view_at(&pred, index) != 0) == (at(&out, index) < at(&args[1], index)));
        while (index_next(out.rank, out.dims, index));
    }
}
END_TEST

START_TEST(elementwise_kernels_over_empty_views)
{
    struct view v;
    view_dense(&v, DT_F32, 2, (const int64_t[]){3, 0}, NULL);
    kern_map_tiles(NULL, kern_find_elementwise("negate", DT_F32), &v, 1, &v);
    ck_assert(isnan(nan_));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kern_convert");
    TCase *tcase = tcase_create("kern_convert");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, small_numbers_in_every_pair_of_types);
    tcase_add_test(tcase, conversion_tables);
    tcase_add_test(tcase, narrow_floats_exhaustively);
    tcase_add_test(tcase, doubles_round_once);
    tcase_add_test(tcase, nan_keeps_its_sign);
    tcase_add_test(tcase, large_integers);
    tcase_add_test(tcase, complex_conversions);
    tcase_add_test(tcase, long_conversions);
    tcase_add_test(tcase, reduce_precision);
    tcase_add_test(tcase, stochastic_convert);
    tcase_add_test(tcase, bitcast_convert);
    tcase_add_test(tcase, elementwise_kernels_over_views);
    tcase_add_test(tcase, elementwise_kernels_over_empty_views);
    suite_add_tcase(suite, tcase);
    return check_run(suite);
}
