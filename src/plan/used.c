/*
 * used.c: finds the instructions that the result of the module, or a side effect, depends on. The
 * others are dead code, in whatever computation: XLA removes them, and a run of any kind succeeds
 * even if one of them cannot be executed.
 *
 * The analysis follows leaves through tuples, calls, loops and branches: a loop may carry a value
 * that is not read. Callers of one computation are not distinguished, except that what only dead
 * callers pass to it is dead. Each leaf is visited once.
 */
#include "plan/plan_priv.h"

/* Beyond this number of leaves in total every instruction counts as used. */
enum { MAX_LEAVES = 1 << 24, WHOLE = -1 };

enum { BY_NUMBER = -1 };

struct site { /* an instruction that passes its operands to a computation leaf by leaf */
    const struct inst *inst;
    /* of a branch: index of its operand; else BY_NUMBER: the operand of the same number as the
     * parameter */
    int operand;
    const struct site *next;
};

struct visit {
    const struct inst *inst;
    int64_t leaf; /* WHOLE: the instruction itself has just become used */
};

struct marking {
    struct planner *pl;
    int64_t **first;              /* by computation, by instruction: the number of its first leaf */
    bool *needed;                 /* by leaf number */
    bool *reached;                /* by computation */
    const struct site **sites;    /* by computation */
    struct computation **callees; /* of the instruction that is visited */
    int callee_capacity;
    struct visit *stack;
    size_t count, capacity;
};

static void push(struct marking *w, const struct inst *i, int64_t leaf)
{
    VEC_PUSH(&w->pl->scratch, w->stack, w->count, w->capacity) = (struct visit){i, leaf};
}

static void use(struct marking *w, const struct inst *i)
{
    bool *used = &w->pl->used[i->parent->index][i->index];
    if (!*used)
        push(w, i, WHOLE);
    *used = true;
}

static void need(struct marking *w, const struct inst *i, int64_t leaf)
{
    use(w, i);
    if (leaf >= shape_leaf_count(i->shape))
        return;
    bool *needed = &w->needed[w->first[i->parent->index][i->index] + leaf];
    if (!*needed)
        push(w, i, leaf);
    *needed = true;
}

static void need_all(struct marking *w, const struct inst *i)
{
    use(w, i); /* it may have no leaves */
    for (int64_t n = shape_leaf_count(i->shape), k = 0; k < n; k++)
        need(w, i, k);
}

static void reach(struct marking *w, const struct computation *c)
{
    if (w->reached[c->index])
        return;
    w->reached[c->index] = true;
    for (int k = 0; k < c->inst_count; k++)
        if (plan_has_effect(w->pl, c->insts[k]))
            use(w, c->insts[k]);
}

/* Valid until the next call. */
static struct computation **callees_of(struct marking *w, const struct inst *i, int *count)
{
    *count = inst_callees(i, NULL);
    if (*count > w->callee_capacity) {
        w->callee_capacity = 2 * *count;
        w->callees = ARENA_ARRAY(&w->pl->scratch, struct computation *, w->callee_capacity);
    }
    inst_callees(i, w->callees);
    return w->callees;
}

/* ---- the rules ---- */

/* Whether the dependences of the instruction are tracked by leaf; any other reads all of its
 * operands. */
static bool follows_leaves(const struct inst *i)
{
    return op_is(i->opcode, OP_NAMES | OP_RUNS) || op_passes(i->opcode);
}

/* The operand passed to callee `k`, or BY_NUMBER. */
static int passed_operand(const struct inst *i, int k)
{
    return i->opcode == OP_CONDITIONAL ? k + 1 : BY_NUMBER;
}

/* Marks what a call site passes for a leaf of a parameter. */
static void need_passed(struct marking *w, const struct inst *site, int operand,
                        const struct inst *parameter, int64_t leaf)
{
    if (site->opcode == OP_WHILE)
        need(w, site, leaf);
    else
        need(w, site->operands[operand == BY_NUMBER ? parameter->number : operand], leaf);
}

