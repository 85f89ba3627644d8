/*
 * control.c: checks called computations against the instructions that call them.
 */
#include "infer/infer_priv.h"

static bool params_match(struct infer *ctx, const struct inst *i, const struct computation *c,
                         int first_operand, int count)
{
    if (c->param_count != count)
        return report_computation(ctx, i, c, "has %d parameter(s), expected %d", c->param_count,
                                  count);
    for (int k = 0; k < count; k++) {
        const struct shape *s = operand_shape(i, first_operand + k), *param = c->params[k]->shape;
        if (!infer_same(ctx, s, param))
            return report_operand(ctx, i, first_operand + k, "%s, as parameter %d of '" STR_FMT "'",
                                  report_text(ctx, param), k, STR_ARG(c->name));
    }
    return true;
}

/* ---- call ---- */

static bool composite_fits(struct infer *ctx, const struct inst *i)
{
    const struct attr *a = inst_attr(i, A_FRONTEND_ATTRIBUTES);
    bool named = false;
    for (int k = 0; a && k < a->v.frontend.count; k++) {
        const struct string_pair *p = &a->v.frontend.at[k];
        int64_t version = 0;
        if (str_is(p->key, "composite.version") &&
            (!num_parse_i64(p->value, &version) || version < 0))
            return report_attr(ctx, i, A_FRONTEND_ATTRIBUTES,
                               "composite.version must be a non-negative integer");
        if (str_is(p->key, "composite.attributes") && p->value.len == 0)
            return report_attr(ctx, i, A_FRONTEND_ATTRIBUTES,
                               "composite.attributes must not be empty");
        named |= str_is(p->key, "composite.name") && p->value.len > 0;
    }
    return named ||
           report_attr(ctx, i, A_FRONTEND_ATTRIBUTES, "a composite call requires composite.name");
}

/* spec: Call */
static const struct shape *call_shape(struct infer *ctx, const struct inst *i)
{
    const struct computation *c = inst_computation(i, A_TO_APPLY);
    if (!params_match(ctx, i, c, 0, i->operand_count))
        return NULL;
    if (!ctx->parsing && inst_bool(i, A_IS_COMPOSITE) && !composite_fits(ctx, i))
        return NULL;
    return c->root->shape;
}

/* ---- while and conditional ---- */

/* spec: While */
static const struct shape *while_shape(struct infer *ctx, const struct inst *i)
{
    const struct computation *condition = inst_computation(i, A_CONDITION),
                             *body = inst_computation(i, A_BODY);
    if (!params_match(ctx, i, condition, 0, 1) || !params_match(ctx, i, body, 0, 1))
        return NULL;
    if (!infer_check_predicate(ctx, i, condition))
        return NULL;
    if (!infer_same(ctx, body->root->shape, operand_shape(i, 0)))
        return report_computation(ctx, i, body, "returns %s, expected %s",
                                  report_text(ctx, body->root->shape),
                                  report_text(ctx, operand_shape(i, 0))),
               NULL;
    if (!check_thread(ctx, i, condition) || !check_thread(ctx, i, body))
        return NULL;
    return ctx->parsing ? operand_shape(i, 0) : body->root->shape;
}

static int branch_count(const struct inst *i)
{
    const struct attr *a = inst_attr(i, A_BRANCH_COMPUTATIONS);
    return a ? a->v.computations.count : 2;
}

static const struct computation *branch(const struct inst *i, int k)
{
    const struct attr *a = inst_attr(i, A_BRANCH_COMPUTATIONS);
    return a ? a->v.computations.at[k]
             : inst_computation(i, k ? A_FALSE_COMPUTATION : A_TRUE_COMPUTATION);
}

/* Whether the numbers of branches and operands match the kind of selector. */
static bool branches_fit(struct infer *ctx, const struct inst *i)
{
    bool indexed = inst_has(i, A_BRANCH_COMPUTATIONS);
    const struct shape *selector = operand_shape(i, 0);
    if (!shape_is_scalar_of(selector, DT_PRED) && !shape_is_scalar_of(selector, DT_S32))
        return report_operand(ctx, i, 0, "pred[] or s32[]");
    if (!indexed && (!branch(i, 0) || !branch(i, 1)))
        return report_inst(ctx, i, NULL, "has no branches");
    if (selector->dtype == DT_PRED ? branch_count(i) != 2 : branch_count(i) < 1)
        return report_inst(ctx, i, NULL, "has %d branches", branch_count(i));
    return i->operand_count == branch_count(i) + 1 ||
           report_inst(ctx, i, NULL, "has %d operands, expected a branch index and %d operands",
                       i->operand_count, branch_count(i));
}

static bool branch_fits(struct infer *ctx, const struct inst *i, int k)
{
    const struct computation *c = branch(i, k), *first = branch(i, 0);
    if (!params_match(ctx, i, c, k + 1, 1) || !check_thread(ctx, i, c))
        return false;
    if (!infer_same(ctx, c->root->shape, first->root->shape))
        return report_computation(ctx, i, c, "returns %s, expected %s as '" STR_FMT "'",
                                  report_text(ctx, c->root->shape),
                                  report_text(ctx, first->root->shape), STR_ARG(first->name));
    return true;
}

