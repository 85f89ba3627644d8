/*
 * expand.c: operations on elements as lane instructions. The formulas are those of the tile kernels
 * (elementwise_float.def, elementwise_integer.def, convert.c, compare.c); a unit test compares the
 * bits.
 */
#include "jit/jit_priv.h"

#include <math.h>

/* ---- shorthands: instructions of the type of an expansion ---- */

struct expansion {
    struct jit_builder *b;
    enum dtype type;
    enum lane_type lane;
};

static int emit1(struct expansion *e, enum lane_op op, int x)
{
    return lane_emit(e->b, op, e->lane, x, 0, 0);
}

static int emit2(struct expansion *e, enum lane_op op, int x, int y)
{
    return lane_emit(e->b, op, e->lane, x, y, 0);
}

static int blend(struct expansion *e, int mask, int x, int y)
{
    return lane_emit(e->b, LANE_BLEND, e->lane, mask, x, y);
}

static int bits(struct expansion *e, uint64_t v) { return lane_constant(e->b, e->lane, v); }

static bool is_wide(const struct expansion *e) { return lane_is_wide(e->lane); }
static unsigned width(const struct expansion *e) { return is_wide(e) ? 64 : 32; }
static uint64_t sign_bit(const struct expansion *e) { return (uint64_t)1 << (width(e) - 1); }

static uint64_t bits_of_float(enum lane_type t, double v)
{
    float narrow = (float)v;
    uint32_t low;
    uint64_t all;
    memcpy(&low, &narrow, sizeof low);
    memcpy(&all, &v, sizeof all);
    return t == LANE_F64 ? all : low;
}

static int number(struct expansion *e, double v) { return bits(e, bits_of_float(e->lane, v)); }

static enum lane_type integer_lane(enum lane_type t)
{
    return lane_is_wide(t) ? LANE_I64 : LANE_I32;
}

/* Lanes of integers of fewer bits hold them sign- or zero-extended; those of bf16 and f16, as f32.
 */
static bool is_narrow(enum dtype t) { return dtype_bytes(t) < 4; }

/* ---- rounding to narrow types ---- */

static int round_bf16(struct expansion *e, int x)
{
    struct expansion i = {e->b, DT_U32, LANE_I32};
    int last = emit2(&i, LANE_AND, lane_shift(e->b, LANE_SHR, LANE_I32, x, 16), bits(&i, 1)),
        r = emit2(&i, LANE_ADD, emit2(&i, LANE_ADD, x, bits(&i, 0x7fff)), last),
        nan =
            emit2(&i, LANE_OR, emit2(&i, LANE_AND, x, bits(&i, 0x80000000)), bits(&i, 0x7fc00000));
    r = emit2(&i, LANE_AND, r, bits(&i, 0xffff0000));
    return blend(e, emit2(e, LANE_UNORDERED, x, x), nan, r);
}

static int round_f16(struct expansion *e, int x)
{
    struct expansion i = {e->b, DT_U32, LANE_I32};
    int nan =
        emit2(&i, LANE_OR, emit2(&i, LANE_AND, x, bits(&i, 0x80000000)), bits(&i, 0x7fc00000));
    return blend(e, emit2(e, LANE_UNORDERED, x, x), nan, emit1(e, LANE_ROUND_F16, x));
}

/* The value of 32 bits as one of type `t`. */
static int rounded_to(struct jit_builder *b, enum dtype t, int x)
{
    struct expansion f = {b, t, LANE_F32};
    if (t == DT_BF16)
        return round_bf16(&f, x);
    if (t == DT_F16)
        return round_f16(&f, x);
    if (!is_narrow(t) || t == DT_PRED)
        return x;
    unsigned unused = 32 - dtype_bits(t);
    x = lane_shift(b, LANE_SHL, LANE_I32, x, unused);
    return lane_shift(b, dtype_is_signed(t) ? LANE_SAR : LANE_SHR, LANE_I32, x, unused);
}

/* ---- masks ---- */

