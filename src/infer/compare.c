/*
 * compare.c: the result shape of a comparison, and the comparison types that element types allow.
 */
#include "verify/verify_priv.h"

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
const struct shape *verify_compare(struct verify *v, const struct inst *i)
{
    const struct shape *s = verify_binary_shape(v, i);
    if (!s)
        return NULL;
    const struct attr *type = inst_attr(i, A_TYPE);
    if (type && !v->parsing && !type_fits(type->v.e, operand_shape(i, 1)->dtype)) {
        verify_bad_attr(v, i, A_TYPE, "%s is not valid for element type %s",
                        enum_word(A_TYPE, type->v.e), dtype_spelling(operand_shape(i, 1)->dtype));
        return NULL;
    }
    return shape_with_dtype(v->arena, s, DT_PRED);
}
