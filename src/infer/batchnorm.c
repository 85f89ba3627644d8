/*
 * batchnorm.c: result shapes of the three batch normalizations.
 */
#include "verify/verify_priv.h"

static bool feature_vector(struct verify *v, const struct inst *i, int k, int64_t feature,
                           bool ranked)
{
    const struct shape *x = operand_shape(i, 0), *s = operand_shape(i, k);
    if (!dtype_is_float(s->dtype))
        return verify_bad_operand(v, i, k, "float elements");
    if (ranked ? s->rank != 1 : s->rank < 1)
        return verify_bad_operand(v, i, k, "one dimension");
    return dim_compatible(s->dims[0], x->dims[feature]) ||
           verify_bad_operand(v, i, k, "%" PRId64 " elements, one for each feature",
                              x->dims[feature]);
}

static bool gradient_fits(struct verify *v, const struct inst *i)
{
    if (!dtype_is_float(operand_shape(i, 4)->dtype))
        return verify_bad_operand(v, i, 4, "float elements");
    return shape_same_dims(operand_shape(i, 0), operand_shape(i, 4)) ||
           verify_bad_operands(v, i, 0, 4, "dimensions");
}

static bool operands_fit(struct verify *v, const struct inst *i, int64_t feature)
{
    bool gradient = i->opcode == OP_BATCH_NORM_GRAD;
    for (int k = 1; k < (gradient ? 4 : i->operand_count); k++)
        if (!feature_vector(v, i, k, feature, k < 3 || gradient))
            return false;
    return !gradient || gradient_fits(v, i);
}

/* spec: BatchNormTraining */
const struct shape *verify_batchnorm(struct verify *v, const struct inst *i)
{
    const struct shape *x = operand_shape(i, 0);
    int64_t feature = inst_int(i, A_FEATURE_INDEX, 0);
    if (!verify_operand_arrays(v, i, 0, i->operand_count) ||
        !verify_attr_int(v, i, A_FEATURE_INDEX, feature, 0, x->rank) ||
        !operands_fit(v, i, feature))
        return NULL;
    if (i->opcode == OP_BATCH_NORM_INFERENCE)
        return x;
    struct dims d = verify_dims(v, 1);
    dims_take(&d, x, feature);
    const struct shape *vector = verify_dims_shape(v, x->dtype, &d);
    const struct shape *parts[] = {x, vector, vector};
    return shape_tuple(v->arena, 3, parts);
}
