/*
 * scalar_hoist.c: computations that depend on nothing that a loop changes, but are too much work or
 * too large for its scalar code. The function that contains the loop runs them before it, as steps
 * of its own, and their results become arguments of the code.
 *
 * While the loop is compiled, each register whose value could be computed there refers to the
 * instruction that makes it. A hoisted value is an argument only where another operation of the
 * loop reads it: what is computed from hoisted values alone is hoisted too.
 *
 * Hoisting runs an instruction even if the loop would not. All are pure, so only time is at stake:
 * what a branch or a loop without iterations might not need is hoisted only if it is little work,
 * or else the loop runs as a function, which executes such steps when it reaches them.
 */
#include "plan/scalar.h"

/* Work that takes longer in each iteration than passing its result to the loop does. */
enum { WORTH_HOISTING = 256, BYTES_PER_OPERATION = 16, OPERATIONS_PER_ROW = 8 };

bool scalar_is_hoisted(const struct maker *m, int reg)
{
    return reg >= 0 && m->regs[reg].before.known && !m->regs[reg].at && !m->regs[reg].large_array;
}

bool scalar_reads_hoisted(const struct maker *m, const struct inst *i, const struct leaves *env)
{
    for (int k = 0; k < i->operand_count; k++)
        for (int j = 0; j < env[i->operands[k]->index].count; j++)
            if (scalar_is_hoisted(m, env[i->operands[k]->index].at[j]))
                return true;
    return false;
}

/* ---- what could be computed before the loop ---- */

static bool is_storable(const struct maker *m, const struct shape *s)
{
    bool all = shape_is_tuple(s) || scalar_is_large(m, s);
    for (int k = 0; shape_is_tuple(s) && k < s->count && all; k++)
        all = is_storable(m, s->elements[k]);
    return all;
}

/* An operation that is not defined on its types must not precede the loop, which may not execute
 * it. */
static bool is_defined(const struct maker *m, const struct inst *i)
{
    enum dtype type, result;
    return !op_is(i->opcode, OP_ELEMENTWISE) || plan_tile(m->pl, i, &type, &result);
}

static bool may_precede(const struct maker *m, const struct inst *i)
{
    return (i->opcode == OP_CONSTANT || op_is(i->opcode, OP_PARTICIPANT) ||
            plan_is_pure(m->pl, i)) &&
           is_storable(m, i->shape) && is_defined(m, i);
}

bool scalar_precedes(const struct maker *m, const struct inst *i, const struct leaves *env)
{
    if (!m->preheader.enabled || !may_precede(m, i))
        return false;
    for (int k = 0; k < i->operand_count; k++) {
        const struct leaves l = env[i->operands[k]->index];
        if (l.count != 1 || l.at[0] < 0 || !m->regs[l.at[0]].before.known)
            return false;
    }
    return true;
}

static struct preheader_inst *new_inst(struct maker *m, const struct inst *i,
                                       const struct leaves *env)
{
    struct arena *scratch = &m->pl->scratch;
    struct preheader *p = &m->preheader;
    struct preheader_inst *made = ARENA_NEW(scratch, struct preheader_inst);
    struct preheader_value *operands =
        ARENA_ARRAY(scratch, struct preheader_value, i->operand_count);
    for (int k = 0; k < i->operand_count; k++)
        operands[k] = m->regs[env[i->operands[k]->index].at[0]].before;
    made->inst = i;
    made->operands = operands;
    VEC_PUSH(scratch, p->insts, p->count, p->capacity) = made;
    return made;
}

void scalar_note_preceding(struct maker *m, const struct inst *i, const struct leaves *env,
                           struct leaves results)
{
    struct preheader_inst *by = NULL;
    for (int k = 0; k < results.count; k++) {
        struct reg *r = results.at[k] < 0 ? NULL : &m->regs[results.at[k]];
        if (!r || r->before.known)
            continue;
        if (!by)
            by = new_inst(m, i, env);
        r->before = (struct preheader_value){true, by, k};
    }
}

/* ---- what is computed there ---- */

/* Whether to execute an instruction before the loop that the loop may not execute. */
static bool may_speculate(struct maker *m, const struct inst *i)
{
    struct preheader *p = &m->preheader;
    const struct cost c = plan_cost_of_inst(i);
    if (p->uncertain == 0)
        return true;
    p->speculated.operations += c.operations;
    p->speculated.bytes += c.bytes;
    return scalar_is_little(p->speculated);
}

