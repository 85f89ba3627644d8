/*
 * suspect: which pair of instructions may be the first whose values differ, and which instructions
 * may have been changed to cause it. See match.h.
 */
#include "api/match.h"

#include <stdlib.h>

/* ---- suspects ---- */

struct suspects {
    const struct matching *m;
    struct suspect *at;
    size_t count, capacity;
};

static struct suspect *suspect_of(const struct suspects *s, size_t a, size_t b)
{
    for (size_t k = s->count; k-- > 0;)
        if (s->at[k].a == a && s->at[k].b == b)
            return &s->at[k];
    return NULL;
}

/* The best evidence counts. */
static void add_suspect(struct suspects *s, size_t a, size_t b, struct difference_at at,
                        enum evidence evidence)
{
    struct suspect *known = suspect_of(s, a, b);
    if (known) {
        known->evidence = evidence < known->evidence ? evidence : known->evidence;
        return;
    }
    VEC_PUSH(s->m->arena, s->at, s->count, s->capacity) =
        (struct suspect){.a = a,
                         .b = b,
                         .at = at,
                         .evidence = evidence,
                         .order = track_of(&s->m->b, at.participant, b)->first};
}

static bool can_replace(const struct matching *m, size_t a, size_t b)
{
    const struct shape *x = track_inst(&m->a, a)->shape, *y = track_inst(&m->b, b)->shape;
    return !track_runs(&m->b, b) && track_counts(&m->a, a) &&
           (shape_compatible(x, y) ||
            (shape_is_array(x) && shape_is_array(y) &&
             (x->dtype == y->dtype || (dtype_is_float(x->dtype) && dtype_is_float(y->dtype))) &&
             track_numbers(&m->a, a) == track_numbers(&m->b, b)));
}

/* Adds operands that differ in a pair with the same op, as far as they have no operands
 * themselves. */
static void add_operands(struct suspects *s, size_t a, size_t b, int depth)
{
    enum { DEEPEST = 8 };
    const struct hlo_listed x = hlo_list_inst(s->m->a.l, a), y = hlo_list_inst(s->m->b.l, b);
    struct difference_at at;
    if (depth > DEEPEST || !match_same_op(&x, &y))
        return;
    for (size_t k = 0; k < x.operand_count; k++) {
        const size_t i = hlo_pair_source(s->m->a.l, x.operands[k]),
                     j = hlo_pair_source(s->m->b.l, y.operands[k]);
        if (!track_counts(&s->m->b, j) || !match_differ(s->m, i, j, &at))
            continue;
        if (hlo_list_inst(s->m->b.l, j).operand_count > 0)
            add_operands(s, i, j, depth + 1);
        else if (can_replace(s->m, i, j))
            add_suspect(s, i, j, at, OTHER_OPERAND);
    }
}

static bool shares_operand(const struct matching *m, const struct hlo_listed *x,
                           const struct hlo_listed *y, struct difference_at at)
{
    for (size_t k = 0; k < x->operand_count && k < y->operand_count; k++)
        if (match_agree_at(m, x->operands[k], y->operands[k], at))
            return true;
    return false;
}

/* Whether all operands but one are equal, one with enough information not to be so by chance, and
 * the other one has a partner: it is the wrong one, rather than wrong itself. */
static bool has_other_operand(const struct matching *m, const struct hlo_listed *x,
                              const struct hlo_listed *y, struct difference_at at)
{
    size_t informative = 0, others = 0;
    for (size_t k = 0; k < x->operand_count && k < y->operand_count; k++) {
        if (match_agree_at(m, x->operands[k], y->operands[k], at))
            informative += match_is_informative(m, at.participant, y->operands[k]);
        else if (match_is_paired(m, hlo_pair_source(m->b.l, y->operands[k])))
            others++;
        else
            return false;
    }
    return informative > 0 && others == 1;
}

/* Whether b had the value of an instruction with the same op as long as their operands were equal:
 * the difference is that of an operand. */
static bool is_explained(const struct matching *m, size_t b, const struct hlo_listed *y)
{
    const uint64_t numbers = track_numbers(&m->b, b);
    for (size_t a = 0; a < m->a.insts; a++) {
        struct difference_at at;
        if (track_numbers(&m->a, a) != numbers || !match_differ(m, a, b, &at) || at.execution == 0)
            continue;
        const struct hlo_listed x = hlo_list_inst(m->a.l, a);
        const struct difference_at before = {at.participant, at.execution - 1};
        if (match_same_op(&x, y) && match_same_operands(m, &x, y, before) &&
            !match_same_operands(m, &x, y, at))
            return true;
    }
    return false;
}

