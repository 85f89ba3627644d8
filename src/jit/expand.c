/*
 * expand.c: operations on elements as lane instructions. The formulas are those of the tile kernels
 * (elementwise_float.def, elementwise_integer.def, convert.c, compare.c); a unit test compares the
 * bits.
 */
#include "jit/expand.h"

/* ---- rounding to narrow types ---- */

/* To nearest even: adds 0x7fff and the last bit that remains, in one instruction where there is one
 * that adds products of halves. */
static int round_bf16(struct expansion *e, int x)
{
    struct expansion i = {e->b, DT_U32, LANE_I32};
    int r;
    if (e->b->target.vnni) {
        const int last = emit2(&i, LANE_AND, x, bits(&i, 0x10000)),
                  halves = emit2(&i, LANE_OR, last, bits(&i, 0x7fff));
        r = lane_emit(e->b, LANE_ADD_PRODUCTS, LANE_I32, x, halves, bits(&i, 0x10001));
    } else {
        const int last =
            emit2(&i, LANE_AND, lane_shift(e->b, LANE_SHR, LANE_I32, x, 16), bits(&i, 1));
        r = emit2(&i, LANE_ADD, emit2(&i, LANE_ADD, x, bits(&i, 0x7fff)), last);
    }
    return emit2(&i, LANE_AND, r, bits(&i, lane_high_half));
}

/*
 * The quotient x / y of values of bf16, to be rounded to one, if y is the same for all elements: as
 * the product (x * scale) * r, r = 1 / (y * scale), which rounds to the same value.
 *
 * The scale keeps r finite for a subnormal y; where x * scale overflows, the quotient does as well.
 * So the product is (x / y)(1 + e) rounded to f32, |e| <= 2^-24. A quotient q of integers of 8 bits
 * is not halfway between two numbers of 8 bits: it is at least 2^-17 q away, more than both errors.
 * Below 2^-126, it may be halfway, at an odd multiple of 2^-134; then q e is less than half of the
 * last place, and the product is q. Otherwise it is at least 2^-142 away. Where r is subnormal,
 * beyond 2^126, a test of all x and y has no exception.
 */
static int by_reciprocal(struct expansion *e, int quotient)
{
    const struct lane_inst i = quotient < 0 ? (struct lane_inst){0} : e->b->insts[quotient];
    if (i.op != LANE_DIV || i.invariant || !lane_is_invariant(e->b, i.args[1]))
        return quotient;
    struct expansion n = {e->b, DT_S32, LANE_I32};
    const int y = i.args[1], one = number(e, 1), size = emit2(&n, LANE_AND, y, bits(&n, INT32_MAX)),
              is_subnormal = emit2(&n, LANE_GT, number(e, 0x1p-126), size),
              scale = blend(e, is_subnormal, number(e, 0x1p8), one);
    const int r = emit2(e, LANE_DIV, one, emit2(e, LANE_MUL, y, scale));
    return emit2(e, LANE_MUL, emit2(e, LANE_MUL, i.args[0], scale), r);
}

/* An f32 rounded to a value of bf16 or f16. A NaN that an operation on such values made has no bits
 * below theirs: it is rounded as a number, and remains one. */
static int round_result(struct expansion *e, int x)
{
    return e->type == DT_BF16 ? round_bf16(e, by_reciprocal(e, x)) : emit1(e, LANE_ROUND_F16, x);
}

/* Any f32; a NaN loses its payload. */
static int round_any(struct expansion *e, int x)
{
    struct expansion i = {e->b, DT_U32, LANE_I32};
    int nan =
        emit2(&i, LANE_OR, emit2(&i, LANE_AND, x, bits(&i, 0x80000000)), bits(&i, 0x7fc00000));
    return blend(e, emit2(e, LANE_UNORDERED, x, x), nan, round_result(e, x));
}

static bool is_narrow_float(enum dtype t) { return t == DT_BF16 || t == DT_F16; }

