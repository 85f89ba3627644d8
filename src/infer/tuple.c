/*
 * tuple.c: result shapes of instructions that pass values through.
 */
#include "verify/verify_priv.h"

/* spec: Tuple */
static const struct shape *tuple_shape(struct verify *v, const struct inst *i)
{
    const struct shape **parts = ARENA_ARRAY(v->arena, const struct shape *, i->operand_count);
    for (int k = 0; k < i->operand_count; k++)
        parts[k] = operand_shape(i, k);
    return shape_tuple(v->arena, i->operand_count, parts);
}

/* spec: GetTupleElement */
static const struct shape *element_shape(struct verify *v, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    int64_t index = inst_int(i, A_INDEX, 0);
    if (!shape_is_tuple(s))
        return verify_bad_operand(v, i, 0, "a tuple"), NULL;
    return verify_attr_int(v, i, A_INDEX, index, 0, s->count) ? s->elements[index] : NULL;
}

/* spec: AddDependency */
static const struct shape *dependency_shape(struct verify *v, const struct inst *i)
{
    if (!shape_is_token(operand_shape(i, 1)))
        return verify_bad_operand(v, i, 1, "token[]"), NULL;
    return operand_shape(i, 0);
}

const struct shape *verify_tuple(struct verify *v, const struct inst *i)
{
    switch (i->opcode) {
    case OP_TUPLE: return tuple_shape(v, i);
    case OP_GET_TUPLE_ELEMENT: return element_shape(v, i);
    case OP_ADD_DEPENDENCY: return dependency_shape(v, i);
    case OP_AFTER_ALL: return shape_token();
    case OP_CONSTANT: return i->literal->shape;
    case OP_PARAMETER: return i->shape;
    default: /* opt-barrier, domain */ return operand_shape(i, 0);
    }
}