static void add_for(struct suspects *s, size_t b)
{
    const struct matching *m = s->m;
    const struct hlo_listed y = hlo_list_inst(m->b.l, b);
    const uint64_t numbers = track_numbers(&m->b, b);
    const bool explained = is_explained(m, b, &y);
    for (size_t a = 0; a < m->a.insts; a++) {
        struct difference_at at;
        if (track_numbers(&m->a, a) != numbers || !can_replace(m, a, b) ||
            !match_differ(m, a, b, &at))
            continue;
        const struct hlo_listed x = hlo_list_inst(m->a.l, a);
        const bool expected = (long)a == m->unconfirmed[b];
        if (explained && !expected)
            continue;
        if (x.operand_count > 0 && match_same_operands(m, &x, &y, at))
            add_suspect(s, a, b, at,
                        expected                ? PARTNER
                        : match_is_paired(m, b) ? BY_CHANCE
                                                : SAME_OPERANDS);
        else if (expected || (match_same_op(&x, &y) && shares_operand(m, &x, &y, at)))
            add_operands(s, a, b, 0);
        if (!match_is_paired(m, b) && hlo_pair_of_a(m->pairing, a).other < 0 &&
            match_same_op(&x, &y) && has_other_operand(m, &x, &y, at))
            add_suspect(s, a, b, at, ONE_OPERAND);
        if (expected || (!match_is_paired(m, b) && match_are_related(x, y)))
            add_suspect(s, a, b, at, RELATED);
        else if (!match_is_paired(m, b) && hlo_pair_of_a(m->pairing, a).other < 0)
            add_suspect(s, a, b, at, OTHER_PLACE);
    }
}

/* Whether it may have a partner by chance, or none. */
static bool is_doubtful(const struct matching *m, size_t b)
{
    const enum hlo_paired how = hlo_pair_of_b(m->pairing, b).how;
    return !match_is_paired(m, b) || m->unconfirmed[b] >= 0 ||
           (how == HLO_PAIRED_VALUE && track_of(&m->b, 0, b)->information < LOOK_INFORMATION);
}

static int compare_suspects(const void *x, const void *y)
{
    const struct suspect *a = x, *b = y;
    if (a->evidence != b->evidence)
        return a->evidence < b->evidence ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return (a->a > b->a) - (a->a < b->a);
}

struct suspect *match_suspects(const struct matching *m, size_t *count)
{
    struct suspects s = {.m = m};
    for (size_t b = 0; b < m->b.insts; b++)
        if (track_counts(&m->b, b) && !track_runs(&m->b, b) && is_doubtful(m, b))
            add_for(&s, b);
    if (s.count > 0)
        qsort(s.at, s.count, sizeof *s.at, compare_suspects);
    *count = s.count;
    return s.at;
}

/* ---- origins ---- */

struct cone {
    const struct matching *m;
    bool *seen;
    bool all; /* follow operands without a partner */
    size_t best;
};

/* Whether its partner has the same op or a similar name, or was not found by its value alone. */
static bool has_likely_partner(const struct matching *m, size_t b)
{
    const struct hlo_pair p = hlo_pair_of_b(m->pairing, b);
    if (p.other < 0 || p.how != HLO_PAIRED_VALUE)
        return p.other >= 0;
    const struct hlo_listed x = hlo_list_inst(m->a.l, (size_t)p.other),
                            y = hlo_list_inst(m->b.l, b);
    return strcmp(x.op, y.op) == 0 || !y.op_name[0] ||
           (match_are_related(x, y) &&
            match_moves(track_inst(&m->a, (size_t)p.other)) == match_moves(track_inst(&m->b, b)));
}

static void find_origin(struct cone *o, size_t b)
{
    const struct tracks *t = &o->m->b;
    const struct hlo_listed y = hlo_list_inst(t->l, b);
    if (o->seen[b])
        return;
    o->seen[b] = true;
    if (track_counts(t, b) && y.operand_count > 0 && !match_moves(track_inst(t, b)) &&
        !track_runs(t, b) && !has_likely_partner(o->m, b) &&
        track_of(t, 0, b)->first < track_of(t, 0, o->best)->first)
        o->best = b;
    for (size_t k = 0; k < y.operand_count; k++) {
        const size_t j = hlo_pair_source(t->l, y.operands[k]);
        if (match_moves(track_inst(t, j)) ||
            (!has_likely_partner(o->m, j) && (o->all || match_is_paired(o->m, j))))
            find_origin(o, j);
    }
}

