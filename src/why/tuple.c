/*
 * tuple.c: tuples, and what only passes values on. A parameter leads to where its computation was called.
 */
#include "why/why_priv.h"

static void hand_on(struct why *w, const struct inst *i, int k, int64_t leaf, const int64_t *index, const char *role)
{
    if (shape_is_array(why_leaf_shape(i->operands[k]->shape, leaf)))
        why_point(w, i, k, leaf, index, role);
}

static void tuple(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    for (int k = 0; k < i->operand_count; k++) {
        const int64_t leaves = shape_leaf_count(i->operands[k]->shape);
        if (leaf < leaves) {
            hand_on(w, i, k, leaf, index, "element");
            return;
        }
        leaf -= leaves;
    }
}

static void get_tuple_element(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    const struct shape *s = i->operands[0]->shape;
    for (int64_t k = 0; k < inst_int(i, A_INDEX, 0); k++)
        leaf += shape_leaf_count(s->elements[k]);
    hand_on(w, i, 0, leaf, index, "element");
}

static struct why_source *point(struct why *w, const struct inst *from, int64_t leaf, const int64_t *index, const char *role)
{
    struct why_source *s = why_of(w, from, leaf, role);
    for (int d = 0; d < s->rank; d++)
        why_fix(s, d, index[d]);
    return s;
}

/* In a loop it is what the previous iteration made; in the first iteration, the loop's operand. */
static void state(struct why *w, int64_t leaf, const int64_t *index)
{
    int64_t before = w->iteration - 1;
    if (w->iteration < 0) { /* the condition that was asked last */
        const int64_t all = w->known->iterations ? w->known->iterations(w->known->context, w->caller) : -1;
        before = all - 1;
    }
    struct why_source *s;
    if (before >= 0) {
        s = point(w, inst_computation(w->caller, A_BODY)->root, leaf, index, "iteration before");
        s->where = WHY_BESIDE;
        s->iteration = before;
    } else {
        s = point(w, w->caller->operands[0], leaf, index, "init");
        s->where = WHY_OUTSIDE;
        s->operand = 0;
    }
}

/* Which operand of its caller a parameter is; -1: none of them. */
static int argument_of(const struct inst *caller, const struct inst *i)
{
    struct computation *callees[64];
    if (caller->opcode != OP_CONDITIONAL)
        return i->number < caller->operand_count ? (int)i->number : -1;
    const int count = inst_callees(caller, NULL);
    if (count > 64)
        return -1;
    inst_callees(caller, callees);
    for (int k = 0; k < count && k + 1 < caller->operand_count; k++)
        if (callees[k] == i->parent)
            return k + 1; /* one that is given twice may have been called with either */
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
    const int k = argument_of(w->caller, i);
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
    default: hand_on(w, i, 0, leaf, index, "operand");
    }
}