/* The rows that are copied one by one, such as the elements of a column. */
static int64_t rows_of(const struct inst *i)
{
    const int last = i->shape->rank - 1;
    int64_t n;
    if (last < 0 || !shape_elements(i->shape, &n) || n == 0)
        return 0;
    if (i->opcode == OP_SLICE)
        return inst_attr(i, A_SLICE)->v.slices.dims[last].stride > 1 ? n : n / i->shape->dims[last];
    return i->opcode == OP_TRANSPOSE && inst_ints(i, A_DIMENSIONS).at[last] != last ? n : 0;
}

/* Whether the value is known when the code is made, or a few bytes are moved or computed. */
static bool is_cheap(const struct maker *m, const struct inst *i, const struct leaves *env)
{
    struct cost c = plan_cost_of_inst(i);
    c.operations += (double)rows_of(i) * OPERATIONS_PER_ROW;
    bool constant = true;
    for (int k = 0; k < i->operand_count; k++)
        constant &= m->regs[env[i->operands[k]->index].at[0]].constant;
    return constant || c.operations + c.bytes / BYTES_PER_OPERATION < WORTH_HOISTING;
}

bool scalar_is_worth_hoisting(const struct maker *m, const struct inst *i, const struct leaves *env)
{
    const bool updates_large = op_is(i->opcode, OP_UPDATES) && !scalar_fits(m, i->shape);
    return scalar_reads_hoisted(m, i, env) || !scalar_is_taken(m, i) || updates_large ||
           (m->preheader.branches == 0 && !is_cheap(m, i, env));
}

/* Whether a function might read the array through a view that is not dense. */
static bool is_rearranged(const struct maker *m, const struct inst *i, const struct leaves *env,
                          int64_t n)
{
    bool rearranged = op_is(i->opcode, OP_VIEW) && i->opcode != OP_RESHAPE;
    for (int k = 0; k < i->operand_count; k++)
        rearranged |= m->regs[env[i->operands[k]->index].at[0]].rearranged;
    return rearranged && n > SCALAR_MAX_ELEMENTS;
}

bool scalar_hoist(struct maker *m, const struct inst *i, const struct leaves *env,
                  struct leaves *out)
{
    int count;
    const struct shape *const *shapes;
    if (!may_speculate(m, i) || !plan_leaf_shapes(m->pl, i, i->shape, &count, &shapes))
        return false;
    struct preheader_inst *by = new_inst(m, i, env);
    by->regs = ARENA_ARRAY(&m->pl->scratch, int, count);
    by->shapes = shapes;
    *out = (struct leaves){count, ARENA_ARRAY(&m->pl->scratch, int, count)};
    for (int k = 0; k < count; k++) {
        int64_t n;
        if (!shape_is_array(shapes[k]) || !shape_elements(shapes[k], &n))
            return false;
        out->at[k] = scalar_alias_reg(m, -1, NULL, shapes[k]->dtype, n);
        m->regs[out->at[k]].before = (struct preheader_value){true, by, k};
        m->regs[out->at[k]].invariant = true;
        m->regs[out->at[k]].rearranged = is_rearranged(m, i, env, n);
    }
    return true;
}

/* ---- hoisted values as arguments ---- */

/* The register of a hoisted value, from now on an argument; -1: it does not fit. */
static int load(struct maker *m, int reg)
{
    struct preheader *p = &m->preheader;
    const struct preheader_value v = m->regs[reg].before;
    int *known = &v.inst->regs[v.leaf];
    if (*known)
        return *known - 1;
    const struct shape *s = v.inst->shapes[v.leaf];
    const int made = scalar_fits(m, s) ? scalar_new_reg(m, s->dtype, m->regs[reg].n)
                     : scalar_is_large(m, s)
                         ? scalar_new_large(m, s, m->arg_count + p->arg_count, NULL)
                         : -1;
    if (made < 0)
        return -1;
    m->regs[made].before = v;
    m->regs[made].invariant = true;
    m->regs[made].rearranged = m->regs[reg].rearranged;
    VEC_PUSH(&m->pl->scratch, p->args, p->arg_count, p->arg_capacity) =
        (struct preheader_arg){v, made};
    *known = made + 1;
    return made;
}

bool scalar_load_hoisted(struct maker *m, struct leaves *l)
{
    int *at = NULL; /* other values may share the list */
    for (int k = 0; k < l->count; k++) {
        if (!scalar_is_hoisted(m, l->at[k]))
            continue;
        const int made = load(m, l->at[k]);
        if (made < 0)
            return false;
        at = at ? at : ARENA_DUP(&m->pl->scratch, l->at, l->count);
        at[k] = made;
    }
    if (at)
        l->at = at;
    return true;
}