/* The value of 32 bits as one of type `t`. */
static int rounded_to(struct jit_builder *b, enum dtype t, int x)
{
    struct expansion f = {b, t, LANE_F32};
    if (is_narrow_float(t))
        return round_any(&f, x);
    const enum lane_type lane = lane_type_of(b, x);
    if (dtype_bits(t) >= lane_width(lane) || t == DT_PRED)
        return x;
    if (!dtype_is_signed(t))
        return lane_emit(b, LANE_AND, lane, x,
                         lane_constant(b, lane, ((uint64_t)1 << dtype_bits(t)) - 1), 0);
    const unsigned unused = lane_width(lane) - dtype_bits(t);
    x = lane_shift(b, LANE_SHL, lane, x, unused);
    return lane_shift(b, LANE_SAR, lane, x, unused);
}

/* ---- masks ---- */

static int mask_not(struct jit_builder *b, int mask)
{
    enum lane_type t = integer_lane(lane_type_of(b, mask));
    return lane_emit(b, LANE_XOR, t, mask, all_set(b, t), 0);
}

/* A mask for lanes of the width of `t`. */
static int mask_as(struct jit_builder *b, int mask, enum lane_type t)
{
    bool from = lane_is_wide(lane_type_of(b, mask)), to = lane_is_wide(t);
    if (from == to)
        return mask;
    return to ? lane_emit(b, LANE_I64_OF_I32, LANE_I64, mask, 0, 0)
              : lane_emit(b, LANE_I32_OF_I64, LANE_I32, mask, 0, 0);
}

/* ---- floats ---- */

/* With a constant that is not NaN: x if it is NaN or equal, as the instruction returns its second
 * operand then. Only a zero is also equal to other bits, one of which gives the constant. */
static int extreme_with(struct expansion *e, int x, int constant, bool greatest)
{
    const uint64_t v = e->b->constants[~constant].bits & (2 * sign_bit(e) - 1);
    if (v == (greatest ? 0 : sign_bit(e))) {
        const int replaced =
            greatest ? emit2(e, LANE_LE, x, constant) : emit2(e, LANE_LE, constant, x);
        return blend(e, replaced, constant, x);
    }
    return emit2(e, greatest ? LANE_MAX : LANE_MIN, constant, x);
}

static bool is_number(const struct expansion *e, int x)
{
    const uint64_t infinity = bits_of_float(e->lane, (double)INFINITY);
    return x < 0 && (e->b->constants[~x].bits & (sign_bit(e) - 1)) <= infinity;
}

/* NaN is propagated; +0 is greater than -0, by the bits of equal numbers. */
static int extreme(struct expansion *e, int x, int y, bool greatest)
{
    if (is_number(e, x))
        return extreme_with(e, y, x, greatest);
    if (is_number(e, y))
        return extreme_with(e, x, y, greatest);
    int both = emit2(e, greatest ? LANE_AND : LANE_OR, x, y),
        r = emit2(e, greatest ? LANE_MAX : LANE_MIN, x, y);
    r = blend(e, emit2(e, LANE_EQ, x, y), both, r);
    return blend(e, emit2(e, LANE_UNORDERED, x, x), x, r);
}

static int round_away(struct expansion *e, int x)
{
    int r = emit1(e, LANE_TRUNC, x), sign = emit2(e, LANE_AND, x, bits(e, sign_bit(e))),
        rest = emit2(e, LANE_AND_NOT, emit2(e, LANE_SUB, x, r), bits(e, sign_bit(e))),
        next = emit2(e, LANE_ADD, r, emit2(e, LANE_OR, sign, number(e, 1)));
    r = blend(e, emit2(e, LANE_LE, number(e, 0.5), rest), next, r);
    return emit2(e, LANE_OR, r, sign);
}

static int float_sign(struct expansion *e, int x)
{
    int zero = number(e, 0), r = blend(e, emit2(e, LANE_LT, x, zero), number(e, -1), x);
    return blend(e, emit2(e, LANE_LT, zero, x), number(e, 1), r);
}

static int float_abs(struct expansion *e, int x)
{
    return emit2(e, LANE_AND_NOT, x, bits(e, sign_bit(e)));
}

static int is_finite(struct expansion *e, int x)
{
    return emit2(e, LANE_LT, float_abs(e, x), number(e, (double)INFINITY));
}

/* A quotient by a power of two is the product with its reciprocal, if that is a normal number. */
static int quotient(struct expansion *e, int x, int y)
{
    const int digits = is_wide(e) ? 52 : 23;
    const uint64_t one = (uint64_t)1 << digits, most = is_wide(e) ? 2046 : 254,
                   v = y < 0 ? e->b->constants[~y].bits & (2 * sign_bit(e) - 1) : 1,
                   exponent = v >> digits & (most + 1);
    if ((v & (one - 1)) != 0 || exponent == 0 || exponent >= most)
        return emit2(e, LANE_DIV, x, y);
    return emit2(e, LANE_MUL, x, bits(e, v + (most - 2 * exponent) * one));
}

