/*
 * fold.c: instructions that constant operands replace by a constant or by another operand. Modules
 * guard operations on integers in ways that one type or a constant divisor needs and another does
 * not: x < 0 of unsigned numbers, the sign of a constant.
 */
#include "jit/jit_priv.h"

/* The element, sign-extended; false: not a constant. */
static bool constant_of(const struct jit_builder *b, int lanes, enum lane_type t, int64_t *v)
{
    if (lanes >= 0)
        return false;
    *v = (int64_t)b->constants[~lanes].bits;
    if (!lane_is_wide(t))
        *v = t == LANE_I16 ? (int16_t)*v : (int32_t)*v;
    return true;
}

static int fold_blend(const struct jit_builder *b, const struct lane_inst *i)
{
    const uint64_t mask = i->args[0] < 0 ? b->constants[~i->args[0]].bits : 1;
    return mask == 0 ? i->args[2] : mask == UINT64_MAX ? i->args[1] : LANE_NONE;
}

static int fold_unary(struct jit_builder *b, const struct lane_inst *i)
{
    const enum lane_type t = (enum lane_type)i->type;
    int64_t x;
    if (!constant_of(b, i->args[0], i->op == LANE_I64_OF_I32 ? LANE_I32 : t, &x))
        return LANE_NONE;
    if (i->op == LANE_SHL)
        x = (int64_t)((uint64_t)x << i->count);
    else if (i->op == LANE_SHR)
        x = (int64_t)(((uint64_t)x & (UINT64_MAX >> (64 - lane_width(t)))) >> i->count);
    return lane_constant(b, t, (uint64_t)x);
}

bool lane_is_commutative(const struct lane_inst *i)
{
    switch (i->op) {
    case LANE_AND:
    case LANE_OR:
    case LANE_XOR:
    case LANE_MUL_U32: return true;
    case LANE_ADD:
    case LANE_MUL:
    case LANE_EQ: return !lane_is_float((enum lane_type)i->type);
    default: return false;
    }
}

/* Of an operation with a constant second operand. */
static int fold_second(struct jit_builder *b, enum lane_op op, enum lane_type t, int x, int64_t y)
{
    const int64_t max = INT64_MAX >> (64 - lane_width(t));
    switch (op) {
    case LANE_ADD:
    case LANE_SUB:
    case LANE_XOR: return y == 0 ? x : LANE_NONE;
    case LANE_AND: return y == -1 ? x : y == 0 ? lane_constant(b, t, 0) : LANE_NONE;
    case LANE_AND_NOT: return y == 0 ? x : y == -1 ? lane_constant(b, t, 0) : LANE_NONE;
    case LANE_GT: return y == max ? lane_constant(b, t, 0) : LANE_NONE;
    case LANE_GT_U: return y == -1 ? lane_constant(b, t, 0) : LANE_NONE;
    case LANE_MUL_U32: return y == 0 ? lane_constant(b, t, 0) : LANE_NONE;
    case LANE_OR: return y == 0 ? x : y == -1 ? lane_constant(b, t, UINT64_MAX) : LANE_NONE;
    default: return LANE_NONE;
    }
}

static int fold_both(struct jit_builder *b, enum lane_op op, enum lane_type t, int64_t x, int64_t y)
{
    const uint64_t u = (uint64_t)x, v = (uint64_t)y;
    switch (op) {
    case LANE_ADD: return lane_constant(b, t, u + v);
    case LANE_AND: return lane_constant(b, t, u & v);
    case LANE_AND_NOT: return lane_constant(b, t, u & ~v);
    case LANE_EQ: return lane_constant(b, t, x == y ? UINT64_MAX : 0);
    case LANE_GT: return lane_constant(b, t, x > y ? UINT64_MAX : 0);
    case LANE_GT_U: return lane_constant(b, t, u > v ? UINT64_MAX : 0);
    case LANE_OR: return lane_constant(b, t, u | v);
    case LANE_SUB: return lane_constant(b, t, u - v);
    case LANE_XOR: return lane_constant(b, t, u ^ v);
    default: return LANE_NONE;
    }
}

static int fold_binary(struct jit_builder *b, const struct lane_inst *i)
{
    const enum lane_op op = (enum lane_op)i->op;
    const enum lane_type t = (enum lane_type)i->type;
    int64_t x, y;
    const bool first = constant_of(b, i->args[0], t, &x),
               second = constant_of(b, i->args[1], t, &y);
    if (first && second)
        return fold_both(b, op, t, x, y);
    if (second)
        return fold_second(b, op, t, i->args[0], y);
    if (first && lane_is_commutative(i))
        return fold_second(b, op, t, i->args[1], x);
    const int64_t least = -(INT64_MAX >> (64 - lane_width(t))) - 1;
    const bool never = first && ((op == LANE_GT && x == least) || (op == LANE_GT_U && x == 0));
    return never ? lane_constant(b, t, 0) : LANE_NONE;
}

int lane_fold(struct jit_builder *b, const struct lane_inst *i)
{
    switch (i->op) {
    case LANE_BLEND: return fold_blend(b, i);
    case LANE_I32_OF_I64:
    case LANE_I64_OF_I32:
    case LANE_SHL:
    case LANE_SHR: return fold_unary(b, i);
    case LANE_AND:
    case LANE_AND_NOT:
    case LANE_GT:
    case LANE_GT_U:
    case LANE_MUL_U32:
    case LANE_OR:
    case LANE_XOR: return fold_binary(b, i);
    case LANE_ADD:
    case LANE_EQ:
    case LANE_SUB: return lane_is_float((enum lane_type)i->type) ? LANE_NONE : fold_binary(b, i);
    default: return LANE_NONE;
    }
}
