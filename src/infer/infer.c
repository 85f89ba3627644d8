/*
 * infer.c: infers the shape of an instruction: checks the number of operands and the element type
 * of the first one, and applies the rule of the family.
 */
#include "infer/infer_priv.h"

static infer_family_fn *const families[FAMILY_COUNT] = {
#define X(name, flags) [FAMILY_##name] = infer_##name,
    FAMILIES(X)
#undef X
};

static bool operand_count_fits(struct infer *ctx, const struct inst *i)
{
    const struct op_info *op = &op_table[i->opcode];
    if (i->operand_count >= op->min_operands &&
        (op->max_operands == OPERANDS_MANY || i->operand_count <= op->max_operands))
        return true;
    return report_inst(ctx, i, NULL, "has %d operand(s), expected %s%d", i->operand_count,
                       op->max_operands == OPERANDS_MANY ? "at least " : "", op->min_operands);
}

static const char *types_name(unsigned types)
{
    switch (types) {
    case TY_FLOAT: return "float elements";
    case TY_INTEGER: return "integer elements";
    case TY_FLOAT | TY_COMPLEX: return "float or complex elements";
    case TY_PRED | TY_INTEGER: return "pred or integer elements";
    case TY_INTEGER | TY_FLOAT | TY_COMPLEX: return "numeric elements";
    case TY_SIGNED | TY_FLOAT | TY_COMPLEX: return "signed elements";
    default: return "an array";
    }
}

/* Whether an element type is in a set of classes, of enum op_types. */
static bool dtype_in_class(enum dtype t, unsigned types)
{
    switch (dtype_class(t)) {
    case DC_PRED: return types & TY_PRED;
    case DC_SIGNED: return types & TY_SIGNED;
    case DC_UNSIGNED: return types & TY_UNSIGNED;
    case DC_FLOAT: return types & TY_FLOAT;
    case DC_COMPLEX: return types & TY_COMPLEX;
    case DC_OTHER: break;
    }
    return false;
}

/* Checks the element type of the first operand against the types allowed by op.def. */
static bool operand_types_fit(struct infer *ctx, const struct inst *i)
{
    unsigned types = op_table[i->opcode].types;
    if (types == TY_ANY || i->operand_count == 0 ||
        dtype_in_class(operand_shape(i, 0)->dtype, types))
        return true;
    return report_operand_type(ctx, i, 0, types_name(types));
}

/* Inferred shapes may turn out too large: without written shapes, nested tuples grow exponentially
 * in a few lines. */
static bool size_fits(struct infer *ctx, const struct inst *i, const struct shape *s)
{
    if (shape_part_count(s) > SHAPE_MAX_PARTS)
        return DIAG_ERROR(ctx->ds, i->span, TOO_MANY_LEAVES, SHAPE_MAX_PARTS);
    return s->depth <= SHAPE_MAX_DEPTH ||
           DIAG_ERROR(ctx->ds, i->span, TUPLES_TOO_DEEP, SHAPE_MAX_DEPTH);
}

bool infer_is_possible(enum opcode op, bool strict)
{
    return strict ? op_is(op, OP_INFER) : !op_is(op, OP_DECLARED);
}

const struct shape *infer_result(struct infer *ctx, const struct inst *i)
{
    const struct op_info *op = &op_table[i->opcode];
    if (!i->shape && !infer_is_possible((enum opcode)i->opcode, ctx->strict))
        return report_inst(ctx, i, NULL, "requires an explicit result shape"), NULL;
    if (!operand_count_fits(ctx, i) || !operand_types_fit(ctx, i))
        return NULL;
    bool as_written = op->flags & OP_DECLARED && op->compare == COMPARE_OWN;
    const struct shape *s = as_written ? i->shape : families[op->family](ctx, i);
    return s && size_fits(ctx, i, s) ? s : NULL;
}

/* ---- common to several families ---- */

bool infer_common_type(struct infer *ctx, const struct inst *i, int a, int b, enum dtype *out)
{
    *out = dtype_higher(operand_shape(i, a)->dtype, operand_shape(i, b)->dtype);
    return *out != DT_INVALID || report_operand_types(ctx, i, a, b);
}

const bool *infer_marks(struct infer *ctx, struct ints list, int64_t end)
{
    bool *marks = ARENA_ARRAY(ctx->arena, bool, end);
    for (int64_t k = 0; k < list.count; k++)
        marks[list.at[k]] = true;
    return marks;
}

const struct shape *infer_operands_shape(struct infer *ctx, const struct inst *i, int count)
{
    if (count == 1)
        return operand_shape(i, 0);
    const struct shape **shapes = ARENA_ARRAY(ctx->arena, const struct shape *, count);
    for (int k = 0; k < count; k++)
        shapes[k] = operand_shape(i, k);
    return shape_tuple(ctx->arena, count, shapes);
}

/* ---- computations that are applied to elements ---- */

bool infer_check_params(struct infer *ctx, const struct inst *i, const struct computation *c,
                        int count)
{
    return c->param_count == count ||
           report_computation(ctx, i, c, "has %d parameters, expected %d", c->param_count, count);
}

bool infer_check_scalar(struct infer *ctx, const struct inst *i, const struct computation *c, int k,
                        enum dtype t)
{
    const struct shape *s = c->params[k]->shape;
    return (shape_is_scalar(s) && dtype_same_kind(s->dtype, t)) ||
           report_computation(ctx, i, c, "takes %s as parameter %d, expected a scalar of %s",
                              report_text(ctx, s), k, dtype_spelling(t));
}

bool infer_check_predicate(struct infer *ctx, const struct inst *i, const struct computation *c)
{
    return shape_is_scalar_of(c->root->shape, DT_PRED) ||
           report_computation(ctx, i, c, "returns %s, expected pred[]",
                              report_text(ctx, c->root->shape));
}
