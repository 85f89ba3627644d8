/*
 * bf16.c: sums of bf16, and the four arithmetic operations on bf16 in memory without conversion to
 * arrays of f32.
 *
 * Processors with AVX512_BF16 round 32 numbers in one instruction; with integer instructions this
 * takes ten. But the instruction treats subnormal numbers as zeros and keeps some of a NaN's
 * payload. So numbers are processed in pieces, and a piece with NaNs among its results, or with
 * zero results when its operands are not all "tame" (zero, or neither very small nor very large),
 * falls back to integer rounding.
 *
 * Of 32 numbers in a vector, those at even positions are widened by a shift, those at odd positions
 * by a mask; both are rounded into one vector of two halves. spec: Add, Div, Mul, Sub
 */
#include "kern/cpu.h"
#include "kern/reducer.h"
#include "kern/tile.h"

/* ---- operations ---- */

#if defined __AVX512BW__
#include <immintrin.h>

#define INLINE __attribute__((always_inline)) static inline

enum { LANES = 32, PIECE = 4 * LANES };
/* Codes of 2^-62 and 2^62: sums, products and quotients of numbers between these are finite, and
 * zero or at least 2^-124. */
enum { TAME_MIN = 0x2080, TAME_MAX = 0x5e80, MAGNITUDE = 0x7fff, INFINITE = 0x7f80 };

/* The least and the greatest of some magnitudes. */
struct range {
    __m512i min, max;
};

INLINE struct range any_range(void)
{
    return (struct range){_mm512_set1_epi16(-1), _mm512_setzero_si512()};
}

/* Extends a range by magnitudes. With `less` 1, which is subtracted, zeros wrap around to the
 * greatest value and are ignored by the minimum. */
INLINE void look_at(struct range *r, __m512i codes, int less)
{
    const __m512i magnitudes = _mm512_and_si512(codes, _mm512_set1_epi16(MAGNITUDE));
    r->max = _mm512_max_epu16(r->max, magnitudes);
    r->min = _mm512_min_epu16(r->min, _mm512_sub_epi16(magnitudes, _mm512_set1_epi16((short)less)));
}

INLINE bool is_tame(const struct range *r, int less)
{
    return (_mm512_cmpgt_epu16_mask(r->max, _mm512_set1_epi16(TAME_MAX)) |
            _mm512_cmplt_epu16_mask(r->min, _mm512_set1_epi16((short)(TAME_MIN - less)))) == 0;
}

INLINE __m512 widened(__m512i codes, bool odd)
{
    return _mm512_castsi512_ps(odd ? _mm512_and_si512(codes, _mm512_set1_epi32((int)0xffff0000))
                                   : _mm512_slli_epi32(codes, 16));
}

/* Inline assembly, since this file is compiled for the instructions common to all processors with
 * AVX-512. */
INLINE __m512i rounded(__m512 even, __m512 odd)
{
    __m512i halves;
    __asm__("vcvtne2ps2bf16 %2, %1, %0" : "=v"(halves) : "v"(odd), "v"(even));
    return halves;
}

/* Restores the order of the numbers from two halves (even positions, odd positions). */
INLINE __m512i interleaved(__m512i halves)
{
    static const uint16_t places[LANES] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                           21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                           11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    return _mm512_permutexvar_epi16(_mm512_loadu_si512(places), halves);
}

/* An operand: an array, a single element used for all, or the same array as the other operand. */
struct operand {
    bool single, same;
    const uint16_t *at;
    __m512 all; /* the single element in each lane */
};

/* A quotient by a single number is computed as the product with its reciprocal; after rounding to
 * bf16 the bits are the same: a quotient of two numbers of 8 bits is never halfway between two such
 * numbers (it would be an odd number of 9 bits, whose product with the divisor has more than 8), so
 * its relative distance from there is at least 2^-17. Both intermediate roundings together are at
 * most 2^-23. */
INLINE struct operand operand_of(const void *at, bool single, bool divides)
{
    struct operand o = {single, false, at, _mm512_setzero_ps()};
    if (single)
        o.all = _mm512_set1_ps(divides ? 1 / bf16_to_f32(*o.at) : bf16_to_f32(*o.at));
    return o;
}

enum operation { OPERATION_ADD, OPERATION_DIVIDE, OPERATION_MULTIPLY, OPERATION_SUBTRACT };

