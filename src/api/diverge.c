/*
 * The public interface to comparing runs: the first value that differs when two programs run on the same arguments.
 *
 * Program a runs first. Its values are kept as long as there is room, together with a digest of each, by which program b's
 * values are known to be the same bit for bit. Values that aren't may still be within the tolerance; where a's was not kept,
 * this is found out in further rounds: both programs run again, each time keeping as many of these values as there is room for,
 * until one is outside or all have been compared.
 */
#include "api/api.h"

#include "look/look.h"

#include <stdlib.h>

enum { USUAL_ROOM = 512 << 20 };

struct mark { /* one time that an instruction of a ran */
    uint64_t digest[2], number;
    hlo_literal *kept; /* its value; NULL: there was no room */
};
struct marks { /* those of one instruction and participant, in order */
    struct mark *at;
    size_t count, capacity;
};
struct suspect { /* values that differ in some bit */
    size_t participant, a, b;
    uint64_t occurrence, number; /* number: of all values of a, in order */
    hlo_literal *kept;           /* its value in a */
};
struct search {
    const struct hlo_comparison *c;
    const hlo_listing *a, *b;
    struct arena arena;
    struct marks *marks; /* of a, by participant and instruction */
    uint64_t *seen;      /* how often each ran in this run, likewise */
    size_t insts, participants;
    struct suspect *suspects; /* after the first runs: by number */
    size_t suspect_count, suspect_capacity;
    size_t first, end;    /* the suspects of this round */
    uint64_t room, taken; /* bytes; taken: by values kept in the first run of a */
    uint64_t done;        /* values of a so far; what runs within an instruction comes before it */
    struct turns {        /* the suspects of this round, in order, by participant and instruction */
        size_t *at, count, next;
    } * turns;
    struct suspect found; /* the first that is outside the tolerance, if `out->found` */
    struct hlo_divergence *out;
    hlo_messages *m;
};

/* Instructions that only name values, which are compared where they are made. */
static bool is_name(const struct inst *i)
{
    return i->opcode == OP_PARAMETER || i->opcode == OP_TUPLE || i->opcode == OP_GET_TUPLE_ELEMENT || i->opcode == OP_OPT_BARRIER;
}

static size_t slot_of(const struct search *s, size_t participant, size_t inst) { return participant * s->insts + inst; }

/* ---- values ---- */

