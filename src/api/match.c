/*
 * match: see match.h.
 *
 * Pairs by name, op_name and position are confirmed by values. Other instructions are paired with
 * one of equal value if it has enough information not to be equal by chance; what remains, such as
 * constants and predicates, if it is the same operand, or has the same operands, in a pair.
 * Several instructions of b may have the same partner: compilers duplicate instructions.
 */
#include "api/match.h"

#include <stdlib.h>

enum { MAX_KEPT = 64 };

/* ---- tracks ---- */

static void combine(struct look_sketch *s, const struct look_sketch *other)
{
    for (size_t k = 0; k < COUNT_OF(s->digest); k++)
        s->digest[k] = s->digest[k] * UINT64_C(0x9e3779b97f4a7c15) + other->digest[k];
    for (size_t k = 0; k < COUNT_OF(s->sums); k++)
        s->sums[k] += other->sums[k];
    for (size_t k = 0; k < COUNT_OF(s->powers); k++)
        s->powers[k] += other->powers[k];
    s->numbers += other->numbers;
    s->combined = true;
    s->largest = other->largest > s->largest ? other->largest : s->largest;
}

void track_add(struct arena *a, struct track *t, const struct hlo_event *e)
{
    const struct look_sketch s = look_sketch(hlo_event_value(e)->l);
    if (t->executions++ == 0)
        t->first = e->number;
    else
        t->varies |= memcmp(s.digest, t->at[0].digest, sizeof s.digest) != 0;
    if (t->information < LOOK_INFORMATION && (t->executions == 1 || t->varies))
        t->information += s.information;
    if (t->kept < MAX_KEPT)
        VEC_PUSH(a, t->at, t->kept, t->capacity) = s;
    else
        combine(&t->at[t->kept - 1], &s);
}

struct track *track_of(const struct tracks *t, size_t participant, size_t inst)
{
    return &t->at[participant * t->insts + inst];
}

static const struct inst *inst_of(const struct tracks *t, size_t i)
{
    return hlo_listing_inst(t->l, i);
}

bool track_counts(const struct tracks *t, size_t inst)
{
    if (op_is(inst_of(t, inst)->opcode, OP_NAMES))
        return false;
    for (size_t k = 0; k < t->participants; k++)
        if (track_of(t, k, inst)->executions > 0)
            return true;
    return false;
}

static bool runs(const struct tracks *t, size_t inst)
{
    return op_is(inst_of(t, inst)->opcode, OP_RUNS);
}

static const struct look_sketch *sketch_at(const struct track *t, uint64_t execution)
{
    return t->kept == 0                           ? NULL
           : !t->varies                           ? t->at
           : execution < t->kept                  ? &t->at[execution]
           : t->executions > t->kept && execution ? &t->at[t->kept - 1]
                                                  : NULL;
}

static bool agree_at(const struct matching *m, size_t a, size_t b, struct difference_at at)
{
    const struct look_sketch *x = sketch_at(track_of(&m->a, at.participant, a), at.execution),
                             *y = sketch_at(track_of(&m->b, at.participant, b), at.execution);
    return x && y ? look_sketches_agree(x, y, m->tolerance) : x == y;
}

/* Whether the values of instruction `a` differ from those of `b`; `at`, unless NULL: where first.
 * Values that do not vary are those of any number of executions. */
static bool differ(const struct matching *m, size_t a, size_t b, struct difference_at *at)
{
    for (size_t k = 0; k < m->a.participants; k++) {
        const struct track *x = track_of(&m->a, k, a), *y = track_of(&m->b, k, b);
        const bool vary = x->varies || y->varies;
        const size_t more = x->kept > y->kept ? x->kept : y->kept;
        for (size_t n = 0; n < (vary ? more : 1); n++)
            if (!agree_at(m, a, b, (struct difference_at){k, n})) {
                if (at)
                    *at = (struct difference_at){k, n};
                return true;
            }
        if (vary && x->executions != y->executions) {
            if (at)
                *at = (struct difference_at){k, x->executions < y->executions ? x->executions
                                                                              : y->executions};
            return true;
        }
    }
    return false;
}

bool match_identical(const struct matching *m, size_t a, size_t b)
{
    struct matching exact = *m;
    exact.tolerance = NULL;
    return !differ(&exact, a, b, NULL);
}

