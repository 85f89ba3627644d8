/*
 * expand_single.c: transcendental functions of f32 as lane instructions, by the formulas of the
 * tile kernels.
 */
#include "jit/expand.h"

static struct expansion integers(const struct expansion *e)
{
    return (struct expansion){e->b, DT_U32, LANE_I32};
}

static int integer_op(const struct expansion *e, enum lane_op op, int x, int y)
{
    struct expansion i = integers(e);
    return emit2(&i, op, x, y);
}

static int integer_number(const struct expansion *e, uint32_t v)
{
    struct expansion i = integers(e);
    return bits(&i, v);
}

#define F int
#define I int
#define CONTEXT struct expansion *e,
#define WITH e,
#define K(c) number(e, (double)(c))
#define N(c) integer_number(e, (uint32_t)(c))
#define ADD(x, y) emit2(e, LANE_ADD, x, y)
#define SUB(x, y) emit2(e, LANE_SUB, x, y)
#define MUL(x, y) emit2(e, LANE_MUL, x, y)
#define DIV(x, y) emit2(e, LANE_DIV, x, y)
#define NEG(x) emit2(e, LANE_XOR, x, bits(e, sign_bit(e)))
#define SQRT(x) emit1(e, LANE_SQRT, x)
#define MIN(x, y) emit2(e, LANE_MIN, x, y)
#define MAX(x, y) emit2(e, LANE_MAX, x, y)
#define FMA(x, y, z) lane_emit(e->b, LANE_FMA, e->lane, x, y, z)
#define LESS(x, y) emit2(e, LANE_LT, x, y)
#define EQUAL(x, y) emit2(e, LANE_EQ, x, y)
#define PICK(m, x, y) blend(e, m, x, y)
#define BITS(x) (x)
#define NUMBER(u) (u)
#define INT_ADD(u, v) integer_op(e, LANE_ADD, u, v)
#define INT_SUB(u, v) integer_op(e, LANE_SUB, u, v)
#define AND(u, v) integer_op(e, LANE_AND, u, v)
#define OR(u, v) integer_op(e, LANE_OR, u, v)
#define SHIFT_LEFT(u, n) lane_shift(e->b, LANE_SHL, LANE_I32, u, n)
#define SHIFT_RIGHT(u, n) lane_shift(e->b, LANE_SAR, LANE_I32, u, n)
#define CONVERTED(u) emit1(e, LANE_F32_OF_I32, u)
#include "type/single.inc"

#define EXPAND(id)                                                                                 \
    int expand_##id(struct expansion *e, int x)                                                    \
    {                                                                                              \
        return e->lane == LANE_F32 ? single_##id(e, x) : LANE_NONE;                                \
    }
EXPAND(erf)
EXPAND(exp)
EXPAND(log)
EXPAND(logistic)
EXPAND(tanh)

int expand_hypot(struct expansion *e, int x, int y) { return single_hypot(e, x, y); }