enum match_scope match_scope_of(const struct matching *m, const struct suspect *u)
{
    if (u->evidence == PARTNER || u->evidence == OTHER_OPERAND)
        return MATCH_ITSELF;
    if (u->evidence >= ONE_OPERAND || !match_is_informative(m, u->at.participant, u->b))
        return MATCH_ALL;
    return u->evidence <= BY_CHANCE &&
                   track_inst(&m->a, u->a)->opcode == track_inst(&m->b, u->b)->opcode
               ? MATCH_ITSELF
               : MATCH_OPERANDS;
}

size_t match_origin(const struct matching *m, const struct suspect *u)
{
    struct cone o = {m, ARENA_ARRAY(m->arena, bool, m->b.insts), u->evidence >= RELATED, u->b};
    if (u->evidence <= BY_CHANCE && (u->evidence == PARTNER || track_inst(&m->a, u->a)->opcode ==
                                                                   track_inst(&m->b, u->b)->opcode))
        return u->b;
    find_origin(&o, u->b);
    return o.best;
}

/* ---- candidates ---- */

struct candidate {
    struct match_candidate it;
    bool inner; /* an operand has no partner */
    uint64_t order;
};

struct candidates {
    const struct matching *m;
    const struct suspect *u;
    bool constants;
    bool itself;   /* the change shows in the pair, unless it is in an applied computation */
    bool *seen;    /* what the value of the suspect was computed from */
    bool *visited; /* by computation, while its instructions are added */
    struct candidate *at;
    size_t count, capacity;
};

static int compare_candidates(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;
    if (a->inner != b->inner)
        return a->inner ? 1 : -1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return (a->it.inst > b->it.inst) - (a->it.inst < b->it.inst);
}

static bool has_operand_without_partner(const struct matching *m, size_t b)
{
    const struct hlo_listed y = hlo_list_inst(m->b.l, b);
    for (size_t k = 0; k < y.operand_count; k++) {
        const size_t j = hlo_pair_source(m->b.l, y.operands[k]);
        if (track_counts(&m->b, j) && !match_is_paired(m, j))
            return true;
    }
    return false;
}

/* Marks what the value of an instruction was computed from, up to instructions with partners. The
 * state of a loop is computed from all of the loop. */
static void find_unpaired(struct candidates *c, size_t b)
{
    const struct tracks *t = &c->m->b;
    const struct hlo_listed y = hlo_list_inst(t->l, b);
    if (c->seen[b])
        return;
    c->seen[b] = true;
    for (size_t k = 0; k < y.callee_count && track_runs(t, b); k++)
        find_unpaired(c, hlo_list_computation(t->l, y.callees[k]).root);
    const struct hlo_listed_computation in = hlo_list_computation(t->l, y.computation);
    for (size_t k = 0; k < in.caller_count && y.parameter >= 0; k++)
        if (track_runs(t, in.callers[k]))
            find_unpaired(c, in.callers[k]);
    for (size_t k = 0; k < y.operand_count; k++) {
        const size_t j = hlo_pair_source(t->l, y.operands[k]);
        const struct inst *from = track_inst(t, j);
        if (match_moves(from) || op_is(from->opcode, OP_NAMES | OP_RUNS) ||
            from->opcode == OP_CONSTANT || !has_likely_partner(c->m, j))
            find_unpaired(c, j);
    }
}

static size_t root_of(const hlo_listing *l)
{
    return hlo_list_computation(l, hlo_list_computations(l) - 1).root;
}

/* Marks what the results that differ were computed from. */
static void find_from_results(struct candidates *c)
{
    const struct matching *m = c->m;
    const size_t a = root_of(m->a.l), b = root_of(m->b.l);
    const struct hlo_listed x = hlo_list_inst(m->a.l, a), y = hlo_list_inst(m->b.l, b);
    if (track_inst(&m->a, a)->opcode != OP_TUPLE || track_inst(&m->b, b)->opcode != OP_TUPLE) {
        find_unpaired(c, b);
        return;
    }
    for (size_t k = 0; k < x.operand_count && k < y.operand_count; k++)
        if (!shape_is_array(track_inst(&m->b, y.operands[k])->shape) ||
            match_differ(m, x.operands[k], y.operands[k], NULL))
            find_unpaired(c, y.operands[k]);
}