bool match_same_values(const struct tracks *t, size_t i, size_t j)
{
    for (size_t k = 0; k < t->participants; k++) {
        const struct track *x = track_of(t, k, i), *y = track_of(t, k, j);
        bool same = x->executions == y->executions;
        for (size_t n = 0; n < x->kept && same; n++)
            same = memcmp(x->at[n].digest, y->at[n].digest, sizeof x->at[n].digest) == 0;
        if (!same)
            return false;
    }
    return true;
}

/* Whether its value consists of elements of operands. */
static bool moves(const struct inst *i)
{
    const int class = op_table[i->opcode].class;
    return class == CLASS_REARRANGE || class == CLASS_RETYPE || class == CLASS_PASS ||
           i->opcode == OP_BITCAST;
}

/* Whether it is a constant or one that is moved. */
static bool is_constant(const struct tracks *t, size_t b)
{
    const struct inst *i = inst_of(t, b);
    while (moves(i) && i->operand_count == 1)
        i = i->operands[0];
    return i->opcode == OP_CONSTANT;
}

static bool is_informative(const struct matching *m, size_t participant, size_t b)
{
    return track_of(&m->b, participant, b)->information >= LOOK_INFORMATION;
}

/* ---- pairing ---- */

static bool is_paired(const struct matching *m, size_t b)
{
    return hlo_pair_of_b(m->pairing, b).other >= 0;
}

/* Confirms the pairs by name, op_name and position. */
static void confirm(struct matching *m)
{
    for (size_t b = 0; b < m->b.insts; b++) {
        const long a = hlo_pair_of_b(m->pairing, b).other;
        m->unconfirmed[b] = -1;
        if (a < 0 || !track_counts(&m->b, b) || !differ(m, (size_t)a, b, NULL))
            continue;
        m->unconfirmed[b] = a;
        if (!runs(&m->b, b))
            hlo_pair_remove(m->pairing, b);
    }
}

struct by_value { /* an instruction of a */
    size_t inst;
    uint64_t numbers;
};

static int compare_numbers(const void *x, const void *y)
{
    const struct by_value *a = x, *b = y;
    if (a->numbers != b->numbers)
        return a->numbers < b->numbers ? -1 : 1;
    return (a->inst > b->inst) - (a->inst < b->inst);
}

static uint64_t numbers_of(const struct tracks *t, size_t inst)
{
    const struct track *k = track_of(t, 0, inst);
    return k->kept ? k->at[0].numbers : 0;
}

struct str match_stem(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *start = slash ? slash + 1 : name;
    return (struct str){start, strcspn(start, ".[")};
}

bool match_are_related(struct hlo_listed x, struct hlo_listed y)
{
    const char *const names[2][2] = {{x.name, x.op_name}, {y.name, y.op_name}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const struct str stem = match_stem(names[0][i]);
            if (stem.len > 0 && str_eq(stem, match_stem(names[1][j])))
                return true;
        }
    return false;
}

/* How similar two instructions of equal value are. */
static int likeness(const struct matching *m, size_t a, size_t b)
{
    const struct hlo_listed x = hlo_list_inst(m->a.l, a), y = hlo_list_inst(m->b.l, b);
    return 4 * (strcmp(x.op, y.op) == 0) + 2 * match_are_related(x, y) +
           (hlo_pair_of_a(m->pairing, a).other < 0);
}

/* Pairs b unless it is paired or its value differs. */
static bool pair_if_equal(struct matching *m, size_t a, size_t b)
{
    if (is_paired(m, b) || !track_counts(&m->b, b) || !track_counts(&m->a, a) ||
        differ(m, a, b, NULL))
        return false;
    hlo_pair_add(m->pairing, a, b, HLO_PAIRED_VALUE);
    return true;
}

static bool same_op(const struct hlo_listed *x, const struct hlo_listed *y)
{
    return strcmp(x->op, y->op) == 0 && x->operand_count == y->operand_count;
}

/* Whether the operands have equal values there, in any order of the last two. */
static bool same_operands(const struct matching *m, const struct hlo_listed *x,
                          const struct hlo_listed *y, struct difference_at at)
{
    if (x->operand_count != y->operand_count)
        return false;
    const size_t count = x->operand_count, last = count - 1;
    size_t equal = 0;
    while (equal < count && agree_at(m, x->operands[equal], y->operands[equal], at))
        equal++;
    return equal == count || (count >= 2 && equal + 2 == count &&
                              agree_at(m, x->operands[last - 1], y->operands[last], at) &&
                              agree_at(m, x->operands[last], y->operands[last - 1], at));
}

