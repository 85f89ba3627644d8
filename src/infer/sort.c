/*
 * sort.c: valid comparators, and result shapes of sort and topk.
 */
#include "infer/infer_priv.h"

static bool comparator_fits(struct infer *ctx, const struct inst *i)
{
    const struct computation *c = inst_computation(i, A_TO_APPLY);
    if (!shape_is_scalar_of(c->root->shape, DT_PRED))
        return report_computation(ctx, i, c, "returns %s, expected pred[]",
                                  report_text(ctx, c->root->shape));
    if (c->param_count != 2 * i->operand_count)
        return report_computation(ctx, i, c, "has %d parameters, expected %d", c->param_count,
                                  2 * i->operand_count);
    for (int k = 0; k < c->param_count; k++)
        if (!shape_is_scalar_like(c->params[k]->shape, operand_shape(i, k / 2)->dtype))
            return report_computation(ctx, i, c,
                                      "takes %s as parameter %d, expected a scalar of %s",
                                      report_text(ctx, c->params[k]->shape), k,
                                      dtype_spelling(operand_shape(i, k / 2)->dtype));
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
        if (!shape_same_dims(operand_shape(i, 0), operand_shape(i, k)))
            return report_operands(ctx, i, 0, k, "dimensions"), NULL;
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
    struct dims d = dims_new(ctx->arena, s->rank);
    for (int j = 0; j + 1 < s->rank; j++)
        dims_take(&d, s, j);
    dims_add(&d, k, false);
    const struct shape *parts[] = {dims_shape(ctx->arena, s->dtype, &d),
                                   dims_shape(ctx->arena, DT_S32, &d)};
    return shape_tuple(ctx->arena, 2, parts);
}

const struct shape *infer_sort(struct infer *ctx, const struct inst *i)
{
    return i->opcode == OP_SORT ? sort_shape(ctx, i) : topk_shape(ctx, i);
}