INLINE __m512 result_of(enum operation op, __m512 x, __m512 y, bool by_reciprocal)
{
    switch (op) {
    case OPERATION_ADD: return _mm512_add_ps(x, y);
    case OPERATION_SUBTRACT: return _mm512_sub_ps(x, y);
    case OPERATION_DIVIDE: return by_reciprocal ? _mm512_mul_ps(x, y) : _mm512_div_ps(x, y);
    default: return _mm512_mul_ps(x, y);
    }
}

/* Whether all of `count` times LANES elements of the operands are tame: none is subnormal or gives
 * a subnormal result. */
INLINE bool operands_are_tame(enum operation op, struct operand x, struct operand y, int64_t at,
                              int count)
{
    const int y_less = op != OPERATION_DIVIDE; /* a divisor must not be zero */
    struct range x_range = any_range(), y_range = any_range();
    for (int k = 0; k < count; k++) {
        if (!x.single)
            look_at(&x_range, _mm512_loadu_si512(x.at + at + k * LANES), 1);
        if (!y.single)
            look_at(&y_range, _mm512_loadu_si512(y.at + at + k * LANES), y_less);
    }
    return (x.single || is_tame(&x_range, 1)) && (y.single || is_tame(&y_range, y_less));
}

/* Computes `count` times LANES elements; false, with nothing written, when they need the
 * fallback. */
INLINE bool do_tame(enum operation op, uint16_t *out, struct operand x, struct operand y,
                    int64_t at, int count)
{
    __m512i made[PIECE / LANES], max = _mm512_setzero_si512();
    KERN_UNROLL
    for (int k = 0; k < count; k++) {
        const __m512i xs = x.single ? max : _mm512_loadu_si512(x.at + at + k * LANES);
        const __m512i ys = y.single ? max : y.same ? xs : _mm512_loadu_si512(y.at + at + k * LANES);
        made[k] = interleaved(rounded(result_of(op, x.single ? x.all : widened(xs, false),
                                                y.single ? y.all : widened(ys, false), y.single),
                                      result_of(op, x.single ? x.all : widened(xs, true),
                                                y.single ? y.all : widened(ys, true), y.single)));
        const __m512i magnitudes = _mm512_and_si512(made[k], _mm512_set1_epi16(MAGNITUDE));
        max = _mm512_max_epu16(max,
                               /* zeros wrap to the greatest value */
                               _mm512_sub_epi16(magnitudes, _mm512_set1_epi16(1)));
    }
    if (_mm512_cmpgt_epu16_mask(max, _mm512_set1_epi16(INFINITE - 1)) &&
        !operands_are_tame(op, x, y, at, count))
        return false;
    KERN_UNROLL
    for (int k = 0; k < count; k++)
        _mm512_storeu_si512(out + at + k * LANES, made[k]);
    return true;
}

INLINE uint16_t element(enum operation op, uint16_t x_code, uint16_t y_code)
{
    const float x = bf16_to_f32(x_code), y = bf16_to_f32(y_code);
    return f32_to_bf16(op == OPERATION_ADD        ? x + y
                       : op == OPERATION_SUBTRACT ? x - y
                       : op == OPERATION_DIVIDE   ? x / y
                                                  : x * y);
}

INLINE void do_any(enum operation op, uint16_t *out, struct operand x, struct operand y, int64_t at,
                   int64_t n)
{
    const uint16_t all_x = *x.at, all_y = *y.at;
    TILE_LOOP
    for (int64_t i = at; i < at + n; i++)
        out[i] = element(op, x.single ? all_x : x.at[i], y.single ? all_y : y.at[i]);
}

/* Computes whole pieces, then the remainder. */
INLINE void do_pieces(enum operation op, uint16_t *out, struct operand x, struct operand y,
                      int64_t n)
{
    int64_t i = 0;
    for (; i + PIECE <= n; i += PIECE)
        if (!do_tame(op, out, x, y, i, PIECE / LANES))
            do_any(op, out, x, y, i, PIECE);
    for (; i + LANES <= n; i += LANES)
        if (!do_tame(op, out, x, y, i, 1))
            do_any(op, out, x, y, i, LANES);
    do_any(op, out, x, y, i, n - i);
}