/* One of the two directions in which partners are searched. */
struct direction {
    const struct tracks *of, *in;
    bool swapped;         /* of: a; in: b */
    struct by_value *all; /* of `in`, sorted */
    size_t count;
};

static bool is_equal(const struct matching *m, const struct direction *d, size_t i, size_t other)
{
    const size_t a = d->swapped ? i : other, b = d->swapped ? other : i;
    if (differ(m, a, b, NULL))
        return false;
    if (track_of(d->of, 0, i)->information >= LOOK_INFORMATION)
        return true;
    const struct hlo_listed x = hlo_list_inst(m->a.l, a), y = hlo_list_inst(m->b.l, b);
    return same_op(&x, &y)
               ? same_operands(m, &x, &y, (struct difference_at){0})
               : m->loosely && inst_of(&m->b, b)->opcode == OP_CONSTANT && match_are_related(x, y);
}

/* The most similar instruction with equal value; -1: none. A value with little information must
 * have been computed by the same op from equal operands, or be a constant named like it, which was
 * folded. */
static long find_equal(const struct matching *m, const struct direction *d, size_t i)
{
    const uint64_t numbers = numbers_of(d->of, i);
    long best = -1;
    int most = -1;
    size_t k = 0;
    BISECT(k, d->count, middle, d->all[middle].numbers < numbers);
    for (; k < d->count && d->all[k].numbers == numbers; k++) {
        const size_t other = d->all[k].inst;
        const int like = d->swapped ? likeness(m, i, other) : likeness(m, other, i);
        if (like > most && is_equal(m, d, i, other)) {
            best = (long)other;
            most = like;
        }
    }
    return best;
}

/* Whether it may be a partner: passes remove operations that only move a parameter. */
static bool has_value(const struct matching *m, const struct tracks *t, size_t i)
{
    const struct hlo_listed x = hlo_list_inst(t->l, i);
    return track_counts(t, i) ||
           (m->loosely && x.parameter >= 0 && hlo_list_computation(t->l, x.computation).entry &&
            track_of(t, 0, i)->executions > 0);
}

static void pair_equal(struct matching *m, bool swapped)
{
    struct direction d = {swapped ? &m->a : &m->b, swapped ? &m->b : &m->a, swapped, NULL, 0};
    d.all = ARENA_ARRAY(m->arena, struct by_value, d.in->insts);
    for (size_t i = 0; i < d.in->insts; i++)
        if (has_value(m, d.in, i))
            d.all[d.count++] = (struct by_value){i, numbers_of(d.in, i)};
    qsort(d.all, d.count, sizeof *d.all, compare_numbers);
    for (size_t i = 0; i < d.of->insts; i++) {
        const bool paired =
            (swapped ? hlo_pair_of_a(m->pairing, i) : hlo_pair_of_b(m->pairing, i)).other >= 0;
        const long other = paired || !track_counts(d.of, i) ? -1 : find_equal(m, &d, i);
        if (other >= 0)
            hlo_pair_add(m->pairing, swapped ? i : (size_t)other, swapped ? (size_t)other : i,
                         HLO_PAIRED_VALUE);
    }
}

/* Whether the elements of all values are those of a in another order, as after a change of layout.
 */
static bool is_permuted(const struct matching *m, const struct track *a, const struct track *b)
{
    bool equal = a->kept == b->kept;
    for (size_t n = 0; n < b->kept && equal; n++)
        equal = look_sketches_permuted(&a->at[n], &b->at[n], m->tolerance);
    return equal;
}

/* Whether the values are some of a in the same order, as after inlining one of several calls. */
static bool is_some(const struct matching *m, const struct track *a, const struct track *b)
{
    size_t found = 0;
    for (size_t n = 0; n < a->kept && found < b->kept; n++)
        found += look_sketches_agree(&a->at[n], &b->at[found], m->tolerance);
    return a->kept > b->kept && found == b->kept;
}

