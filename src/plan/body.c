/*
 * body.c: computations that are applied to elements (reducers, comparators): the types they compute
 * in, and whether a kernel implements them directly.
 */
#include "plan/plan_priv.h"

/* ---- recognizing ---- */

/* Whether the code is one kernel, applied to arguments x and y, that makes its only result. */
static bool is_single(const struct scalar_code *c, kern_tile_fn *fn, int x, int y)
{
    return c->op_count == 2 && c->ops[0].kind == SCALAR_APPLY && fn && c->ops[0].fn == fn &&
           c->result_count == 1 && c->results[0].at == c->ops[0].out &&
           c->ops[0].args[0] == c->args[x].at && c->ops[0].args[1] == c->args[y].at &&
           c->args[x].at && c->args[y].at;
}

static enum kern_combine combine_of(const struct kern_tiles *tiles, kern_tile_fn *fn, enum dtype t)
{
    for (int k = KERN_ADD; k <= KERN_XOR; k++)
        if (fn && tiles->elementwise(kern_combine_opcode((enum kern_combine)k), t) == fn)
            return (enum kern_combine)k;
    return KERN_CALL;
}

static enum kern_combine find_combine(const struct kern_tiles *tiles, const struct scalar_code *c,
                                      enum dtype t)
{
    if (c->arg_count != 2 || c->result_count != 1)
        return KERN_CALL;
    if (c->op_count == 1 && c->args[1].at && c->results[0].at == c->args[1].at)
        return KERN_TAKE_VALUE;
    kern_tile_fn *fn = c->op_count == 2 ? c->ops[0].fn : NULL;
    return is_single(c, fn, 0, 1) || is_single(c, fn, 1, 0) ? combine_of(tiles, fn, t) : KERN_CALL;
}

static bool is_order(struct body *b, kern_tile_fn *less, kern_tile_fn *greater, int key)
{
    if (is_single(b->code, less, 2 * key, 2 * key + 1) ||
        is_single(b->code, greater, 2 * key + 1, 2 * key))
        b->order = KERN_ORDER_LESS;
    else if (is_single(b->code, greater, 2 * key, 2 * key + 1) ||
             is_single(b->code, less, 2 * key + 1, 2 * key))
        b->order = KERN_ORDER_GREATER;
    return b->order != KERN_ORDER_CALL;
}

static void find_order(const struct kern_tiles *tiles, struct body *b)
{
    for (int key = 0; key < b->arg_count / 2; key++)
        for (int total = 0; total < 2; total++) {
            enum dtype t = b->args[2 * key];
            if (!dtype_is_complex(t) && /* 64-bit keys cannot order complex numbers */
                is_order(b, tiles->compare(KERN_LT, total, t), tiles->compare(KERN_GT, total, t),
                         key)) {
                b->key = key;
                b->total_order = total;
                return;
            }
        }
}

const struct inst *plan_binary_body(const struct computation *body)
{
    const struct inst *i = body->root;
    const bool binary = body->param_count == 2 && i->operand_count == 2 &&
                        op_is(i->opcode, OP_ELEMENTWISE) &&
                        i->operands[0]->opcode == OP_PARAMETER &&
                        i->operands[1]->opcode == OP_PARAMETER && i->operands[0] != i->operands[1];
    return binary && shape_is_array(i->shape) ? i : NULL;
}

/* ---- making ---- */

static enum dtype *new_types(struct planner *pl, int n)
{
    return ARENA_ARRAY(&pl->p->arena, enum dtype, n);
}

/* Makes a body with the argument and result types of `b`: scalar code if possible, else a function.
 */
static bool make_body(struct planner *pl, const struct inst *i, const struct computation *c,
                      struct body *b)
{
    struct scalar_types types = {b->args, b->results, 0};
    b->code = scalar_of_computation(pl, c, &types);
    if (b->code)
        return true;
    b->function = plan_function(pl, i, c);
    return b->function != NULL;
}

/* Makes the code on tiles of a computation that no kernel implements; returns the scalar code that
 * it is made from, or NULL. */
