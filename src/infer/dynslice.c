/*
 * dynslice.c: rules for dynamic-slice and dynamic-update-slice.
 */
#include "infer/infer_priv.h"

/* Start indices, operands from `first` on: an integer scalar per dimension, all of one type, or a
 * single vector. */
static bool start_indices(struct infer *ctx, const struct inst *i, int first, int rank)
{
    int count = i->operand_count - first;
    if (!check_operand_arrays(ctx, i, first, i->operand_count))
        return false;
    bool vector = count == 1 && operand_shape(i, first)->rank == 1;
    if (vector && operand_shape(i, first)->dims[0] != rank)
        return report_operand(ctx, i, first, "one index per dimension, %d in all", rank);
    if (!vector && count != rank)
        return report_inst(ctx, i, NULL, "has %d start indices, expected %d", count, rank);
    for (int k = first; k < i->operand_count; k++) {
        const struct shape *s = operand_shape(i, k);
        if (!dtype_is_integer(s->dtype) || (!vector && s->rank != 0))
            return report_operand(ctx, i, k, "an integer scalar");
        if (s->dtype != operand_shape(i, first)->dtype)
            return report_operand_types(ctx, i, first, k);
    }
    return true;
}

/* spec: DynamicSlice */
static const struct shape *slice_shape(struct infer *ctx, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    struct ints sizes = inst_ints(i, A_DYNAMIC_SLICE_SIZES);
    if (!check_operand_array(ctx, i, 0) || !start_indices(ctx, i, 1, s->rank) ||
        !check_attr_count(ctx, i, A_DYNAMIC_SLICE_SIZES, sizes.count, s->rank))
        return NULL;
    struct dims d = dims_new(ctx->arena, s->rank);
    for (int k = 0; k < s->rank; k++) {
        int64_t size = sizes.at[k];
        if (!check_attr_int(ctx, i, A_DYNAMIC_SLICE_SIZES, size, 0, size_end(s->dims[k])))
            return NULL;
        dims_add(&d, size, size == s->dims[k] && size > 1 && shape_dim_dynamic(s, k));
    }
    return dims_shape(ctx->arena, s->dtype, &d);
}

static bool update_fits(struct infer *ctx, const struct inst *i, const struct shape *s,
                        const struct shape *update)
{
    if (!dtype_same_kind(s->dtype, update->dtype))
        return report_operand_types(ctx, i, 0, 1);
    if (s->rank != update->rank)
        return report_operands(ctx, i, 0, 1, "rank");
    for (int k = 0; k < s->rank; k++)
        if (update->dims[k] > s->dims[k] && s->dims[k] != DIM_UNBOUNDED)
            return report_operand(ctx, i, 1, "a dimension %d of at most %" PRId64, k, s->dims[k]);
    return true;
}

/* spec: DynamicUpdateSlice */
static const struct shape *update_shape(struct infer *ctx, const struct inst *i)
{
    const struct shape *whole = operand_shape(i, 0),
                       *s = whole->dtype == DT_BUFFER ? whole->elements[0] : whole;
    const struct shape *update = operand_shape(i, 1);
    if (s == whole && !check_operand_array(ctx, i, 0))
        return NULL;
    if (!check_operand_array(ctx, i, 1) || !start_indices(ctx, i, 2, s->rank) ||
        !update_fits(ctx, i, s, update))
        return NULL;
    if (s != whole)
        return whole;
    struct dims d = dims_of(ctx->arena, s, 0);
    for (int k = 0; k < s->rank; k++)
        d.dynamic[k] |= s->dims[k] == update->dims[k] && shape_dim_dynamic(update, k);
    return shape_with_layout(ctx->arena, dims_shape(ctx->arena, s->dtype, &d), s->layout);
}

const struct shape *infer_dynslice(struct infer *ctx, const struct inst *i)
{
    return i->opcode == OP_DYNAMIC_SLICE ? slice_shape(ctx, i) : update_shape(ctx, i);
}
