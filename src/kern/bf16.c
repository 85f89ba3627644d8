/*
 * bf16.c: sums of bf16, and the four operations of arithmetic on them as they lie in memory.
 *
 * Processors with AVX512_BF16 round 32 numbers in one instruction, where to do it in integers takes ten. It takes
 * subnormal numbers for zeros and keeps some of what a NaN carries, so it is given none: numbers go in pieces, and
 * only a piece whose operands are all tame, zeros or neither very small nor very large, goes that way.
 * spec: Add, Div, Mul, Sub
 */
#include "kern/cpu.h"
#include "kern/fold.h"
#include "kern/tile.h"

/* ---- operations ---- */

#if defined __AVX512BW__
#include <immintrin.h>

#define INLINE __attribute__((always_inline)) static inline

enum { LANES = 32, PIECE = 4 * LANES };
/* Codes of 2^-62 and 2^62: sums, products and quotients of what lies between are no less than 2^-124, unless they
 * are zero, and finite. */
enum { TAME_LEAST = 0x2080, TAME_MOST = 0x5e80, MAGNITUDE = 0x7fff };

/* The least and the most of some magnitudes. */
struct range {
    __m512i least, most;
};

INLINE struct range any_range(void)
{
    return (struct range){_mm512_set1_epi16(-1), _mm512_setzero_si512()};
}

/* Zeros, which are `less` by one than what is tame, come out of the subtraction as the greatest. */
INLINE void look_at(struct range *r, __m512i codes, int less)
{
    const __m512i magnitudes = _mm512_and_si512(codes, _mm512_set1_epi16(MAGNITUDE));
    r->most = _mm512_max_epu16(r->most, magnitudes);
    r->least = _mm512_min_epu16(r->least, _mm512_sub_epi16(magnitudes, _mm512_set1_epi16((short)less)));
}

INLINE bool is_tame(const struct range *r, int less)
{
    return (_mm512_cmpgt_epu16_mask(r->most, _mm512_set1_epi16(TAME_MOST)) |
            _mm512_cmplt_epu16_mask(r->least, _mm512_set1_epi16((short)(TAME_LEAST - less)))) == 0;
}

INLINE __m512 widened(__m512i codes, int half)
{
    const __m256i some = half ? _mm512_extracti64x4_epi64(codes, 1) : _mm512_castsi512_si256(codes);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(some), 16));
}

/* In the instruction's own words: this file is compiled for what all processors with AVX-512 have. */
INLINE __m512i rounded(__m512 low, __m512 high)
{
    __m512i codes;
    __asm__("vcvtne2ps2bf16 %2, %1, %0" : "=v"(codes) : "v"(high), "v"(low));
    return codes;
}

/* What an operand is: many elements, or one for all of them, or the same elements as the other operand. */
struct operand {
    bool single, same;
    const uint16_t *at;
    __m512 all; /* of a single one */
};

/* A quotient by one number is the product with its reciprocal, which has the same bits when it is rounded: no quotient
 * of numbers of 8 bits is halfway between two of these (that would be one of 9 bits, odd, and its product with the
 * divisor has more than 8), and if it isn't, it is at least 2^-17 of itself away from it. Both roundings on the way come
 * to 2^-23. */
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