/* ---- integers ---- */

static int integer_abs(struct expansion *e, int x)
{
    if (dtype_is_unsigned(e->type))
        return x;
    int fill = sign_fill(e, x);
    return emit2(e, LANE_SUB, emit2(e, LANE_XOR, x, fill), fill);
}

/* In the order of the type. */
static int integer_greater(struct expansion *e, int x, int y)
{
    if (dtype_is_unsigned(e->type) && has_avx512(e))
        return emit2(e, LANE_GT_U, x, y);
    if (dtype_is_unsigned(e->type)) {
        x = emit2(e, LANE_XOR, x, bits(e, sign_bit(e)));
        y = emit2(e, LANE_XOR, y, bits(e, sign_bit(e)));
    }
    return emit2(e, LANE_GT, x, y);
}

static bool has_extremes(const struct expansion *e) { return !is_wide(e) || has_avx512(e); }

static int integer_max(struct expansion *e, int x, int y)
{
    if (has_extremes(e))
        return emit2(e, dtype_is_unsigned(e->type) ? LANE_MAX_U : LANE_MAX, x, y);
    return blend(e, integer_greater(e, y, x), y, x);
}
static int integer_min(struct expansion *e, int x, int y)
{
    if (has_extremes(e))
        return emit2(e, dtype_is_unsigned(e->type) ? LANE_MIN_U : LANE_MIN, x, y);
    return blend(e, integer_greater(e, x, y), y, x);
}

static int integer_sign(struct expansion *e, int x)
{
    const int zero = bits(e, 0), one = bits(e, 1);
    if (has_extremes(e) && dtype_is_unsigned(e->type))
        return integer_min(e, x, one);
    if (has_extremes(e))
        return integer_max(e, integer_min(e, x, one), bits(e, UINT64_MAX));
    if (dtype_is_unsigned(e->type))
        return emit2(e, LANE_ADD, emit2(e, LANE_EQ, x, zero), one);
    return emit2(e, LANE_SUB, emit2(e, LANE_GT, zero, x), emit2(e, LANE_GT, x, zero));
}

/* By a constant number of bits, or by those of `y`: AVX2 has no such shift of 16 bits. */
static int shift(struct expansion *e, enum lane_op op, enum lane_op op_by, int x, int y)
{
    if (y >= 0)
        return width(e) < 32 && !has_avx512(e) ? LANE_NONE : emit2(e, op_by, x, y);
    const uint64_t count = constant_bits(e, y), most = width(e) - 1;
    if (count > most && op != LANE_SAR)
        return bits(e, 0);
    return lane_shift(e->b, op, e->lane, x, (unsigned)(count < most ? count : most));
}

static int shift_arithmetic(struct expansion *e, int x, int y)
{
    const unsigned unused = width(e) - dtype_bits(e->type);
    if (unused > 0 && dtype_is_unsigned(e->type)) /* the sign bit is that of the type */
        x = lane_shift(e->b, LANE_SAR, e->lane, lane_shift(e->b, LANE_SHL, e->lane, x, unused),
                       unused);
    if (!is_wide(e) || has_avx512(e))
        return shift(e, LANE_SAR, LANE_SAR_BY, x, y);
    struct expansion u = {e->b, DT_U64, LANE_I64};
    int fill = sign_fill(e, x), count = integer_min(&u, y, bits(e, 63));
    return emit2(e, LANE_XOR, emit2(e, LANE_SHR_BY, emit2(e, LANE_XOR, x, fill), count), fill);
}

/* Without instructions for it, 64 bits are only divided by constants; 16 have no float of their
 * size. */
static bool may_divide(const struct expansion *e, int y)
{
    return width(e) == 32 || y < 0 || has_general(e);
}

/* By a constant number of bits, zero-filled. */
static int shift_right(struct expansion *e, int x, unsigned count)
{
    return lane_shift(e->b, LANE_SHR, e->lane, x, count);
}

