/*
 * written.c: checks written result shapes that are not compared with an inferred one, since they do
 * not follow from operands and attributes, or not in the same way for XLA's parser.
 */
#include "verify/verify_priv.h"

/* Whether the result has the operand's element type; with mixed precision any float types match. */
static bool type_fits(struct verify *v, const struct inst *i)
{
    enum dtype in = operand_shape(i, 0)->dtype, out = i->shape->dtype;
    return in == out || (v->options.mixed_precision && dtype_same_kind(in, out));
}

static bool declared_type_matches(struct verify *v, const struct inst *i)
{
    return type_fits(v, i) || report_operand(&v->infer, i, 0, "elements of the result's type, %s",
                                             dtype_spelling(i->shape->dtype));
}

/* The result must have as many elements as the operand. */
static bool same_element_count(struct verify *v, const struct inst *i)
{
    int64_t in, out;
    return (shape_elements(operand_shape(i, 0), &in) && shape_elements(i->shape, &out) &&
            in == out) ||
           report_operand(&v->infer, i, 0, "as many elements as the result %s",
                          report_text(&v->infer, i->shape));
}

/* spec: Reshape */
static bool reshape(struct verify *v, const struct inst *i)
{
    return check_result_array(&v->infer, i) && declared_type_matches(v, i) &&
           same_element_count(v, i);
}

/* spec: DynamicReshape */
static bool dynamic_reshape(struct verify *v, const struct inst *i)
{
    const struct shape *out = i->shape;
    if (!check_operand_array(&v->infer, i, 0))
        return false;
    if (!shape_is_array(out) || !type_fits(v, i))
        return report_operand(&v->infer, i, 0, "elements of the result's type, %s",
                              report_text(&v->infer, out));
    if (!same_element_count(v, i))
        return false;
    if (i->operand_count - 1 != out->rank)
        return report_inst(&v->infer, i, NULL, "has %d dimension sizes, expected %d",
                           i->operand_count - 1, out->rank);
    for (int k = 1; k < i->operand_count; k++)
        if (operand_shape(i, k)->dtype != DT_S32)
            return report_operand(&v->infer, i, k, "s32 elements");
    return true;
}

/* spec: BroadcastInDim */
static bool broadcast(struct verify *v, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    struct ints dims = inst_ints(i, A_DIMENSIONS);
    if (!check_result_array(&v->infer, i) || !declared_type_matches(v, i) ||
        !check_attr_count(&v->infer, i, A_DIMENSIONS, dims.count, s->rank))
        return false;
    for (int k = 0; k < s->rank; k++) {
        if (!check_attr_int(&v->infer, i, A_DIMENSIONS, dims.at[k], 0, i->shape->rank))
            return false;
        if (i->shape->dims[dims.at[k]] != s->dims[k])
            return report_operand(&v->infer, i, 0,
                                  "dimension %d to be %" PRId64 ", as dimension %" PRId64
                                  " of the result",
                                  k, i->shape->dims[dims.at[k]], dims.at[k]);
    }
    return true;
}

/* spec: Iota */
static bool iota(struct verify *v, const struct inst *i)
{
    if (!check_result_array(&v->infer, i))
        return false;
    if (i->shape->rank == 0 || i->shape->dtype == DT_PRED)
        return report_inst(&v->infer, i, NULL,
                           "returns %s, expected a numeric array of rank at least 1",
                           report_text(&v->infer, i->shape));
    int64_t along = inst_int(i, A_IOTA_DIMENSION, 0);
    return check_attr_int(&v->infer, i, A_IOTA_DIMENSION, along, 0, i->shape->rank);
}

/* ---- bitcast ---- */

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
static bool bitcast(struct verify *v, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    int64_t in, out;
    if (!v->options.layout_sensitive)
        return true;
    if (!bitcast_bytes(s, &in) || !bitcast_bytes(i->shape, &out) || in != out)
        return report_operand(&v->infer, i, 0, "the same number of bytes as %s",
                              report_text(&v->infer, i->shape));
    bool changes_host = verify_on_host(s) != verify_on_host(i->shape);
    if (changes_host && !comes_from_constant(i->operands[0]))
        return report_operand(&v->infer, i, 0, "in the memory space of the result");
    return true;
}

/* ---- random numbers ---- */

static bool bounds_fit(struct verify *v, const struct inst *i)
{
    bool normal = inst_enum(i, A_DISTRIBUTION, E_DISTRIBUTION_UNIFORM) == E_DISTRIBUTION_NORMAL;
    if (i->operand_count != 2)
        return report_inst(&v->infer, i, NULL, "has %d operand(s), expected 2", i->operand_count);
    for (int k = 0; k < 2; k++)
        if (!shape_is_scalar(operand_shape(i, k)))
            return report_operand(&v->infer, i, k, "a scalar");
    enum dtype t = operand_shape(i, 0)->dtype;
    if (t != operand_shape(i, 1)->dtype)
        return report_operand_types(&v->infer, i, 0, 1);
    if (dtype_is_complex(t) || (normal && !dtype_is_float(t)))
        return report_operand(&v->infer, i, 0, normal ? "a float" : "pred, an integer or a float");
    return true;
}

/* spec: RngUniform */
static bool rng(struct verify *v, const struct inst *i)
{
    return bounds_fit(v, i) &&
           (type_fits(v, i) || report_operand(&v->infer, i, 0, "of the result's type, %s",
                                              dtype_spelling(i->shape->dtype)));
}

/* spec: RngBitGenerator */
static bool bit_generator(struct verify *v, const struct inst *i)
{
    const struct shape *out = i->shape, *state = operand_shape(i, 0);
    if (shape_is_array(out))
        return true;
    if (shape_is_tuple(out) && out->count == 2 && shape_compatible(out->elements[0], state))
        return true;
    return report_inst(&v->infer, i, i->operands[0], "returns %s, expected an array or (%s, ...)",
                       report_text(&v->infer, out), report_text(&v->infer, state));
}

/* ---- others ---- */

/* spec: Fusion (fusion.c checks its computation) */
static bool fusion(struct verify *v, const struct inst *i)
{
    return check_thread(&v->infer, i, inst_computation(i, A_CALLS));
}

static verify_inst_fn *const rules[OP_COUNT] = {
    [OP_ASYNC_DONE] = verify_async,
    [OP_ASYNC_START] = verify_async,
    [OP_ASYNC_UPDATE] = verify_async,
    [OP_BITCAST] = bitcast,
    [OP_BROADCAST] = broadcast,
    [OP_CUSTOM_CALL] = verify_custom_call,
    [OP_DYNAMIC_RESHAPE] = dynamic_reshape,
    [OP_FUSION] = fusion,
    [OP_IOTA] = iota,
    [OP_RESHAPE] = reshape,
    [OP_RNG] = rng,
    [OP_RNG_BIT_GENERATOR] = bit_generator,
};

bool verify_written(struct verify *v, const struct inst *i)
{
    return !rules[i->opcode] || rules[i->opcode](v, i);
}