static void visit_parameter(struct marking *w, const struct inst *i, int64_t leaf)
{
    for (const struct site *s = w->sites[i->parent->index]; s; s = s->next)
        if (plan_is_used(w->pl, s->inst))
            need_passed(w, s->inst, s->operand, i, leaf);
}

/* Marks what a call site that has just become used passes for the leaves needed so far. */
static void visit_site(struct marking *w, const struct inst *site, int operand,
                       const struct computation *callee)
{
    for (int p = 0; p < callee->param_count; p++) {
        const struct inst *i = callee->params[p];
        const bool *needed = &w->needed[w->first[callee->index][i->index]];
        for (int64_t n = shape_leaf_count(i->shape), k = 0; k < n; k++)
            if (needed[k])
                need_passed(w, site, operand, i, k);
    }
}

/* Marks what the instruction reads whichever of its leaves are needed. */
static void visit_whole(struct marking *w, const struct inst *i)
{
    int count;
    struct computation **callees = callees_of(w, i, &count);
    const bool all = !follows_leaves(i);
    for (int k = 0; k < count; k++) {
        reach(w, callees[k]);
        if (all)
            need_all(w, callees[k]->root);
        if (op_is(i->opcode, OP_RUNS))
            visit_site(w, i, passed_operand(i, k), callees[k]);
    }
    if (i->opcode == OP_WHILE)
        need_all(w, inst_computation(i, A_CONDITION)->root);
    for (int k = 0; k < i->operand_count; k++)
        if (all || (i->opcode == OP_CONDITIONAL && k == 0) ||
            (i->opcode == OP_ADD_DEPENDENCY && k == 1))
            need_all(w, i->operands[k]);
}

static void visit_leaf(struct marking *w, const struct inst *i, int64_t leaf)
{
    int count = 0, element;
    struct computation **callees;
    switch (i->opcode) {
    case OP_PARAMETER: visit_parameter(w, i, leaf); break;
    case OP_TUPLE:
        element = shape_component_of(i->shape, &leaf);
        need(w, i->operands[element], leaf);
        break;
    case OP_GET_TUPLE_ELEMENT:
        need(w, i->operands[0],
             shape_first_leaf(i->operands[0]->shape, inst_int(i, A_INDEX, 0)) + leaf);
        break;
    case OP_WHILE:
        need(w, i->operands[0], leaf);
        need(w, inst_computation(i, A_BODY)->root, leaf);
        break;
    case OP_CALL:
    case OP_CONDITIONAL:
    case OP_FUSION:
        callees = callees_of(w, i, &count);
        for (int k = 0; k < count; k++)
            need(w, callees[k]->root, leaf);
        break;
    default:
        if (op_passes(i->opcode))
            need(w, i->operands[0], leaf);
    }
}

/* ---- the analysis ---- */

static void add_sites(struct marking *w, const struct inst *i)
{
    int count;
    struct computation **callees = callees_of(w, i, &count);
    for (int k = 0; k < count; k++) {
        const struct site **list = &w->sites[callees[k]->index];
        struct site *s = ARENA_NEW(&w->pl->scratch, struct site);
        *s = (struct site){i, passed_operand(i, k), *list};
        *list = s;
    }
}

/* Numbers the leaves, and finds the call sites of each computation; false: too many leaves. */
static bool number_leaves(struct marking *w, int64_t *total)
{
    const struct module *m = w->pl->p->module;
    *total = 0;
    w->first = ARENA_ARRAY(&w->pl->scratch, int64_t *, m->computation_count);
    w->sites = ARENA_ARRAY(&w->pl->scratch, const struct site *, m->computation_count);
    for (int c = 0; c < m->computation_count; c++) {
        const struct computation *at = m->computations[c];
        w->first[c] = ARENA_ARRAY(&w->pl->scratch, int64_t, at->inst_count);
        for (int k = 0; k < at->inst_count; k++) {
            w->first[c][k] = *total;
            if (!add_i64(*total, shape_leaf_count(at->insts[k]->shape), total) ||
                *total > MAX_LEAVES)
                return false;
            if (op_is(at->insts[k]->opcode, OP_RUNS))
                add_sites(w, at->insts[k]);
        }
    }
    return true;
}

