/*
 * edit.c: records the replacement of each instruction, and checks that it is valid.
 */
#include "edit/edit_priv.h"

#include <stdlib.h>

static const char no_memory[] = "out of memory";

struct edit *edit_new(struct module *from)
{
    struct module *to = module_new();
    struct edit *e = ARENA_NEW(&to->arena, struct edit); /* small compared to the module */
    arena_init(&e->arena);
    e->from = from;
    e->to = to;
    e->entry = from->entry;
    e->parts = ARENA_ARRAY(&e->arena, struct part, from->computation_count);
    for (int k = 0; k < from->computation_count; k++)
        e->parts[k].marks = ARENA_ARRAY(&e->arena, struct mark, from->computations[k]->inst_count);
    /* Last: an allocation failure after it would leak the reference. */
    to->base = module_hold(from);
    return e;
}

void edit_free(struct edit *e)
{
    if (!e)
        return;
    arena_free(&e->arena);
    module_free(e->to);
}

/* ---- what can be replaced ---- */

/* Whether it extracts the start of a transfer from a tuple. */
static bool is_transfer_start_element(const struct inst *i)
{
    if (i->opcode != OP_GET_TUPLE_ELEMENT || !shape_is_tuple(i->shape))
        return false;
    for (int k = 0; k < i->parent->inst_count; k++) {
        const struct inst *user = i->parent->insts[k];
        if ((user->opcode == OP_SEND_DONE || user->opcode == OP_RECV_DONE) &&
            user->operand_count == 1 && user->operands[0] == i)
            return true;
    }
    return false;
}

const char *edit_may_change(const struct inst *i)
{
    if (i->parent->async_start)
        return "an instruction of an asynchronous computation cannot be changed";
    return op_is(i->opcode, OP_STARTS) || is_transfer_start_element(i)
               ? "its -done instruction requires it unchanged"
               : NULL;
}

static struct mark *set_mark(struct edit *e, const struct inst *i, enum becomes what)
{
    struct mark *mark = mark_of(e, i);
    *mark = (struct mark){.becomes = (uint8_t)what};
    e->touched = true;
    return mark;
}

const char *edit_constant(struct edit *e, struct inst *i, const struct literal *value)
{
    const char *problem = edit_may_change(i);
    if (problem)
        return problem;
    if (!value_can_be(i->shape))
        return "its shape has no constants";
    if (!value_fits(value, i->shape))
        return "value has a different shape";
    const struct literal *copy = value_copy(e, value, i->shape);
    if (!copy)
        return no_memory;
    set_mark(e, i, BECOMES_VALUE)->value = copy;
    return NULL;
}

const char *edit_zeros(struct edit *e, struct inst *i)
{
    const char *problem = edit_may_change(i);
    if (!problem && !value_can_be(i->shape))
        problem = "its shape has no constants";
    if (!problem)
        set_mark(e, i, BECOMES_VALUE);
    return problem;
}

const char *edit_parameter(struct edit *e, struct inst *i)
{
    const char *problem = edit_may_change(i);
    if (!problem && i->parent != e->entry)
        problem = "parameters can only be added to the entry computation";
    if (!problem && i->opcode != OP_PARAMETER)
        set_mark(e, i, BECOMES_PARAMETER);
    return problem;
}

struct inst *edit_target(const struct edit *e, struct inst *i)
{
    const struct mark *mark = mark_of(e, i);
    while (mark->becomes == BECOMES_OTHER) {
        i = mark->by;
        mark = mark_of(e, i);
    }
    return i;
}

/* Whether `other` is in the chain of replacements of `i`. */
static bool is_in_replacement_chain(const struct edit *e, const struct inst *i,
                                    const struct inst *other)
{
    while (i != other && mark_of(e, i)->becomes == BECOMES_OTHER)
        i = mark_of(e, i)->by;
    return i == other;
}

