/*
 * narrow.c: converts floats of less than 32 bits to f32 and back.
 *
 * One decoder and one encoder, written without branches so that they are vectorized; each format is
 * a loop around them in which all parameters of the format are constants. spec:
 * "ConvertElementType" between floats (grammar/values.md 2 and 6).
 */
#include "kern/extremes.h"
#include "kern/tile.h"

#if defined __AVX2__
#include <immintrin.h>
#endif

union bits {
    uint32_t u;
    float f;
};

/* The parameters of a format, all constant after inlining. */
struct narrow {
    int exponent, mantissa, bias;
    enum float_specials specials;
};

static const struct narrow formats[DT_COUNT] = {
#define FLOAT_FORMAT(id, exponent, mantissa, bias, specials, digits)                               \
    [DT_##id] = {exponent, mantissa, bias, FS_##specials},
#include "type/float.def"
};

static inline float power_of_two(int e) /* normal exponents only */
{
    return (union bits){(uint32_t)(e + 127) << 23}.f;
}

static inline float decode(uint32_t code, struct narrow f)
{
    const int shift = 23 - f.mantissa;
    const uint32_t sign_bit = 1u << (f.exponent + f.mantissa), magnitude = code & (sign_bit - 1);
    const uint32_t sign = code & sign_bit ? 0x80000000 : 0;
    /* A subnormal is read with an exponent one higher, which adds an implicit 1 that is then
     * subtracted. */
    const union bits normal = {(magnitude << shift) + ((uint32_t)(127 - f.bias) << 23)};
    union bits v = {(magnitude << shift) + ((uint32_t)(128 - f.bias) << 23)};
    v.f -= power_of_two(1 - f.bias);
    v.u = magnitude >> f.mantissa ? normal.u : v.u;
    const uint32_t infinity = ((1u << f.exponent) - 1) << f.mantissa;
    if (f.specials == FS_IEEE)
        v.u = magnitude >= infinity ? 0x7f800000 | (magnitude & ~infinity) << shift : v.u;
    else if (f.specials == FS_FN)
        v.u = magnitude == sign_bit - 1 ? 0x7fc00000 : v.u;
    else if (f.specials == FS_FNUZ)
        v.u = code == sign_bit ? 0x7fc00000 : v.u;
    v.u |= sign;
    return v.f;
}

static inline uint32_t encode(float x, struct narrow f)
{
    const int shift = 23 - f.mantissa;
    const uint32_t sign_bit = 1u << (f.exponent + f.mantissa);
    const uint32_t infinity = ((1u << f.exponent) - 1) << f.mantissa;
    const union bits v = {.f = x};
    const union bits a = {v.u & 0x7fffffff};
    /* Normal: round the mantissa at its final position (a carry into the exponent is correct), then
     * rebase. */
    const uint32_t normal = ((a.u + (1u << (shift - 1)) - 1 + (a.u >> shift & 1)) >> shift) -
                            ((uint32_t)(127 - f.bias) << f.mantissa);
    /* Subnormal: adding the power of two whose last bit is the least subnormal rounds. */
    const union bits magic = {.f = power_of_two(24 - f.bias - f.mantissa)};
    const union bits sum = {.f = a.f + magic.f};
    uint32_t code = a.u < (uint32_t)(128 - f.bias) << 23 ? sum.u - magic.u : normal;
    uint32_t largest = sign_bit - 1, beyond = largest, nan = largest;
    switch (f.specials) {
    case FS_IEEE:
        largest = infinity - 1;
        beyond = infinity;
        nan = infinity | 1u << (f.mantissa - 1);
        break;
    case FS_FN: largest = sign_bit - 2; break;
    case FS_FNUZ: beyond = nan = sign_bit; break;
    case FS_SAT:
        nan = sign_bit; /* no NaN: minus zero */
        break;
    case FS_FNU: break;
    }
    uint32_t sign = v.u >> 31 << (f.exponent + f.mantissa);
    if (f.specials == FS_FNUZ) /* no minus zero */
        sign = code == 0 ? 0 : sign;
    code = code > largest ? beyond : code;
    code = a.u > 0x7f800000 ? nan : code;
    return code | sign;
}

/* f8e8m0fnu is only an exponent: no sign, no zero, 0xff for NaN. */
static inline float decode_exponent(uint32_t code)
{
    union bits v = {code << 23};
    v.u = code == 0 ? 0x00400000 : v.u; /* 2^-127 */
    v.u = code == 0xff ? 0x7fc00000 : v.u;
    return v.f;
}

static inline uint32_t encode_exponent(float x)
{
    const union bits v = {.f = x};
    const uint32_t rounded = (v.u + 0x00400000) >> 23; /* 1.5 is rounded up */
    const uint32_t code = v.u < 0x00600000 ? 0 : rounded;
    return v.u - 1 >= 0x7f7fffff ? 0xff : code; /* zero, infinity, NaN, all negatives */
}

#define WIDEN(id, T)                                                                               \
    static void widen_##id(float *out, const T *x, int64_t n)                                      \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = decode(x[i], formats[DT_##id]);                                               \
    }
