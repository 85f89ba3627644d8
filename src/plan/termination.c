/*
 * termination.c: determines, before a while loop runs, whether it can end.
 *
 * Parts of the state decide whether a loop ends: those that its condition reads, and those that the
 * body computes these from. If the body passes all of them on unchanged, a loop that is entered
 * cannot end. Otherwise the loop cannot end if they take values that they had before, which is
 * checked at run time (cycle.c), unless one of them is a counter, whose values do not repeat in any
 * practical time.
 *
 * Loops with side effects are not analysed: a custom call, an infeed or another participant may end
 * the run.
 */
#include "plan/plan_priv.h"

enum {
    WALK_BUDGET = 1 << 14, /* leaves of instructions visited per loop */
    MAX_ALIASES = 1 << 10, /* aliases of one value followed */
    LOW_BITS = 0xffff      /* a counter has at least 2^16 values if its step has one of these */
};

/* ---- leaves of instructions, by the calls that lead to them ---- */

/* The computation that an instruction calls; one instruction may call several. */
struct site {
    const struct site *up; /* location of the caller; NULL: the caller is the loop in question */
    const struct inst *caller;
    int64_t callee; /* of a conditional: branch; of a while: BODY or CONDITION; else 0 */
};
enum { BODY, CONDITION };

/* One leaf of an instruction's value. */
struct node {
    const struct site *site;
    const struct inst *inst;
    int64_t leaf;
};

struct walk {
    struct arena *scratch;
    const struct inst *loop;
    int budget;
    struct map sites;    /* by content */
    struct map reached;  /* nodes that decide whether the loop ends, by content */
    struct node **queue; /* the same nodes in the order in which they were reached */
    int queue_count;
    size_t queue_capacity;
    bool *decides; /* by leaf of the state */
};

static struct str key_of(const void *at, size_t size) { return (struct str){at, size}; }

static const struct site *enter(struct walk *w, struct site s)
{
    struct site *known = map_get(&w->sites, key_of(&s, sizeof s));
    if (!known) {
        known = ARENA_DUP(w->scratch, &s, 1);
        map_put(&w->sites, key_of(known, sizeof s), known);
    }
    return known;
}

static void reach(struct walk *w, struct node n)
{
    if (--w->budget < 0 || map_get(&w->reached, key_of(&n, sizeof n)))
        return;
    struct node *kept = ARENA_DUP(w->scratch, &n, 1);
    map_put(&w->reached, key_of(kept, sizeof n), kept);
    VEC_PUSH(w->scratch, w->queue, w->queue_count, w->queue_capacity) = kept;
}

static bool is_call(const struct inst *i) { return i->opcode == OP_CALL || i->opcode == OP_FUSION; }

/* Whether the leaf is an alias of another leaf, and of which. */
static bool is_alias(struct walk *w, struct node n, struct node *of)
{
    const struct inst *i = n.inst, *caller = n.site->caller;
    *of = n;
    switch (i->opcode) {
    case OP_TUPLE: of->inst = i->operands[shape_component_of(i->shape, &of->leaf)]; return true;
    case OP_GET_TUPLE_ELEMENT:
        of->inst = i->operands[0];
        of->leaf += shape_first_leaf(of->inst->shape, inst_int(i, A_INDEX, 0));
        return true;
    case OP_CALL:
    case OP_FUSION:
        of->site = enter(w, (struct site){n.site, i, 0});
        of->inst = plan_called(i)->root;
        return true;
    case OP_PARAMETER:
        if (!is_call(caller))
            return false;
        *of = (struct node){n.site->up, caller->operands[i->number], n.leaf};
        return true;
    default:
        if (!op_passes(i->opcode))
            return false;
        of->inst = i->operands[0];
        return same_elements(of->inst->shape, i->shape);
    }
}

/* ---- leaves that decide ---- */

static struct node body_root(struct walk *w, struct site loop, int64_t leaf)
{
    loop.callee = BODY;
    return (struct node){enter(w, loop), inst_computation(loop.caller, A_BODY)->root, leaf};
}

static struct node condition_root(struct walk *w, struct site loop)
{
    loop.callee = CONDITION;
    return (struct node){enter(w, loop), inst_computation(loop.caller, A_CONDITION)->root, 0};
}

/* A leaf of a loop's state depends on its initial value, and on what the body computes it from. */
static void reach_state(struct walk *w, struct site loop, int64_t leaf)
{
    reach(w, body_root(w, loop, leaf));
    if (loop.up)
        reach(w, (struct node){loop.up, loop.caller->operands[0], leaf});
    else
        w->decides[leaf] = true;
}

static void reach_branches(struct walk *w, struct node n)
{
    int count;
    struct computation **branches = inst_callee_list(w->scratch, n.inst, &count);
    reach(w, (struct node){n.site, n.inst->operands[0], 0});
    for (int k = 0; k < count; k++) {
        const struct site *branch = enter(w, (struct site){n.site, n.inst, k});
        reach(w, (struct node){branch, branches[k]->root, n.leaf});
    }
}

