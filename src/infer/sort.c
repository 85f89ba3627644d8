/*
 * sort.c: valid comparators, and result shapes of sort and topk.
 */
#include "verify/verify_priv.h"

static bool comparator_fits(struct verify *v, const struct inst *i)
{
    const struct computation *c = inst_computation(i, A_TO_APPLY);
    if (!shape_is_scalar_of(c->root->shape, DT_PRED))
        return verify_bad_computation(v, i, c, "returns %s, expected pred[]",
                                      verify_text(v, c->root->shape));
    if (c->param_count != 2 * i->operand_count)
        return verify_bad_computation(v, i, c, "has %d parameters, expected %d", c->param_count,
                                      2 * i->operand_count);
    for (int k = 0; k < c->param_count; k++)
        if (!shape_is_scalar_like(c->params[k]->shape, operand_shape(i, k / 2)->dtype))
            return verify_bad_computation(v, i, c,
                                          "takes %s as parameter %d, expected a scalar of %s",
                                          verify_text(v, c->params[k]->shape), k,
                                          dtype_spelling(operand_shape(i, k / 2)->dtype));
    return true;
}

/* spec: Sort */
static const struct shape *sort_shape(struct verify *v, const struct inst *i)
{
    struct ints dims = inst_ints(i, A_DIMENSIONS);
    if (!verify_operand_least(v, i, 1) || !verify_operand_arrays(v, i, 0, i->operand_count) ||
        !verify_attr_count(v, i, A_DIMENSIONS, dims.count, 1))
        return NULL;
    for (int k = 1; k < i->operand_count; k++)
        if (!shape_same_dims(operand_shape(i, 0), operand_shape(i, k)))
            return verify_bad_operands(v, i, 0, k, "dimensions"), NULL;
    if (!v->parsing &&
        (!comparator_fits(v, i) ||
         !verify_attr_int(v, i, A_DIMENSIONS, dims.at[0], INT64_MIN, operand_shape(i, 0)->rank)))
        return NULL;
    return verify_operands_shape(v, i, i->operand_count);
}

/* spec: TopK */
static const struct shape *topk_shape(struct verify *v, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    int64_t k = inst_int(i, A_K, 0);
    if (!verify_operand_array(v, i, 0))
        return NULL;
    if (s->rank == 0)
        return verify_bad_operand(v, i, 0, "at least one dimension"), NULL;
    if (!verify_attr_int(v, i, A_K, k, 0, verify_size_end(s->dims[s->rank - 1])))
        return NULL;
    struct dims d = verify_dims(v, s->rank);
    for (int j = 0; j + 1 < s->rank; j++)
        dims_take(&d, s, j);
    dims_add(&d, k, false);
    const struct shape *parts[] = {verify_dims_shape(v, s->dtype, &d),
                                   verify_dims_shape(v, DT_S32, &d)};
    return shape_tuple(v->arena, 2, parts);
}

const struct shape *verify_sort(struct verify *v, const struct inst *i)
{
    return i->opcode == OP_SORT ? sort_shape(v, i) : topk_shape(v, i);
}
