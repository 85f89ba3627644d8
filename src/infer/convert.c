/*
 * convert.c: rules for declared results of element type conversions.
 */
#include "verify/verify_priv.h"

static bool result_is_array(struct verify *v, const struct inst *i)
{
    if (shape_is_array(i->shape))
        return true;
    return verify_bad_inst(v, i, NULL, "returns %s, expected an array", verify_text(v, i->shape));
}

/* Storage bits of an element: 6-bit floats are stored in a byte. */
static int64_t storage_bits(enum dtype t) { return dtype_bits(t) == 6 ? 8 : dtype_bits(t); }

/* spec: ConvertElementType */
static const struct shape *convert_shape(struct verify *v, const struct inst *i)
{
    if (!verify_operand_array(v, i, 0) || !result_is_array(v, i))
        return NULL;
    return shape_with_dtype(v->arena, operand_shape(i, 0), i->shape->dtype);
}

/* spec: BitcastConvertType */
static const struct shape *bitcast_convert_shape(struct verify *v, const struct inst *i)
{
    if (!verify_operand_array(v, i, 0) || !result_is_array(v, i))
        return NULL;
    const struct shape *s = operand_shape(i, 0);
    enum dtype to = i->shape->dtype;
    int64_t in = storage_bits(s->dtype), out = storage_bits(to), wide = in > out ? in : out,
            narrow = in > out ? out : in;
    if (dtype_is_complex(s->dtype) != dtype_is_complex(to) || wide % narrow != 0) {
        verify_bad_operand(v, i, 0,
                           "an element type whose width is a multiple or divisor of that of %s",
                           dtype_spelling(to));
        return NULL;
    }
    struct dims d = verify_dims(v, s->rank + 1);
    for (int k = 0; k < s->rank; k++)
        dims_take(&d, s, k);
    if (in > out)
        dims_add(&d, in / out, false);
    if (in < out && (s->rank == 0 || s->dims[s->rank - 1] != out / in)) {
        verify_bad_operand(v, i, 0, "a last dimension of %" PRId64, out / in);
        return NULL;
    }
    d.rank -= in < out;
    return verify_dims_shape(v, to, &d);
}

/* spec: StochasticConvert */
static const struct shape *stochastic_shape(struct verify *v, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0), *random = operand_shape(i, 1);
    if (!verify_operand_arrays(v, i, 0, 2) || !result_is_array(v, i))
        return NULL;
    if (!dtype_is_float(s->dtype))
        return verify_bad_operand(v, i, 0, "float elements"), NULL;
    if (!dtype_is_unsigned(random->dtype) || storage_bits(s->dtype) != storage_bits(random->dtype))
        return verify_bad_operand(v, i, 1, "unsigned elements of %" PRId64 " bits",
                                  storage_bits(s->dtype)),
               NULL;
    if (!shape_equal(s, random, IGNORE_ELEMENT))
        return verify_bad_operands(v, i, 0, 1, "dimensions or layout"), NULL;
    return shape_with_dtype(v->arena, s, i->shape->dtype);
}

/* spec: ReducePrecision */
static const struct shape *reduce_precision_shape(struct verify *v, const struct inst *i)
{
    if (!verify_attr_int(v, i, A_EXPONENT_BITS, inst_int(i, A_EXPONENT_BITS, 1), 1, INT64_MAX) ||
        !verify_attr_int(v, i, A_MANTISSA_BITS, inst_int(i, A_MANTISSA_BITS, 0), 0, INT64_MAX))
        return NULL;
    return operand_shape(i, 0);
}

static int64_t memory_space(const struct shape *s)
{
    return shape_is_array(s) ? s->layout->memory_space : 0;
}

enum { HOST_MEMORY = 5 };

/* Whether it is a constant, possibly copied: a bitcast may then change its memory space. */
static bool comes_from_constant(const struct inst *i)
{
    while (i->opcode == OP_COPY)
        i = i->operands[0];
    return i->opcode == OP_CONSTANT;
}

/* The size according to XLA's default size function, for which a tuple is a table of pointers. */
static bool bitcast_bytes(const struct shape *s, int64_t *out)
{
    if (shape_is_tuple(s))
        return mul_i64(s->count, (int64_t)sizeof(void *), out);
    *out = 0;
    return !shape_is_array(s) || shape_bytes(s, out);
}

/* spec: Bitcast */
static const struct shape *bitcast_shape(struct verify *v, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    int64_t in, out;
    if (!v->options.layout_sensitive)
        return i->shape;
    if (!bitcast_bytes(s, &in) || !bitcast_bytes(i->shape, &out) || in != out)
        return verify_bad_operand(v, i, 0, "the same number of bytes as %s",
                                  verify_text(v, i->shape)),
               NULL;
    bool from_host = memory_space(s) == HOST_MEMORY,
         to_host = memory_space(i->shape) == HOST_MEMORY;
    if (from_host != to_host && !comes_from_constant(i->operands[0]))
        return verify_bad_operand(v, i, 0, "in the memory space of the result"), NULL;
    return i->shape;
}

const struct shape *verify_convert(struct verify *v, const struct inst *i)
{
    switch (i->opcode) {
    case OP_BITCAST: return bitcast_shape(v, i);
    case OP_BITCAST_CONVERT: return bitcast_convert_shape(v, i);
    case OP_STOCHASTIC_CONVERT: return stochastic_shape(v, i);
    case OP_REDUCE_PRECISION: return reduce_precision_shape(v, i);
    default: return convert_shape(v, i);
    }
}
