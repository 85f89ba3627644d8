/*
 * dynamic.c: rules for operations on dynamic sizes.
 */
#include "infer/infer_priv.h"

/* The dimension that get- and set-dimension-size refer to; its size must fit an s32. */
static bool sized_dimension(struct infer *ctx, const struct inst *i, int64_t *out)
{
    const struct shape *s = operand_shape(i, 0);
    struct ints dims = inst_ints(i, A_DIMENSIONS);
    if (dims.count == 0)
        return check_attr_count(ctx, i, A_DIMENSIONS, 0, 1);
    *out = dims.at[0];
    if (!check_attr_int(ctx, i, A_DIMENSIONS, *out, 0, s->rank))
        return false;
    if (s->dims[*out] > INT32_MAX)
        return report_operand(ctx, i, 0, "dimension %" PRId64 " to be at most 2147483647", *out);
    return true;
}

/* spec: GetDimensionSize */
static const struct shape *get_shape(struct infer *ctx, const struct inst *i)
{
    int64_t dim;
    if (!check_operand_array(ctx, i, 0) || !sized_dimension(ctx, i, &dim))
        return NULL;
    return shape_scalar(ctx->arena, DT_S32);
}

/* spec: SetDimensionSize */
static const struct shape *set_shape(struct infer *ctx, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    int64_t dim;
    if (!check_operand_array(ctx, i, 0))
        return NULL;
    if (!shape_is_scalar_of(operand_shape(i, 1), DT_S32))
        return report_operand(ctx, i, 1, "s32[]"), NULL;
    if (!sized_dimension(ctx, i, &dim))
        return NULL;
    struct dims d = dims_of(ctx->arena, s, 0);
    d.dynamic[dim] = true;
    return shape_with_layout(ctx->arena, dims_shape(ctx->arena, s->dtype, &d), s->layout);
}

const struct shape *infer_dynamic(struct infer *ctx, const struct inst *i)
{
    return i->opcode == OP_GET_DIMENSION_SIZE ? get_shape(ctx, i) : set_shape(ctx, i);
}