static int by_number(const void *x, const void *y)
{
    const struct suspect *a = x, *b = y;
    if (a->participant != b->participant)
        return a->participant < b->participant ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static void free_values(struct hlo_divergence *d)
{
    hlo_literal_free(d->value_a);
    hlo_literal_free(d->value_b);
    d->value_a = d->value_b = NULL;
}

/* Compares the value of a suspect in b, L, with that in a, which is the caller's unless it is taken (NULL then). False: no
 * memory. */
static bool judge(struct search *s, const struct suspect *u, const hlo_literal *l, hlo_literal **kept)
{
    if (s->out->found && by_number(u, &s->found) > 0)
        return true;
    struct hlo_difference d = hlo_literal_difference(l, *kept, &s->c->tolerance);
    if (d.comparable && d.outside == 0)
        return true;
    free_values(s->out);
    s->out->found = true;
    s->out->difference = d;
    s->out->value_a = *kept;
    s->out->value_b = hlo_literal_copy(l);
    s->found = *u;
    *kept = NULL;
    return s->out->value_b != NULL;
}

static uint64_t bytes_of(const hlo_listing *l, size_t inst)
{
    int64_t size = 0;
    return shape_bytes(hlo_listing_inst(l, inst)->shape, &size) && size > 0 ? (uint64_t)size : 1;
}

/* ---- the first runs ---- */

static bool note_a(void *context, const struct hlo_sight *sight)
{
    struct search *s = context;
    long other = hlo_pair_of_a(s->c->pairing, sight->inst).other;
    if (other < 0 || is_name(hlo_listing_inst(s->a, sight->inst)))
        return true;
    const hlo_literal *l = hlo_sight_value(sight);
    if (!l)
        return false;
    struct marks *k = &s->marks[slot_of(s, sight->participant, sight->inst)];
    struct mark *mark = &VEC_PUSH(&s->arena, k->at, k->count, k->capacity);
    uint64_t size = bytes_of(s->a, sight->inst);
    *mark = (struct mark){.number = s->done++};
    look_digest(l->l, mark->digest);
    if (size <= s->room - s->taken && (mark->kept = hlo_literal_copy(l)))
        s->taken += size;
    return true;
}

static bool note_b(void *context, const struct hlo_sight *sight)
{
    struct search *s = context;
    long other = hlo_pair_of_b(s->c->pairing, sight->inst).other;
    if (other < 0 || is_name(hlo_listing_inst(s->b, sight->inst)))
        return true;
    size_t slot = slot_of(s, sight->participant, (size_t)other);
    const struct marks *k = &s->marks[slot];
    uint64_t occurrence = s->seen[slot]++;
    if (occurrence >= k->count)
        return true; /* a's loop has ended: the value that decided on that differs, and was seen before */
    struct mark *mark = &k->at[occurrence];
    uint64_t digest[2] = {0};
    const hlo_literal *l = hlo_sight_value(sight);
    if (!l)
        return false;
    look_digest(l->l, digest);
    s->out->compared++;
    if (memcmp(digest, mark->digest, sizeof digest) == 0)
        return true;
    const struct suspect u = {sight->participant, (size_t)other, sight->inst, occurrence, mark->number, NULL};
    s->out->unequal++;
    if (mark->kept)
        return judge(s, &u, l, &mark->kept);
    VEC_PUSH(&s->arena, s->suspects, s->suspect_count, s->suspect_capacity) = u;
    return true;
}

static void free_kept(struct search *s)
{
    for (size_t i = 0; i < s->participants * s->insts; i++)
        for (size_t k = 0; k < s->marks[i].count; k++) {
            hlo_literal_free(s->marks[i].at[k].kept);
            s->marks[i].at[k].kept = NULL;
        }
}

/* ---- the later runs ---- */

/* The suspect of this round that the instruction in `slot` is this time; NULL: none. Counts the time. */
static struct suspect *suspect_of(struct search *s, size_t slot)
{
    struct turns *t = &s->turns[slot];
    uint64_t occurrence = s->seen[slot]++;
    if (t->next == t->count || s->suspects[t->at[t->next]].occurrence != occurrence)
        return NULL;
    return &s->suspects[t->at[t->next++]];
}

static bool keep_a(void *context, const struct hlo_sight *sight)
{
    struct search *s = context;
    struct suspect *u = suspect_of(s, slot_of(s, sight->participant, sight->inst));
    const hlo_literal *l = u ? hlo_sight_value(sight) : NULL;
    if (u && (!l || !(u->kept = hlo_literal_copy(l)))) {
        hlo_messages_add(s->m, "diff", "there is not enough memory to keep a value");
        return false;
    }
    return true;
}

static bool compare_b(void *context, const struct hlo_sight *sight)
{
    struct search *s = context;
    long other = hlo_pair_of_b(s->c->pairing, sight->inst).other;
    struct suspect *u = other >= 0 ? suspect_of(s, slot_of(s, sight->participant, (size_t)other)) : NULL;
    const hlo_literal *l = u && u->kept ? hlo_sight_value(sight) : NULL;
    return !u || !u->kept || (l && judge(s, u, l, &u->kept));
}

/* ---- rounds ---- */

static bool run_one(struct search *s, hlo_program *p, bool (*after)(void *context, const struct hlo_sight *s),
                    hlo_literal **results)
{
    struct hlo_observer o = {.context = s, .after = after};
    memset(s->seen, 0, s->participants * s->insts * sizeof *s->seen);
    for (size_t i = 0; s->turns && i < s->participants * s->insts; i++)
        s->turns[i].next = 0;
    hlo_observe_within(p, &o);
    bool ok = hlo_run_all(p, s->c->args, s->c->count, NULL, results, s->m);
    hlo_observe(p, NULL);
    return ok;
}

static void free_results(struct search *s, hlo_literal **results)
{
    for (size_t i = 0; i < s->participants; i++) {
        hlo_literal_free(results[i]);
        results[i] = NULL;
    }
}

/* Chooses as many suspects as there is room for, at least one, and sorts them into `turns`. */
static void choose_round(struct search *s, struct arena *scratch)
{
    uint64_t taken = 0;
    s->turns = ARENA_ARRAY(scratch, struct turns, s->participants * s->insts);
    for (s->end = s->first; s->end < s->suspect_count; s->end++) {
        const struct suspect *u = &s->suspects[s->end];
        uint64_t size = bytes_of(s->a, u->a);
        if (taken > 0 && (size > s->room || taken > s->room - size))
            break;
        taken += size;
        s->turns[slot_of(s, u->participant, u->a)].count++;
    }
    for (size_t i = s->first; i < s->end; i++) {
        struct turns *t = &s->turns[slot_of(s, s->suspects[i].participant, s->suspects[i].a)];
        if (!t->at)
            t->at = ARENA_ARRAY(scratch, size_t, t->count);
        t->at[t->next++] = i;
    }
}

static bool do_round(struct search *s, hlo_literal **results)
{
    struct arena scratch;
    arena_init(&scratch);
    choose_round(s, &scratch);
    bool ok = run_one(s, s->c->a, keep_a, results);
    free_results(s, results);
    ok = ok && run_one(s, s->c->b, compare_b, results);
    free_results(s, results);
    for (size_t i = s->first; i < s->end; i++) {
        hlo_literal_free(s->suspects[i].kept);
        s->suspects[i].kept = NULL;
    }
    s->first = s->end;
    arena_free(&scratch);
    return ok;
}

/* Whether the results of all participants agree; else the difference of the first that don't. */
static void compare_results(struct search *s, hlo_literal **a, hlo_literal **b)
{
    s->out->results_agree = true;
    for (size_t i = 0; i < s->participants && s->out->results_agree; i++) {
        s->out->results = hlo_literal_difference(b[i], a[i], &s->c->tolerance);
        s->out->results_agree = s->out->results.comparable && s->out->results.outside == 0;
        if (!s->out->results_agree) {
            s->out->result_a = a[i];
            s->out->result_b = b[i];
            a[i] = b[i] = NULL;
        }
    }
}

static bool search(struct search *s, hlo_literal **a, hlo_literal **b)
{
    bool ok = run_one(s, s->c->a, note_a, a) && run_one(s, s->c->b, note_b, b);
    free_kept(s);
    if (!ok)
        return false;
    compare_results(s, a, b);
    free_results(s, a);
    free_results(s, b);
    if (s->suspect_count > 0)
        qsort(s->suspects, s->suspect_count, sizeof *s->suspects, by_number);
    while (s->first < s->suspect_count && !(s->out->found && by_number(&s->suspects[s->first], &s->found) > 0))
        if (!do_round(s, a))
            return false;
    if (s->out->found) {
        s->out->participant = s->found.participant;
        s->out->a = s->found.a;
        s->out->b = s->found.b;
        s->out->occurrence = s->found.occurrence;
        s->out->number = s->found.number;
    }
    return true;
}

bool hlo_diverge(const struct hlo_comparison *c, struct hlo_divergence *out, hlo_messages *m)
{
    GUARDED((*out = (struct hlo_divergence){0}, hlo_messages_no_memory(m), false));
    hlo_listing *a = hlo_list(c->a->module), *b = hlo_list(c->b->module);
    size_t participants = hlo_participants(c->a);
    struct search s = {.c = c,
                       .a = a,
                       .b = b,
                       .insts = hlo_list_count(a),
                       .participants = participants,
                       .room = c->room ? c->room : USUAL_ROOM,
                       .out = out,
                       .m = m};
    *out = (struct hlo_divergence){0};
    arena_init(&s.arena);
    s.marks = ARENA_ARRAY(&s.arena, struct marks, participants * s.insts);
    s.seen = ARENA_ARRAY(&s.arena, uint64_t, participants * s.insts);
    hlo_literal **results_a = ARENA_ARRAY(&s.arena, hlo_literal *, participants);
    hlo_literal **results_b = ARENA_ARRAY(&s.arena, hlo_literal *, participants);
    bool ok = participants == hlo_participants(c->b);
    if (ok)
        ok = search(&s, results_a, results_b);
    else
        hlo_messages_add(m, "diff", "the modules have different numbers of participants");
    free_results(&s, results_a);
    free_results(&s, results_b);
    if (!ok)
        hlo_divergence_free(out);
    arena_free(&s.arena);
    hlo_listing_free(a);
    hlo_listing_free(b);
    return ok;
}

void hlo_divergence_free(struct hlo_divergence *d)
{
    free_values(d);
    hlo_literal_free(d->result_a);
    hlo_literal_free(d->result_b);
    d->result_a = d->result_b = NULL;
}
