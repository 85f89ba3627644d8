/*
 * order.c: the order of printing and execution of instructions and computations.
 *
 * Orders are exactly XLA's, since texts are compared byte for byte, except for computations where
 * XLA could not read its own text. All traversals are iterative: chains of operands can be
 * arbitrarily long.
 */
#include "ir/ir.h"

/* ---- instructions ---- */

enum { SEEN = 1, DONE = 2 };

struct walk {
    struct arena scratch;
    uint8_t *state; /* of each instruction: SEEN, DONE */
    struct inst **stack;
    size_t depth, capacity;
    struct inst **order;
    int count;
};

static void push(struct walk *w, struct inst *i)
{
    if (!(w->state[i->index] & DONE))
        VEC_PUSH(&w->scratch, w->stack, w->depth, w->capacity) = i;
}

/* Pushes in reverse: operand 0 ends up above the other operands, and the last control predecessor
 * on top. */
static void push_predecessors(struct walk *w, const struct inst *i)
{
    for (int o = i->operand_count - 1; o >= 0; o--)
        push(w, i->operands[o]);
    const struct attr *control = inst_attr(i, A_CONTROL_PREDECESSORS);
    for (int k = 0; control && k < control->v.insts.count; k++)
        push(w, control->v.insts.at[k]);
}

static void walk_from(struct walk *w, struct inst *start)
{
    push(w, start);
    while (w->depth) {
        struct inst *top = w->stack[w->depth - 1];
        uint8_t *state = &w->state[top->index];
        if (!(*state & SEEN)) {
            *state |= SEEN;
            push_predecessors(w, top);
            continue;
        }
        w->depth--;
        if (!(*state & DONE))
            w->order[w->count++] = top;
        *state |= DONE;
    }
}

static bool *mark_used(struct arena *a, const struct computation *c)
{
    bool *used = ARENA_ARRAY(a, bool, c->inst_count);
    for (int k = 0; k < c->inst_count; k++)
        for (int o = 0; o < c->insts[k]->operand_count; o++)
            used[c->insts[k]->operands[o]->index] = true;
    return used;
}

struct inst **computation_postorder(struct arena *a, const struct computation *c)
{
    struct walk w = {.order = ARENA_ARRAY(a, struct inst *, c->inst_count)};
    arena_init(&w.scratch);
    w.state = ARENA_ARRAY(&w.scratch, uint8_t, c->inst_count);
    const bool *used = mark_used(&w.scratch, c);
    for (int k = 0; k < c->inst_count; k++)
        if (!used[k])
            walk_from(&w, c->insts[k]);
    arena_free(&w.scratch);
    return w.order;
}

struct inst **computation_order(struct arena *a, const struct computation *c)
{
    if (c->module->is_scheduled && !c->fused)
        return ARENA_DUP(a, c->insts, c->inst_count);
    return computation_postorder(a, c);
}

/* ---- computations ---- */

/* A computation being traversed, and the next instruction to visit. */
struct level {
    struct computation *c;
    int next;
};

struct module_walk {
    struct arena scratch;
    bool *visited;
    struct level *stack;
    size_t depth, capacity;
    struct computation **callees; /* of one instruction */
    int callee_capacity;
    struct computation **order;
    int count;
};

static const struct inst *visited_inst(const struct computation *c, int k)
{
    const bool ordered = c->visit_order && c->visit_count == c->inst_count;
    return c->insts[ordered ? c->visit_order[k] : k];
}

/* Fills w->callees and returns their number. */
static int find_callees(struct module_walk *w, const struct inst *i)
{
    int n = inst_callees(i, NULL);
    if (n > w->callee_capacity) {
        w->callees = ARENA_ARRAY(&w->scratch, struct computation *, n);
        w->callee_capacity = n;
    }
    if (n)
        inst_callees(i, w->callees);
    return n;
}

static void push_computation(struct module_walk *w, struct computation *c)
{
    if (w->visited[c->index])
        return;
    w->visited[c->index] = true;
    VEC_PUSH(&w->scratch, w->stack, w->depth, w->capacity) = (struct level){c, 0};
}

/* Marks callees when pushing them, in reverse, so that the first one is output first. */
static void push_callees(struct module_walk *w, const struct inst *i)
{
    for (int k = find_callees(w, i) - 1; k >= 0; k--)
        push_computation(w, w->callees[k]);
}

static void drain(struct module_walk *w)
{
    while (w->depth) {
        struct level *top = &w->stack[w->depth - 1];
        if (top->next < top->c->inst_count) {
            push_callees(w, visited_inst(top->c, top->next++));
            continue;
        }
        w->order[w->count++] = top->c;
        w->depth--;
    }
}

static bool *mark_called(struct module_walk *w, const struct module *m)
{
    bool *called = ARENA_ARRAY(&w->scratch, bool, m->computation_count);
    for (struct inst *i = NULL; (i = module_next(m, i)) != NULL;) {
        push_callees(w, i);
        while (w->depth)
            called[w->stack[--w->depth].c->index] = true;
    }
    memset(w->visited, 0, (size_t)m->computation_count * sizeof *w->visited);
    return called;
}

/* The first callee that is not in the order yet; NULL: none. */
static struct computation *find_missing(struct module_walk *w, const struct inst *i)
{
    int n = find_callees(w, i);
    for (int k = 0; k < n; k++)
        if (!w->visited[w->callees[k]->index])
            return w->callees[k];
    return NULL;
}

/* XLA's order places a computation after its caller if both are callees of one instruction, or of
 * instructions around it; XLA cannot read that text. Only there, the callee is moved up. */
static void put_callees_first(struct module_walk *w)
{
    int count = w->count;
    struct computation **order = ARENA_DUP(&w->scratch, w->order, count);
    for (int k = 0; k < count; k++)
        w->visited[order[k]->index] = false;
    w->count = 0;
    for (int k = 0; k < count; k++) {
        push_computation(w, order[k]);
        while (w->depth) {
            struct level *top = &w->stack[w->depth - 1];
            struct computation *callee = NULL;
            while (top->next < top->c->inst_count &&
                   !(callee = find_missing(w, top->c->insts[top->next])))
                top->next++;
            if (callee)
                push_computation(w, callee);
            else
                w->order[w->count++] = w->stack[--w->depth].c;
        }
    }
}

struct computation **module_order(struct arena *a, const struct module *m, int *n)
{
    struct module_walk w = {.order = ARENA_ARRAY(a, struct computation *, m->computation_count)};
    arena_init(&w.scratch);
    w.visited = ARENA_ARRAY(&w.scratch, bool, m->computation_count);
    const bool *called = mark_called(&w, m);
    for (int k = 0; k < m->computation_count; k++) {
        struct computation *c = m->computations[k];
        if (called[k])
            continue;
        w.visited[k] = true;
        for (int i = 0; i < c->inst_count; i++) {
            push_callees(&w, visited_inst(c, i));
            drain(&w);
        }
        w.order[w.count++] = c;
    }
    put_callees_first(&w);
    arena_free(&w.scratch);
    *n = w.count;
    return w.order;
}

bool computation_is_async_sugar(const struct computation *c)
{
    if (!c->async_start)
        return false;
    for (int k = 0; k < c->inst_count; k++)
        if (c->insts[k] != c->root && c->insts[k]->opcode != OP_PARAMETER)
            return false;
    return true;
}
