/*
 * control.c: checks called computations against the instructions that call them.
 */
#include "verify/verify_priv.h"

static bool params_match(struct verify *v, const struct inst *i, const struct computation *c,
                         int first_operand, int count)
{
    if (c->param_count != count)
        return verify_bad_computation(v, i, c, "has %d parameter(s), expected %d", c->param_count,
                                      count);
    for (int k = 0; k < count; k++) {
        const struct shape *s = operand_shape(i, first_operand + k), *param = c->params[k]->shape;
        if (!verify_same(v, s, param))
            return verify_bad_operand(v, i, first_operand + k,
                                      "%s, as parameter %d of '" STR_FMT "'", verify_text(v, param),
                                      k, STR_ARG(c->name));
    }
    return true;
}

/* Fusions, loops and conditionals must run on the execution thread of their caller. */
static bool same_thread(struct verify *v, const struct inst *i, const struct computation *c)
{
    if (v->parsing || str_eq(i->parent->execution_thread, c->execution_thread))
        return true;
    return verify_bad_computation(
        v, i, c, "runs on thread '" STR_FMT "', but its caller on '" STR_FMT "'",
        STR_ARG(c->execution_thread), STR_ARG(i->parent->execution_thread));
}

/* ---- aliasing ---- */

/* Whether two shapes may share storage. For Pin and Unpin, a buffer is treated as its array. */
static bool alias_shapes_fit(const struct verify *v, const struct inst *i, const struct shape *out,
                             const struct shape *in)
{
    struct str target = inst_str(i, A_CUSTOM_CALL_TARGET);
    bool pins = str_is(target, "Pin") || str_is(target, "Unpin");
    if (pins && out->dtype == DT_BUFFER)
        out = out->elements[0];
    if (pins && in->dtype == DT_BUFFER)
        in = in->elements[0];
    if (!v->options.layout_sensitive)
        return shape_compatible(out, in);
    int64_t count;
    bool one = shape_elements(in, &count) && count == 1;
    return shape_equal(out, in, one ? IGNORE_MEMORY_SPACE : 0);
}

static bool alias_fits(struct verify *v, const struct inst *i, const struct alias *a)
{
    if (!verify_attr_int(v, i, A_OUTPUT_TO_OPERAND_ALIASING, a->operand, 0, i->operand_count))
        return false;
    const struct shape *out = shape_at(i->shape, a->output.at, (size_t)a->output.count);
    const struct shape *in =
        shape_at(operand_shape(i, (int)a->operand), a->index.at, (size_t)a->index.count);
    if (!out || !in)
        return verify_bad_attr(v, i, A_OUTPUT_TO_OPERAND_ALIASING, "no such element of %s",
                               verify_text(v, out ? operand_shape(i, (int)a->operand) : i->shape));
    if (inst_frontend(i, "xla_skip_custom_call_alias_shape_check") ||
        alias_shapes_fit(v, i, out, in))
        return true;
    return verify_bad_attr(v, i, A_OUTPUT_TO_OPERAND_ALIASING,
                           "result %s shares storage with operand %s", verify_text(v, out),
                           verify_text(v, in));
}

bool verify_aliasing(struct verify *v, const struct inst *i)
{
    const struct attr *a = inst_attr(i, A_OUTPUT_TO_OPERAND_ALIASING);
    for (int k = 0; a && k < a->v.aliasing.count; k++)
        if (!alias_fits(v, i, &a->v.aliasing.at[k]))
            return false;
    return true;
}

/* ---- call ---- */

static bool composite_fits(struct verify *v, const struct inst *i)
{
    const struct attr *a = inst_attr(i, A_FRONTEND_ATTRIBUTES);
    bool named = false;
    for (int k = 0; a && k < a->v.frontend.count; k++) {
        const struct string_pair *p = &a->v.frontend.at[k];
        int64_t version = 0;
        if (str_is(p->key, "composite.version") &&
            (!num_parse_i64(p->value, &version) || version < 0))
            return verify_bad_attr(v, i, A_FRONTEND_ATTRIBUTES,
                                   "composite.version must be a non-negative integer");
        if (str_is(p->key, "composite.attributes") && p->value.len == 0)
            return verify_bad_attr(v, i, A_FRONTEND_ATTRIBUTES,
                                   "composite.attributes must not be empty");
        named |= str_is(p->key, "composite.name") && p->value.len > 0;
    }
    return named ||
           verify_bad_attr(v, i, A_FRONTEND_ATTRIBUTES, "a composite call requires composite.name");
}

