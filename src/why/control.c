/*
 * control.c: instructions that run other computations: their sources are in the computation's root. From there, parameters
 * lead back to the operands.
 */
#include "why/why_priv.h"

static void root_of(struct why *w, const struct computation *c, int64_t leaf, const int64_t *index, int64_t iteration,
                    const char *role)
{
    struct why_source *s = why_of(w, c->root, leaf, role);
    s->where = WHY_INSIDE;
    s->iteration = iteration;
    for (int d = 0; d < s->rank; d++)
        why_fix(s, d, index[d]);
}

static void loop(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    const int64_t iterations = w->known->iterations ? w->known->iterations(w->known->context, i) : -1;
    if (iterations > 0)
        root_of(w, inst_computation(i, A_BODY), leaf, index, iterations - 1, "last iteration");
    else if (iterations == 0)
        why_point(w, i, 0, leaf, index, "init");
    else
        why_every_leaf(w, i, 0, "init");
}

/* Which branch was taken; -1: it isn't known. */
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
    const int count = inst_callees(i, NULL), taken = branch_of(w, i, count);
    struct computation **branches = ARENA_ARRAY(w->arena, struct computation *, count);
    inst_callees(i, branches);
    why_whole(w, i, 0, 0, "condition");
    if (taken >= 0 && taken < count)
        root_of(w, branches[taken], leaf, index, 0, "branch");
    for (int k = 1; k < i->operand_count && taken < 0; k++)
        why_every_leaf(w, i, k, "argument");
}

/* ((operands), results, context...): the operands as they are, then what the computation gives. */
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
    why_point(w, i, 0, leaf + shape_leaf_count(i->operands[0]->shape->elements[0]), index, "result");
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
            why_same(w, i, k, 0, index, "operand");
        break;
    default: /* foreign code may look at all that it is given */
        for (int k = 0; k < i->operand_count; k++)
            why_every_leaf(w, i, k, "operand");
    }
}
