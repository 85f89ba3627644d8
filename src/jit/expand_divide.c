/*
 * expand_divide.c: quotients and remainders of integers as lane instructions. There is no vector
 * division of integers: quotients are computed in floats, those by constants by a multiplication;
 * single elements are divided in general registers.
 */
#include "jit/expand.h"

static bool is_constant(int lanes) { return lanes < 0; }
static bool is_signed(const struct expansion *e) { return dtype_is_signed(e->type); }

/* ---- in floats ---- */

/* The integer part of an f64 in the range of the type. */
static int integer_of(struct expansion *e, int q)
{
    struct expansion f = {e->b, DT_F64, LANE_F64};
    if (is_signed(e))
        return emit1(e, LANE_I32_OF_F64, q);
    q = emit2(&f, LANE_SUB, emit1(&f, LANE_TRUNC, q), number(&f, 0x1p31));
    return emit2(e, LANE_XOR, emit1(e, LANE_I32_OF_F64, q), bits(e, sign_bit(e)));
}

/* No quotient is rounded up to the next integer: of 32 bits in f64, of 16 in f32. */
static int float_quotient(struct expansion *e, int x, int y)
{
    struct expansion f = {e->b, DT_F32, LANE_F32};
    if (!is_narrow(e->type))
        return integer_of(e, lane_emit(e->b, LANE_DIV, LANE_F64, f64_of(e, x), f64_of(e, y), 0));
    x = emit2(&f, LANE_DIV, emit1(&f, LANE_F32_OF_I32, x), emit1(&f, LANE_F32_OF_I32, y));
    return emit1(e, LANE_I32_OF_F32, x);
}

/* ---- by constants ---- */

/* The high half of an unsigned product with a constant. */
static int high_product(struct expansion *e, int x, uint64_t by)
{
    if (!is_wide(e))
        return emit2(e, LANE_MUL_HIGH, x, bits(e, by));
    const int x_high = lane_shift(e->b, LANE_SHR, e->lane, x, 32), low = bits(e, by),
              high = bits(e, by >> 32);
    int carry = lane_shift(e->b, LANE_SHR, e->lane, emit2(e, LANE_MUL_U32, x, low), 32);
    const int crossed = emit2(e, LANE_ADD, emit2(e, LANE_MUL_U32, x_high, low), carry);
    carry = emit2(e, LANE_ADD, emit2(e, LANE_MUL_U32, x, high),
                  emit2(e, LANE_AND, crossed, bits(e, UINT32_MAX)));
    x = emit2(e, LANE_ADD, emit2(e, LANE_MUL_U32, x_high, high),
              lane_shift(e->b, LANE_SHR, e->lane, crossed, 32));
    return emit2(e, LANE_ADD, x, lane_shift(e->b, LANE_SHR, e->lane, carry, 32));
}

/* x * 2^width / d, rounded up, for x < d. */
static uint64_t scaled_ratio(const struct expansion *e, uint64_t x, uint64_t d)
{
    uint64_t q = 0;
    for (unsigned k = 0; k < width(e); k++) {
        const bool more = x >= d - x;
        x = more ? x - (d - x) : 2 * x;
        q = q << 1 | more;
    }
    return q + 1;
}

/* With e = m d - 2^k >= 0, x / d is the integer part of x * m / 2^k, if x e < 2^k: the least m for
 * all x of the type. False if m has more bits than a lane, or the lane is wide. */
static bool find_product(const struct expansion *e, uint64_t d, uint64_t *m, unsigned *k)
{
    if (is_wide(e))
        return false;
    const uint64_t most = (uint64_t)1 << (dtype_bits(e->type) - is_signed(e));
    for (*k = 0; *k < 63; ++*k) {
        const uint64_t power = (uint64_t)1 << *k;
        *m = (power + d - 1) / d;
        if (*m >> width(e) != 0)
            return false;
        if (most * (*m * d - power) < power)
            return true;
    }
    return false;
}

static bool is_power(uint64_t v) { return (v & (v - 1)) == 0; }

/* The product is the low half of that of two lanes, or its high half. */
static int divide_by_product(struct expansion *e, int x, uint64_t m, unsigned k)
{
    const uint64_t most = (uint64_t)1 << (dtype_bits(e->type) - is_signed(e));
    if (most * m <= UINT64_MAX >> (64 - width(e)))
        return lane_shift(e->b, LANE_SHR, e->lane, emit2(e, LANE_MUL, x, bits(e, m)), k);
    if (k <= width(e))
        return high_product(e, x, m << (width(e) - k));
    return lane_shift(e->b, LANE_SHR, e->lane, high_product(e, x, m), k - width(e));
}

/* With 2^(n-1) < d < 2^n, x / d is the integer part of x * m / 2^(width+n-1), where m is
 * 2^(width+n-1) / d, rounded up, if x <= 2^(width-1). Otherwise m needs one more bit. */
