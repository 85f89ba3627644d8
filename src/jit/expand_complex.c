/*
 * expand_complex.c: operations on c64 as lane instructions: a value is two of f32, its parts, and
 * an element in memory a lane of 64 bits, with the real part in the low half.
 */
#include "jit/expand.h"

static struct expansion reals(struct jit_builder *b)
{
    return (struct expansion){b, DT_F32, LANE_F32};
}

static int complex_new(struct jit_builder *b, int re, int im)
{
    const int v = jit_value_new(b, DT_C64, re);
    b->values[v].imaginary = im;
    return v;
}

int complex_of_halves(struct jit_builder *b, int x)
{
    struct expansion f = reals(b);
    const int re = emit1(&f, LANE_I32_OF_I64, x);
    return complex_new(b, re, emit1(&f, LANE_I32_OF_I64, lane_shift(b, LANE_SHR, LANE_I64, x, 32)));
}

int complex_halves(struct jit_builder *b, int v)
{
    struct expansion i = {b, DT_U64, LANE_I64};
    const int re = emit1(&i, LANE_I64_OF_U32, b->values[v].lanes),
              im = emit1(&i, LANE_I64_OF_U32, b->values[v].imaginary);
    return emit2(&i, LANE_OR, re, lane_shift(b, LANE_SHL, LANE_I64, im, 32));
}

int complex_constant(struct jit_builder *b, const void *at)
{
    uint32_t parts[2];
    memcpy(parts, at, sizeof parts);
    const int re = lane_constant(b, LANE_F32, parts[0]);
    return complex_new(b, re, lane_constant(b, LANE_F32, parts[1]));
}

/* The first products are fused with the sums. */
static int complex_product(struct jit_builder *b, const struct jit_value *x,
                           const struct jit_value *y)
{
    struct expansion f = reals(b);
    int re = emit2(&f, LANE_MUL, x->imaginary, y->imaginary),
        im = emit2(&f, LANE_MUL, x->lanes, y->imaginary);
    re = emit2(&f, LANE_XOR, re, bits(&f, sign_bit(&f)));
    re = lane_emit(b, LANE_FMA, LANE_F32, x->lanes, y->lanes, re);
    im = lane_emit(b, LANE_FMA, LANE_F32, x->imaginary, y->lanes, im);
    return complex_new(b, re, im);
}

int expand_complex(struct jit_builder *b, const char *opcode, const int *args, int count)
{
    struct expansion f = reals(b);
    const struct jit_value x = b->values[args[0]], y = b->values[args[count - 1]];
    if (strcmp(opcode, "complex") == 0)
        return x.type == DT_F32 ? complex_new(b, x.lanes, y.lanes) : JIT_NONE;
    if (strcmp(opcode, "real") == 0 || strcmp(opcode, "imag") == 0)
        return jit_value_new(b, DT_F32, *opcode == 'r' ? x.lanes : x.imaginary);
    if (strcmp(opcode, "abs") == 0)
        return jit_value_new(b, DT_F32, expand_hypot(&f, x.lanes, x.imaginary));
    if (strcmp(opcode, "multiply") == 0)
        return complex_product(b, &x, &y);
    if (strcmp(opcode, "negate") == 0) {
        const int sign = bits(&f, sign_bit(&f)), re = emit2(&f, LANE_XOR, x.lanes, sign);
        return complex_new(b, re, emit2(&f, LANE_XOR, x.imaginary, sign));
    }
    if (strcmp(opcode, "add") != 0 && strcmp(opcode, "subtract") != 0)
        return JIT_NONE;
    const enum lane_op op = *opcode == 'a' ? LANE_ADD : LANE_SUB;
    const int re = emit2(&f, op, x.lanes, y.lanes);
    return complex_new(b, re, emit2(&f, op, x.imaginary, y.imaginary));
}

int complex_select(struct jit_builder *b, int mask, int on, int off)
{
    struct expansion f = reals(b);
    const struct jit_value x = b->values[on], y = b->values[off];
    const int re = blend(&f, mask, x.lanes, y.lanes);
    return complex_new(b, re, blend(&f, mask, x.imaginary, y.imaginary));
}

int complex_compare(struct jit_builder *b, enum jit_direction d, int v, int w)
{
    struct expansion f = reals(b), mask = {b, DT_PRED, LANE_I32};
    const struct jit_value x = b->values[v], y = b->values[w];
    if (d != JIT_EQ && d != JIT_NE)
        return JIT_NONE;
    const enum lane_op op = d == JIT_EQ ? LANE_EQ : LANE_NE;
    const int re = emit2(&f, op, x.lanes, y.lanes), im = emit2(&f, op, x.imaginary, y.imaginary);
    return jit_value_new(b, DT_PRED, emit2(&mask, d == JIT_EQ ? LANE_AND : LANE_OR, re, im));
}

int complex_convert(struct jit_builder *b, enum dtype to, int v)
{
    const struct jit_value x = b->values[v];
    if (to == DT_PRED)
        return complex_compare(b, JIT_NE, v, complex_constant(b, &(const uint64_t){0}));
    if (x.type == DT_C64)
        return jit_convert(b, to, jit_value_new(b, DT_F32, x.lanes));
    const int re = jit_convert(b, DT_F32, v);
    return re == JIT_NONE ? re : complex_new(b, b->values[re].lanes, lane_constant(b, LANE_F32, 0));
}