#define NARROW(id, T)                                                                              \
    static void narrow_##id(T *out, const float *x, int64_t n)                                     \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = (T)encode(x[i], formats[DT_##id]);                                            \
    }
#define LOOPS(id, T) WIDEN(id, T) NARROW(id, T)
LOOPS(F4E2M1FN, uint8_t)
LOOPS(F6E2M3FN, uint8_t)
LOOPS(F6E3M2FN, uint8_t)
LOOPS(F8E3M4, uint8_t)
LOOPS(F8E4M3, uint8_t)
LOOPS(F8E4M3B11FNUZ, uint8_t)
LOOPS(F8E4M3FN, uint8_t)
LOOPS(F8E4M3FNUZ, uint8_t)
LOOPS(F8E5M2, uint8_t)
LOOPS(F8E5M2FNUZ, uint8_t)

static void widen_F8E8M0FNU(float *out, const uint8_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = decode_exponent(x[i]);
}

static void narrow_F8E8M0FNU(uint8_t *out, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = (uint8_t)encode_exponent(x[i]);
}

#if defined __AVX2__
/* Widens f16 eight at a time by an instruction, except that NaNs keep all their bits. Returns the
 * number of elements done. */
static int64_t widen_eights(float *out, const uint16_t *x, int64_t n)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m128i half = _mm_loadu_si128((const __m128i *)(const void *)(x + i));
        const __m256i code = _mm256_cvtepu16_epi32(half),
                      magnitude = _mm256_and_si256(code, _mm256_set1_epi32(0x7fff));
        const __m256i is_nan = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(0x7c00));
        const __m256i sign = _mm256_slli_epi32(_mm256_xor_si256(code, magnitude), 16);
        const __m256i nan = _mm256_or_si256(_mm256_or_si256(_mm256_slli_epi32(magnitude, 13), sign),
                                            _mm256_set1_epi32(0x7f800000));
        const __m256i number = _mm256_castps_si256(_mm256_cvtph_ps(half));
        _mm256_storeu_si256((__m256i *)(void *)(out + i), _mm256_blendv_epi8(number, nan, is_nan));
    }
    return i;
}

/* Likewise; a NaN has no payload, unless it is a result. */
static inline int64_t narrow_eights(uint16_t *out, const float *x, int64_t n, bool results)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256 number = _mm256_loadu_ps(x + i);
        const __m128i half = _mm256_cvtps_ph(number, _MM_FROUND_TO_NEAREST_INT);
        if (results) {
            _mm_storeu_si128((__m128i *)(void *)(out + i), half);
            continue;
        }
        const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(number, number, _CMP_UNORD_Q));
        const __m128i narrow =
            _mm_packs_epi32(_mm256_castsi256_si128(is_nan), _mm256_extracti128_si256(is_nan, 1));
        const __m128i nan = _mm_or_si128(_mm_and_si128(half, _mm_set1_epi16((short)0x8000)),
                                         _mm_set1_epi16(0x7e00));
        _mm_storeu_si128((__m128i *)(void *)(out + i), _mm_blendv_epi8(half, nan, narrow));
    }
    return i;
}
#endif

static void narrow_F16(uint16_t *out, const float *x, int64_t n)
{
    int64_t i = 0;
#if defined __AVX2__
    i = narrow_eights(out, x, n, false);
#endif
    for (; i < n; i++)
        out[i] = (uint16_t)encode(x[i], formats[DT_F16]);
}

static void widen_F16(float *out, const uint16_t *x, int64_t n)
{
    int64_t i = 0;
#if defined __AVX2__
    i = widen_eights(out, x, n);
#endif
    for (; i < n; i++)
        out[i] = decode(x[i], formats[DT_F16]);
}

static void widen_BF16(float *out, const uint16_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = bf16_to_f32(x[i]);
}

static void narrow_BF16(uint16_t *out, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = f32_to_bf16(x[i]);
}

void tile_widen(enum dtype t, float *out, const void *x, int64_t n)
{
    switch ((int)t) {
#define X(id)                                                                                      \
    case DT_##id: widen_##id(out, x, n); break;
        TILE_NARROW_TYPES(X)
#undef X
    }
}

void tile_narrow(enum dtype t, void *out, const float *x, int64_t n)
{
    switch ((int)t) {
#define X(id)                                                                                      \
    case DT_##id: narrow_##id(out, x, n); break;
        TILE_NARROW_TYPES(X)
#undef X
    }
}

/* ---- results of operations on values of bf16 and f16 ---- */

static inline float round_to_bf16(float x) { return bf16_to_f32(tile_bf16_result(x)); }

