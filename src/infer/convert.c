/*
 * convert.c: rules for declared results of element type conversions.
 */
#include "infer/infer_priv.h"

/* Storage bits of an element: 6-bit floats are stored in a byte. */
static int64_t storage_bits(enum dtype t) { return dtype_bits(t) == 6 ? 8 : dtype_bits(t); }

/* spec: ConvertElementType */
static const struct shape *convert_shape(struct infer *ctx, const struct inst *i)
{
    if (!check_operand_array(ctx, i, 0) || !check_result_array(ctx, i))
        return NULL;
    return shape_with_dtype(ctx->arena, operand_shape(i, 0), i->shape->dtype);
}

/* spec: BitcastConvertType */
static const struct shape *bitcast_convert_shape(struct infer *ctx, const struct inst *i)
{
    if (!check_operand_array(ctx, i, 0) || !check_result_array(ctx, i))
        return NULL;
    const struct shape *s = operand_shape(i, 0);
    enum dtype to = i->shape->dtype;
    int64_t in = storage_bits(s->dtype), out = storage_bits(to), wide = in > out ? in : out,
            narrow = in > out ? out : in;
    if (dtype_is_complex(s->dtype) != dtype_is_complex(to) || wide % narrow != 0)
        return report_operand(ctx, i, 0,
                              "an element type whose width is a multiple or divisor of that of %s",
                              dtype_spelling(to)),
               NULL;
    struct dims d = dims_of(ctx->arena, s, 1);
    if (in > out)
        dims_add(&d, in / out, false);
    if (in < out && (s->rank == 0 || s->dims[s->rank - 1] != out / in))
        return report_operand(ctx, i, 0, "a last dimension of %" PRId64, out / in), NULL;
    d.rank -= in < out;
    return dims_shape(ctx->arena, to, &d);
}

/* spec: StochasticConvert */
static const struct shape *stochastic_shape(struct infer *ctx, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0), *random = operand_shape(i, 1);
    if (!check_operand_arrays(ctx, i, 0, 2) || !check_result_array(ctx, i))
        return NULL;
    if (!dtype_is_float(s->dtype))
        return report_operand(ctx, i, 0, "float elements"), NULL;
    if (!dtype_is_unsigned(random->dtype) || storage_bits(s->dtype) != storage_bits(random->dtype))
        return report_operand(ctx, i, 1, "unsigned elements of %" PRId64 " bits",
                              storage_bits(s->dtype)),
               NULL;
    if (!shape_equal(s, random, IGNORE_ELEMENT))
        return report_operands(ctx, i, 0, 1, "dimensions or layout"), NULL;
    return shape_with_dtype(ctx->arena, s, i->shape->dtype);
}

/* spec: ReducePrecision */
static const struct shape *reduce_precision_shape(struct infer *ctx, const struct inst *i)
{
    if (!check_attr_int(ctx, i, A_EXPONENT_BITS, inst_int(i, A_EXPONENT_BITS, 1), 1, INT64_MAX) ||
        !check_attr_int(ctx, i, A_MANTISSA_BITS, inst_int(i, A_MANTISSA_BITS, 0), 0, INT64_MAX))
        return NULL;
    return operand_shape(i, 0);
}

const struct shape *infer_convert(struct infer *ctx, const struct inst *i)
{
    switch (i->opcode) {
    case OP_BITCAST_CONVERT: return bitcast_convert_shape(ctx, i);
    case OP_STOCHASTIC_CONVERT: return stochastic_shape(ctx, i);
    case OP_REDUCE_PRECISION: return reduce_precision_shape(ctx, i);
    default: return convert_shape(ctx, i);
    }
}
