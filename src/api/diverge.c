/*
 * Public interface: comparison of runs. Finds the first value that differs when two programs run
 * on the same arguments.
 *
 * Program a runs first, and a store keeps its values within a memory budget. A digest of each
 * value determines which values of program b are bitwise equal. The others, called candidates, may
 * still be within the tolerance. Those whose value of a was dropped are compared in rounds: both
 * programs run again, with as many candidates in the store as the budget allows, until one is
 * outside the tolerance or none is left.
 *
 * The modules may nest an instruction differently, so executions are matched by their number.
 */
#include "api/store.h"

#include "look/look.h"

#include <stdlib.h>

enum { DEFAULT_BUDGET = 512 << 20 };

struct digest { /* of one execution of an instruction of a */
    uint64_t digest[2], number;
};
struct digests { /* digests of one instruction and participant, in order of execution */
    struct digest *at;
    size_t count, capacity;
};
struct candidate { /* values that are not bitwise equal */
    size_t participant, a, b;
    uint64_t execution, number; /* number: of all values of a, in order */
};
struct search {
    struct hlo_comparison c;
    struct hlo_tolerance tolerance;
    const hlo_listing *a, *b;
    struct arena arena;
    struct store store;      /* values of a, by execution */
    struct digests *digests; /* of a, by participant and instruction */
    uint64_t *executions;    /* counts of the current run, by participant and instruction */
    size_t insts, participants;
    uint64_t done; /* number of values of a so far; nested instructions precede the enclosing one */
    struct candidate *candidates;
    size_t count, capacity;
    struct candidate found; /* the first candidate outside the tolerance, if `out->found` */
    struct hlo_divergence *out;
    hlo_messages *m;
};

/* Whether the instruction only aliases values, which are compared where they are computed. */
static bool is_name(const struct inst *i) { return op_is(i->opcode, OP_NAMES); }

/* The instruction of a that corresponds to instruction `inst` of b; -1: none. */
static long compared_with(const struct search *s, size_t inst)
{
    return is_name(hlo_listing_inst(s->b, inst)) ? -1 : hlo_pair_of_b(s->c.pairing, inst).other;
}

static bool is_compared(const struct search *s, size_t inst)
{
    return !is_name(hlo_listing_inst(s->a, inst)) && hlo_pair_of_a(s->c.pairing, inst).other >= 0;
}

static size_t slot_of(const struct search *s, size_t participant, size_t inst)
{
    return participant * s->insts + inst;
}

/* ---- values ---- */