/* Whether instructions of the same operation have the same values in another arrangement. */
static bool is_rearranged(const struct matching *m, size_t a, size_t b)
{
    const struct hlo_listed x = hlo_list_inst(m->a.l, a), y = hlo_list_inst(m->b.l, b);
    if (strcmp(x.op, y.op) != 0 || !track_counts(&m->a, a))
        return false;
    for (size_t k = 0; k < m->a.participants; k++) {
        const struct track *t = track_of(&m->a, k, a), *u = track_of(&m->b, k, b);
        if (u->information < LOOK_INFORMATION || (!is_permuted(m, t, u) && !is_some(m, t, u)))
            return false;
    }
    return true;
}

static void pair_rearranged(struct matching *m)
{
    for (size_t b = 0; b < m->b.insts; b++)
        for (size_t a = 0; a < m->a.insts && track_counts(&m->b, b) && !is_paired(m, b); a++)
            if (is_rearranged(m, a, b))
                hlo_pair_add(m->pairing, a, b, HLO_PAIRED_VALUE);
}

/* Pairs equal operands of a pair with the same op. Returns whether there are any. */
static bool pair_operands(struct matching *m, size_t a, size_t b)
{
    const struct hlo_listed x = hlo_list_inst(m->a.l, a), y = hlo_list_inst(m->b.l, b);
    bool found = false;
    for (size_t k = 0; same_op(&x, &y) && k < x.operand_count; k++)
        found |= pair_if_equal(m, hlo_pair_source(m->a.l, x.operands[k]),
                               hlo_pair_source(m->b.l, y.operands[k]));
    return found;
}

/* Pairs that differ count as compared if their operands do not. */
static void pair_differing(struct matching *m)
{
    for (size_t b = 0; b < m->b.insts; b++) {
        struct difference_at at;
        const long a = m->unconfirmed[b];
        if (a < 0 || is_paired(m, b) || !track_counts(&m->a, (size_t)a))
            continue;
        const struct hlo_listed x = hlo_list_inst(m->a.l, (size_t)a), y = hlo_list_inst(m->b.l, b);
        if (differ(m, (size_t)a, b, &at) && x.operand_count > 0 && same_operands(m, &x, &y, at))
            hlo_pair_add(m->pairing, (size_t)a, b, HLO_PAIRED_OTHERWISE);
    }
}

/* Pairs instructions that only move a value, which passes remove, with the partner of a user of the
 * same value. */
static void pair_moved(struct matching *m, bool swapped)
{
    const struct tracks *t = swapped ? &m->a : &m->b;
    for (size_t i = t->insts; i-- > 0;) {
        const struct hlo_listed x = hlo_list_inst(t->l, i);
        for (size_t k = 0; moves(inst_of(t, i)) && track_counts(t, i) && k < x.user_count; k++) {
            const long user = (swapped ? hlo_pair_of_a(m->pairing, x.users[k])
                                       : hlo_pair_of_b(m->pairing, x.users[k]))
                                  .other;
            const size_t a = swapped ? i : (size_t)user, b = swapped ? (size_t)user : i;
            if (user >= 0 && !differ(m, a, b, NULL))
                hlo_pair_add(m->pairing, a, b, HLO_PAIRED_VALUE);
        }
    }
}

/* Pairs the operands of pairs, and theirs. */
static void pair_all_operands(struct matching *m)
{
    enum { ROUNDS = 16 };
    bool found = true;
    for (int round = 0; round < ROUNDS && found; round++) {
        found = false;
        for (size_t b = m->b.insts; b-- > 0;)
            if (is_paired(m, b))
                found |= pair_operands(m, (size_t)hlo_pair_of_b(m->pairing, b).other, b);
    }
}

void match_values(struct matching *m)
{
    m->unconfirmed = ARENA_ARRAY(m->arena, long, m->b.insts);
    confirm(m);
    pair_equal(m, false);
    pair_equal(m, true);
    pair_all_operands(m);
    pair_differing(m);
}

void match_loosely(struct matching *m)
{
    m->loosely = true;
    pair_equal(m, false);
    pair_equal(m, true);
    pair_rearranged(m);
    pair_all_operands(m);
    pair_moved(m, false);
    pair_moved(m, true);
}

