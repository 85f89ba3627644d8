/*
 * why/control: calls, loops, branches, tuples and parameters, feeds and collectives. The sources of
 * a call are in the root of its computation; from there, parameters lead to the operands of the
 * call.
 */
#include "why/why_priv.h"

/* ---- calls ---- */

static struct why_source *point(struct why *w, const struct inst *from, int64_t leaf,
                                const int64_t *index, const char *role)
{
    struct why_source *s = why_of(w, from, leaf, role);
    for (int d = 0; d < s->rank; d++)
        why_fix(s, d, index[d]);
    return s;
}

static void root_of(struct why *w, const struct computation *c, int64_t leaf, const int64_t *index,
                    int64_t iteration, const char *role)
{
    struct why_source *s = point(w, c->root, leaf, index, role);
    s->where = WHY_INSIDE;
    s->iteration = iteration;
}

static void loop(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    const int64_t iterations =
        w->known->iterations ? w->known->iterations(w->known->context, i) : -1;
    if (iterations > 0)
        root_of(w, inst_computation(i, A_BODY), leaf, index, iterations - 1, "last iteration");
    else if (iterations == 0)
        why_point(w, i, 0, leaf, index, "init");
    else
        why_every_leaf(w, i, 0, "init");
}

/* The executed branch; -1: unknown. */
static int branch_of(struct why *w, const struct inst *i, int count)
{
    const bool pred = i->operands[0]->shape->dtype == DT_PRED;
    int64_t at;
    if (!why_integer(w, i, 0, NULL, &at))
        return -1;
    if (pred)
        return at ? 0 : 1;
    return at < 0 || at >= count ? count - 1 : (int)at;
}

static void conditional(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    int count;
    struct computation **branches = inst_callee_list(w->arena, i, &count);
    const int taken = branch_of(w, i, count);
    why_whole(w, i, 0, 0, "condition");
    if (taken >= 0 && taken < count)
        root_of(w, branches[taken], leaf, index, 0, "branch");
    for (int k = 1; k < i->operand_count && taken < 0; k++)
        why_every_leaf(w, i, k, "argument");
}

/* ((operands), results, context...): the operands themselves, then the results of the
 * computation. */
static void async_start(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    const struct computation *c = inst_computation(i, A_CALLS);
    for (int k = 0; k < i->operand_count; k++) {
        const int64_t leaves = shape_leaf_count(i->operands[k]->shape);
        if (leaf < leaves) {
            why_point(w, i, k, leaf, index, "operand");
            return;
        }
        leaf -= leaves;
    }
    if (leaf < shape_leaf_count(c->root->shape))
        root_of(w, c, leaf, index, 0, "root");
}

static void async_done(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    why_point(w, i, 0, leaf + shape_leaf_count(i->operands[0]->shape->elements[0]), index,
              "result");
}

void why_control(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    switch (i->opcode) {
    case OP_CALL: root_of(w, inst_computation(i, A_TO_APPLY), leaf, index, 0, "root"); break;
    case OP_FUSION: root_of(w, inst_computation(i, A_CALLS), leaf, index, 0, "root"); break;
    case OP_WHILE: loop(w, i, leaf, index); break;
    case OP_CONDITIONAL: conditional(w, i, leaf, index); break;
    case OP_ASYNC_START: async_start(w, i, leaf, index); break;
    case OP_ASYNC_UPDATE: why_point(w, i, 0, leaf, index, "operand"); break;
    case OP_ASYNC_DONE: async_done(w, i, leaf, index); break;
    case OP_MAP:
        for (int k = 0; k < i->operand_count; k++)
            why_point(w, i, k, 0, index, "operand");
        break;
    default: /* a custom call may read all operands */
        for (int k = 0; k < i->operand_count; k++)
            why_every_leaf(w, i, k, "operand");
    }
}

/* ---- tuples and parameters ---- */

static void pass_on(struct why *w, const struct inst *i, int k, int64_t leaf, const int64_t *index,
                    const char *role)
{
    if (shape_is_array(why_leaf_shape(i->operands[k]->shape, leaf)))
        why_point(w, i, k, leaf, index, role);
}

