/*
 * float.c: conversion of double to and from the codes of every float type, rounded once, to nearest
 * even.
 */
#include "type/type.h"

static const struct float_format formats[DT_COUNT] = {
#define FLOAT_FORMAT(id, exponent, mantissa, bias, specials, digits)                               \
    [DT_##id] = {exponent, mantissa, bias, FS_##specials, digits},
#include "type/float.def"
};

const struct float_format *float_format(enum dtype t) { return &formats[t]; }

static uint64_t bits_of(double v)
{
    uint64_t u;
    memcpy(&u, &v, sizeof u);
    return u;
}

static double double_of(uint64_t u)
{
    double v;
    memcpy(&v, &u, sizeof v);
    return v;
}

/* The format of double: a biased exponent and a mantissa with an implicit leading bit. */
enum { DOUBLE_BIAS = 1023, DOUBLE_MANTISSA = 52, DOUBLE_EXPONENTS = 0x7ff };

/* 2^e as a normal double. */
static double power_of_two(int e)
{
    return double_of((uint64_t)(e + DOUBLE_BIAS) << DOUBLE_MANTISSA);
}

static uint64_t low_bits(unsigned n) { return (UINT64_C(1) << n) - 1; }

static unsigned sign_shift(const struct float_format *f)
{
    return f->exponent_bits + f->mantissa_bits;
}

/* Code of the largest finite value, without the sign. */
static uint64_t max_code(const struct float_format *f)
{
    uint64_t all = low_bits(sign_shift(f));
    switch ((enum float_specials)f->specials) {
    case FS_IEEE: return (low_bits(f->exponent_bits) << f->mantissa_bits) - 1;
    case FS_FN:
    case FS_FNU: return all - 1;
    case FS_FNUZ:
    case FS_SAT: return all;
    }
    return all;
}

static uint64_t nan_code(const struct float_format *f, bool negative)
{
    uint64_t sign = (uint64_t)negative << sign_shift(f);
    switch ((enum float_specials)f->specials) {
    case FS_IEEE:
        return sign | low_bits(f->exponent_bits) << f->mantissa_bits |
               UINT64_C(1) << (f->mantissa_bits - 1);
    case FS_FN: return sign | low_bits(sign_shift(f));
    case FS_FNU: return low_bits(sign_shift(f));
    case FS_FNUZ:
    case FS_SAT:
        /* The code of -0 is NaN in one such format, and XLA's conversion of NaN in the other. */
        break;
    }
    return UINT64_C(1) << sign_shift(f);
}

static uint64_t overflow_code(const struct float_format *f, bool negative)
{
    uint64_t sign = (uint64_t)negative << sign_shift(f);
    if (f->specials == FS_IEEE)
        return sign | low_bits(f->exponent_bits) << f->mantissa_bits;
    if (f->specials == FS_SAT)
        return sign | max_code(f);
    return nan_code(f, negative);
}

/* n >> shift, rounded to nearest, ties to even; shift >= 1. */
static uint64_t shift_rounded(uint64_t n, unsigned shift)
{
    if (shift > 63)
        return 0;
    uint64_t kept = n >> shift, rest = n & low_bits(shift), half = UINT64_C(1) << (shift - 1);
    return kept + (rest > half || (rest == half && (kept & 1)));
}

/* Rounds to the nearest power of two; a mantissa of exactly 1.5 rounds up. */
static uint64_t encode_e8m0(double v)
{
    const struct float_format *f = &formats[DT_F8E8M0FNU];
    uint64_t bits = bits_of(v);
    if (!(v > 0) || v > 0x1p128)
        return nan_code(f, false);
    int64_t exponent = (int64_t)(bits >> DOUBLE_MANTISSA) - DOUBLE_BIAS + f->bias +
                       (int64_t)(bits >> (DOUBLE_MANTISSA - 1) & 1);
    return exponent < 0 ? 0 : exponent > 0xfe ? nan_code(f, false) : (uint64_t)exponent;
}

/* For formats of at most two bytes. */
static uint64_t encode_small(const struct float_format *f, double v)
{
    uint64_t bits = bits_of(v), magnitude = bits << 1 >> 1;
    bool negative = bits >> 63;
    if (magnitude > (uint64_t)DOUBLE_EXPONENTS << DOUBLE_MANTISSA)
        return nan_code(f, negative);
    if (magnitude == (uint64_t)DOUBLE_EXPONENTS << DOUBLE_MANTISSA)
        return overflow_code(f, negative);
    int exponent = (int)(magnitude >> DOUBLE_MANTISSA) - DOUBLE_BIAS, min = 1 - f->bias;
    /* Below half of the smallest subnormal, as are subnormal doubles. */
    if (exponent < min - f->mantissa_bits - 1)
        magnitude = 0;
    uint64_t mantissa =
        (magnitude & low_bits(DOUBLE_MANTISSA)) | (magnitude ? UINT64_C(1) << DOUBLE_MANTISSA : 0);
    int e = exponent > min ? exponent : min;
    unsigned shift =
        magnitude ? (unsigned)(DOUBLE_MANTISSA - f->mantissa_bits + (e - exponent)) : 1;
    uint64_t rounded = shift_rounded(mantissa, shift);
    /* A mantissa that rounds up to the next power of two carries into the exponent. */
    uint64_t code = rounded == 0 ? 0 : ((uint64_t)(e + f->bias - 1) << f->mantissa_bits) + rounded;
    if (code > max_code(f))
        return overflow_code(f, negative);
    if (code == 0 && f->specials == FS_FNUZ)
        return 0;
    return code | (uint64_t)negative << sign_shift(f);
}

static uint32_t f32_bits(float v)
{
    uint32_t u;
    memcpy(&u, &v, sizeof u);
    return u;
}

uint64_t float_encode(enum dtype t, double v)
{
    switch (t) {
    case DT_F64: return bits_of(v);
    case DT_F32: return f32_bits((float)v);
    case DT_F8E8M0FNU: return encode_e8m0(v);
    default: return encode_small(&formats[t], v);
    }
}

bool float_code_is_nan(enum dtype t, uint64_t code)
{
    const struct float_format *f = &formats[t];
    uint64_t magnitude = code & low_bits(sign_shift(f));
    switch ((enum float_specials)f->specials) {
    case FS_IEEE: return magnitude > low_bits(f->exponent_bits) << f->mantissa_bits;
    case FS_FN:
    case FS_FNU: return magnitude == low_bits(sign_shift(f));
    case FS_FNUZ: return code == UINT64_C(1) << sign_shift(f);
    case FS_SAT: return false;
    }
    return false;
}

static double decode_small(enum dtype t, uint64_t code)
{
    const struct float_format *f = &formats[t];
    uint64_t magnitude = code & low_bits(sign_shift(f)), sign = code >> sign_shift(f) << 63;
    uint64_t mantissa = (magnitude & low_bits(f->mantissa_bits))
                        << (DOUBLE_MANTISSA - f->mantissa_bits);
    int exponent = (int)(magnitude >> f->mantissa_bits);
    if (float_code_is_nan(t, code))
        return double_of(sign | (uint64_t)DOUBLE_EXPONENTS << DOUBLE_MANTISSA |
                         (mantissa ? mantissa : UINT64_C(1) << (DOUBLE_MANTISSA - 1)));
    if (magnitude > max_code(f))
        return double_of(sign | (uint64_t)DOUBLE_EXPONENTS << DOUBLE_MANTISSA);
    if (exponent == 0 && f->specials != FS_FNU) {
        double v = (double)magnitude * power_of_two(1 - f->bias - f->mantissa_bits);
        return double_of(bits_of(v) | sign);
    }
    return double_of(sign | (uint64_t)(exponent - f->bias + DOUBLE_BIAS) << DOUBLE_MANTISSA |
                     mantissa);
}

double float_decode(enum dtype t, uint64_t code)
{
    float single;
    uint32_t low = (uint32_t)code;
    switch (t) {
    case DT_F64: return double_of(code);
    case DT_F32: memcpy(&single, &low, sizeof single); return (double)single;
    case DT_F16: return (double)f16_to_f32((uint16_t)code);
    case DT_BF16: return (double)bf16_to_f32((uint16_t)code);
    default: return decode_small(t, code);
    }
}

double float_max(enum dtype t) { return float_decode(t, max_code(&formats[t])); }

double float_load(enum dtype t, const void *p)
{
    uint64_t code = 0;
    if (t == DT_F32) {
        float f;
        memcpy(&f, p, sizeof f);
        if (f == f) /* conversion would change the payload of a NaN */
            return (double)f;
    }
    memcpy(&code, p, dtype_bytes(t)); /* little-endian, like all storage */
    return t == DT_F64 ? double_of(code) : float_decode(t, code);
}

void float_store(enum dtype t, void *p, double v)
{
    uint64_t code = float_encode(t, v);
    memcpy(p, &code, dtype_bytes(t));
}