/* A shape whose dimensions are dynamic if they are in `a` or in `b`, which must be compatible. */
static const struct shape *or_dynamic(struct infer *ctx, const struct shape *a,
                                      const struct shape *b)
{
    if (shape_is_tuple(a)) {
        const struct shape **parts = ARENA_ARRAY(ctx->arena, const struct shape *, a->count);
        for (int k = 0; k < a->count; k++)
            parts[k] = or_dynamic(ctx, a->elements[k], b->elements[k]);
        return shape_tuple(ctx->arena, a->count, parts);
    }
    if (!shape_is_array(a) || !b->dynamic)
        return a;
    struct dims d = dims_of(ctx->arena, a, 0);
    for (int k = 0; k < a->rank; k++)
        d.dynamic[k] |= b->dynamic[k];
    return shape_with_layout(ctx->arena, dims_shape(ctx->arena, a->dtype, &d), a->layout);
}

/* spec: Conditional */
static const struct shape *conditional_shape(struct infer *ctx, const struct inst *i)
{
    if (!branches_fit(ctx, i))
        return NULL;
    for (int k = 0; k < branch_count(i); k++)
        if (!branch_fits(ctx, i, k))
            return NULL;
    const struct shape *s = branch(i, 0)->root->shape;
    for (int k = 1; ctx->parsing && k < branch_count(i); k++)
        s = or_dynamic(ctx, s, branch(i, k)->root->shape);
    return s;
}

/* ---- map ---- */

static bool map_signature(struct infer *ctx, const struct inst *i, const struct computation *c)
{
    if (c->param_count != i->operand_count)
        return report_computation(ctx, i, c, "has %d parameter(s), expected %d", c->param_count,
                                  i->operand_count);
    if (!shape_is_scalar(c->root->shape))
        return report_computation(ctx, i, c, "returns %s, expected a scalar",
                                  report_text(ctx, c->root->shape));
    for (int k = 0; k < c->param_count; k++)
        if (!infer_check_scalar(ctx, i, c, k, operand_shape(i, k)->dtype))
            return false;
    return true;
}

/* The number of the operand that determines the result's dimensions, since the others may be
 * scalars; or -1. */
static int map_operand(struct infer *ctx, const struct inst *i)
{
    int wide = 0;
    for (int k = 1; k < i->operand_count; k++) {
        const struct shape *s = operand_shape(i, k), *w = operand_shape(i, wide);
        if (shape_compatible_any(s, w) || (dtype_same_kind(s->dtype, w->dtype) && s->rank == 0))
            continue;
        if (!dtype_same_kind(s->dtype, w->dtype) || w->rank != 0)
            return report_operands(ctx, i, wide, k, "dimensions"), -1;
        wide = k;
    }
    return wide;
}

/* The parser's inference requires all dimensions, in order; the verifier ignores the list. */
static bool map_dimensions(struct infer *ctx, const struct inst *i, int rank)
{
    struct ints dims = inst_ints(i, A_DIMENSIONS);
    if (!ctx->parsing)
        return true;
    if (!check_attr_count(ctx, i, A_DIMENSIONS, dims.count, rank))
        return false;
    for (int k = 0; k < rank; k++)
        if (!check_attr_int(ctx, i, A_DIMENSIONS, dims.at[k], k, (int64_t)k + 1))
            return false;
    return true;
}

/* spec: Map */
static const struct shape *map_shape(struct infer *ctx, const struct inst *i)
{
    const struct computation *c = inst_computation(i, A_TO_APPLY);
    if (!check_operand_least(ctx, i, 1) || !check_operand_arrays(ctx, i, 0, i->operand_count))
        return NULL;
    int wide = map_operand(ctx, i);
    if (wide < 0 || !map_dimensions(ctx, i, operand_shape(i, wide)->rank) ||
        !map_signature(ctx, i, c) || !reduce_check_types(ctx, i, c))
        return NULL;
    const struct shape *s = operand_shape(i, wide);
    return shape_array(ctx->arena, c->root->shape->dtype, s->rank, s->dims, s->dynamic, NULL);
}

/* ---- fusion ---- */

/* spec: Fusion (the verifier checks its computation against a written shape) */
static const struct shape *fusion_shape(struct infer *ctx, const struct inst *i)
{
    const struct computation *c = inst_computation(i, A_CALLS);
    if (!ctx->parsing)
        return i->shape;
    return params_match(ctx, i, c, 0, i->operand_count) ? c->root->shape : NULL;
}

static infer_family_fn *const rules[OP_COUNT] = {
    [OP_CALL] = call_shape,     [OP_CONDITIONAL] = conditional_shape,
    [OP_FUSION] = fusion_shape, [OP_MAP] = map_shape,
    [OP_WHILE] = while_shape,
};

const struct shape *infer_control(struct infer *ctx, const struct inst *i)
{
    return rules[i->opcode](ctx, i);
}