/* The bits of the type, zero-extended. */
static int bits_of_type(struct expansion *e, int x)
{
    return dtype_bits(e->type) < width(e) && dtype_is_signed(e->type)
               ? emit2(e, LANE_AND, x, bits(e, ((uint64_t)1 << dtype_bits(e->type)) - 1))
               : x;
}

/* Sums of adjacent bits, of pairs and of nibbles; then of bytes, the last of which hold the sum of
 * all: it is less than 256. */
static int count_ones(struct expansion *e, int x)
{
    const int nibbles = bits(e, 0x3333333333333333);
    if (e->b->target.vpopcntdq && width(e) > 16)
        return emit1(e, LANE_ONES, x);
    x = emit2(e, LANE_SUB, x,
              emit2(e, LANE_AND, shift_right(e, x, 1), bits(e, 0x5555555555555555)));
    x = emit2(e, LANE_ADD, emit2(e, LANE_AND, x, nibbles),
              emit2(e, LANE_AND, shift_right(e, x, 2), nibbles));
    x = emit2(e, LANE_AND, emit2(e, LANE_ADD, x, shift_right(e, x, 4)),
              bits(e, 0x0f0f0f0f0f0f0f0f));
    if (!is_wide(e))
        return shift_right(e, emit2(e, LANE_MUL, x, bits(e, 0x0101010101010101)), width(e) - 8);
    for (unsigned n = 8; n < 64; n *= 2)
        x = emit2(e, LANE_ADD, x, shift_right(e, x, n));
    return emit2(e, LANE_AND, x, bits(e, 0x7f));
}

/* In lanes of 32 bits, by the exponent of the number as an f32. It is exact for 24 bits; of more,
 * some of those below the first eight are cleared, so that it is not rounded up to a power of two.
 * The float is negative, and its sign part of the exponent, where the first bit is set. */
static int zeros_by_exponent(struct expansion *e, int x)
{
    const unsigned count = dtype_bits(e->type);
    if (count > 24)
        x = emit2(e, LANE_AND_NOT, x, shift_right(e, x, 8));
    x = shift_right(e, lane_emit(e->b, LANE_F32_OF_I32, LANE_F32, x, 0, 0), 23);
    x = emit2(e, LANE_SUB, bits(e, 126 + count), x);
    x = count == width(e) ? emit2(e, LANE_MAX, x, bits(e, 0)) : x;
    return emit2(e, LANE_MIN, x, bits(e, count));
}

static int count_leading_zeros(struct expansion *e, int x)
{
    x = bits_of_type(e, x);
    if (has_avx512(e) && width(e) > 16)
        return emit2(e, LANE_SUB, emit1(e, LANE_ZEROS, x), bits(e, width(e) - dtype_bits(e->type)));
    if (width(e) == 32)
        return zeros_by_exponent(e, x);
    for (unsigned n = 1; n < width(e); n *= 2)
        x = emit2(e, LANE_OR, x, shift_right(e, x, n));
    return emit2(e, LANE_SUB, bits(e, dtype_bits(e->type)), count_ones(e, x));
}

/* ---- the table of operations ---- */

static int expand(struct expansion *e, const char *opcode, int count, const int *x, bool *rounds)
{
    enum { PRED, FLOAT, INTEGER } type;
    type = e->type == DT_PRED ? PRED : dtype_is_float(e->type) ? FLOAT : INTEGER;
#define ROW(of, spelling, operands, rounded, formula)                                              \
    if (type == of && count == operands && strcmp(opcode, spelling) == 0) {                        \
        *rounds = rounded;                                                                         \
        return formula;                                                                            \
    }
#include "jit/expand.def"
#undef ROW
    return LANE_NONE;
}

/* ---- entry points ---- */

/* The widest mask of the operands decides for the result. */
static bool masks_of(struct jit_builder *b, const int *args, int count, int *x, enum lane_type *t)
{
    *t = lane_of_pred(b);
    for (int k = 0; k < count; k++) {
        if (b->values[args[k]].type != DT_PRED)
            return false;
        x[k] = b->values[args[k]].lanes;
        if (lane_is_wide(lane_type_of(b, x[k])))
            *t = LANE_I64;
    }
    for (int k = 0; k < count; k++)
        x[k] = mask_as(b, x[k], *t);
    return true;
}

