/*
 * sort.c: valid comparators, and result shapes of sort and topk.
 */
#include "infer/infer_priv.h"

static bool comparator_fits(struct infer *ctx, const struct inst *i)
{
    const struct computation *c = inst_computation(i, A_TO_APPLY);
    if (!infer_check_predicate(ctx, i, c) || !infer_check_params(ctx, i, c, 2 * i->operand_count))
        return false;
    for (int k = 0; k < c->param_count; k++)
        if (!infer_check_scalar(ctx, i, c, k, operand_shape(i, k / 2)->dtype))
            return false;
    return true;
}

/* spec: Sort */
static const struct shape *sort_shape(struct infer *ctx, const struct inst *i)
{
    struct ints dims = inst_ints(i, A_DIMENSIONS);
    if (!check_operand_least(ctx, i, 1) || !check_operand_arrays(ctx, i, 0, i->operand_count) ||
        !check_attr_count(ctx, i, A_DIMENSIONS, dims.count, 1))
        return NULL;
    for (int k = 1; k < i->operand_count; k++)
        if (!check_same_dims(ctx, i, 0, k))
            return NULL;
    if (!ctx->parsing &&
        (!comparator_fits(ctx, i) ||
         !check_attr_int(ctx, i, A_DIMENSIONS, dims.at[0], INT64_MIN, operand_shape(i, 0)->rank)))
        return NULL;
    return infer_operands_shape(ctx, i, i->operand_count);
}

/* spec: TopK */
static const struct shape *topk_shape(struct infer *ctx, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    int64_t k = inst_int(i, A_K, 0);
    if (!check_operand_array(ctx, i, 0))
        return NULL;
    if (s->rank == 0)
        return report_operand(ctx, i, 0, "at least one dimension"), NULL;
    if (!check_attr_int(ctx, i, A_K, k, 0, size_end(s->dims[s->rank - 1])))
        return NULL;
    struct dims d = dims_of(ctx->arena, s, 0);
    d.rank--;
    dims_add(&d, k, false);
    const struct shape *parts[] = {dims_shape(ctx->arena, s->dtype, &d),
                                   dims_shape(ctx->arena, DT_S32, &d)};
    return shape_tuple(ctx->arena, 2, parts);
}

const struct shape *infer_sort(struct infer *ctx, const struct inst *i)
{
    return i->opcode == OP_SORT ? sort_shape(ctx, i) : topk_shape(ctx, i);
}