/* spec: Call */
static const struct shape *call_shape(struct verify *v, const struct inst *i)
{
    const struct computation *c = inst_computation(i, A_TO_APPLY);
    if (!params_match(v, i, c, 0, i->operand_count))
        return NULL;
    if (!v->parsing && inst_bool(i, A_IS_COMPOSITE) && !composite_fits(v, i))
        return NULL;
    return c->root->shape;
}

/* ---- while and conditional ---- */

/* spec: While */
static const struct shape *while_shape(struct verify *v, const struct inst *i)
{
    const struct computation *condition = inst_computation(i, A_CONDITION),
                             *body = inst_computation(i, A_BODY);
    if (!params_match(v, i, condition, 0, 1) || !params_match(v, i, body, 0, 1))
        return NULL;
    const struct shape *test = condition->root->shape;
    if (!shape_is_scalar_of(test, DT_PRED))
        return verify_bad_computation(v, i, condition, "returns %s, expected pred[]",
                                      verify_text(v, test)),
               NULL;
    if (!verify_same(v, body->root->shape, operand_shape(i, 0))) {
        verify_bad_computation(v, i, body, "returns %s, expected %s",
                               verify_text(v, body->root->shape),
                               verify_text(v, operand_shape(i, 0)));
        return NULL;
    }
    if (!same_thread(v, i, condition) || !same_thread(v, i, body))
        return NULL;
    return v->parsing ? operand_shape(i, 0) : body->root->shape;
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
static bool branches_fit(struct verify *v, const struct inst *i)
{
    bool indexed = inst_has(i, A_BRANCH_COMPUTATIONS);
    const struct shape *selector = operand_shape(i, 0);
    if (!shape_is_scalar_of(selector, DT_PRED) && !shape_is_scalar_of(selector, DT_S32))
        return verify_bad_operand(v, i, 0, "pred[] or s32[]");
    if (!indexed && (!branch(i, 0) || !branch(i, 1)))
        return verify_bad_inst(v, i, NULL, "has no branches");
    if (selector->dtype == DT_PRED ? branch_count(i) != 2 : branch_count(i) < 1)
        return verify_bad_inst(v, i, NULL, "has %d branches", branch_count(i));
    return i->operand_count == branch_count(i) + 1 ||
           verify_bad_inst(v, i, NULL, "has %d operands, expected a branch index and %d operands",
                           i->operand_count, branch_count(i));
}

static bool branch_fits(struct verify *v, const struct inst *i, int k)
{
    const struct computation *c = branch(i, k), *first = branch(i, 0);
    if (!params_match(v, i, c, k + 1, 1) || !same_thread(v, i, c))
        return false;
    if (!verify_same(v, c->root->shape, first->root->shape))
        return verify_bad_computation(v, i, c, "returns %s, expected %s as '" STR_FMT "'",
                                      verify_text(v, c->root->shape),
                                      verify_text(v, first->root->shape), STR_ARG(first->name));
    return true;
}

/* A shape whose dimensions are dynamic if they are in `a` or in `b`, which must be compatible. */
static const struct shape *or_dynamic(struct verify *v, const struct shape *a,
                                      const struct shape *b)
{
    if (shape_is_tuple(a)) {
        const struct shape **parts = ARENA_ARRAY(v->arena, const struct shape *, a->count);
        for (int k = 0; k < a->count; k++)
            parts[k] = or_dynamic(v, a->elements[k], b->elements[k]);
        return shape_tuple(v->arena, a->count, parts);
    }
    if (!shape_is_array(a) || !b->dynamic)
        return a;
    struct dims d = verify_dims(v, a->rank);
    for (int k = 0; k < a->rank; k++)
        dims_add(&d, a->dims[k], shape_dim_dynamic(a, k) || shape_dim_dynamic(b, k));
    return shape_with_layout(v->arena, verify_dims_shape(v, a->dtype, &d), a->layout);
}

/* spec: Conditional */
static const struct shape *conditional_shape(struct verify *v, const struct inst *i)
{
    if (!branches_fit(v, i))
        return NULL;
    for (int k = 0; k < branch_count(i); k++)
        if (!branch_fits(v, i, k))
            return NULL;
    const struct shape *s = branch(i, 0)->root->shape;
    for (int k = 1; v->parsing && k < branch_count(i); k++)
        s = or_dynamic(v, s, branch(i, k)->root->shape);
    return s;
}

/* ---- map ---- */

static bool map_signature(struct verify *v, const struct inst *i, const struct computation *c)
{
    if (c->param_count != i->operand_count)
        return verify_bad_computation(v, i, c, "has %d parameter(s), expected %d", c->param_count,
                                      i->operand_count);
    if (!shape_is_scalar(c->root->shape))
        return verify_bad_computation(v, i, c, "returns %s, expected a scalar",
                                      verify_text(v, c->root->shape));
    for (int k = 0; k < c->param_count; k++)
        if (!shape_is_scalar_like(c->params[k]->shape, operand_shape(i, k)->dtype))
            return verify_bad_computation(
                v, i, c, "takes %s as parameter %d, expected a scalar of %s",
                verify_text(v, c->params[k]->shape), k, dtype_spelling(operand_shape(i, k)->dtype));
    return true;
}

/* The number of the operand that determines the result's dimensions, since the others may be
 * scalars; or -1. */
static int map_operand(struct verify *v, const struct inst *i)
{
    int wide = 0;
    for (int k = 1; k < i->operand_count; k++) {
        const struct shape *s = operand_shape(i, k), *w = operand_shape(i, wide);
        if (shape_compatible_any(s, w) || (dtype_same_kind(s->dtype, w->dtype) && s->rank == 0))
            continue;
        if (!dtype_same_kind(s->dtype, w->dtype) || w->rank != 0)
            return verify_bad_operands(v, i, wide, k, "dimensions"), -1;
        wide = k;
    }
    return wide;
}

/* The parser's inference requires all dimensions, in order; the verifier ignores the list. */
static bool map_dimensions(struct verify *v, const struct inst *i, int rank)
{
    struct ints dims = inst_ints(i, A_DIMENSIONS);
    if (!v->parsing)
        return true;
    if (!verify_attr_count(v, i, A_DIMENSIONS, dims.count, rank))
        return false;
    for (int k = 0; k < rank; k++)
        if (!verify_attr_int(v, i, A_DIMENSIONS, dims.at[k], k, (int64_t)k + 1))
            return false;
    return true;
}

/* spec: Map */
static const struct shape *map_shape(struct verify *v, const struct inst *i)
{
    const struct computation *c = inst_computation(i, A_TO_APPLY);
    if (!verify_operand_least(v, i, 1) || !verify_operand_arrays(v, i, 0, i->operand_count))
        return NULL;
    int wide = map_operand(v, i);
    if (wide < 0 || !map_dimensions(v, i, operand_shape(i, wide)->rank) ||
        !map_signature(v, i, c) || !verify_operand_types_match(v, i, c))
        return NULL;
    const struct shape *s = operand_shape(i, wide);
    return shape_array(v->arena, c->root->shape->dtype, s->rank, s->dims, s->dynamic, NULL);
}

/* ---- custom-call and fusion ---- */

/* spec: CustomCall */
static const struct shape *custom_call_shape(struct verify *v, const struct inst *i)
{
    if (str_is(inst_str(i, A_CUSTOM_CALL_TARGET), "GetRngSeed")) {
        const struct shape *seed = shape_scalar(v->arena, DT_U64);
        if (i->operand_count != 0)
            return verify_bad_inst(v, i, NULL, "has %d operand(s), GetRngSeed expects none",
                                   i->operand_count),
                   NULL;
        if (!shape_compatible(i->shape, seed))
            return verify_bad_result(v, i, seed), NULL;
    }
    if (inst_is_onnx_loop(i) && !verify_onnx_loop(v, i))
        return NULL;
    return verify_aliasing(v, i) ? i->shape : NULL;
}

/* spec: Fusion (fusion.c checks its computation) */
static const struct shape *fusion_shape(struct verify *v, const struct inst *i)
{
    const struct computation *c = inst_computation(i, A_CALLS);
    if (v->parsing)
        return params_match(v, i, c, 0, i->operand_count) ? c->root->shape : NULL;
    return same_thread(v, i, c) ? i->shape : NULL;
}

static verify_family_fn *const rules[OP_COUNT] = {
    [OP_ASYNC_DONE] = verify_async_shape,
    [OP_ASYNC_START] = verify_async_shape,
    [OP_ASYNC_UPDATE] = verify_async_shape,
    [OP_CALL] = call_shape,
    [OP_CONDITIONAL] = conditional_shape,
    [OP_CUSTOM_CALL] = custom_call_shape,
    [OP_FUSION] = fusion_shape,
    [OP_MAP] = map_shape,
    [OP_WHILE] = while_shape,
};

const struct shape *verify_control(struct verify *v, const struct inst *i)
{
    return rules[i->opcode](v, i);
}