static int expand_select(struct jit_builder *b, const int *args)
{
    enum dtype t = b->values[args[1]].type;
    struct expansion e = {b, t, lane_of_pred(b)};
    int on = b->values[args[1]].lanes, off = b->values[args[2]].lanes, mask;
    if (t == DT_PRED) {
        int x[3];
        masks_of(b, args, 3, x, &e.lane);
        return jit_value_new(b, t, blend(&e, x[0], x[1], x[2]));
    }
    if (t == DT_C64)
        return complex_select(b, mask_as(b, b->values[args[0]].lanes, LANE_F32), args[1], args[2]);
    if (!lane_of_dtype(b, t, &e.lane))
        return JIT_NONE;
    mask = mask_as(b, b->values[args[0]].lanes, e.lane);
    return jit_value_new(b, t, blend(&e, mask, on, off));
}

int jit_elementwise(struct jit_builder *b, const char *opcode, enum dtype t, const int *args,
                    int count)
{
    struct expansion e = {b, t, lane_of_pred(b)};
    int x[LANE_OPERANDS];
    bool rounds;
    if (strcmp(opcode, "select") == 0 && count == 3)
        return expand_select(b, args);
    if (b->target.complex && (t == DT_C64 || strcmp(opcode, "complex") == 0))
        return expand_complex(b, opcode, args, count);
    if (count > LANE_OPERANDS || (t != DT_PRED && !lane_of_dtype(b, t, &e.lane)))
        return JIT_NONE;
    for (int k = 0; k < count; k++)
        x[k] = b->values[args[k]].lanes;
    if (t == DT_PRED && !masks_of(b, args, count, x, &e.lane))
        return JIT_NONE;
    int lanes = expand(&e, opcode, count, x, &rounds);
    if (lanes == LANE_NONE)
        return JIT_NONE;
    if (rounds)
        lanes = is_narrow_float(t) ? round_result(&e, lanes) : rounded_to(b, t, lanes);
    return jit_value_new(b, strcmp(opcode, "is-finite") == 0 ? DT_PRED : t, lanes);
}

static int compare_floats(struct expansion *e, enum jit_direction d, int x, int y)
{
    switch (d) {
    case JIT_EQ: return emit2(e, LANE_EQ, x, y);
    case JIT_NE: return emit2(e, LANE_NE, x, y);
    case JIT_GE: return emit2(e, LANE_LE, y, x);
    case JIT_GT: return emit2(e, LANE_LT, y, x);
    case JIT_LE: return emit2(e, LANE_LE, x, y);
    default: return emit2(e, LANE_LT, x, y);
    }
}

static int compare_integers(struct expansion *e, enum jit_direction d, int x, int y)
{
    switch (d) {
    case JIT_EQ: return emit2(e, LANE_EQ, x, y);
    case JIT_NE: return mask_not(e->b, emit2(e, LANE_EQ, x, y));
    case JIT_GE: return mask_not(e->b, integer_greater(e, y, x));
    case JIT_GT: return integer_greater(e, x, y);
    case JIT_LE: return mask_not(e->b, integer_greater(e, x, y));
    default: return integer_greater(e, y, x);
    }
}

static int compare_preds(struct expansion *e, enum jit_direction d, int x, int y)
{
    switch (d) {
    case JIT_EQ: return mask_not(e->b, emit2(e, LANE_XOR, x, y));
    case JIT_NE: return emit2(e, LANE_XOR, x, y);
    case JIT_GE: return emit2(e, LANE_OR, x, mask_not(e->b, y));
    case JIT_GT: return emit2(e, LANE_AND_NOT, x, y);
    case JIT_LE: return emit2(e, LANE_OR, y, mask_not(e->b, x));
    default: return emit2(e, LANE_AND_NOT, y, x);
    }
}

/* Bits of a float as an integer in total order: with the sign set they count down from -1. */
static int total_order_key(struct expansion *e, int x)
{
    return emit2(e, LANE_XOR, x, emit2(e, LANE_AND_NOT, sign_fill(e, x), bits(e, sign_bit(e))));
}