void plan_find_used(struct planner *pl)
{
    const struct module *m = pl->p->module;
    struct marking w = {.pl = pl};
    int64_t total;
    const bool known = number_leaves(&w, &total);
    pl->used = ARENA_ARRAY(&pl->scratch, bool *, m->computation_count);
    for (int c = 0; c < m->computation_count; c++) {
        pl->used[c] = ARENA_ARRAY(&pl->scratch, bool, m->computations[c]->inst_count);
        memset(pl->used[c], !known, (size_t)m->computations[c]->inst_count);
    }
    if (!known)
        return;
    pl->first_leaf = w.first;
    pl->sites = w.sites;
    pl->needed = w.needed = ARENA_ARRAY(&pl->scratch, bool, total);
    w.reached = ARENA_ARRAY(&pl->scratch, bool, m->computation_count);
    reach(&w, m->entry);
    need_all(&w, m->entry->root);
    while (w.count > 0) {
        const struct visit v = w.stack[--w.count];
        if (v.leaf == WHOLE)
            visit_whole(&w, v.inst);
        else
            visit_leaf(&w, v.inst, v.leaf);
    }
}

/* A loop that nothing depends on may run nevertheless: nothing is known of its condition. */
static bool is_needed(const struct planner *pl, const struct computation *c, int leaf)
{
    for (const struct site *s = pl->sites[c->index]; s; s = s->next)
        if (!plan_is_used(pl, s->inst))
            return true;
    return pl->needed[pl->first_leaf[c->index][c->root->index] + leaf];
}

/* Whether a loop with an equal body, which may share the function, needs the leaf. */
static bool is_needed_by_equal(struct planner *pl, const struct computation *c, int leaf)
{
    const struct module *m = pl->p->module;
    const struct computation *first = plan_equal_computation(pl, c);
    for (int k = 0; k < m->computation_count; k++) {
        const struct computation *x = m->computations[k];
        if (x->inst_count == c->inst_count && plan_equal_computation(pl, x) == first &&
            is_needed(pl, x, leaf))
            return true;
    }
    return false;
}

void plan_drop_dead_state(struct planner *pl, const struct function *f, struct leaves results)
{
    const struct computation *c = f->computation;
    for (int k = 0; k < results.count && pl->needed; k++)
        if (results.at[k] != f->params[k] && results.at[k] != NO_VALUE &&
            f->params[k] != NO_VALUE && !is_needed(pl, c, k) && !is_needed_by_equal(pl, c, k))
            results.at[k] = f->params[k];
}

/* ---- dead steps of a function ----
 *
 * Dead instructions never become steps; the steps dropped here are left over from inlining and
 * simplification. */

/* A custom call may fail, so whether it is executed must not depend on passes. */
static bool must_run(struct planner *pl, const struct step *s)
{
    return (s->inst->opcode == OP_CUSTOM_CALL && !s->unused) || plan_has_effect(pl, s->inst);
}

void plan_mark_read(bool *read, const int *values, int count)
{
    for (int k = 0; k < count; k++)
        if (values[k] >= 0)
            read[values[k]] = true;
}

static bool is_read(const struct step *s, const bool *read)
{
    for (int r = 0; r < s->result_count; r++)
        if (s->results[r] >= 0 && read[s->results[r]])
            return true;
    return false;
}

void plan_drop_dead(struct planner *pl, struct function *f, int value_count, struct leaves results)
{
    bool *read = ARENA_ARRAY(&pl->scratch, bool, value_count);
    int kept = f->step_count;
    plan_mark_read(read, results.at, results.count);
    for (int k = f->step_count - 1; k >= 0; k--) {
        const struct step *s = &f->steps[k];
        if (!is_read(s, read) && !must_run(pl, s)) {
            pl->p->stats.dropped++;
            continue;
        }
        plan_mark_read(read, s->operands, s->operand_count);
        if (--kept != k)
            f->steps[kept] = *s;
    }
    if (kept > 0) /* a function without steps has no list */
        f->steps += kept;
    f->step_count -= kept;
}