static int divide_magnitude(struct expansion *e, int x, uint64_t d)
{
    const unsigned n = 64 - (unsigned)__builtin_clzll(d);
    uint64_t m;
    unsigned k;
    if (is_power(d))
        return lane_shift(e->b, LANE_SHR, e->lane, x, n - 1);
    if (find_product(e, d, &m, &k))
        return divide_by_product(e, x, m, k);
    if (is_signed(e)) {
        x = high_product(e, x, scaled_ratio(e, (uint64_t)1 << (n - 1), d));
    } else {
        const uint64_t rest = (n < 64 ? (uint64_t)1 << n : 0) - d;
        const int part = high_product(e, x, scaled_ratio(e, rest, d));
        x = lane_shift(e->b, LANE_SHR, e->lane, emit2(e, LANE_SUB, x, part), 1);
        x = emit2(e, LANE_ADD, x, part);
    }
    return lane_shift(e->b, LANE_SHR, e->lane, x, n - 1);
}

static int with_sign(struct expansion *e, int x, int fill)
{
    return emit2(e, LANE_SUB, emit2(e, LANE_XOR, x, fill), fill);
}

static bool is_negative(const struct expansion *e, uint64_t v)
{
    return is_signed(e) && v >> (width(e) - 1);
}

static uint64_t magnitude(const struct expansion *e, uint64_t v)
{
    return is_negative(e, v) ? (0 - v) & (UINT64_MAX >> (64 - width(e))) : v;
}

/* What makes the low bits of a negative number those of the next multiple of a power of two. */
static int rounding(struct expansion *e, int x, uint64_t size)
{
    return emit2(e, LANE_AND, sign_fill(e, x), bits(e, size - 1));
}

/* By a power of two, or its negative. */
static int shifted(struct expansion *e, int x, uint64_t v)
{
    const uint64_t size = magnitude(e, v);
    x = lane_shift(e->b, LANE_SAR, e->lane, emit2(e, LANE_ADD, x, rounding(e, x, size)),
                   (unsigned)__builtin_ctzll(size));
    return is_negative(e, v) ? emit2(e, LANE_SUB, bits(e, 0), x) : x;
}

static int constant_quotient(struct expansion *e, int x, int y)
{
    const uint64_t v = constant_bits(e, y);
    if (v == 0)
        return all_set(e->b, e->lane);
    if (!is_signed(e))
        return divide_magnitude(e, x, v);
    if (is_power(magnitude(e, v)) && (!is_wide(e) || has_avx512(e)))
        return shifted(e, x, v);
    int fill = sign_fill(e, x);
    x = divide_magnitude(e, with_sign(e, x, fill), magnitude(e, v));
    if (is_negative(e, v))
        fill = emit2(e, LANE_XOR, fill, all_set(e->b, e->lane));
    return with_sign(e, x, fill);
}

/* By a power of two: the low bits. */
static int low_bits(struct expansion *e, int x, uint64_t size)
{
    if (!is_signed(e))
        return emit2(e, LANE_AND, x, bits(e, size - 1));
    const int added = rounding(e, x, size);
    return emit2(e, LANE_SUB, emit2(e, LANE_AND, emit2(e, LANE_ADD, x, added), bits(e, size - 1)),
                 added);
}

/* ---- all ---- */

static int divide_general(struct expansion *e, enum lane_op op, int x, int y)
{
    const int i = emit2(e, op, x, y);
    e->b->insts[i].format = (uint8_t)e->type;
    return i;
}

int expand_quotient(struct expansion *e, int x, int y)
{
    if (is_constant(y))
        return constant_quotient(e, x, y);
    if (has_general(e))
        return divide_general(e, LANE_QUOTIENT, x, y);
    const int zero = emit2(e, LANE_EQ, y, bits(e, 0)), all = all_set(e->b, e->lane);
    const int special = blend(e, zero, all, emit2(e, LANE_SUB, bits(e, 0), x));
    const int replaced = is_signed(e) ? emit2(e, LANE_OR, zero, emit2(e, LANE_EQ, y, all)) : zero;
    return blend(e, replaced, special, float_quotient(e, x, blend(e, replaced, bits(e, 1), y)));
}

int expand_remainder(struct expansion *e, int x, int y)
{
    const uint64_t size = is_constant(y) ? magnitude(e, constant_bits(e, y)) : UINT64_MAX;
    if (size == 0)
        return x;
    if (is_power(size))
        return low_bits(e, x, size);
    if (!is_constant(y) && has_general(e))
        return divide_general(e, LANE_REMAINDER, x, y);
    const int r = emit2(e, LANE_SUB, x, product(e, expand_quotient(e, x, y), y));
    return is_constant(y) ? r : blend(e, emit2(e, LANE_EQ, y, bits(e, 0)), x, r);
}