int jit_compare(struct jit_builder *b, enum jit_direction d, bool total_order, int vx, int vy)
{
    enum dtype t = b->values[vx].type;
    struct expansion e = {b, t, lane_of_pred(b)};
    int x = b->values[vx].lanes, y = b->values[vy].lanes;
    if (t == DT_C64)
        return complex_compare(b, d, vx, vy);
    if (t == DT_PRED) {
        int both[2];
        masks_of(b, (const int[]){vx, vy}, 2, both, &e.lane);
        return jit_value_new(b, DT_PRED, compare_preds(&e, d, both[0], both[1]));
    }
    if (!lane_of_dtype(b, t, &e.lane))
        return JIT_NONE;
    if (!dtype_is_float(t))
        return jit_value_new(b, DT_PRED, compare_integers(&e, d, x, y));
    if (!total_order)
        return jit_value_new(b, DT_PRED, compare_floats(&e, d, x, y));
    e = (struct expansion){b, is_wide(&e) ? DT_S64 : DT_S32, integer_lane(e.lane)};
    x = total_order_key(&e, x);
    return jit_value_new(b, DT_PRED, compare_integers(&e, d, x, total_order_key(&e, y)));
}

/* Lanes of bf16 hold an f32, those of narrow integers are extended to 32 bits. */
int jit_bitcast(struct jit_builder *b, enum dtype to, int x)
{
    const enum dtype from = b->values[x].type;
    enum lane_type from_lane, to_lane;
    int lanes = b->values[x].lanes;
    if (from == to)
        return x;
    if (!lane_of_dtype(b, from, &from_lane) || !lane_of_dtype(b, to, &to_lane) ||
        dtype_bits(from) != dtype_bits(to) || from == DT_PRED || to == DT_PRED)
        return JIT_NONE;
    if (dtype_bits(to) >= 32)
        return jit_value_new(b, to, lanes);
    if (from == DT_F16 || to == DT_F16)
        return JIT_NONE;
    if (from == DT_BF16)
        lanes = lane_shift(b, LANE_SHR, LANE_I32, lanes, 16);
    lanes = to == DT_BF16 ? lane_shift(b, LANE_SHL, LANE_I32, lanes, 16) : rounded_to(b, to, lanes);
    return jit_value_new(b, to, lanes);
}

/* ---- conversions ---- */

static int to_pred(struct expansion *from, int x)
{
    if (lane_is_float(from->lane))
        return emit2(from, LANE_NE, x, number(from, 0));
    return mask_not(from->b, emit2(from, LANE_EQ, x, bits(from, 0)));
}

static int from_pred(struct expansion *to, int mask)
{
    mask = mask_as(to->b, mask, to->lane);
    return emit2(to, LANE_AND, mask, lane_is_float(to->lane) ? number(to, 1) : bits(to, 1));
}

/* Rounded once: the product is exact. */
static int f32_of_u32(struct expansion *to, struct expansion *from, int x)
{
    int high = lane_shift(from->b, LANE_SHR, LANE_I32, x, 16),
        low = emit2(from, LANE_AND, x, bits(from, 0xffff));
    high = emit1(to, LANE_F32_OF_I32, high);
    return emit2(to, LANE_ADD, emit2(to, LANE_MUL, high, number(to, 0x1p16)),
                 emit1(to, LANE_F32_OF_I32, low));
}

/* An integer of 64 bits as f64, by its halves, which are exact beside a power of two. With `odd` it
 * is rounded to odd, so that it can be rounded again, to f32. */
static int f64_of_wide(struct expansion *to, struct expansion *from, int x, bool odd)
{
    struct expansion f = {to->b, DT_F64, LANE_F64};
    const bool is_signed = dtype_is_signed(from->type);
    int high = is_signed ? emit2(from, LANE_XOR, x, bits(from, sign_bit(from))) : x;
    high =
        emit2(from, LANE_OR, lane_shift(to->b, LANE_SHR, LANE_I64, high, 32), number(&f, 0x1p84));
    high = emit2(&f, LANE_SUB, high, number(&f, 0x1p84 + 0x1p52 + (is_signed ? 0x1p63 : 0)));
    const int low = emit2(from, LANE_OR, emit2(from, LANE_AND, x, bits(from, UINT32_MAX)),
                          number(&f, 0x1p52)),
              sum = emit2(&f, LANE_ADD, high, low);
    if (!odd)
        return sum;
    const int error = emit2(&f, LANE_SUB, low, emit2(&f, LANE_SUB, sum, high)),
              zero = bits(from, 0), one = bits(from, 1);
    int change = emit2(from, LANE_GT, zero, emit2(from, LANE_XOR, sum, error));
    change = emit2(from, LANE_AND, emit2(from, LANE_OR, change, one),
                   emit2(&f, LANE_NE, error, number(&f, 0)));
    return emit2(
        from, LANE_ADD, sum,
        emit2(from, LANE_AND, change, emit2(from, LANE_EQ, emit2(from, LANE_AND, sum, one), zero)));
}