static int all_set(struct jit_builder *b, enum lane_type t)
{
    return lane_constant(b, integer_lane(t), UINT64_MAX);
}

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

/* NaN is propagated; +0 is greater than -0, by the bits of equal numbers. */
static int extreme(struct expansion *e, int x, int y, bool greatest)
{
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

/* ---- integers ---- */

static int sign_fill(struct expansion *e, int x)
{
    return is_wide(e) ? emit2(e, LANE_GT, bits(e, 0), x)
                      : lane_shift(e->b, LANE_SAR, e->lane, x, 31);
}

static int integer_abs(struct expansion *e, int x)
{
    if (dtype_is_unsigned(e->type))
        return x;
    int fill = sign_fill(e, x);
    return emit2(e, LANE_SUB, emit2(e, LANE_XOR, x, fill), fill);
}

static int integer_sign(struct expansion *e, int x)
{
    int zero = bits(e, 0);
    if (dtype_is_unsigned(e->type))
        return emit2(e, LANE_ADD, emit2(e, LANE_EQ, x, zero), bits(e, 1));
    return emit2(e, LANE_SUB, emit2(e, LANE_GT, zero, x), emit2(e, LANE_GT, x, zero));
}

/* In the order of the type. */
static int integer_greater(struct expansion *e, int x, int y)
{
    if (dtype_is_unsigned(e->type)) {
        x = emit2(e, LANE_XOR, x, bits(e, sign_bit(e)));
        y = emit2(e, LANE_XOR, y, bits(e, sign_bit(e)));
    }
    return emit2(e, LANE_GT, x, y);
}

static int integer_max(struct expansion *e, int x, int y)
{
    return blend(e, integer_greater(e, y, x), y, x);
}
static int integer_min(struct expansion *e, int x, int y)
{
    return blend(e, integer_greater(e, x, y), y, x);
}

static int shift_logical(struct expansion *e, int x, int y)
{
    if (is_narrow(e->type) && dtype_is_signed(e->type))
        x = emit2(e, LANE_AND, x, bits(e, ((uint64_t)1 << dtype_bits(e->type)) - 1));
    return emit2(e, LANE_SHR_BY, x, y);
}

static int product(struct expansion *e, int x, int y)
{
    if (!is_wide(e))
        return emit2(e, LANE_MUL, x, y);
    int crossed =
        emit2(e, LANE_ADD, emit2(e, LANE_MUL_U32, lane_shift(e->b, LANE_SHR, e->lane, x, 32), y),
              emit2(e, LANE_MUL_U32, x, lane_shift(e->b, LANE_SHR, e->lane, y, 32)));
    return emit2(e, LANE_ADD, emit2(e, LANE_MUL_U32, x, y),
                 lane_shift(e->b, LANE_SHL, e->lane, crossed, 32));
}

static int shift_arithmetic(struct expansion *e, int x, int y)
{
    if (is_narrow(e->type) && dtype_is_unsigned(e->type)) /* the sign bit is that of the type */
        x = lane_shift(e->b, LANE_SAR, LANE_I32,
                       lane_shift(e->b, LANE_SHL, LANE_I32, x, 32 - dtype_bits(e->type)),
                       32 - dtype_bits(e->type));
    if (!is_wide(e))
        return emit2(e, LANE_SAR_BY, x, y);
    struct expansion u = {e->b, DT_U64, LANE_I64};
    int fill = sign_fill(e, x), count = integer_min(&u, y, bits(e, 63));
    return emit2(e, LANE_XOR, emit2(e, LANE_SHR_BY, emit2(e, LANE_XOR, x, fill), count), fill);
}

/* The f64 of a 32-bit integer, exact. */
static int f64_of(struct expansion *e, int x)
{
    struct jit_builder *b = e->b;
    if (e->type != DT_U32)
        return lane_emit(b, LANE_F64_OF_I32, LANE_F64, x, 0, 0);
    x = emit2(e, LANE_XOR, x, bits(e, sign_bit(e)));
    return lane_emit(b, LANE_ADD, LANE_F64, lane_emit(b, LANE_F64_OF_I32, LANE_F64, x, 0, 0),
                     lane_constant(b, LANE_F64, bits_of_float(LANE_F64, 0x1p31)), 0);
}

/* The 32-bit integer part of an f64 in its range. */
static int integer_of(struct expansion *e, int q)
{
    struct jit_builder *b = e->b;
    if (dtype_is_signed(e->type))
        return lane_emit(b, LANE_I32_OF_F64, LANE_I32, q, 0, 0);
    q = lane_emit(b, LANE_SUB, LANE_F64, lane_emit(b, LANE_TRUNC, LANE_F64, q, 0, 0),
                  lane_constant(b, LANE_F64, bits_of_float(LANE_F64, 0x1p31)), 0);
    return emit2(e, LANE_XOR, lane_emit(b, LANE_I32_OF_F64, LANE_I32, q, 0, 0),
                 bits(e, sign_bit(e)));
}

static int divide_f64(struct expansion *e, int x, int y)
{
    return integer_of(e, lane_emit(e->b, LANE_DIV, LANE_F64, f64_of(e, x), f64_of(e, y), 0));
}

static int divide_f32(struct expansion *e, int x, int y)
{
    struct expansion f = {e->b, DT_F32, LANE_F32};
    int q = emit2(&f, LANE_DIV, emit1(&f, LANE_F32_OF_I32, x), emit1(&f, LANE_F32_OF_I32, y));
    return emit1(e, LANE_I32_OF_F32, q);
}

/* x / 0 is all ones. No quotient is rounded up to the next integer: of 32 bits in f64, of 16 in
 * f32.
 */
static int quotient(struct expansion *e, int x, int y)
{
    int zero = emit2(e, LANE_EQ, y, bits(e, 0)), all = all_set(e->b, e->lane),
        special = blend(e, zero, all, emit2(e, LANE_SUB, bits(e, 0), x)), replaced = zero;
    if (dtype_is_signed(e->type))
        replaced = emit2(e, LANE_OR, zero, emit2(e, LANE_EQ, y, all));
    int by = blend(e, replaced, bits(e, 1), y);
    return blend(e, replaced, special,
                 is_narrow(e->type) ? divide_f32(e, x, by) : divide_f64(e, x, by));
}

static int remainder_of(struct expansion *e, int x, int y)
{
    int r = emit2(e, LANE_SUB, x, emit2(e, LANE_MUL, quotient(e, x, y), y));
    return blend(e, emit2(e, LANE_EQ, y, bits(e, 0)), x, r);
}

/* ---- tables of operations ---- */

typedef int expand_fn(struct expansion *e, const int *x);
struct row {
    const char *opcode;
    int operands;
    expand_fn *fn;
    bool rounds; /* the result may not be a value of a narrow type */
};

#define ROW(name, count, formula)                                                                  \
    static int name(struct expansion *e, const int *x)                                             \
    {                                                                                              \
        (void)e;                                                                                   \
        (void)x;                                                                                   \
        return formula;                                                                            \
    }
ROW(do_add, 2, emit2(e, LANE_ADD, x[0], x[1]))
ROW(do_and, 2, emit2(e, LANE_AND, x[0], x[1]))
ROW(do_or, 2, emit2(e, LANE_OR, x[0], x[1]))
ROW(do_subtract, 2, emit2(e, LANE_SUB, x[0], x[1]))
ROW(do_xor, 2, emit2(e, LANE_XOR, x[0], x[1]))
ROW(float_absolute, 1, float_abs(e, x[0]))
ROW(float_ceil, 1, emit1(e, LANE_CEIL, x[0]))
ROW(float_clamp, 3, extreme(e, extreme(e, x[0], x[1], true), x[2], false))
ROW(float_divide, 2, emit2(e, LANE_DIV, x[0], x[1]))
ROW(float_floor, 1, emit1(e, LANE_FLOOR, x[0]))
ROW(float_imag, 1, number(e, 0))
ROW(float_finite, 1, is_finite(e, x[0]))
ROW(float_maximum, 2, extreme(e, x[0], x[1], true))
ROW(float_minimum, 2, extreme(e, x[0], x[1], false))
ROW(float_multiply, 2, emit2(e, LANE_MUL, x[0], x[1]))
ROW(float_negate, 1, emit2(e, LANE_XOR, x[0], bits(e, sign_bit(e))))
ROW(float_real, 1, x[0])
ROW(float_round_away, 1, round_away(e, x[0]))
ROW(float_round_even, 1, emit1(e, LANE_ROUND, x[0]))
ROW(float_rsqrt, 1, emit2(e, LANE_DIV, number(e, 1), emit1(e, LANE_SQRT, x[0])))
ROW(float_signum, 1, float_sign(e, x[0]))
ROW(float_sqrt, 1, emit1(e, LANE_SQRT, x[0]))
ROW(integer_absolute, 1, integer_abs(e, x[0]))
ROW(integer_clamp, 3, integer_min(e, integer_max(e, x[0], x[1]), x[2]))
ROW(integer_divide, 2, is_wide(e) ? LANE_NONE : quotient(e, x[0], x[1]))
ROW(integer_maximum, 2, integer_max(e, x[0], x[1]))
ROW(integer_minimum, 2, integer_min(e, x[0], x[1]))
ROW(integer_multiply, 2, product(e, x[0], x[1]))
ROW(integer_negate, 1, emit2(e, LANE_SUB, bits(e, 0), x[0]))
ROW(integer_not, 1, emit2(e, LANE_XOR, x[0], all_set(e->b, e->lane)))
ROW(integer_remainder, 2, is_wide(e) ? LANE_NONE : remainder_of(e, x[0], x[1]))
ROW(integer_shift_left, 2, emit2(e, LANE_SHL_BY, x[0], x[1]))
ROW(integer_shift_arithmetic, 2, shift_arithmetic(e, x[0], x[1]))
ROW(integer_shift_logical, 2, shift_logical(e, x[0], x[1]))
ROW(integer_signum, 1, integer_sign(e, x[0]))
ROW(pred_not, 1, mask_not(e->b, x[0]))
#undef ROW

/* Sorted by opcode. */
static const struct row float_rows[] = {
    {"abs", 1, float_absolute},
    {"add", 2, do_add, true},
    {"ceil", 1, float_ceil},
    {"clamp", 3, float_clamp},
    {"divide", 2, float_divide, true},
    {"floor", 1, float_floor},
    {"imag", 1, float_imag},
    {"is-finite", 1, float_finite},
    {"maximum", 2, float_maximum},
    {"minimum", 2, float_minimum},
    {"multiply", 2, float_multiply, true},
    {"negate", 1, float_negate},
    {"real", 1, float_real},
    {"round-nearest-afz", 1, float_round_away},
    {"round-nearest-even", 1, float_round_even},
    {"rsqrt", 1, float_rsqrt, true},
    {"sign", 1, float_signum},
    {"sqrt", 1, float_sqrt, true},
    {"subtract", 2, do_subtract, true},
};
static const struct row integer_rows[] = {
    {"abs", 1, integer_absolute, true},
    {"add", 2, do_add, true},
    {"and", 2, do_and},
    {"clamp", 3, integer_clamp},
    {"divide", 2, integer_divide, true},
    {"maximum", 2, integer_maximum},
    {"minimum", 2, integer_minimum},
    {"multiply", 2, integer_multiply, true},
    {"negate", 1, integer_negate, true},
    {"not", 1, integer_not, true},
    {"or", 2, do_or},
    {"remainder", 2, integer_remainder},
    {"shift-left", 2, integer_shift_left, true},
    {"shift-right-arithmetic", 2, integer_shift_arithmetic, true},
    {"shift-right-logical", 2, integer_shift_logical, true},
    {"sign", 1, integer_signum},
    {"subtract", 2, do_subtract, true},
    {"xor", 2, do_xor},
};
static const struct row pred_rows[] = {
    {"add", 2, do_or},       {"and", 2, do_and},   {"maximum", 2, do_or}, {"minimum", 2, do_and},
    {"multiply", 2, do_and}, {"not", 1, pred_not}, {"or", 2, do_or},      {"xor", 2, do_xor},
};

static const struct row *find_row(const struct row *rows, size_t count, const char *opcode,
                                  int operands)
{
    for (size_t k = 0; k < count; k++)
        if (rows[k].operands == operands && strcmp(rows[k].opcode, opcode) == 0)
            return &rows[k];
    return NULL;
}

/* ---- entry points ---- */

/* The widest mask of the operands decides for the result. */
static bool masks_of(struct jit_builder *b, const int *args, int count, int *x, enum lane_type *t)
{
    *t = LANE_I32;
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
    struct expansion e = {b, t, LANE_I32};
    int on = b->values[args[1]].lanes, off = b->values[args[2]].lanes, mask;
    if (t == DT_PRED) {
        int x[3];
        masks_of(b, args, 3, x, &e.lane);
        return jit_value_new(b, t, blend(&e, x[0], x[1], x[2]));
    }
    if (!lane_of_dtype(t, &e.lane))
        return JIT_NONE;
    mask = mask_as(b, b->values[args[0]].lanes, e.lane);
    return jit_value_new(b, t, blend(&e, mask, on, off));
}

int jit_elementwise(struct jit_builder *b, const char *opcode, enum dtype t, const int *args,
                    int count)
{
    struct expansion e = {b, t, LANE_I32};
    int x[LANE_OPERANDS];
    if (strcmp(opcode, "select") == 0 && count == 3)
        return expand_select(b, args);
    if (count > LANE_OPERANDS || (t != DT_PRED && !lane_of_dtype(t, &e.lane)))
        return JIT_NONE;
    const struct row *row = t == DT_PRED ? find_row(pred_rows, COUNT_OF(pred_rows), opcode, count)
                            : dtype_is_float(t)
                                ? find_row(float_rows, COUNT_OF(float_rows), opcode, count)
                                : find_row(integer_rows, COUNT_OF(integer_rows), opcode, count);
    if (!row)
        return JIT_NONE;
    for (int k = 0; k < count; k++)
        x[k] = b->values[args[k]].lanes;
    if (t == DT_PRED && !masks_of(b, args, count, x, &e.lane))
        return JIT_NONE;
    int lanes = row->fn(&e, x);
    if (lanes == LANE_NONE)
        return JIT_NONE;
    return jit_value_new(b, row->fn == float_finite ? DT_PRED : t,
                         row->rounds ? rounded_to(b, t, lanes) : lanes);
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
    struct expansion e = {b, t, LANE_I32};
    int x = b->values[vx].lanes, y = b->values[vy].lanes;
    if (t == DT_PRED) {
        int both[2];
        masks_of(b, (const int[]){vx, vy}, 2, both, &e.lane);
        return jit_value_new(b, DT_PRED, compare_preds(&e, d, both[0], both[1]));
    }
    if (!lane_of_dtype(t, &e.lane))
        return JIT_NONE;
    if (!dtype_is_float(t))
        return jit_value_new(b, DT_PRED, compare_integers(&e, d, x, y));
    if (!total_order)
        return jit_value_new(b, DT_PRED, compare_floats(&e, d, x, y));
    e = (struct expansion){b, is_wide(&e) ? DT_S64 : DT_S32, integer_lane(e.lane)};
    x = total_order_key(&e, x);
    return jit_value_new(b, DT_PRED, compare_integers(&e, d, x, total_order_key(&e, y)));
}

int jit_bitcast(struct jit_builder *b, enum dtype to, int x)
{
    enum lane_type from_lane, to_lane;
    if (!lane_of_dtype(b->values[x].type, &from_lane) || !lane_of_dtype(to, &to_lane) ||
        lane_is_wide(from_lane) != lane_is_wide(to_lane))
        return JIT_NONE;
    return jit_value_new(b, to, b->values[x].lanes);
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

static int integer_to_float(struct expansion *to, struct expansion *from, int x)
{
    if (is_wide(from))
        return LANE_NONE;
    if (is_wide(to))
        return f64_of(from, x);
    if (from->type == DT_U32)
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

/* Rounded towards zero and clamped; NaN gives 0. */
static int float_to_integer(struct expansion *to, struct expansion *from, int x)
{
    bool is_signed = dtype_is_signed(to->type);
    int value_bits = (int)dtype_bits(to->type) - is_signed;
    if (is_wide(to) || value_bits == 32)
        return LANE_NONE;
    uint64_t end = (uint64_t)1 << value_bits;
    int low = emit2(from, LANE_LE, x, number(from, is_signed ? -(double)end : 0)),
        high = emit2(from, LANE_LE, number(from, (double)end), x),
        nan = emit2(from, LANE_UNORDERED, x, x),
        r = emit1(to, is_wide(from) ? LANE_I32_OF_F64 : LANE_I32_OF_F32, x);
    r = blend(to, mask_as(to->b, low, LANE_I32), bits(to, is_signed ? 0 - end : 0), r);
    r = blend(to, mask_as(to->b, high, LANE_I32), bits(to, end - 1), r);
    return blend(to, mask_as(to->b, nan, LANE_I32), bits(to, 0), r);
}

static int float_to_float(struct expansion *to, struct expansion *from, int x)
{
    if (to->lane == from->lane)
        return x;
    return emit1(to, is_wide(to) ? LANE_F64_OF_F32 : LANE_F32_OF_F64, x);
}

int jit_convert(struct jit_builder *b, enum dtype t, int x)
{
    struct expansion to = {b, t, LANE_I32}, from = {b, b->values[x].type, LANE_I32};
    int lanes = b->values[x].lanes;
    if (t == from.type)
        return x;
    if ((t != DT_PRED && !lane_of_dtype(t, &to.lane)) ||
        (from.type != DT_PRED && !lane_of_dtype(from.type, &from.lane)))
        return JIT_NONE;
    if (t == DT_PRED)
        return jit_value_new(b, t, to_pred(&from, lanes));
    if (from.type == DT_PRED)
        return jit_value_new(b, t, from_pred(&to, lanes));
    bool to_float = lane_is_float(to.lane), from_float = lane_is_float(from.lane);
    /* a 32-bit integer would be rounded to f32, then to the narrow type: as the kernels do */
    lanes = to_float ? (from_float ? float_to_float : integer_to_float)(&to, &from, lanes)
                     : (from_float ? float_to_integer : integer_to_integer)(&to, &from, lanes);
    if (lanes == LANE_NONE)
        return JIT_NONE;
    bool exact =
        from_float != to_float ? !to_float : to_float && dtype_bytes(from.type) < 4 && t == DT_F32;
    return jit_value_new(b, t, exact ? lanes : rounded_to(b, t, lanes));
}

int jit_round(struct jit_builder *b, enum dtype t, int x)
{
    return b->values[x].type == DT_F32
               ? jit_value_new(b, DT_F32, rounded_to(b, t, b->values[x].lanes))
               : JIT_NONE;
}

/* Lanes of a constant are those that a load of it would give. */
int jit_constant(struct jit_builder *b, enum dtype t, const void *at)
{
    enum lane_type lane;
    uint64_t v = 0;
    if (!lane_of_dtype(t, &lane))
        return JIT_NONE;
    memcpy(&v, at, dtype_bytes(t));
    if (t == DT_F16)
        return JIT_NONE;
    if (t == DT_PRED)
        v = v ? UINT64_MAX : 0;
    else if (t == DT_BF16)
        v <<= 16;
    else if (dtype_is_signed(t) && dtype_bits(t) < 64)
        v = (uint64_t)((int64_t)(v << (64 - dtype_bits(t))) >> (64 - dtype_bits(t)));
    return jit_value_new(b, t, lane_constant(b, lane, v));
}