static void add_candidate(struct candidates *c, size_t inst, size_t by)
{
    VEC_PUSH(c->m->arena, c->at, c->count, c->capacity) = (struct candidate){
        {inst, by}, has_operand_without_partner(c->m, by), track_of(&c->m->b, 0, by)->first};
}

/* Whether its partner, which was not found by its value alone, has the same informative value: then
 * it was not changed. */
static bool is_certain(const struct matching *m, size_t b)
{
    const enum hlo_paired how = hlo_pair_of_b(m->pairing, b).how;
    return match_is_paired(m, b) && how != HLO_PAIRED_VALUE && m->unconfirmed[b] < 0 &&
           match_is_informative(m, 0, b);
}

/* Adds the instructions of the computations that an instruction applies to elements. */
static void add_applied(struct candidates *c, size_t b, size_t by)
{
    const hlo_listing *l = c->m->b.l;
    const struct hlo_listed y = hlo_list_inst(l, b);
    for (size_t k = 0; k < y.callee_count; k++) {
        const struct hlo_listed_computation in = hlo_list_computation(l, y.callees[k]);
        if (c->visited[y.callees[k]])
            continue;
        c->visited[y.callees[k]] = true;
        for (size_t i = in.first; i < in.first + in.count; i++) {
            if (match_has_changes(hlo_listing_inst(l, i)))
                add_candidate(c, i, by);
            add_applied(c, i, by);
        }
        c->visited[y.callees[k]] = false;
    }
}

/* Whether a has a comparison in the same direction. */
static bool has_comparison(const struct tracks *a, int direction)
{
    for (size_t i = 0; i < a->insts; i++)
        if (track_inst(a, i)->opcode == OP_COMPARE &&
            inst_enum(track_inst(a, i), A_DIRECTION, -1) == direction)
            return true;
    return false;
}

/* Whether an instruction, itself or broadcast, is compared in a way in which a compares nothing.
 * Another constant may make such a predicate false, which is no evidence. */
static bool is_guard(const struct matching *m, size_t b)
{
    const struct hlo_listed y = hlo_list_inst(m->b.l, b);
    for (size_t k = 0; k < y.user_count; k++) {
        const struct inst *user = track_inst(&m->b, y.users[k]);
        if (user->opcode == OP_COMPARE ? !has_comparison(&m->a, inst_enum(user, A_DIRECTION, -1))
                                       : user->opcode == OP_BROADCAST && is_guard(m, y.users[k]))
            return true;
    }
    return false;
}

static void add_candidates(struct candidates *c, size_t b)
{
    const struct inst *i = track_inst(&c->m->b, b);
    const bool suspected = c->u && c->u->b == b; /* its value was replaced by that of a */
    if (!track_counts(&c->m->b, b) || (!suspected && is_certain(c->m, b)))
        return;
    if (c->constants) {
        if (match_is_scalar_constant(i) &&
            (suspected || (is_doubtful(c->m, b) && !is_guard(c->m, b))))
            add_candidate(c, b, b);
        return;
    }
    if (match_has_changes(i) && !c->itself)
        add_candidate(c, b, b);
    if (!track_runs(&c->m->b, b) && i->operand_count <= MATCH_OPERAND_COUNT)
        add_applied(c, b, b);
}

size_t match_candidates(const struct matching *m, const struct suspect *u, enum match_scope scope,
                        bool constants, const struct match_candidate **candidates)
{
    struct candidates c = {.m = m, .u = u, .constants = constants, .itself = scope == MATCH_ITSELF};
    const hlo_listing *l = m->b.l;
    c.seen = ARENA_ARRAY(m->arena, bool, m->b.insts);
    c.visited = ARENA_ARRAY(m->arena, bool, hlo_list_computations(l));
    if (scope == MATCH_RESULTS)
        find_from_results(&c);
    else if (scope == MATCH_OPERANDS)
        find_unpaired(&c, u->b);
    for (size_t b = 0; b < m->b.insts; b++)
        if (c.seen[b] || scope == MATCH_ALL || (u && u->b == b))
            add_candidates(&c, b);
    if (c.count > 0)
        qsort(c.at, c.count, sizeof *c.at, compare_candidates);
    struct match_candidate *at = ARENA_ARRAY(m->arena, struct match_candidate, c.count + 1);
    for (size_t k = 0; k < c.count; k++)
        at[k] = c.at[k].it;
    *candidates = at;
    return c.count;
}