static const struct scalar_code *make_lanes(struct planner *pl, const struct inst *i,
                                            const struct computation *c, struct body *b)
{
    struct scalar_types types = {b->args, b->results, KERN_LANES};
    if (!b->code || pl->p->options.plain)
        return NULL;
    const struct scalar_code *code = scalar_of_computation(pl, c, &types);
    if (code && i->opcode == OP_SCATTER)
        b->indexed = plan_indexed_code(pl, code, b->args, b->results);
    else if (code)
        b->lanes = plan_lane_code(pl, code, b->args, b->results);
    return code;
}

/* A reducer acc'.. = f(acc.., value..) of n accumulators and n values, with element types
 * `types`. */
static bool make_reducer(struct planner *pl, const struct inst *i, const struct computation *c,
                         int n, const enum dtype *types, struct body *b)
{
    enum dtype *args = new_types(pl, 2 * n);
    for (int k = 0; k < 2 * n; k++)
        args[k] = types[k % n];
    *b = (struct body){
        .combine = KERN_CALL, .arg_count = 2 * n, .result_count = n, .args = args, .results = args};
    if (!make_body(pl, i, c, b))
        return false;
    if (b->code)
        b->combine = find_combine(pl->tiles, b->code, args[0]);
    if (b->code)
        b->pick = plan_find_pick(pl, b);
    if (b->combine == KERN_CALL)
        make_lanes(pl, i, c, b);
    return true;
}

/* The reducer of a sum that is not in the module: its combiner identifies it. */
static bool make_sum(struct planner *pl, enum dtype type, struct body *b)
{
    enum dtype *args = new_types(pl, 2);
    args[0] = args[1] = type;
    *b = (struct body){
        .combine = KERN_ADD, .arg_count = 2, .result_count = 1, .args = args, .results = args};
    return true;
}

static bool reduce_body(struct planner *pl, struct step *s, struct body *b)
{
    const struct computation *c = inst_computation(s->inst, A_TO_APPLY);
    int n = s->inst->operand_count / 2;
    enum dtype *types = new_types(pl, n);
    if (!c)
        return make_sum(pl, s->inst->shape->dtype, b);
    for (int k = 0; k < n; k++)
        types[k] = c->params[k]->shape->dtype;
    return make_reducer(pl, s->inst, c, n, types, b);
}

/* The reducer that combines the operands of all participants, one operand at a time. */
static bool collective_body(struct planner *pl, struct step *s, struct body *b)
{
    const struct computation *c = inst_computation(s->inst, A_TO_APPLY);
    if (c->param_count != 2 || !shape_is_array(c->root->shape))
        return PLAN_FAIL(pl, s->inst, UNSUPPORTED, op_spelling(s->inst->opcode),
                         "a variadic reduction");
    enum dtype *type = new_types(pl, 1);
    *type = c->params[0]->shape->dtype;
    return make_reducer(pl, s->inst, c, 1, type, b);
}

static bool scatter_body(struct planner *pl, struct step *s, struct body *b)
{
    int n = s->inst->operand_count / 2;
    enum dtype *types = new_types(pl, n);
    for (int k = 0; k < n; k++)
        types[k] = s->shapes[k]->dtype;
    return make_reducer(pl, s->inst, inst_computation(s->inst, A_TO_APPLY), n, types, b);
}

/* The select of select-and-scatter: compare(first, second). */
static enum kern_combine find_select(const struct kern_tiles *tiles, const struct body *b)
{
    static const struct {
        enum kern_direction direction;
        enum kern_combine combine;
    } known[] = {
        {KERN_GE, KERN_SELECT_GE},
        {KERN_GT, KERN_SELECT_GT},
        {KERN_LE, KERN_SELECT_LE},
        {KERN_LT, KERN_SELECT_LT},
    };
    for (size_t k = 0; k < COUNT_OF(known) && b->arg_count == 2; k++)
        if (is_single(b->code, tiles->compare(known[k].direction, false, b->args[0]), 0, 1))
            return known[k].combine;
    return KERN_CALL;
}