static void tuple(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    const int k = shape_component_of(i->shape, &leaf);
    pass_on(w, i, k, leaf, index, "element");
}

static void get_tuple_element(struct why *w, const struct inst *i, int64_t leaf,
                              const int64_t *index)
{
    leaf += shape_first_leaf(i->operands[0]->shape, inst_int(i, A_INDEX, 0));
    pass_on(w, i, 0, leaf, index, "element");
}

/* The result of the previous iteration of a loop; in the first iteration, the operand of the
 * loop. */
static void state(struct why *w, int64_t leaf, const int64_t *index)
{
    int64_t before = w->iteration - 1;
    if (w->iteration < 0) { /* the last evaluation of the condition */
        const int64_t all =
            w->known->iterations ? w->known->iterations(w->known->context, w->caller) : -1;
        before = all - 1;
    }
    struct why_source *s;
    if (before >= 0) {
        s = point(w, inst_computation(w->caller, A_BODY)->root, leaf, index, "previous iteration");
        s->where = WHY_BESIDE;
        s->iteration = before;
    } else {
        s = point(w, w->caller->operands[0], leaf, index, "init");
        s->where = WHY_OUTSIDE;
        s->operand = 0;
    }
}

/* The caller's operand that a parameter is bound to; -1: unknown. */
static int argument_of(const struct why *w, const struct inst *i)
{
    const struct inst *caller = w->caller;
    int count;
    if (caller->opcode != OP_CONDITIONAL)
        return i->number < caller->operand_count ? (int)i->number : -1;
    struct computation **callees = inst_callee_list(w->arena, caller, &count);
    /* A computation used for several branches may have been called with either operand. */
    for (int k = 0; k < count && k + 1 < caller->operand_count; k++)
        if (callees[k] == i->parent)
            return k + 1;
    return -1;
}

static void parameter(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    if (!w->caller)
        return;
    if (w->caller->opcode == OP_WHILE) {
        state(w, leaf, index);
        return;
    }
    const int k = argument_of(w, i);
    if (k < 0)
        return;
    struct why_source *s = point(w, w->caller->operands[k], leaf, index, "argument");
    s->where = WHY_OUTSIDE;
    s->operand = k;
}

void why_tuple(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    switch (i->opcode) {
    case OP_AFTER_ALL:
    case OP_CONSTANT: break;
    case OP_PARAMETER: parameter(w, i, leaf, index); break;
    case OP_TUPLE: tuple(w, i, leaf, index); break;
    case OP_GET_TUPLE_ELEMENT: get_tuple_element(w, i, leaf, index); break;
    default: pass_on(w, i, 0, leaf, index, "operand");
    }
}

/* ---- feeds and channels ---- */

void why_io(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    const bool passes_on = i->opcode == OP_SEND || i->opcode == OP_RECV_DONE;
    if (passes_on && leaf < shape_leaf_count(i->operands[0]->shape))
        why_every_leaf(w, i, 0, i->opcode == OP_SEND ? "operand" : "received");
}

/* ---- collectives ---- */

static void all_leaves(struct why *w, const struct inst *i)
{
    for (int k = 0; k < i->operand_count; k++)
        why_every_leaf(w, i, k, "of all participants");
}

/* Results correspond to operands by index if they have the same dimensions. */
static void by_index(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index,
                     const char *role)
{
    if (leaf < i->operand_count && shape_leaf_count(i->shape) == i->operand_count &&
        shape_same_dims(why_leaf_shape(i->shape, leaf), i->operands[leaf]->shape))
        why_point(w, i, (int)leaf, 0, index, role);
    else
        all_leaves(w, i);
}

void why_collective(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    switch (i->opcode) {
    case OP_ALL_REDUCE: by_index(w, i, leaf, index, "of all participants"); break;
    case OP_COLLECTIVE_BROADCAST:
    case OP_COLLECTIVE_PERMUTE: by_index(w, i, leaf, index, "of another participant"); break;
    default: all_leaves(w, i); /* also -done forms; partition-id and replica-id have no operands */
    }
}