struct leaves scalar_all_args(struct maker *m, struct leaves args)
{
    const struct preheader *p = &m->preheader;
    struct leaves all = {args.count, ARENA_ARRAY(&m->pl->scratch, int, args.count + p->arg_count)};
    for (int k = 0; k < args.count; k++)
        all.at[k] = args.at[k];
    for (int k = 0; k < p->arg_count; k++)
        all.at[all.count++] = p->args[k].reg;
    return all;
}

/* ---- before anything is compiled ---- */

/* For each leaf of the result: whether it may be known before the loop. */
static struct leaves find_known(struct maker *m, const struct inst *i, const struct leaves *env)
{
    struct leaves out;
    if (op_table[i->opcode].family == FAMILY_tuple && i->opcode != OP_CONSTANT &&
        plan_alias(m->pl, i, env, &out))
        return out;
    bool known = op_is(i->opcode, OP_RUNS) || may_precede(m, i);
    for (int k = 0; k < i->operand_count && known && !op_is(i->opcode, OP_RUNS); k++) {
        const struct leaves l = env[i->operands[k]->index];
        known = l.count == 1 && l.at[0] == 1;
    }
    out.count = (int)leaf_count(i->shape);
    out.at = ARENA_ARRAY(&m->pl->scratch, int, out.count);
    for (int k = 0; k < out.count; k++)
        out.at[k] = known;
    return out;
}

bool scalar_may_hoist(struct maker *m, const struct computation *c, struct inst *const *order,
                      int count, struct leaves args)
{
    struct leaves *env = ARENA_ARRAY(&m->pl->scratch, struct leaves, c->inst_count);
    for (int k = 0, first = 0; k < c->param_count; k++) {
        struct leaves *p = &env[c->params[k]->index];
        p->count = (int)leaf_count(c->params[k]->shape);
        p->at = ARENA_ARRAY(&m->pl->scratch, int, p->count);
        for (int j = 0; j < p->count; j++, first++)
            p->at[j] = args.at[first] >= 0 && m->regs[args.at[first]].before.known;
    }
    for (int k = 0; k < count; k++) {
        const struct inst *i = order[k];
        if (i->opcode == OP_PARAMETER)
            continue;
        env[i->index] = find_known(m, i, env);
        if (scalar_is_taken(m, i) || (env[i->index].count > 0 && env[i->index].at[0] == 1))
            continue;
        m->preheader.failed |= may_precede(m, i);
        return false;
    }
    return true;
}

/* ---- when the code is complete ---- */

static void mark_needed(const struct preheader *p)
{
    for (int k = 0; k < p->arg_count; k++)
        p->args[k].value.inst->needed = true;
    for (int k = p->count - 1; k >= 0; k--) {
        const struct preheader_inst *at = p->insts[k];
        for (int j = 0; j < at->inst->operand_count && at->needed; j++)
            if (at->operands[j].inst)
                at->operands[j].inst->needed = true;
    }
}

static int *value_of(struct preheader_value v, struct leaves args)
{
    return v.inst ? &v.inst->results.at[v.leaf] : &args.at[v.leaf];
}

/* Makes it a step of the function, or several. */
static bool emit(struct build *b, struct preheader_inst *at, struct leaves args)
{
    const struct inst *i = at->inst;
    struct leaves *env = b->env;
    b->env = scalar_loose_leaves(b->pl, i->parent->inst_count);
    for (int k = 0; k < i->operand_count; k++)
        b->env[i->operands[k]->index] = (struct leaves){1, value_of(at->operands[k], args)};
    const bool ok = plan_inst(b, i, &at->results);
    b->env = env;
    return ok;
}

bool scalar_emit_preheader(struct build *b, const struct preheader *p, struct leaves *operands)
{
    if (p->arg_count == 0)
        return true;
    const struct leaves args = *operands;
    mark_needed(p);
    for (int k = 0; k < p->count; k++)
        if (p->insts[k]->needed && !emit(b, p->insts[k], args))
            return false;
    *operands =
        (struct leaves){args.count, ARENA_ARRAY(build_arena(b), int, args.count + p->arg_count)};
    for (int k = 0; k < args.count; k++)
        operands->at[k] = args.at[k];
    for (int k = 0; k < p->arg_count; k++)
        operands->at[operands->count++] = *value_of(p->args[k].value, args);
    return true;
}