/* A parameter of a loop or of a branch; those of calls are aliases of operands. */
static void reach_argument(struct walk *w, struct node n)
{
    const struct inst *caller = n.site->caller;
    if (caller->opcode == OP_WHILE)
        reach_state(w, *n.site, n.leaf);
    else
        reach(w, (struct node){n.site->up, caller->operands[n.site->callee + 1], n.leaf});
}

static void reach_operands(struct walk *w, struct node n)
{
    for (int k = 0; k < n.inst->operand_count; k++) {
        const int64_t leaves = leaf_count(n.inst->operands[k]->shape);
        for (int64_t j = 0; j < leaves && w->budget >= 0; j++)
            reach(w, (struct node){n.site, n.inst->operands[k], j});
    }
}

/* Reaches what a leaf is computed from. */
static void expand(struct walk *w, struct node n)
{
    struct node of;
    if (is_alias(w, n, &of)) {
        reach(w, of);
        return;
    }
    const struct site loop = {n.site, n.inst, 0};
    switch (n.inst->opcode) {
    case OP_PARAMETER: reach_argument(w, n); break;
    case OP_CONDITIONAL: reach_branches(w, n); break;
    case OP_WHILE:
        reach_state(w, loop, n.leaf);
        reach(w, condition_root(w, loop));
        break;
    default: reach_operands(w, n);
    }
}

/* Finds all leaves of the state that decide; false when the walk budget is exceeded. */
static bool find_deciding(struct walk *w)
{
    reach(w, condition_root(w, (struct site){NULL, w->loop, 0}));
    for (int k = 0; k < w->queue_count && w->budget >= 0; k++)
        expand(w, *w->queue[k]);
    return w->budget >= 0;
}

/* ---- classification of these leaves ---- */

static struct node origin(struct walk *w, struct node n)
{
    struct node of;
    for (int k = 0; k < MAX_ALIASES && is_alias(w, n, &of); k++)
        n = of;
    return n;
}

/* Whether the leaf is a leaf of the loop's state at the start of an iteration. */
static bool is_state(const struct walk *w, struct node n, int64_t leaf)
{
    const bool is_parameter = n.inst->opcode == OP_PARAMETER && !n.site->up;
    return is_parameter && n.site->caller == w->loop && n.leaf == leaf;
}

static struct node next_value(struct walk *w, int64_t leaf)
{
    return origin(w, body_root(w, (struct site){NULL, w->loop, 0}, leaf));
}

static bool is_step(struct node n)
{
    const struct inst *i = n.inst;
    return i->opcode == OP_CONSTANT && !i->literal->elided &&
           (kern_load_index(i->shape->dtype, i->literal->data) & LOW_BITS) != 0;
}

/* Whether each iteration adds the same constant to the leaf, or subtracts it. */
static bool is_counter(struct walk *w, int64_t leaf)
{
    const struct node n = next_value(w, leaf);
    const enum dtype t = n.inst->shape->dtype;
    if ((n.inst->opcode != OP_ADD && n.inst->opcode != OP_SUBTRACT) || n.inst->shape->rank != 0 ||
        (t != DT_S32 && t != DT_S64 && t != DT_U32 && t != DT_U64))
        return false;
    const struct node x = origin(w, (struct node){n.site, n.inst->operands[0], 0}),
                      y = origin(w, (struct node){n.site, n.inst->operands[1], 0});
    if (is_state(w, x, leaf))
        return is_step(y);
    return n.inst->opcode == OP_ADD && is_state(w, y, leaf) && is_step(x);
}

/* ---- the analysis ---- */

static void classify(struct walk *w, struct termination *t, int64_t leaves, struct arena *keep)
{
    t->leaves = ARENA_ARRAY(keep, int, leaves);
    for (int64_t k = 0; k < leaves; k++) {
        if (!w->decides[k] || is_state(w, next_value(w, k), k))
            continue;
        if (is_counter(w, k))
            return;
        t->leaves[t->count++] = (int)k;
    }
    t->known = t->count > 0 ? ENDS_UNLESS_CYCLE : ENDS_NEVER;
}

static struct termination *analyse(struct planner *pl, const struct inst *loop)
{
    struct termination *t = ARENA_NEW(&pl->p->arena, struct termination);
    const int64_t leaves = leaf_count(loop->shape);
    t->loop = loop;
    if (leaves > WALK_BUDGET || !plan_runs_pure(pl, loop))
        return t;
    struct arena_mark mark = arena_mark(&pl->scratch);
    struct walk w = {.scratch = &pl->scratch, .loop = loop, .budget = WALK_BUDGET};
    map_init(&w.sites, &pl->scratch);
    map_init(&w.reached, &pl->scratch);
    w.decides = ARENA_ARRAY(&pl->scratch, bool, leaves);
    if (find_deciding(&w))
        classify(&w, t, leaves, &pl->p->arena);
    arena_release(&pl->scratch, mark);
    return t;
}

const struct termination *plan_termination(struct planner *pl, const struct inst *loop)
{
    struct termination *t = map_get(&pl->terminations, key_of(&loop, sizeof loop));
    if (!t) {
        t = analyse(pl, loop);
        map_put(&pl->terminations, key_of(&t->loop, sizeof t->loop), t);
    }
    return t->known == ENDS_UNKNOWN ? NULL : t;
}