static bool make_predicate(struct planner *pl, const struct inst *i, const struct computation *c,
                           int n, const enum dtype *args, struct body *b)
{
    enum dtype *result = new_types(pl, 1);
    *result = DT_PRED;
    *b = (struct body){.combine = KERN_CALL,
                       .order = KERN_ORDER_CALL,
                       .arg_count = n,
                       .result_count = 1,
                       .args = args,
                       .results = result};
    if (!make_body(pl, i, c, b))
        return false;
    if (b->code) {
        find_order(pl->tiles, b);
        b->combine = find_select(pl->tiles, b);
        const struct scalar_code *lanes = NULL;
        if (b->order == KERN_ORDER_CALL && b->combine == KERN_CALL)
            lanes = make_lanes(pl, i, c, b);
        if (lanes && i->opcode == OP_SORT)
            plan_find_keys(pl, lanes, b);
    }
    return true;
}

static bool sort_body(struct planner *pl, struct step *s, struct body *b)
{
    int n = s->inst->operand_count;
    enum dtype *args = new_types(pl, 2 * n);
    for (int k = 0; k < 2 * n; k++)
        args[k] = s->inst->operands[k / 2]->shape->dtype;
    return make_predicate(pl, s->inst, inst_computation(s->inst, A_TO_APPLY), 2 * n, args, b);
}

/* The comparator of a custom call. The verifier does not check it: without a valid comparator there
 * is no body. */
static bool partial_reduce_body(struct planner *pl, struct step *s, struct body *b)
{
    const struct inst *i = s->inst;
    const struct attr *a = inst_attr(i, A_CALLED_COMPUTATIONS);
    const struct computation *c =
        a && a->v.computations.count == 1 ? a->v.computations.at[0] : NULL;
    int n = i->operand_count;
    enum dtype *args = new_types(pl, n);
    bool fits =
        c && n % 2 == 0 && c->param_count == n && shape_is_scalar_of(c->root->shape, DT_PRED);
    for (int k = 0; k < n && fits; k++) {
        args[k] = i->operands[k / 2]->shape->dtype;
        fits = shape_is_array(i->operands[k / 2]->shape) &&
               shape_is_scalar_of(c->params[k]->shape, args[k]);
    }
    if (fits)
        return make_predicate(pl, i, c, n, args, b);
    s->bodies = NULL;
    return true;
}

/* bodies[0] selects, bodies[1] scatters */
static bool select_and_scatter_bodies(struct planner *pl, struct step *s, struct body *b)
{
    const struct inst *i = s->inst;
    enum dtype *args = new_types(pl, 2), result = i->shape->dtype;
    args[0] = args[1] = i->operands[0]->shape->dtype;
    return make_predicate(pl, i, inst_computation(i, A_SELECT), 2, args, b) &&
           make_reducer(pl, i, inst_computation(i, A_SCATTER), 1, &result, b + 1);
}

static bool map_body(struct planner *pl, struct step *s, struct body *b)
{
    const struct inst *i = s->inst;
    enum dtype *args = new_types(pl, i->operand_count), *result = new_types(pl, 1);
    for (int k = 0; k < i->operand_count; k++)
        args[k] = i->operands[k]->shape->dtype;
    *result = i->shape->dtype;
    *b = (struct body){
        .arg_count = i->operand_count, .result_count = 1, .args = args, .results = result};
    return make_body(pl, i, inst_computation(i, A_TO_APPLY), b);
}

bool plan_bodies(struct planner *pl, struct step *s)
{
    struct body *b = ARENA_ARRAY(&pl->p->arena, struct body, 2);
    s->bodies = b;
    switch (s->inst->opcode) {
    case OP_REDUCE:
    case OP_REDUCE_WINDOW: return reduce_body(pl, s, b);
    case OP_ALL_REDUCE:
    case OP_ALL_REDUCE_START:
    case OP_REDUCE_SCATTER: return collective_body(pl, s, b);
    case OP_SCATTER: return scatter_body(pl, s, b);
    case OP_SELECT_AND_SCATTER: return select_and_scatter_bodies(pl, s, b);
    case OP_SORT: return sort_body(pl, s, b);
    case OP_MAP: return map_body(pl, s, b);
    case OP_CUSTOM_CALL:
        if (str_is(inst_str(s->inst, A_CUSTOM_CALL_TARGET), "PartialReduce") &&
            !s->as.call.foreign.entry)
            return partial_reduce_body(pl, s, b);
        /* fallthrough */
    default: s->bodies = NULL; return true;
    }
}
