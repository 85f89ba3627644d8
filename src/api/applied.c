/*
 * Where the computations differ that two instructions apply to elements, such as the reducers of
 * two reductions. Their instructions are not traced, so they are compared by structure, from the
 * roots to the operands: a difference is found if all but one instruction are equal.
 */
#include "api/match.h"

enum relation { UNKNOWN, EQUAL, ONE_DIFFERS, UNRELATED };

struct visited { /* the last comparison of an instruction of b */
    enum relation relation;
    size_t with;              /* an instruction of a */
    struct match_applied one; /* the pair that differs */
};

struct lockstep {
    const hlo_listing *a, *b;
    struct visited *visited; /* by instruction of b */
};

static struct visited visit(struct lockstep *s, size_t i, size_t j);

/* Whether each operand of y is equal to some operand of x. */
static bool permuted(struct lockstep *s, const struct hlo_listed *x, const struct hlo_listed *y)
{
    for (size_t k = 0; k < y->operand_count; k++) {
        bool found = false;
        for (size_t n = 0; n < x->operand_count && !found; n++)
            found = visit(s, x->operands[n], y->operands[k]).relation == EQUAL;
        if (!found)
            return false;
    }
    return true;
}

static struct visited compare_operands(struct lockstep *s, const struct hlo_listed *x,
                                       const struct hlo_listed *y, bool reversed)
{
    struct visited all = {.relation = EQUAL};
    const size_t last = y->operand_count - 1;
    for (size_t k = 0; k < y->operand_count && all.relation != UNRELATED; k++) {
        const struct visited v = visit(s, x->operands[reversed ? last - k : k], y->operands[k]);
        if (all.relation == EQUAL)
            all = v;
        else if (v.relation != EQUAL &&
                 (v.relation != ONE_DIFFERS || v.one.b != all.one.b || v.one.a != all.one.a))
            all.relation = UNRELATED;
    }
    return all;
}

static struct visited compare_insts(struct lockstep *s, size_t i, size_t j)
{
    const struct hlo_listed x = hlo_list_inst(s->a, i), y = hlo_list_inst(s->b, j);
    const struct inst *inst = hlo_listing_inst(s->b, j);
    const struct visited differs = {.relation = ONE_DIFFERS, .one = {i, j}};
    if (x.operand_count != y.operand_count ||
        !shape_compatible(hlo_listing_inst(s->a, i)->shape, inst->shape))
        return (struct visited){.relation = UNRELATED};
    const bool same = pair_same_op(s->a, i, s->b, j);
    struct visited operands = compare_operands(s, &x, &y, false);
    if (operands.relation == UNRELATED && op_is(inst->opcode, OP_COMMUTATIVE))
        operands = compare_operands(s, &x, &y, true);
    if (operands.relation == EQUAL)
        return same ? operands : differs;
    if (permuted(s, &x, &y))
        return differs;
    return same ? operands : (struct visited){.relation = UNRELATED};
}

static struct visited visit(struct lockstep *s, size_t i, size_t j)
{
    i = hlo_pair_source(s->a, i);
    j = hlo_pair_source(s->b, j);
    struct visited *v = &s->visited[j];
    if (v->relation != UNKNOWN && v->with == i)
        return *v;
    const struct inst *x = hlo_listing_inst(s->a, i), *y = hlo_listing_inst(s->b, j);
    struct visited now = {.relation = UNRELATED};
    if (x->opcode == OP_PARAMETER && y->opcode == OP_PARAMETER)
        now.relation = x->number == y->number ? EQUAL : UNRELATED;
    else
        now = compare_insts(s, i, j);
    now.with = i;
    return *v = now;
}

bool match_find_applied(const struct matching *m, size_t a, size_t b, struct match_applied *out)
{
    const struct hlo_listed x = hlo_list_inst(m->a.l, a), y = hlo_list_inst(m->b.l, b);
    struct lockstep s = {m->a.l, m->b.l, ARENA_ARRAY(m->arena, struct visited, m->b.insts)};
    for (size_t k = 0; k < x.callee_count && k < y.callee_count; k++) {
        const struct visited v = visit(&s, hlo_list_computation(s.a, x.callees[k]).root,
                                       hlo_list_computation(s.b, y.callees[k]).root);
        if (v.relation == ONE_DIFFERS) {
            *out = v.one;
            return true;
        }
    }
    return false;
}
