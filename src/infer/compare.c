/*
 * compare.c: the result shape of a comparison, and the comparison types that element types allow.
 */
#include "infer/infer_priv.h"

static bool type_fits(int type, enum dtype t)
{
    switch (dtype_class(t)) {
    case DC_FLOAT: return type == E_TYPE_FLOAT || type == E_TYPE_TOTALORDER;
    case DC_COMPLEX: return type == E_TYPE_FLOAT;
    case DC_SIGNED: return type == E_TYPE_SIGNED;
    case DC_UNSIGNED:
    case DC_PRED: return type == E_TYPE_UNSIGNED;
    case DC_OTHER: break;
    }
    return false;
}

/* spec: Compare */
const struct shape *infer_compare(struct infer *ctx, const struct inst *i)
{
    const struct shape *s = infer_binary(ctx, i);
    if (!s)
        return NULL;
    const struct attr *type = inst_attr(i, A_TYPE);
    if (type && !ctx->parsing && !type_fits(type->v.e, operand_shape(i, 1)->dtype))
        return report_attr(ctx, i, A_TYPE, "%s is not valid for element type %s",
                           enum_word(A_TYPE, type->v.e),
                           dtype_spelling(operand_shape(i, 1)->dtype)),
               NULL;
    return shape_with_dtype(ctx->arena, s, DT_PRED);
}