size_t match_agreeing(const struct matching *m)
{
    size_t count = 0;
    for (size_t b = 0; b < m->b.insts; b++) {
        const long a = hlo_pair_of_b(m->pairing, b).other;
        count += a >= 0 && track_counts(&m->b, b) && !is_constant(&m->b, b) &&
                 !differ(m, (size_t)a, b, NULL);
    }
    return count;
}

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
    const struct shape *x = inst_of(&m->a, a)->shape, *y = inst_of(&m->b, b)->shape;
    return !runs(&m->b, b) && track_counts(&m->a, a) &&
           (shape_compatible(x, y) ||
            (shape_is_array(x) && shape_is_array(y) &&
             (x->dtype == y->dtype || (dtype_is_float(x->dtype) && dtype_is_float(y->dtype))) &&
             numbers_of(&m->a, a) == numbers_of(&m->b, b)));
}

/* Adds operands that differ in a pair with the same op, as far as they have no operands
 * themselves. */
static void add_operands(struct suspects *s, size_t a, size_t b, int depth)
{
    enum { DEEPEST = 8 };
    const struct hlo_listed x = hlo_list_inst(s->m->a.l, a), y = hlo_list_inst(s->m->b.l, b);
    struct difference_at at;
    if (depth > DEEPEST || !same_op(&x, &y))
        return;
    for (size_t k = 0; k < x.operand_count; k++) {
        const size_t i = hlo_pair_source(s->m->a.l, x.operands[k]),
                     j = hlo_pair_source(s->m->b.l, y.operands[k]);
        if (!track_counts(&s->m->b, j) || !differ(s->m, i, j, &at))
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
        if (agree_at(m, x->operands[k], y->operands[k], at))
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
        if (agree_at(m, x->operands[k], y->operands[k], at))
            informative += is_informative(m, at.participant, y->operands[k]);
        else if (is_paired(m, hlo_pair_source(m->b.l, y->operands[k])))
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
    const uint64_t numbers = numbers_of(&m->b, b);
    for (size_t a = 0; a < m->a.insts; a++) {
        struct difference_at at;
        if (numbers_of(&m->a, a) != numbers || !differ(m, a, b, &at) || at.execution == 0)
            continue;
        const struct hlo_listed x = hlo_list_inst(m->a.l, a);
        const struct difference_at before = {at.participant, at.execution - 1};
        if (same_op(&x, y) && same_operands(m, &x, y, before) && !same_operands(m, &x, y, at))
            return true;
    }
    return false;
}

static void add_for(struct suspects *s, size_t b)
{
    const struct matching *m = s->m;
    const struct hlo_listed y = hlo_list_inst(m->b.l, b);
    const uint64_t numbers = numbers_of(&m->b, b);
    const bool explained = is_explained(m, b, &y);
    for (size_t a = 0; a < m->a.insts; a++) {
        struct difference_at at;
        if (numbers_of(&m->a, a) != numbers || !can_replace(m, a, b) || !differ(m, a, b, &at))
            continue;
        const struct hlo_listed x = hlo_list_inst(m->a.l, a);
        const bool expected = (long)a == m->unconfirmed[b];
        if (explained && !expected)
            continue;
        if (x.operand_count > 0 && same_operands(m, &x, &y, at))
            add_suspect(s, a, b, at,
                        expected          ? PARTNER
                        : is_paired(m, b) ? BY_CHANCE
                                          : SAME_OPERANDS);
        else if (expected || (same_op(&x, &y) && shares_operand(m, &x, &y, at)))
            add_operands(s, a, b, 0);
        if (!is_paired(m, b) && hlo_pair_of_a(m->pairing, a).other < 0 && same_op(&x, &y) &&
            has_other_operand(m, &x, &y, at))
            add_suspect(s, a, b, at, ONE_OPERAND);
        if (expected || (!is_paired(m, b) && match_are_related(x, y)))
            add_suspect(s, a, b, at, RELATED);
        else if (!is_paired(m, b) && hlo_pair_of_a(m->pairing, a).other < 0)
            add_suspect(s, a, b, at, OTHER_PLACE);
    }
}

/* Whether it may have a partner by chance, or none. */
static bool is_doubtful(const struct matching *m, size_t b)
{
    const enum hlo_paired how = hlo_pair_of_b(m->pairing, b).how;
    return !is_paired(m, b) || m->unconfirmed[b] >= 0 ||
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
        if (track_counts(&m->b, b) && !runs(&m->b, b) && is_doubtful(m, b))
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
            moves(inst_of(&m->a, (size_t)p.other)) == moves(inst_of(&m->b, b)));
}

