/*
 * inline.c: inlines calls: the instructions of a called computation become steps of the caller, so
 * that fusion, common-subexpression elimination and liveness see through the call, and no arguments
 * are passed at run time. Diagnostics still name the instruction that failed, since a step keeps
 * its instruction.
 *
 * A map of elementwise operations becomes these operations on whole arrays: copies of its
 * instructions with other shapes.
 */
#include "plan/plan_priv.h"

enum {
    /* instructions of a computation that may be inlined at several call sites */
    INLINE_SMALL = 200,
    INLINE_TOTAL = 1 << 16, /* instructions inlined at several call sites, in total */
    INLINE_NEVER = INT_MAX / 4
};

/* ---- sizes ---- */

static int size_of(struct planner *pl, const struct computation *c, int depth);

/* Each random number generator has one state, which persists between runs. */
static bool has_state(struct planner *pl, const struct inst *i, int depth)
{
    int n;
    if (i->opcode == OP_RNG || i->opcode == OP_RNG_GET_AND_UPDATE_STATE)
        return true;
    struct computation **callees = inst_callee_list(&pl->scratch, i, &n);
    for (int k = 0; k < n; k++)
        if (size_of(pl, callees[k], depth + 1) >= INLINE_NEVER)
            return true;
    return false;
}

bool inline_has_state(struct planner *pl, const struct inst *i) { return has_state(pl, i, 0); }

static int size_of_inst(struct planner *pl, const struct inst *i, int depth)
{
    if (i->opcode == OP_CALL || i->opcode == OP_FUSION)
        return size_of(pl, plan_called(i), depth + 1);
    return has_state(pl, i, depth) ? INLINE_NEVER : 1;
}

static int size_of(struct planner *pl, const struct computation *c, int depth)
{
    int *known = &pl->inline_sizes[c->index];
    if (*known == 0 && depth < PLAN_MAX_DEPTH) {
        int sum = 0;
        for (int k = 0; k < c->inst_count && sum < INLINE_NEVER; k++)
            sum += size_of_inst(pl, c->insts[k], depth);
        *known = sum < INLINE_NEVER ? sum : INLINE_NEVER;
    }
    return *known ? *known : INLINE_NEVER; /* too deeply nested; planning reports that */
}

/* ---- calls ---- */

bool inline_fits(const struct inst *i, const struct computation *c)
{
    bool same = c->param_count == i->operand_count && same_elements(c->root->shape, i->shape);
    for (int k = 0; k < c->param_count && same; k++)
        same = same_elements(c->params[k]->shape, i->operands[k]->shape);
    return same;
}

bool inline_is_profitable(struct planner *pl, const struct inst *i, const struct computation *c)
{
    if (!plan_optimises(pl) || !inline_fits(i, c))
        return false;
    int size = size_of(pl, c, 0);
    if (size >= INLINE_NEVER || pl->call_sites[c->index] < 2)
        return size < INLINE_NEVER;
    return size <= INLINE_SMALL && pl->inlined + size <= INLINE_TOTAL;
}

bool inline_call(struct build *b, const struct inst *i, const struct computation *c,
                 struct leaves *out)
{
    struct planner *pl = b->pl;
    struct leaves *caller = b->env, *env = ARENA_ARRAY(&pl->scratch, struct leaves, c->inst_count);
    if (pl->depth >= PLAN_MAX_DEPTH)
        return PLAN_FAIL(pl, i, CALLS_TOO_DEEP, PLAN_MAX_DEPTH);
    for (int k = 0; k < c->param_count; k++)
        env[c->params[k]->index] = caller[i->operands[k]->index];
    if (pl->call_sites[c->index] > 1)
        pl->inlined += size_of(pl, c, 0);
    pl->p->stats.inlined++;
    pl->depth++;
    b->env = env;
    bool ok = plan_steps(b, c);
    b->env = caller;
    pl->depth--;
    *out = env[c->root->index];
    return ok;
}

/* ---- maps ---- */

static bool is_elementwise(const struct inst *i)
{
    bool scalars = shape_is_array(i->shape) && i->shape->rank == 0;
    for (int k = 0; k < i->operand_count && scalars; k++)
        scalars = i->operands[k]->shape->rank == 0;
    if (op_table[i->opcode].family == FAMILY_convert) /* each has one operand */
        return scalars && i->opcode != OP_BITCAST && i->opcode != OP_STOCHASTIC_CONVERT;
    return scalars && (i->opcode == OP_PARAMETER || i->opcode == OP_CONSTANT ||
                       op_is(i->opcode, OP_ELEMENTWISE));
}

/* Whether the element types of operands and results are those that the computation declares. */
static bool fits(const struct inst *i, const struct computation *c, struct inst *const *order,
                 int count)
{
    bool ok = i->shape->rank > 0 && c->param_count == i->operand_count &&
              c->root->shape->dtype == i->shape->dtype;
    for (int k = 0; k < c->param_count && ok; k++)
        ok = c->params[k]->shape->dtype == i->operands[k]->shape->dtype;
    for (int k = 0; k < count && ok; k++)
        ok = is_elementwise(order[k]);
    return ok;
}

/* The instruction on whole arrays; unchanged where all its operands are the same for every
 * element. */
static struct inst *lift(struct arena *a, const struct shape *like, struct inst *i,
                         struct inst *const *lifted)
{
    bool changed = i->opcode == OP_PARAMETER;
    for (int k = 0; k < i->operand_count; k++)
        changed |= lifted[i->operands[k]->index]->shape->rank > 0;
    if (!changed)
        return i;
    struct inst *copy = ARENA_DUP(a, i, 1);
    copy->shape = shape_array(a, i->shape->dtype, like->rank, like->dims, NULL, like->layout);
    copy->operands = ARENA_ARRAY(a, struct inst *, i->operand_count);
    for (int k = 0; k < i->operand_count; k++)
        copy->operands[k] = lifted[i->operands[k]->index];
    return copy;
}

/* NULL where the computation is not suitable, or its result is the same for every element. */
static struct inst **lift_all(struct planner *pl, const struct inst *map, struct inst *const *order,
                              int count)
{
    const struct computation *c = inst_computation(map, A_TO_APPLY);
    if (!fits(map, c, order, count))
        return NULL;
    struct inst **lifted = ARENA_ARRAY(&pl->scratch, struct inst *, c->inst_count);
    for (int k = 0; k < count; k++)
        lifted[order[k]->index] = lift(&pl->p->arena, map->shape, order[k], lifted);
    return lifted[c->root->index]->shape->rank > 0 ? lifted : NULL;
}

bool inline_map(struct build *b, const struct inst *i, struct leaves *out, bool *done)
{
    const struct computation *c = inst_computation(i, A_TO_APPLY);
    int count;
    if (!plan_optimises(b->pl))
        return true;
    struct inst **order = plan_live(b->pl, c, &count), **lifted = lift_all(b->pl, i, order, count);
    if (!lifted)
        return true;
    struct leaves *caller = b->env,
                  *env = ARENA_ARRAY(&b->pl->scratch, struct leaves, c->inst_count);
    for (int k = 0; k < c->param_count; k++)
        env[c->params[k]->index] = caller[i->operands[k]->index];
    b->env = env;
    bool ok = true;
    for (int k = 0; k < count && ok; k++)
        ok = order[k]->opcode == OP_PARAMETER ||
             plan_inst(b, lifted[order[k]->index], &env[order[k]->index]);
    b->env = caller;
    *out = env[c->root->index];
    *done = true;
    b->pl->p->stats.mapped++;
    return ok;
}