/* The instruction that computed the current value of a variable, if it is one of the last and
 * certain to have run; x itself if it is no variable. */
static int definition(const struct jit_builder *b, int x)
{
    enum { LAST = 64 };
    if (x < 0 || b->insts[x].op != LANE_VARIABLE)
        return x;
    for (int k = b->inst_count - 1; k >= 0 && k >= b->inst_count - LAST; k--) {
        const enum lane_op op = b->insts[k].op;
        if (b->insts[k].variable == x)
            return k;
        if (op == LANE_LABEL || op == LANE_START || op == LANE_START_ROWS || op == LANE_CALL ||
            op == LANE_CHARGE || op == LANE_KERNEL)
            break;
    }
    return x;
}

/* Whether the highest bit is 0, since the number was shifted right. */
static bool is_shifted(const struct jit_builder *b, int x)
{
    x = definition(b, x);
    return x >= 0 && b->insts[x].op == LANE_SHR && b->insts[x].count > 0;
}

static int integer_to_float(struct expansion *to, struct expansion *from, int x)
{
    if (is_wide(from)) {
        x = f64_of_wide(to, from, x, !is_wide(to));
        return is_wide(to) ? x : emit1(to, LANE_F32_OF_F64, x);
    }
    if (is_wide(to))
        return f64_of(from, x);
    if (from->type == DT_U32 && !is_shifted(from->b, x))
        return f32_of_u32(to, from, x);
    return emit1(to, LANE_F32_OF_I32, x);
}

static int integer_to_integer(struct expansion *to, struct expansion *from, int x)
{
    if (is_wide(to) == is_wide(from))
        return x;
    if (!is_wide(to))
        return emit1(to, LANE_I32_OF_I64, x);
    return emit1(to, dtype_is_signed(from->type) ? LANE_I64_OF_I32 : LANE_I64_OF_U32, x);
}

/* The integer part of an f64, modulo 2^64. */
static int wide_part(struct expansion *to, int x)
{
    struct expansion f = {to->b, DT_F64, LANE_F64};
    const int unit = number(&f, 0x1p52), fill = emit2(to, LANE_GT, bits(to, 0), x),
              size = emit1(&f, LANE_TRUNC, float_abs(&f, x));
    int high = emit1(&f, LANE_TRUNC, emit2(&f, LANE_MUL, size, number(&f, 0x1p-32)));
    int low = emit2(&f, LANE_SUB, size, emit2(&f, LANE_MUL, high, number(&f, 0x1p32)));
    high = emit2(to, LANE_XOR, emit2(&f, LANE_ADD, high, unit), unit);
    low = emit2(to, LANE_XOR, emit2(&f, LANE_ADD, low, unit), unit);
    x = emit2(to, LANE_OR, lane_shift(to->b, LANE_SHL, LANE_I64, high, 32), low);
    return emit2(to, LANE_SUB, emit2(to, LANE_XOR, x, fill), fill);
}

/* The integer part of a float in the range of the type. */
static int integer_part(struct expansion *to, struct expansion *from, int x)
{
    const enum lane_op op = is_wide(from) ? LANE_I32_OF_F64 : LANE_I32_OF_F32;
    if (is_wide(to))
        return wide_part(to, x);
    if (to->type != DT_U32)
        return emit1(to, op, x);
    const int half = number(from, 0x1p31), large = emit2(from, LANE_LE, half, x);
    x = emit1(to, op, emit2(from, LANE_SUB, x, emit2(from, LANE_AND, large, half)));
    return emit2(to, LANE_XOR, x,
                 emit2(to, LANE_AND, mask_as(to->b, large, LANE_I32), bits(to, sign_bit(to))));
}