const char *edit_replace(struct edit *e, struct inst *i, struct inst *by)
{
    const char *problem = edit_may_change(i);
    if (problem)
        return problem;
    if (i->parent != by->parent)
        return "instructions are in different computations";
    if (op_is(by->opcode, OP_STARTS))
        return "only its -done instruction may use it";
    if (!shape_equal(i->shape, by->shape, IGNORE_LAYOUT))
        return "shapes differ";
    if (is_in_replacement_chain(e, by, i))
        return "replacement depends on the instruction it replaces";
    set_mark(e, i, BECOMES_OTHER)->by = by;
    return NULL;
}

/* ---- calls ---- */

struct computation *edit_callee(const struct inst *i, int which, int *first)
{
    int count = inst_callees(i, NULL);
    struct computation *callees[2], *c = NULL;
    *first = 0;
    switch ((enum opcode)i->opcode) {
    case OP_CALL:
    case OP_FUSION:
        if (which != 0 || count != 1)
            return NULL;
        inst_callees(i, callees);
        c = callees[0];
        break;
    case OP_WHILE:
        if (which != 0)
            return NULL;
        c = inst_computation(i, A_BODY);
        break;
    case OP_CONDITIONAL: {
        const struct attr *branches = inst_attr(i, A_BRANCH_COMPUTATIONS);
        *first = which + 1;
        if (which < 0 || which >= count)
            return NULL;
        c = branches ? branches->v.computations.at[which]
                     : inst_computation(i, which == 0 ? A_TRUE_COMPUTATION : A_FALSE_COMPUTATION);
        break;
    }
    default: break;
    }
    return c && *first + c->param_count <= i->operand_count ? c : NULL;
}

bool edit_passes_operands(const struct inst *i)
{
    int first;
    return (i->opcode == OP_CALL || i->opcode == OP_FUSION) && edit_callee(i, 0, &first);
}

const char *edit_inline(struct edit *e, struct inst *i, int which)
{
    int first;
    const char *problem = edit_may_change(i);
    const struct computation *c = edit_callee(i, which, &first);
    if (problem)
        return problem;
    if (!c || c->async_start)
        return "no called computation to inline";
    if (!shape_equal(c->root->shape, i->shape, IGNORE_LAYOUT))
        return "result of the called computation has a different shape";
    set_mark(e, i, BECOMES_CALLEE)->which = which;
    e->fresh_names = true;
    return NULL;
}

/* ---- the whole edit ---- */

const char *edit_root(struct edit *e, struct inst *const *insts, int count)
{
    for (int k = 0; k < count; k++) {
        if (insts[k]->parent != insts[0]->parent)
            return "instructions are in different computations";
        if (op_is(insts[k]->opcode, OP_STARTS))
            return "only its -done instruction may use it";
        if (insts[k]->parent->async_start)
            return "an instruction of an asynchronous computation cannot be the root";
        if (insts[k]->shape->dtype == DT_BUFFER)
            return "a buffer cannot be a result";
    }
    if (count > 0)
        e->entry = insts[0]->parent;
    e->roots = ARENA_DUP(&e->arena, insts, count);
    e->root_count = count;
    e->new_root = e->touched = true;
    return NULL;
}

void edit_drop_parameters(struct edit *e) { e->drop_parameters = e->touched = true; }

void edit_keep_dead(struct edit *e) { e->keep_dead = true; }

void edit_strip(struct edit *e, unsigned what) { e->strip |= what; }

/* Whether all instructions that become parameters are in the entry computation, which may have been
 * changed since. */
static bool parameters_are_in_entry(struct edit *e)
{
    for (struct inst *i = NULL; (i = module_next(e->from, i)) != NULL;)
        if (e->parts[i->parent->index].marks[i->index].becomes == BECOMES_PARAMETER &&
            i->parent != e->entry)
            return false;
    return true;
}

struct module *edit_finish(struct edit *e, const char **problem)
{
    struct module *to = e->to;
    *problem = NULL;
    if (!parameters_are_in_entry(e)) {
        *problem = "parameters can only be added to the entry computation";
        edit_free(e);
        return NULL;
    }
    edit_find_live(e);
    if (!edit_copy(e)) {
        *problem = e->problem ? e->problem : no_memory;
        edit_free(e);
        return NULL;
    }
    edit_header(e);
    if (e->fresh_names)
        module_uniquify(to);
    module_link(to);
    arena_free(&e->arena);
    return to;
}