INLINE void do_all(enum operation op, bool x_single, bool y_single, uint16_t *out,
                   const void *const *args, int64_t n)
{
    struct operand x = operand_of(args[0], x_single, false),
                   y = operand_of(args[1], y_single, op == OPERATION_DIVIDE);
    struct range r = any_range();
    if (x_single || y_single)
        look_at(&r, _mm512_set1_epi16((short)(x_single ? *x.at : *y.at)), op != OPERATION_DIVIDE);
    if ((x_single || y_single) && !is_tame(&r, op != OPERATION_DIVIDE)) {
        do_any(op, out, x, y, 0, n);
    } else if (op == OPERATION_MULTIPLY && !x_single && !y_single && x.at == y.at) {
        y.same = true;
        do_pieces(op, out, x, y, n);
    } else {
        do_pieces(op, out, x, y, n);
    }
}

#define OPERATION(id, OP)                                                                          \
    static void id##_many(void *out, const void *const *args, int64_t n)                           \
    {                                                                                              \
        do_all(OPERATION_##OP, false, false, out, args, n);                                        \
    }                                                                                              \
    static void id##_first_single(void *out, const void *const *args, int64_t n)                   \
    {                                                                                              \
        do_all(OPERATION_##OP, true, false, out, args, n);                                         \
    }                                                                                              \
    static void id##_second_single(void *out, const void *const *args, int64_t n)                  \
    {                                                                                              \
        do_all(OPERATION_##OP, false, true, out, args, n);                                         \
    }
OPERATION(add, ADD)
OPERATION(divide, DIVIDE)
OPERATION(multiply, MULTIPLY)
OPERATION(subtract, SUBTRACT)
#undef OPERATION

kern_tile_fn *tile_find_direct(const char *opcode, enum dtype t, unsigned single)
{
#define ROWS(form)                                                                                 \
    {                                                                                              \
        {"add", add_##form}, {"divide", divide_##form}, {"multiply", multiply_##form},             \
        {                                                                                          \
            "subtract", subtract_##form                                                            \
        }                                                                                          \
    }
    static const struct tile_row rows[3][4] = {ROWS(many), ROWS(first_single), ROWS(second_single)};
#undef ROWS
    if (t != DT_BF16 || single > 2 || !cpu_extras().bf16)
        return NULL;
    return tile_find((struct tile_table){rows[single], COUNT_OF(rows[single])}, opcode);
}

#else
kern_tile_fn *tile_find_direct(const char *opcode, enum dtype t, unsigned single)
{
    (void)opcode, (void)t, (void)single;
    return NULL;
}
#endif

/* ---- sums ---- */

static inline double double_of(uint16_t code) { return (double)bf16_to_f32(code); }

/* Adds the remaining n elements to their lanes, then all lanes pairwise. Lane 4 * k + j is
 * lanes[j][k]. */
enum { FOURS = SUM_LANES / 4 };
static inline double sum_lanes(double lanes[4][FOURS], const uint16_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        lanes[i % 4][i / 4] += double_of(x[i]);
    KERN_UNROLL
    for (int step = FOURS / 2; step > 0; step /= 2)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < step; k++)
                lanes[j][k] += lanes[j][k + step];
    return (lanes[0][0] + lanes[2][0]) + (lanes[1][0] + lanes[3][0]);
}

static double sum_any(const uint16_t *x, int64_t n)
{
    double lanes[4][FOURS];
    int64_t i = 0;
    for (int j = 0; j < SUM_LANES; j++)
        lanes[j % 4][j / 4] = -0.0; /* -0 + x is x, for -0 as well */
    for (; i + SUM_LANES <= n; i += SUM_LANES)
        for (int j = 0; j < SUM_LANES; j++)
            lanes[j % 4][j / 4] += double_of(x[i + j]);
    return sum_lanes(lanes, x + i, n - i);
}

typedef uint64_t words __attribute__((vector_size(TILE_BYTES)));
typedef uint32_t halves __attribute__((vector_size(TILE_BYTES)));
typedef int32_t signed_halves __attribute__((vector_size(TILE_BYTES)));
typedef uint16_t codes __attribute__((vector_size(TILE_BYTES)));
typedef double doubles __attribute__((vector_size(TILE_BYTES)));

/*
 * A sum without conversions, which cost more than the additions: the bits of a bf16, placed at the
 * exponent and the first mantissa bits of an f64, are the number times 2^-896. Sums are scaled
 * likewise: every bf16 is a multiple of 2^-133, so no bit is lost to the subnormals of f64.
 * Infinities and NaN are detected and left to sum_any.
 *
 * Shifted right by 3 as signed numbers, the bf16 in the upper halves of 32 bits have the right bits
 * except for three copies of the sign, and in the upper half of 64 bits they are in the right
 * position.
 */
static double sum_scaled(const uint16_t *x, int64_t n)
{
    enum { PARTS = 2 * SUM_LANES / TILE_BYTES, WORDS = TILE_BYTES / 8 };
    const words number = (words){0} + 0x8fffe00000000000;
    doubles a[PARTS], b[PARTS], c[PARTS], d[PARTS]; /* the first of each word's four numbers, ... */
    double lanes[4][FOURS];
    codes specials = {0};
    int64_t i = 0;
    for (int p = 0; p < PARTS; p++)
        a[p] = b[p] = c[p] = d[p] = -(doubles){0};
    for (; i + SUM_LANES <= n; i += SUM_LANES) {
        KERN_UNROLL
        for (int p = 0; p < PARTS; p++) {
            words w;
            memcpy(&w, x + i + p * TILE_BYTES / 2, sizeof w);
            specials |= ((codes)w & 0x7f80) + 0x80;
            const words upper = (words)((signed_halves)w >> 3),
                        lower = (words)((signed_halves)((halves)w << 16) >> 3);
            a[p] += (doubles)(lower << 32 & number);
            b[p] += (doubles)(upper << 32 & number);
            c[p] += (doubles)(lower & number);
            d[p] += (doubles)(upper & number);
        }
    }
    unsigned special = 0;
    for (int k = 0; k < TILE_BYTES / 2; k++)
        special |= specials[k];
    if (special & 0x8000)
        return sum_any(x, n);
    for (int p = 0; p < PARTS; p++) {
        const doubles made[] = {a[p], b[p], c[p], d[p]};
        for (int j = 0; j < 4; j++) {
            const doubles whole = made[j] * 0x1p896;
            memcpy(lanes[j] + p * WORDS, &whole, sizeof whole);
        }
    }
    return sum_lanes(lanes, x + i, n - i);
}

#if defined __AVX512BW__

/* The least of 32 numbers. */
INLINE unsigned least_of(__m512i x)
{
    const __m256i half =
        _mm256_min_epu16(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));
    const __m128i quarter =
        _mm_min_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    return (unsigned)_mm_extract_epi16(_mm_minpos_epu16(quarter), 0);
}

/*
 * Numbers of similar magnitude: no sum of a few of them is rounded in f32, nor the sum of all in
 * f64, so the order is irrelevant. (The sum of four multiples of 2^k that are less than 2^(k + 22)
 * is exact in f32.) The functions below are false when the magnitudes differ too much, and when all
 * numbers are zeros, whose sum depends on their signs.
 */
struct exact {
    __m512d low, high;
    /* minimum of magnitude - 1; minimum of 0xffff - magnitude, which gives the maximum */
    __m512i min, max;
};

INLINE void add_exactly(struct exact *e, __m512i x, __m512i y)
{
    const __m512i all = _mm512_set1_epi16(-1), magnitude = _mm512_set1_epi16(MAGNITUDE),
                  one = _mm512_set1_epi16(1);
    const __m512i xs = _mm512_and_si512(x, magnitude), ys = _mm512_and_si512(y, magnitude);
    e->min = _mm512_min_epu16(
        e->min, _mm512_min_epu16(_mm512_sub_epi16(xs, one), _mm512_sub_epi16(ys, one)));
    e->max = _mm512_min_epu16(
        e->max, _mm512_min_epu16(_mm512_xor_si512(xs, all), _mm512_xor_si512(ys, all)));
    const __m512 fours = _mm512_add_ps(_mm512_add_ps(widened(x, false), widened(x, true)),
                                       _mm512_add_ps(widened(y, false), widened(y, true)));
    e->low = _mm512_add_pd(e->low, _mm512_cvtps_pd(_mm512_castps512_ps256(fours)));
    e->high = _mm512_add_pd(e->high, _mm512_cvtps_pd(_mm512_extractf32x8_ps(fours, 1)));
}

/* The first n of 32 numbers, followed by zeros. */
INLINE __m512i load_some(const uint16_t *x, int64_t n)
{
    const __mmask32 some = n >= LANES ? 0xffffffff : n > 0 ? (1u << n) - 1 : 0;
    return _mm512_maskz_loadu_epi16(some, x);
}

INLINE bool sum_exactly(const uint16_t *x, int64_t n, double *sum)
{
    enum {
        WIDEST = 14,
        MAX_EXPONENT = 252
    }; /* largest allowed difference of exponents: 22 minus the 8 bits of a number */
    const __m512i all = _mm512_set1_epi16(-1);
    struct exact e = {_mm512_set1_pd(-0.0), _mm512_set1_pd(-0.0), all, all};
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES)
        add_exactly(&e, _mm512_loadu_si512(x + i), _mm512_loadu_si512(x + i + LANES));
    if (i < n)
        add_exactly(&e, load_some(x + i, n - i), load_some(x + i + LANES, n - i - LANES));
    *sum = _mm512_reduce_add_pd(_mm512_add_pd(e.low, e.high));
    const unsigned first = (least_of(e.min) + 1) >> 7,
                   last = (0xffff - least_of(e.max)) >> 7; /* exponents */
    return last <= MAX_EXPONENT && last >= first && last - first <= WIDEST;
}

double tile_sum_bf16(const uint16_t *x, int64_t n)
{
    double sum;
    return n >= 8 * LANES && sum_exactly(x, n, &sum) ? sum : sum_scaled(x, n);
}

/* Adds adjacent sums of a vector in the order of SUM_LANES. */
INLINE __m512d add_lanes(__m512d x)
{
    x = _mm512_add_pd(x, _mm512_permutex_pd(x, 0x4e));
    return _mm512_add_pd(x, _mm512_permute_pd(x, 0x55));
}

/* The sum of squares that are rounded to bf16 as if they were stored in an array. A vector of
 * squares consists of halves: its word w holds element 8 * w and every second one after it, or from
 * w = 4 on 8 * (w - 4) + 1 and so on. */
INLINE bool sum_tame_squares(const uint16_t *x, int64_t n, double *sum)
{
    const __m512i number = _mm512_set1_epi64(0x0fffe00000000000);
    __m512d a = _mm512_set1_pd(-0.0), b = a, c = a,
            d = a; /* the first of each word's four numbers, ... */
    struct range range = any_range();
    for (int64_t i = 0; i < n; i += LANES) {
        const __m512i some = _mm512_loadu_si512(x + i);
        const __m512 even = widened(some, false), odd = widened(some, true);
        const __m512i made = rounded(_mm512_mul_ps(even, even), _mm512_mul_ps(odd, odd));
        look_at(&range, some, 1);
        a = _mm512_add_pd(
            a, _mm512_castsi512_pd(_mm512_and_si512(_mm512_slli_epi64(made, 45), number)));
        b = _mm512_add_pd(
            b, _mm512_castsi512_pd(_mm512_and_si512(_mm512_slli_epi64(made, 29), number)));
        c = _mm512_add_pd(
            c, _mm512_castsi512_pd(_mm512_and_si512(_mm512_slli_epi64(made, 13), number)));
        d = _mm512_add_pd(
            d, _mm512_castsi512_pd(_mm512_and_si512(_mm512_srli_epi64(made, 3), number)));
    }
    const __m512d all = _mm512_add_pd(_mm512_add_pd(add_lanes(a), add_lanes(c)),
                                      _mm512_add_pd(add_lanes(b), add_lanes(d)));
    *sum = (_mm512_cvtsd_f64(all) + _mm256_cvtsd_f64(_mm512_extractf64x4_pd(all, 1))) * 0x1p896;
    return is_tame(&range, 1);
}

static double sum_squares(const uint16_t *x, int64_t n)
{
    uint16_t squares[KERN_TILE];
    double sum;
    if (n > 0 && n % LANES == 0 && sum_tame_squares(x, n, &sum))
        return sum;
    multiply_many(squares, (const void *const[]){x, x}, n);
    return sum_scaled(squares, n);
}

tile_sum_bf16_fn *tile_find_squares(void) { return cpu_extras().bf16 ? sum_squares : NULL; }

#else
double tile_sum_bf16(const uint16_t *x, int64_t n) { return sum_scaled(x, n); }

tile_sum_bf16_fn *tile_find_squares(void) { return NULL; }
#endif