/* Rounded towards zero and clamped; NaN gives 0. */
static int float_to_integer(struct expansion *to, struct expansion *from, int x)
{
    const bool is_signed = dtype_is_signed(to->type);
    const int value_bits = (int)dtype_bits(to->type) - is_signed;
    const double end = ldexp(1, value_bits);
    struct expansion f = {to->b, DT_F64, LANE_F64};
    if (is_wide(to) && !is_wide(from)) {
        x = emit1(&f, LANE_F64_OF_F32, x);
        from = &f;
    }
    const uint64_t most = UINT64_MAX >> (64 - value_bits);
    int low = emit2(from, LANE_LE, x, number(from, is_signed ? -end : 0)),
        high = emit2(from, LANE_LE, number(from, end), x), nan = emit2(from, LANE_UNORDERED, x, x),
        r = integer_part(to, from, x);
    r = blend(to, mask_as(to->b, low, to->lane), bits(to, is_signed ? ~most : 0), r);
    r = blend(to, mask_as(to->b, high, to->lane), bits(to, most), r);
    return blend(to, mask_as(to->b, nan, to->lane), bits(to, 0), r);
}

static int float_to_float(struct expansion *to, struct expansion *from, int x)
{
    if (to->lane == from->lane)
        return x;
    return emit1(to, is_wide(to) ? LANE_F64_OF_F32 : LANE_F32_OF_F64, x);
}

int jit_convert(struct jit_builder *b, enum dtype t, int x)
{
    struct expansion to = {b, t, lane_of_pred(b)}, from = {b, b->values[x].type, lane_of_pred(b)};
    int lanes = b->values[x].lanes;
    if (t == from.type)
        return x;
    if (b->target.complex && (t == DT_C64 || from.type == DT_C64))
        return complex_convert(b, t, x);
    if ((t != DT_PRED && !lane_of_dtype(b, t, &to.lane)) ||
        (from.type != DT_PRED && !lane_of_dtype(b, from.type, &from.lane)))
        return JIT_NONE;
    if (t == DT_PRED)
        return jit_value_new(b, t, to_pred(&from, lanes));
    if (from.type == DT_PRED)
        return jit_value_new(b, t, from_pred(&to, lanes));
    bool to_float = lane_is_float(to.lane), from_float = lane_is_float(from.lane);
    /* a 32-bit integer would be rounded to f32, then to the narrow type: as the kernels do */
    lanes = to_float ? (from_float ? float_to_float : integer_to_float)(&to, &from, lanes)
                     : (from_float ? float_to_integer : integer_to_integer)(&to, &from, lanes);
    bool exact =
        from_float != to_float ? !to_float : to_float && dtype_bytes(from.type) < 4 && t == DT_F32;
    exact |= b->values[x].exact == t;
    const int v = jit_value_new(b, t, exact ? lanes : rounded_to(b, t, lanes));
    if (t == DT_F32 && from_float)
        b->values[v].exact = from.type;
    return v;
}

int jit_round(struct jit_builder *b, enum dtype t, int x, bool of_values)
{
    struct expansion f = {b, t, LANE_F32};
    if (b->values[x].type != DT_F32)
        return JIT_NONE;
    if (b->values[x].exact == t)
        return x;
    const int lanes = b->values[x].lanes,
              v = jit_value_new(b, DT_F32, (of_values ? round_result : round_any)(&f, lanes));
    b->values[v].exact = t;
    return v;
}

int jit_narrow(struct jit_builder *b, enum dtype t, int x)
{
    return b->values[x].type == DT_F32 ? jit_value_new(b, t, b->values[x].lanes) : JIT_NONE;
}

/* Lanes of a constant are those that a load of it would give. */
int jit_constant(struct jit_builder *b, enum dtype t, const void *at)
{
    enum lane_type lane;
    uint64_t v = 0;
    if (t == DT_C64 && b->target.complex)
        return complex_constant(b, at);
    if (!lane_of_dtype(b, t, &lane))
        return JIT_NONE;
    memcpy(&v, at, dtype_bytes(t));
    if (t == DT_F16)
        v = bits_of_float(LANE_F32, (double)f16_to_f32((uint16_t)v));
    else if (t == DT_PRED)
        v = v ? UINT64_MAX : 0;
    else if (t == DT_BF16)
        v <<= 16;
    else if (dtype_is_signed(t) && dtype_bits(t) < 64)
        v = (uint64_t)((int64_t)(v << (64 - dtype_bits(t))) >> (64 - dtype_bits(t)));
    return jit_value_new(b, t, lane_constant(b, lane, v));
}
