/*
 * batchnorm.c: result shapes of the three batch normalizations.
 */
#include "infer/infer_priv.h"

static bool feature_vector(struct infer *ctx, const struct inst *i, int k, int64_t feature,
                           bool ranked)
{
    const struct shape *x = operand_shape(i, 0), *s = operand_shape(i, k);
    if (!dtype_is_float(s->dtype))
        return report_operand(ctx, i, k, "float elements");
    if (ranked ? s->rank != 1 : s->rank < 1)
        return report_operand(ctx, i, k, "one dimension");
    return dim_compatible(s->dims[0], x->dims[feature]) ||
           report_operand(ctx, i, k, "%" PRId64 " elements, one for each feature",
                          x->dims[feature]);
}

static bool gradient_fits(struct infer *ctx, const struct inst *i)
{
    if (!dtype_is_float(operand_shape(i, 4)->dtype))
        return report_operand(ctx, i, 4, "float elements");
    return check_same_dims(ctx, i, 0, 4);
}

static bool operands_fit(struct infer *ctx, const struct inst *i, int64_t feature)
{
    bool gradient = i->opcode == OP_BATCH_NORM_GRAD;
    for (int k = 1; k < (gradient ? 4 : i->operand_count); k++)
        if (!feature_vector(ctx, i, k, feature, k < 3 || gradient))
            return false;
    return !gradient || gradient_fits(ctx, i);
}

/* spec: BatchNormTraining */
const struct shape *infer_batchnorm(struct infer *ctx, const struct inst *i)
{
    const struct shape *x = operand_shape(i, 0);
    int64_t feature = inst_int(i, A_FEATURE_INDEX, 0);
    if (!check_operand_arrays(ctx, i, 0, i->operand_count) ||
        !check_attr_int(ctx, i, A_FEATURE_INDEX, feature, 0, x->rank) ||
        !operands_fit(ctx, i, feature))
        return NULL;
    if (i->opcode == OP_BATCH_NORM_INFERENCE)
        return x;
    struct dims d = dims_new(ctx->arena, 1);
    dims_take(&d, x, feature);
    const struct shape *vector = dims_shape(ctx->arena, x->dtype, &d);
    const struct shape *parts[] = {x, vector, vector};
    return shape_tuple(ctx->arena, 3, parts);
}
