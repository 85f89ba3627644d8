/*
 * Generates elementwise instructions: elementwise, compare, convert.
 */
#include "fuzz/generate_priv.h"

/* Types of an op that have a defined meaning. XLA's verifier, and so op.def, accepts more; these
 * are generated rarely. */
static unsigned sensible_types(struct gen *g, enum opcode op)
{
    unsigned types = op_table[op].types;
    if (gen_chance(g, 2))
        return types;
    switch (op) {
    case OP_SHIFT_LEFT:
    case OP_SHIFT_RIGHT_ARITHMETIC:
    case OP_SHIFT_RIGHT_LOGICAL:
    case OP_MULHI: return TY_INTEGER;
    case OP_REMAINDER: return TY_INTEGER | TY_FLOAT;
    case OP_MAXIMUM:
    case OP_MINIMUM:
    case OP_CLAMP: return TY_PRED | TY_INTEGER | TY_FLOAT;
    default: return types;
    }
}

static enum dtype unary_result(enum opcode op, enum dtype t)
{
    switch (op) {
    case OP_ABS:
    case OP_REAL:
    case OP_IMAG: return dtype_component(t);
    case OP_IS_FINITE: return DT_PRED;
    default: return t;
    }
}

static void unary(struct gen *g, enum opcode op)
{
    struct val x = gen_pick(g, sensible_types(g, op), 0);
    gen_emit(g, op, type_with(x.type, unary_result(op, x.type.dtype)), 1, &x, NULL);
}

static void complex_of_parts(struct gen *g)
{
    bool wide = gen_chance(g, 30);
    struct type t = type_with(gen_type(g, TY_FLOAT, 0), wide ? DT_F64 : DT_F32);
    struct val parts[2] = {gen_value(g, t), gen_value(g, t)};
    gen_emit(g, OP_COMPLEX, type_with(t, wide ? DT_C128 : DT_C64), 2, parts, NULL);
}

static void binary(struct gen *g, enum opcode op)
{
    struct val x = gen_pick(g, sensible_types(g, op), 0);
    struct val both[2] = {x, gen_value(g, x.type)};
    if (gen_chance(g, 30)) {
        both[1] = x;
        both[0] = gen_value(g, x.type);
    }
    gen_emit(g, op, x.type, 2, both, NULL);
}

/* Predicates and bounds may be scalars. */
static struct type maybe_scalar(struct gen *g, struct type t)
{
    return gen_chance(g, 30) ? type_scalar(t.dtype) : t;
}

static void ternary(struct gen *g, enum opcode op)
{
    struct val x = gen_pick(g, sensible_types(g, op), 0);
    if (op == OP_SELECT) {
        struct val all[3] = {gen_value(g, maybe_scalar(g, type_with(x.type, DT_PRED))), x,
                             gen_value(g, x.type)};
        gen_emit(g, op, x.type, 3, all, NULL);
        return;
    }
    struct val all[3] = {gen_value(g, maybe_scalar(g, x.type)), x,
                         gen_value(g, maybe_scalar(g, x.type))};
    gen_emit(g, op, x.type, 3, all, NULL);
}

void gen_elementwise(struct gen *g, enum opcode op)
{
    if (op == OP_COMPLEX)
        complex_of_parts(g);
    else if (op_table[op].class == CLASS_UNARY)
        unary(g, op);
    else if (op_table[op].class == CLASS_BINARY)
        binary(g, op);
    else
        ternary(g, op);
}

void gen_compare(struct gen *g, enum opcode op)
{
    struct val x = gen_pick(g, TY_ARRAY, 0);
    struct val both[2] = {x, gen_value(g, x.type)};
    int count = enum_count(A_DIRECTION);
    int direction =
        (int)gen_below(g, dtype_is_complex(x.type.dtype) ? 2 : count); /* EQ, NE come first */
    bool total = !dtype_is_complex(x.type.dtype) && gen_chance(g, 30);
    gen_emit(g, op, type_with(x.type, DT_PRED), 2, both, ", direction=%s%s",
             enum_word(A_DIRECTION, direction),
             total && dtype_is_float(x.type.dtype) ? ", type=TOTALORDER" : "");
}

/* ---- convert ---- */

static void convert(struct gen *g)
{
    struct val x = gen_pick(g, TY_ANY, 0);
    enum dtype t = gen_dtype(g, TY_ANY);
    if (dtype_is_complex(x.type.dtype) && !gen_chance(g, 20))
        t = x.type.dtype == DT_C64 ? DT_C128 : DT_C64;
    gen_emit(g, OP_CONVERT, type_with(x.type, t), 1, &x, NULL);
}

/* A type whose width is a divisor or a multiple. */
static void bitcast_convert(struct gen *g)
{
    enum dtype to = gen_dtype(g, TY_PRED | TY_INTEGER | TY_FLOAT);
    enum dtype from = gen_dtype(g, TY_PRED | TY_INTEGER | TY_FLOAT);
    struct type in = type_with(gen_type(g, TY_ANY, 0), from), out;
    int a = (int)dtype_bits(from), b = (int)dtype_bits(to);
    if (from == DT_PRED || to == DT_PRED) /* any byte is a valid pred */
        a = b = 8, from = DT_S8, to = DT_U8;
    if (in.rank == GEN_RANK - 1 || (a < b && in.rank > 3))
        in.rank--;
    in.dtype = from;
    if (a < b)
        in.dims[in.rank++] = b / a;
    out = type_with(in, to);
    if (a < b)
        out.rank--;
    else if (a > b)
        out.dims[out.rank++] = a / b;
    struct val x = gen_value(g, in);
    gen_emit(g, OP_BITCAST_CONVERT, out, 1, &x, NULL);
}

/* Bitcast to one dimension: with default layouts this is a reshape. */
static void bitcast(struct gen *g)
{
    struct val x = gen_fresh(g, gen_type(g, TY_ANY, 0));
    struct type t = x.type;
    t.rank = 1;
    t.dims[0] = type_elements(&x.type);
    gen_emit(g, OP_BITCAST, t, 1, &x, NULL);
}

static void reduce_precision(struct gen *g)
{
    struct val x = gen_pick(g, TY_FLOAT, 0);
    gen_emit(g, OP_REDUCE_PRECISION, x.type, 1, &x, ", exponent_bits=%d, mantissa_bits=%d",
             (int)gen_between(g, 1, 9), (int)gen_between(g, 0, 24));
}

static void stochastic_convert(struct gen *g)
{
    static const struct {
        enum dtype from, random;
    } pairs[] = {{DT_F32, DT_U32}, {DT_F64, DT_U64}, {DT_F16, DT_U16}, {DT_BF16, DT_U16}};
    int k = (int)gen_below(g, 4);
    struct type t = type_with(gen_type(g, TY_ANY, 0), pairs[k].from);
    if (t.rank > 1) /* the result depends on layouts */
        t.rank = 1;
    struct val both[2] = {gen_fresh(g, t), gen_fresh(g, type_with(t, pairs[k].random))};
    gen_emit(g, OP_STOCHASTIC_CONVERT, type_with(t, gen_dtype(g, TY_SIGNED)), 2, both, NULL);
}

void gen_convert(struct gen *g, enum opcode op)
{
    switch (op) {
    case OP_BITCAST: bitcast(g); break;
    case OP_BITCAST_CONVERT: bitcast_convert(g); break;
    case OP_REDUCE_PRECISION: reduce_precision(g); break;
    case OP_STOCHASTIC_CONVERT: stochastic_convert(g); break;
    default: convert(g); break;
    }
}
