/*
 * dynamic.c: rules for operations on dynamic sizes.
 */
#include "verify/verify_priv.h"

/* The dimension that get- and set-dimension-size refer to; its size must fit an s32. */
static bool sized_dimension(struct verify *v, const struct inst *i, int64_t *out)
{
    const struct shape *s = operand_shape(i, 0);
    struct ints dims = inst_ints(i, A_DIMENSIONS);
    if (dims.count == 0)
        return verify_attr_count(v, i, A_DIMENSIONS, 0, 1);
    *out = dims.at[0];
    if (!verify_attr_int(v, i, A_DIMENSIONS, *out, 0, s->rank))
        return false;
    if (s->dims[*out] > INT32_MAX)
        return verify_bad_operand(v, i, 0, "dimension %" PRId64 " to be at most 2147483647", *out);
    return true;
}

/* spec: GetDimensionSize */
static const struct shape *get_shape(struct verify *v, const struct inst *i)
{
    int64_t dim;
    if (!verify_operand_array(v, i, 0) || !sized_dimension(v, i, &dim))
        return NULL;
    return shape_scalar(v->arena, DT_S32);
}

/* spec: SetDimensionSize */
static const struct shape *set_shape(struct verify *v, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    int64_t dim;
    if (!verify_operand_array(v, i, 0))
        return NULL;
    if (!shape_is_scalar_of(operand_shape(i, 1), DT_S32))
        return verify_bad_operand(v, i, 1, "s32[]"), NULL;
    if (!sized_dimension(v, i, &dim))
        return NULL;
    struct dims d = verify_dims(v, s->rank);
    for (int k = 0; k < s->rank; k++)
        dims_add(&d, s->dims[k], shape_dim_dynamic(s, k) || k == dim);
    return shape_with_layout(v->arena, verify_dims_shape(v, s->dtype, &d), s->layout);
}

/* spec: DynamicReshape */
static const struct shape *reshape_shape(struct verify *v, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0), *out = i->shape;
    int64_t in_count, out_count;
    if (!verify_operand_array(v, i, 0))
        return NULL;
    if (!shape_is_array(out) ||
        !(s->dtype == out->dtype ||
          (v->options.mixed_precision && dtype_same_kind(s->dtype, out->dtype))))
        return verify_bad_operand(v, i, 0, "elements of the result's type, %s",
                                  verify_text(v, out)),
               NULL;
    if (!shape_elements(s, &in_count) || !shape_elements(out, &out_count) || in_count != out_count)
        return verify_bad_operand(v, i, 0, "as many elements as the result %s",
                                  verify_text(v, out)),
               NULL;
    if (i->operand_count - 1 != out->rank) {
        verify_bad_inst(v, i, NULL, "has %d dimension sizes, expected %d", i->operand_count - 1,
                        out->rank);
        return NULL;
    }
    for (int k = 1; k < i->operand_count; k++)
        if (operand_shape(i, k)->dtype != DT_S32)
            return verify_bad_operand(v, i, k, "s32 elements"), NULL;
    return out;
}

const struct shape *verify_dynamic(struct verify *v, const struct inst *i)
{
    switch (i->opcode) {
    case OP_GET_DIMENSION_SIZE: return get_shape(v, i);
    case OP_SET_DIMENSION_SIZE: return set_shape(v, i);
    default: return reshape_shape(v, i);
    }
}
