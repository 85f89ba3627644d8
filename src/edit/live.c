/*
 * live.c: liveness analysis. Live are the transitive operands of the root and of instructions with
 * side effects, also in computations that live instructions call. Operands of calls and fusions are
 * live if the corresponding parameters are.
 */
#include "edit/edit_priv.h"

struct walk {
    struct edit *e;
    struct inst **stack;
    size_t depth, capacity;
};

static void mark_live(struct walk *w, struct inst *i)
{
    i = edit_target(w->e, i);
    struct mark *mark = mark_of(w->e, i);
    if (mark->live)
        return;
    mark->live = true;
    VEC_PUSH(&w->e->arena, w->stack, w->depth, w->capacity) = i;
}

/* ---- side effects ---- */

/* Whether it or an instruction of its callees has a side effect, or is kept like these. */
static bool has_any_effect(const struct edit *e, const struct inst *i)
{
    if (e->keep_dead)
        return true;
    for (int k = 0; k < i->attr_count; k++) {
        const struct attr *a = &i->attrs[k];
        if (attr_table[a->id].kind == KIND_COMPUTATION && part_of(e, a->v.computation)->effects)
            return true;
        for (int n = 0;
             attr_table[a->id].kind == KIND_COMPUTATION_LIST && n < a->v.computations.count; n++)
            if (part_of(e, a->v.computations.at[n])->effects)
                return true;
    }
    return inst_has_effect(i);
}

static void find_effects(struct edit *e)
{
    int count;
    struct computation **order = module_order(&e->arena, e->from, &count); /* callees first */
    for (int c = 0; c < count; c++)
        for (int k = 0; k < order[c]->inst_count; k++)
            part_of(e, order[c])->effects |= has_any_effect(e, order[c]->insts[k]);
}

static void need_effects(struct walk *w, const struct computation *c)
{
    for (int k = 0; part_of(w->e, c)->effects && k < c->inst_count; k++) {
        enum becomes what = (enum becomes)mark_of(w->e, c->insts[k])->becomes;
        if ((what == BECOMES_ITSELF || what == BECOMES_CALLEE) && has_any_effect(w->e, c->insts[k]))
            mark_live(w, c->insts[k]);
    }
}

/* ---- computations ---- */

static void enter(struct walk *w, const struct computation *c)
{
    struct part *p = part_of(w->e, c);
    if (p->entered)
        return;
    p->entered = true;
    mark_live(w, c->root);
    need_effects(w, c);
}

static void keep_parameters(struct walk *w, const struct computation *c)
{
    struct part *p = part_of(w->e, c);
    if (p->keeps)
        return;
    p->keeps = true;
    for (const struct caller *at = p->callers; at; at = at->next)
        for (int k = 0; k < c->param_count; k++)
            mark_live(w, at->inst->operands[at->first + k]);
}

/* A call whose operands are live if the parameters are. */
static void need_as_parameters(struct walk *w, struct inst *i, const struct computation *c,
                               int first)
{
    struct part *p = part_of(w->e, c);
    struct caller *caller = ARENA_NEW(&w->e->arena, struct caller);
    *caller = (struct caller){.inst = i, .first = first, .next = p->callers};
    p->callers = caller;
    enter(w, c);
    for (int k = 0; k < c->param_count; k++)
        if (p->keeps || mark_of(w->e, c->params[k])->live)
            mark_live(w, i->operands[first + k]);
}

static void need_all(struct walk *w, const struct inst *i)
{
    int count;
    struct computation **callees = inst_callee_list(&w->e->arena, i, &count);
    for (int k = 0; k < i->operand_count; k++)
        mark_live(w, i->operands[k]);
    for (int k = 0; k < count; k++) {
        part_of(w->e, callees[k])->called = true;
        enter(w, callees[k]);
        keep_parameters(w, callees[k]);
    }
}

static void needed_parameter(struct walk *w, const struct inst *i)
{
    for (const struct caller *at = part_of(w->e, i->parent)->callers; at; at = at->next)
        mark_live(w, at->inst->operands[at->first + (int)i->number]);
}

static void visit(struct walk *w, struct inst *i)
{
    int first = 0;
    const struct mark *mark = mark_of(w->e, i);
    if (mark->becomes == BECOMES_CALLEE) {
        const struct computation *c = edit_callee(i, mark->which, &first);
        need_as_parameters(w, i, c, first);
    } else if (mark->becomes == BECOMES_ITSELF && i->opcode == OP_PARAMETER) {
        needed_parameter(w, i);
    } else if (mark->becomes == BECOMES_ITSELF && edit_passes_operands(i)) {
        const struct computation *c = edit_callee(i, 0, &first);
        part_of(w->e, c)->called = true;
        need_as_parameters(w, i, c, 0);
    } else if (mark->becomes == BECOMES_ITSELF) {
        need_all(w, i);
    }
}

/* Marks everything live: for a copy without changes. */
static void mark_all_live(struct edit *e)
{
    for (int c = 0; c < e->from->computation_count; c++) {
        e->parts[c].entered = e->parts[c].called = e->parts[c].keeps = true;
        for (int k = 0; k < e->from->computations[c]->inst_count; k++)
            e->parts[c].marks[k].live = true;
    }
}

/* Whether a computation keeps a parameter that is unused in the copy. */
static bool has_unread_parameter(const struct edit *e, const struct computation *c)
{
    for (int k = 0; k < c->param_count; k++) {
        const struct mark *mark = mark_of(e, c->params[k]);
        if (part_of(e, c)->keeps && (!mark->live || mark->becomes != BECOMES_ITSELF))
            return true;
    }
    return false;
}

/* A fusion must use all parameters. If its computation keeps unused ones, since it is called by
 * more than calls and fusions, the fusion is inlined. */
static void dissolve_fusion(struct edit *e, const struct inst *i)
{
    int first;
    struct mark *mark = mark_of(e, i);
    if (i->opcode != OP_FUSION || !mark->live || mark->becomes != BECOMES_ITSELF)
        return;
    const struct computation *c = edit_callee(i, 0, &first);
    if (!c || !has_unread_parameter(e, c))
        return;
    mark->becomes = BECOMES_CALLEE;
    mark->which = 0;
    e->fresh_names = true;
}

void edit_find_live(struct edit *e)
{
    struct walk w = {.e = e};
    if (!e->touched) {
        mark_all_live(e);
        return;
    }
    find_effects(e);
    part_of(e, e->entry)->called = part_of(e, e->entry)->keeps = true;
    if (e->new_root) {
        part_of(e, e->entry)->entered = true;
        for (int k = 0; k < e->root_count; k++)
            mark_live(&w, e->roots[k]);
    } else {
        enter(&w, e->entry);
    }
    while (w.depth)
        visit(&w, w.stack[--w.depth]);
    for (struct inst *i = NULL; (i = module_next(e->from, i)) != NULL;)
        dissolve_fusion(e, i);
}