/* `count` times LANES elements; false, and nothing is written, when they aren't tame. */
INLINE bool do_tame(enum operation op, uint16_t *out, struct operand x, struct operand y, int64_t at, int count)
{
    const int y_less = op != OPERATION_DIVIDE; /* a divisor is not zero */
    struct range x_range = any_range(), y_range = any_range();
    __m512i made[PIECE / LANES];
    KERN_UNROLL
    for (int k = 0; k < count; k++) {
        __m512i xs = _mm512_setzero_si512(), ys = xs;
        if (!x.single) {
            xs = _mm512_loadu_si512(x.at + at + k * LANES);
            look_at(&x_range, xs, 1);
        }
        if (y.same) {
            ys = xs;
        } else if (!y.single) {
            ys = _mm512_loadu_si512(y.at + at + k * LANES);
            look_at(&y_range, ys, y_less);
        }
        made[k] = rounded(result_of(op, x.single ? x.all : widened(xs, 0), y.single ? y.all : widened(ys, 0), y.single),
                          result_of(op, x.single ? x.all : widened(xs, 1), y.single ? y.all : widened(ys, 1), y.single));
    }
    if ((!x.single && !is_tame(&x_range, 1)) || (!y.single && !y.same && !is_tame(&y_range, y_less)))
        return false;
    KERN_UNROLL
    for (int k = 0; k < count; k++)
        _mm512_storeu_si512(out + at + k * LANES, made[k]);
    return true;
}

INLINE uint16_t element(enum operation op, uint16_t x_code, uint16_t y_code)
{
    const float x = bf16_to_f32(x_code), y = bf16_to_f32(y_code);
    return f32_to_bf16(op == OPERATION_ADD ? x + y : op == OPERATION_SUBTRACT ? x - y : op == OPERATION_DIVIDE ? x / y : x * y);
}

INLINE void do_any(enum operation op, uint16_t *out, struct operand x, struct operand y, int64_t at, int64_t n)
{
    const uint16_t all_x = *x.at, all_y = *y.at;
    TILE_LOOP
    for (int64_t i = at; i < at + n; i++)
        out[i] = element(op, x.single ? all_x : x.at[i], y.single ? all_y : y.at[i]);
}

/* Pieces as long as there are, and then what is left. */
INLINE void do_pieces(enum operation op, uint16_t *out, struct operand x, struct operand y, int64_t n)
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

INLINE void do_all(enum operation op, bool x_single, bool y_single, uint16_t *out, const void *const *args, int64_t n)
{
    struct operand x = operand_of(args[0], x_single, false), y = operand_of(args[1], y_single, op == OPERATION_DIVIDE);
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

#define OPERATION(id, OP)                                                                                    \
    static void id##_many(void *out, const void *const *args, int64_t n)                                     \
    {                                                                                                        \
        do_all(OPERATION_##OP, false, false, out, args, n);                                                  \
    }                                                                                                        \
    static void id##_first_single(void *out, const void *const *args, int64_t n)                             \
    {                                                                                                        \
        do_all(OPERATION_##OP, true, false, out, args, n);                                                   \
    }                                                                                                        \
    static void id##_second_single(void *out, const void *const *args, int64_t n)                            \
    {                                                                                                        \
        do_all(OPERATION_##OP, false, true, out, args, n);                                                   \
    }
OPERATION(add, ADD)
OPERATION(divide, DIVIDE)
OPERATION(multiply, MULTIPLY)
OPERATION(subtract, SUBTRACT)
#undef OPERATION

kern_tile_fn *tile_find_direct(const char *opcode, enum dtype t, unsigned single)
{
#define ROWS(form) {{"add", add_##form}, {"divide", divide_##form}, {"multiply", multiply_##form}, {"subtract", subtract_##form}}
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

static inline double double_of(uint16_t code)
{
    return (double)bf16_to_f32(code);
}

/* Lane 4 * k + j is lanes[j][k]. Adds some elements to those they belong to, and all lanes in pairs. */
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
 * Without conversions, which cost more than the additions: the bits of a bf16, put where an f64 has its exponent and
 * the first bits behind it, are the number times 2^-896. This scales sums as well: every bf16 is a multiple of 2^-133, so
 * none loses a bit where f64 has subnormals. Infinities and NaN are found on the way, and left to sum_any.
 *
 * Shifted by 3 as signed numbers the upper halves of 32 bits are right but for three copies of the sign, and in the upper
 * half of 64 bits where they are to be.
 */
double tile_sum_bf16(const uint16_t *x, int64_t n)
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
            const words upper = (words)((signed_halves)w >> 3), lower = (words)((signed_halves)((halves)w << 16) >> 3);
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
