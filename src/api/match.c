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

const struct inst *track_inst(const struct tracks *t, size_t i)
{
    return hlo_listing_inst(t->l, i);
}

bool track_counts(const struct tracks *t, size_t inst)
{
    if (op_is(track_inst(t, inst)->opcode, OP_NAMES))
        return false;
    for (size_t k = 0; k < t->participants; k++)
        if (track_of(t, k, inst)->executions > 0)
            return true;
    return false;
}

bool track_runs(const struct tracks *t, size_t inst)
{
    return op_is(track_inst(t, inst)->opcode, OP_RUNS);
}

static const struct look_sketch *sketch_at(const struct track *t, uint64_t execution)
{
    return t->kept == 0                           ? NULL
           : !t->varies                           ? t->at
           : execution < t->kept                  ? &t->at[execution]
           : t->executions > t->kept && execution ? &t->at[t->kept - 1]
                                                  : NULL;
}

bool match_agree_at(const struct matching *m, size_t a, size_t b, struct difference_at at)
{
    const struct look_sketch *x = sketch_at(track_of(&m->a, at.participant, a), at.execution),
                             *y = sketch_at(track_of(&m->b, at.participant, b), at.execution);
    return x && y ? look_sketches_agree(x, y, m->tolerance) : x == y;
}

bool match_differ(const struct matching *m, size_t a, size_t b, struct difference_at *at)
{
    for (size_t k = 0; k < m->a.participants; k++) {
        const struct track *x = track_of(&m->a, k, a), *y = track_of(&m->b, k, b);
        const bool vary = x->varies || y->varies;
        const size_t more = x->kept > y->kept ? x->kept : y->kept;
        for (size_t n = 0; n < (vary ? more : 1); n++)
            if (!match_agree_at(m, a, b, (struct difference_at){k, n})) {
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
    return !match_differ(&exact, a, b, NULL);
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

bool match_moves(const struct inst *i)
{
    const int class = op_table[i->opcode].class;
    return class == CLASS_REARRANGE || class == CLASS_RETYPE || class == CLASS_PASS ||
           i->opcode == OP_BITCAST;
}

/* Whether it is a constant or one that is moved. */
static bool is_constant(const struct tracks *t, size_t b)
{
    const struct inst *i = track_inst(t, b);
    while (match_moves(i) && i->operand_count == 1)
        i = i->operands[0];
    return i->opcode == OP_CONSTANT;
}

bool match_is_informative(const struct matching *m, size_t participant, size_t b)
{
    return track_of(&m->b, participant, b)->information >= LOOK_INFORMATION;
}

/* ---- pairing ---- */

bool match_is_paired(const struct matching *m, size_t b)
{
    return hlo_pair_of_b(m->pairing, b).other >= 0;
}

/* Confirms the pairs by name, op_name and position. */
static void confirm(struct matching *m)
{
    for (size_t b = 0; b < m->b.insts; b++) {
        const long a = hlo_pair_of_b(m->pairing, b).other;
        m->unconfirmed[b] = -1;
        if (a < 0 || !track_counts(&m->b, b) || !match_differ(m, (size_t)a, b, NULL))
            continue;
        m->unconfirmed[b] = a;
        if (!track_runs(&m->b, b))
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

uint64_t track_numbers(const struct tracks *t, size_t inst)
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
    if (match_is_paired(m, b) || !track_counts(&m->b, b) || !track_counts(&m->a, a) ||
        match_differ(m, a, b, NULL))
        return false;
    hlo_pair_add(m->pairing, a, b, HLO_PAIRED_VALUE);
    return true;
}

bool match_same_op(const struct hlo_listed *x, const struct hlo_listed *y)
{
    return strcmp(x->op, y->op) == 0 && x->operand_count == y->operand_count;
}

bool match_same_operands(const struct matching *m, const struct hlo_listed *x,
                         const struct hlo_listed *y, struct difference_at at)
{
    if (x->operand_count != y->operand_count)
        return false;
    const size_t count = x->operand_count, last = count - 1;
    size_t equal = 0;
    while (equal < count && match_agree_at(m, x->operands[equal], y->operands[equal], at))
        equal++;
    return equal == count || (count >= 2 && equal + 2 == count &&
                              match_agree_at(m, x->operands[last - 1], y->operands[last], at) &&
                              match_agree_at(m, x->operands[last], y->operands[last - 1], at));
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
    if (match_differ(m, a, b, NULL))
        return false;
    if (track_of(d->of, 0, i)->information >= LOOK_INFORMATION)
        return true;
    const struct hlo_listed x = hlo_list_inst(m->a.l, a), y = hlo_list_inst(m->b.l, b);
    return match_same_op(&x, &y) ? match_same_operands(m, &x, &y, (struct difference_at){0})
                                 : m->loosely && track_inst(&m->b, b)->opcode == OP_CONSTANT &&
                                       match_are_related(x, y);
}

/* The most similar instruction with equal value; -1: none. A value with little information must
 * have been computed by the same op from equal operands, or be a constant named like it, which was
 * folded. */
static long find_equal(const struct matching *m, const struct direction *d, size_t i)
{
    const uint64_t numbers = track_numbers(d->of, i);
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
            d.all[d.count++] = (struct by_value){i, track_numbers(d.in, i)};
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
        for (size_t a = 0; a < m->a.insts && track_counts(&m->b, b) && !match_is_paired(m, b); a++)
            if (is_rearranged(m, a, b))
                hlo_pair_add(m->pairing, a, b, HLO_PAIRED_VALUE);
}

/* Pairs equal operands of a pair with the same op. Returns whether there are any. */
static bool pair_operands(struct matching *m, size_t a, size_t b)
{
    const struct hlo_listed x = hlo_list_inst(m->a.l, a), y = hlo_list_inst(m->b.l, b);
    bool found = false;
    for (size_t k = 0; match_same_op(&x, &y) && k < x.operand_count; k++)
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
        if (a < 0 || match_is_paired(m, b) || !track_counts(&m->a, (size_t)a))
            continue;
        const struct hlo_listed x = hlo_list_inst(m->a.l, (size_t)a), y = hlo_list_inst(m->b.l, b);
        if (match_differ(m, (size_t)a, b, &at) && x.operand_count > 0 &&
            match_same_operands(m, &x, &y, at))
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
        for (size_t k = 0; match_moves(track_inst(t, i)) && track_counts(t, i) && k < x.user_count;
             k++) {
            const long user = (swapped ? hlo_pair_of_a(m->pairing, x.users[k])
                                       : hlo_pair_of_b(m->pairing, x.users[k]))
                                  .other;
            const size_t a = swapped ? i : (size_t)user, b = swapped ? (size_t)user : i;
            if (user >= 0 && !match_differ(m, a, b, NULL))
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
            if (match_is_paired(m, b))
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
                 !match_differ(m, (size_t)a, b, NULL);
    }
    return count;
}