static inline uint32_t encode_f16(float x)
{
    const union bits v = {.f = x};
    const bool is_nan = (v.u & 0x7fffffff) > 0x7f800000;
    return encode(x, formats[DT_F16]) | (is_nan ? v.u >> 13 & 0x3ff : 0);
}

static inline float round_to_f16(float x) { return decode(encode_f16(x), formats[DT_F16]); }

static void narrow_results_BF16(void *out, const void *const *args, int64_t n)
{
    const float *x = args[0];
    uint16_t *codes = out;
    for (int64_t i = 0; i < n; i++)
        codes[i] = tile_bf16_result(x[i]);
}

static void narrow_results_F16(void *out, const void *const *args, int64_t n)
{
    const float *x = args[0];
    uint16_t *codes = out;
    int64_t i = 0;
#if defined __AVX2__
    i = narrow_eights(codes, x, n, true);
#endif
    for (; i < n; i++)
        codes[i] = (uint16_t)encode_f16(x[i]);
}

kern_tile_fn *tile_find_narrow_results(enum dtype t)
{
    return t == DT_BF16 ? narrow_results_BF16 : t == DT_F16 ? narrow_results_F16 : NULL;
}

void tile_narrow_results(enum dtype t, void *out, const float *x, int64_t n)
{
    kern_tile_fn *fn = tile_find_narrow_results(t);
    if (fn)
        fn(out, (const void *const[]){x}, n);
    else
        tile_narrow(t, out, x, n);
}

/* Any f32, converted and widened again. */
static inline float convert_to_bf16(float x) { return bf16_to_f32(f32_to_bf16(x)); }
static inline float convert_to_f16(float x)
{
    return decode(encode(x, formats[DT_F16]), formats[DT_F16]);
}

/* Rounding alone, and in the loops of the most frequent operations. */
#define ROUNDED(id, round, convert)                                                                \
    TILE_UNARY(id##_round, float, float, round(x))                                                 \
    TILE_UNARY(id##_convert, float, float, convert(x))                                             \
    TILE_BINARY(id##_add, float, float, round(x + y))                                              \
    TILE_BINARY(id##_divide, float, float, round(x / y))                                           \
    TILE_BINARY(id##_multiply, float, float, round(x *y))                                          \
    TILE_BINARY(id##_subtract, float, float, round(x - y))                                         \
    static const struct tile_row id##_rounded[] = {{"add", id##_add},                              \
                                                   {"convert", id##_convert},                      \
                                                   {"divide", id##_divide},                        \
                                                   {"multiply", id##_multiply},                    \
                                                   {"subtract", id##_subtract}};
ROUNDED(BF16, round_to_bf16, convert_to_bf16)
ROUNDED(F16, round_to_f16, convert_to_f16)
#undef ROUNDED

kern_tile_fn *tile_find_rounded(const char *opcode, enum dtype t)
{
    if (opcode && t == DT_BF16)
        return tile_find((struct tile_table){BF16_rounded, COUNT_OF(BF16_rounded)}, opcode);
    if (opcode && t == DT_F16)
        return tile_find((struct tile_table){F16_rounded, COUNT_OF(F16_rounded)}, opcode);
    return t == DT_BF16 ? BF16_round : t == DT_F16 ? F16_round : NULL;
}

/* ---- scatters of short runs of f16 ---- */

#if defined __F16C__
/* The instruction makes a signaling NaN quiet, as sums and products do. */
static inline float exact(uint16_t code)
{
    return (code & 0x7fff) > 0x7c00 ? f16_to_f32(code) : _cvtsh_ss(code);
}

static inline uint16_t code_of(float x) { return _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT); }

/* Of two NaNs the first one is the result, in whatever order the compiler adds them. */
static inline uint16_t sum(float x, float y) { return code_of(x == x ? x + y : x); }
static inline uint16_t product(float x, float y) { return code_of(x == x ? x * y : x); }

INDEXED_COMBINE(add_f16, uint16_t, sum(_cvtsh_ss(x), _cvtsh_ss(y)))
INDEXED_COMBINE(multiply_f16, uint16_t, product(_cvtsh_ss(x), _cvtsh_ss(y)))
INDEXED_COMBINE(maximum_f16, uint16_t, code_of(greater_f32(exact(x), exact(y))))
INDEXED_COMBINE(minimum_f16, uint16_t, code_of(lesser_f32(exact(x), exact(y))))
#endif

indexed_fn *tile_short_runs_f16(enum kern_combine combine)
{
    switch ((int)combine) {
#if defined __F16C__
    case KERN_ADD: return add_f16;
    case KERN_MULTIPLY: return multiply_f16;
    case KERN_MAXIMUM: return maximum_f16;
    case KERN_MINIMUM: return minimum_f16;
#endif
    default: return NULL;
    }
}
