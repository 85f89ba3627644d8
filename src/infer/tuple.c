/*
 * tuple.c: result shapes of instructions that pass values through.
 */
#include "infer/infer_priv.h"

/* spec: Tuple */
static const struct shape *tuple_shape(struct infer *ctx, const struct inst *i)
{
    const struct shape **parts = ARENA_ARRAY(ctx->arena, const struct shape *, i->operand_count);
    for (int k = 0; k < i->operand_count; k++)
        parts[k] = operand_shape(i, k);
    return shape_tuple(ctx->arena, i->operand_count, parts);
}

/* spec: GetTupleElement */
static const struct shape *element_shape(struct infer *ctx, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    int64_t index = inst_int(i, A_INDEX, 0);
    if (!shape_is_tuple(s))
        return report_operand(ctx, i, 0, "a tuple"), NULL;
    return check_attr_int(ctx, i, A_INDEX, index, 0, s->count) ? s->elements[index] : NULL;
}

/* spec: AddDependency */
static const struct shape *dependency_shape(struct infer *ctx, const struct inst *i)
{
    if (!shape_is_token(operand_shape(i, 1)))
        return report_operand(ctx, i, 1, "token[]"), NULL;
    return operand_shape(i, 0);
}

const struct shape *infer_tuple(struct infer *ctx, const struct inst *i)
{
    switch (i->opcode) {
    case OP_TUPLE: return tuple_shape(ctx, i);
    case OP_GET_TUPLE_ELEMENT: return element_shape(ctx, i);
    case OP_ADD_DEPENDENCY: return dependency_shape(ctx, i);
    case OP_AFTER_ALL: return shape_token();
    case OP_CONSTANT: return i->literal->shape;
    default: /* opt-barrier, domain */ return operand_shape(i, 0);
    }
}