static int by_number(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;
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

/* Compares the values of a candidate in a and b. False: out of memory. */
static bool compare(struct search *s, const struct candidate *u, const hlo_literal *a,
                    const hlo_literal *b)
{
    if (s->out->found && by_number(u, &s->found) > 0)
        return true;
    struct hlo_difference d = hlo_literal_difference(b, a, &s->tolerance);
    if (d.comparable && d.outside == 0)
        return true;
    free_values(s->out);
    s->out->found = true;
    s->out->difference = d;
    s->out->value_a = hlo_literal_copy(a);
    s->out->value_b = hlo_literal_copy(b);
    s->found = *u;
    return s->out->value_a && s->out->value_b;
}

static uint64_t bytes_of(const hlo_listing *l, size_t inst)
{
    int64_t size = 0;
    return shape_bytes(hlo_listing_inst(l, inst)->shape, &size) && size > 0 ? (uint64_t)size : 1;
}

/* ---- callbacks ---- */

static bool digest_a(void *context, const struct hlo_event *e)
{
    struct search *s = context;
    struct hlo_within nesting;
    if (!is_compared(s, e->inst))
        return true;
    const hlo_literal *l = hlo_event_value(e);
    if (!l)
        return false;
    struct digests *d = &s->digests[slot_of(s, e->participant, e->inst)];
    const struct store_key key = store_execution(e->inst, e->participant, d->count, &nesting);
    struct digest *digest = &VEC_PUSH(&s->arena, d->at, d->count, d->capacity);
    *digest = (struct digest){.number = s->done++};
    look_digest(l->l, digest->digest);
    store_put(&s->store, &key, e);
    return true;
}

/* Callback of later runs of a: keeps the candidates of the current round. */
static bool keep_a(void *context, const struct hlo_event *e)
{
    struct search *s = context;
    struct hlo_within nesting;
    if (!is_compared(s, e->inst))
        return true;
    uint64_t *n = &s->executions[slot_of(s, e->participant, e->inst)];
    const struct store_key key = store_execution(e->inst, e->participant, (*n)++, &nesting);
    store_put(&s->store, &key, e);
    return true;
}

/* Callback of b: finds candidates in the first run; later compares those whose value of a is in the
 * store. */
static bool compare_b(void *context, const struct hlo_event *e)
{
    struct search *s = context;
    const long a = compared_with(s, e->inst);
    const bool first = !s->store.refilling;
    struct hlo_within nesting;
    uint64_t digest[2] = {0};
    if (a < 0)
        return true;
    const size_t slot = slot_of(s, e->participant, (size_t)a);
    const uint64_t n = s->executions[slot]++;
    const struct store_key key = store_execution((size_t)a, e->participant, n, &nesting);
    if (n >= s->digests[slot].count)
        return true; /* a's loop has ended; the value that its condition depends on differs, and is
                        compared before */
    const struct digest *of_a = &s->digests[slot].at[n];
    const hlo_literal *value_a = first ? NULL : store_get(&s->store, &key);
    if (!first && !value_a)
        return true;
    const hlo_literal *l = hlo_event_value(e);
    if (!l)
        return false;
    look_digest(l->l, digest);
    s->out->compared += first;
    if (memcmp(digest, of_a->digest, sizeof digest) == 0)
        return true;
    const struct candidate u = {e->participant, (size_t)a, e->inst, n, of_a->number};
    s->out->unequal += first;
    if (first)
        value_a = store_get(&s->store, &key);
    if (value_a)
        return compare(s, &u, value_a, l);
    VEC_PUSH(&s->arena, s->candidates, s->count, s->capacity) = u;
    return true;
}

/* ---- rounds ---- */

static bool run(struct search *s, hlo_program *p,
                bool (*after)(void *context, const struct hlo_event *s), hlo_literal **results)
{
    struct hlo_trace_callbacks o = {.size = sizeof o, .context = s, .after = after};
    memset(s->executions, 0, s->participants * s->insts * sizeof *s->executions);
    hlo_trace_within(p, &o);
    bool ok = hlo_run_all(p, s->c.args, s->c.count, NULL, results, s->m);
    hlo_trace(p, NULL);
    return ok;
}

static void free_results(struct search *s, hlo_literal **results)
{
    for (size_t i = 0; i < s->participants; i++) {
        hlo_literal_free(results[i]);
        results[i] = NULL;
    }
}

/* Marks candidates from `first` on, as many as fit the budget, at least one; returns the end of the
 * range. */
static size_t request_values(struct search *s, size_t first)
{
    uint64_t bytes = 0;
    size_t end = first;
    store_clear(&s->store);
    for (; end < s->count; end++) {
        struct hlo_within nesting;
        const struct store_key key =
            store_execution(s->candidates[end].a, s->candidates[end].participant,
                            s->candidates[end].execution, &nesting);
        const uint64_t size = bytes_of(s->a, s->candidates[end].a);
        if (end > first && (size > s->store.budget || bytes > s->store.budget - size))
            break;
        bytes += size;
        store_request(&s->store, &key);
    }
    store_refill(&s->store);
    return end;
}

/* Compares the candidates from *first on that fit the budget, and advances *first. */
static bool do_round(struct search *s, size_t *first, hlo_literal **results)
{
    const size_t end = request_values(s, *first);
    bool ok = run(s, s->c.a, keep_a, results);
    free_results(s, results);
    if (s->store.failed) {
        hlo_messages_add(s->m, "diff", "out of memory for a recorded value");
        ok = false;
    }
    ok = ok && run(s, s->c.b, compare_b, results);
    free_results(s, results);
    *first = end;
    return ok;
}

/* Whether the results of all participants agree; otherwise records the difference of the first that
 * does not. */
static void compare_results(struct search *s, hlo_literal **a, hlo_literal **b)
{
    s->out->results_agree = true;
    for (size_t i = 0; i < s->participants && s->out->results_agree; i++) {
        s->out->results = hlo_literal_difference(b[i], a[i], &s->tolerance);
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
    if (!run(s, s->c.a, digest_a, a) || !run(s, s->c.b, compare_b, b))
        return false;
    compare_results(s, a, b);
    free_results(s, a);
    free_results(s, b);
    if (s->count > 0)
        qsort(s->candidates, s->count, sizeof *s->candidates, by_number);
    for (size_t next = 0;
         next < s->count && !(s->out->found && by_number(&s->candidates[next], &s->found) > 0);)
        if (!do_round(s, &next, a))
            return false;
    if (s->out->found) {
        s->out->participant = s->found.participant;
        s->out->a = s->found.a;
        s->out->b = s->found.b;
        s->out->occurrence = s->found.execution;
        s->out->number = s->found.number;
    }
    return true;
}

bool hlo_diverge(const struct hlo_comparison *comparison, struct hlo_divergence *out,
                 hlo_messages *m)
{
    OOM_SCOPE((*out = (struct hlo_divergence){0}, hlo_messages_no_memory(m), false));
    *out = (struct hlo_divergence){0};
    struct search s = {.out = out, .m = m};
    if (!hlo_options_copy(&s.c, sizeof s.c, comparison, m) ||
        !hlo_options_copy(&s.tolerance, sizeof s.tolerance, s.c.tolerance, m))
        return false;
    hlo_listing *a = hlo_list(s.c.a->module), *b = hlo_list(s.c.b->module);
    const size_t participants = s.participants = hlo_participants(s.c.a);
    s.a = a;
    s.b = b;
    s.insts = hlo_list_count(a);
    arena_init(&s.arena);
    store_init(&s.store, a, s.c.capacity ? s.c.capacity : DEFAULT_BUDGET);
    s.digests = ARENA_ARRAY(&s.arena, struct digests, participants * s.insts);
    s.executions = ARENA_ARRAY(&s.arena, uint64_t, participants * s.insts);
    hlo_literal **results_a = ARENA_ARRAY(&s.arena, hlo_literal *, participants);
    hlo_literal **results_b = ARENA_ARRAY(&s.arena, hlo_literal *, participants);
    bool ok = participants == hlo_participants(s.c.b);
    if (ok)
        ok = search(&s, results_a, results_b);
    else
        hlo_messages_add(m, "diff", "modules differ in the number of participants");
    free_results(&s, results_a);
    free_results(&s, results_b);
    if (!ok)
        hlo_divergence_free(out);
    store_free(&s.store);
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