static void find_origin(struct cone *o, size_t b)
{
    const struct tracks *t = &o->m->b;
    const struct hlo_listed y = hlo_list_inst(t->l, b);
    if (o->seen[b])
        return;
    o->seen[b] = true;
    if (track_counts(t, b) && y.operand_count > 0 && !moves(inst_of(t, b)) && !runs(t, b) &&
        !has_likely_partner(o->m, b) && track_of(t, 0, b)->first < track_of(t, 0, o->best)->first)
        o->best = b;
    for (size_t k = 0; k < y.operand_count; k++) {
        const size_t j = hlo_pair_source(t->l, y.operands[k]);
        if (moves(inst_of(t, j)) ||
            (!has_likely_partner(o->m, j) && (o->all || is_paired(o->m, j))))
            find_origin(o, j);
    }
}

enum match_scope match_scope_of(const struct matching *m, const struct suspect *u)
{
    if (u->evidence == PARTNER || u->evidence == OTHER_OPERAND)
        return MATCH_ITSELF;
    if (u->evidence >= ONE_OPERAND || !is_informative(m, u->at.participant, u->b))
        return MATCH_ALL;
    return u->evidence <= BY_CHANCE && inst_of(&m->a, u->a)->opcode == inst_of(&m->b, u->b)->opcode
               ? MATCH_ITSELF
               : MATCH_OPERANDS;
}

size_t match_origin(const struct matching *m, const struct suspect *u)
{
    struct cone o = {m, ARENA_ARRAY(m->arena, bool, m->b.insts), u->evidence >= RELATED, u->b};
    if (u->evidence <= BY_CHANCE &&
        (u->evidence == PARTNER || inst_of(&m->a, u->a)->opcode == inst_of(&m->b, u->b)->opcode))
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
        if (track_counts(&m->b, j) && !is_paired(m, j))
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
    for (size_t k = 0; k < y.callee_count && runs(t, b); k++)
        find_unpaired(c, hlo_list_computation(t->l, y.callees[k]).root);
    const struct hlo_listed_computation in = hlo_list_computation(t->l, y.computation);
    for (size_t k = 0; k < in.caller_count && y.parameter >= 0; k++)
        if (runs(t, in.callers[k]))
            find_unpaired(c, in.callers[k]);
    for (size_t k = 0; k < y.operand_count; k++) {
        const size_t j = hlo_pair_source(t->l, y.operands[k]);
        const struct inst *from = inst_of(t, j);
        if (moves(from) || op_is(from->opcode, OP_NAMES | OP_RUNS) || from->opcode == OP_CONSTANT ||
            !has_likely_partner(c->m, j))
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
    if (inst_of(&m->a, a)->opcode != OP_TUPLE || inst_of(&m->b, b)->opcode != OP_TUPLE) {
        find_unpaired(c, b);
        return;
    }
    for (size_t k = 0; k < x.operand_count && k < y.operand_count; k++)
        if (!shape_is_array(inst_of(&m->b, y.operands[k])->shape) ||
            differ(m, x.operands[k], y.operands[k], NULL))
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
    return is_paired(m, b) && how != HLO_PAIRED_VALUE && m->unconfirmed[b] < 0 &&
           is_informative(m, 0, b);
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
        if (inst_of(a, i)->opcode == OP_COMPARE &&
            inst_enum(inst_of(a, i), A_DIRECTION, -1) == direction)
            return true;
    return false;
}

/* Whether an instruction, itself or broadcast, is compared in a way in which a compares nothing.
 * Another constant may make such a predicate false, which is no evidence. */
static bool is_guard(const struct matching *m, size_t b)
{
    const struct hlo_listed y = hlo_list_inst(m->b.l, b);
    for (size_t k = 0; k < y.user_count; k++) {
        const struct inst *user = inst_of(&m->b, y.users[k]);
        if (user->opcode == OP_COMPARE ? !has_comparison(&m->a, inst_enum(user, A_DIRECTION, -1))
                                       : user->opcode == OP_BROADCAST && is_guard(m, y.users[k]))
            return true;
    }
    return false;
}

static void add_candidates(struct candidates *c, size_t b)
{
    const struct inst *i = inst_of(&c->m->b, b);
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
    if (!runs(&c->m->b, b) && i->operand_count <= MATCH_OPERAND_COUNT)
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
