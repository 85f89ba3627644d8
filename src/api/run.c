/*
 * Public interface: running. Programs, their participants, and feeds.
 */
#include "api/api.h"

#include "base/system.h"
#include "plan/plan.h"
#include "world/world.h"

#include <assert.h>

static_assert((int)HLO_MAX_PARTICIPANTS == (int)WORLD_MAX_PARTICIPANTS,
              "hlo.h and world.h have equal limits");
static_assert((int)HLO_ELIDED_RANDOM == (int)ELIDED_RANDOM, "hlo.h and plan.h have equal numbers");

/* ---- running ---- */

void hlo_program_free(hlo_program *p)
{
    for (size_t k = 0; p && k < p->count; k++)
        run_state_free(p->states[k]);
    if (p) {
        run_state_free(p->shared);
        program_free(p->program);
        thread_pool_free(p->workers);
        hlo_tracer_free(p->tracer);
    }
    heap_free(p);
}

/* Makes the states of the participants in this process, the first `count` at most. */
static void make_states(hlo_program *p, size_t count)
{
    size_t made = 0;
    for (size_t k = 0; k < count; k++) {
        if (!hlo_world_runs(p->world, k))
            continue;
        p->states[k] = run_state_new(p->program, (int64_t)k);
        made++;
    }
    if (made < 2)
        return;
    p->shared = run_state_new(p->program, 0);
    for (size_t k = 0; k < count; k++)
        if (p->states[k])
            p->states[k]->shared = p->shared;
}

hlo_program *hlo_plan(const hlo_module *module, const struct hlo_run_options *options,
                      hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    struct hlo_run_options given;
    const struct hlo_run_options *o = &given;
    if (!hlo_options_copy(&given, sizeof given, options, m))
        return NULL;
    struct diags *ds = hlo_sink_of_module(m, module);
    int64_t replicas = module->m->replica_count, partitions = module->m->num_partitions, count;
    if (!mul_i64(replicas, partitions, &count) || count < 1 || count > WORLD_MAX_PARTICIPANTS) {
        DIAG(ds, NO_SPAN, TOO_MANY_PARTICIPANTS, replicas, partitions, WORLD_MAX_PARTICIPANTS);
        return NULL;
    }
    if (o->elided == HLO_ELIDED_REFUSE)
        hlo_restore_elided(module, m);
    hlo_program *p = heap_zalloc(1, sizeof *p + (size_t)count * sizeof *p->states);
    p->module = module;
    p->world = o->world;
    p->workers = thread_pool_new(o->threads > 0 ? o->threads : processor_count());
    p->count = (size_t)count;
    p->tracer = o->traced ? hlo_tracer_new(module) : NULL;
    const struct plan_options plan = {
        .plain = o->plain,
        .elided = (enum elided_mode)o->elided,
        .seed = o->seed,
        .workers = p->workers,
        .foreign = hlo_targets_foreign(o->targets),
        .traced = o->traced,
        .interrupt = &p->interrupted,
        .limits = {o->max_steps, o->max_memory, o->timeout, o->max_trip}};
    p->program = plan_module(ds, module->m, &plan);
    if (!p->program) {
        hlo_program_free(p);
        return NULL;
    }
    make_states(p, o->only_first ? 1 : p->count);
    return p;
}

size_t hlo_participants(const hlo_program *p) { return p->count; }

/* ---- feeds: messages are collected by participant and passed on after the run, in a fixed order
 * ---- */

struct feeding {
    const struct hlo_feeds *feeds;
    size_t count;
    hlo_messages **reports; /* by participant, which makes one call at a time, so no lock is needed;
                               NULL: none */
};
struct hlo_feed_call {
    struct budget *budget;
};

bool hlo_feed_stopped(const hlo_feed_call *call) { return !budget_look(call->budget); }

static struct feeding *feeding_new(struct arena *a, const struct hlo_feeds *feeds,
                                   size_t participants)
{
    struct feeding *f = ARENA_NEW(a, struct feeding);
    *f = (struct feeding){feeds, participants, ARENA_ARRAY(a, hlo_messages *, participants)};
    return f;
}

static void name_participant(hlo_messages *m, size_t participant)
{
    for (struct sink *s = m->first; s; s = s->next)
        for (struct diag *d = s->ds.first; d; d = d->next)
            if (d->severity == SEV_ERROR)
                diag_note(&s->ds, d, NO_SPAN, "on participant %zu", participant);
}

/* Passes messages on; of several participants whose feeds failed, only those of the first. */
static void feeding_end(struct feeding *f, hlo_messages *m)
{
    bool failed = false;
    for (size_t k = 0; k < f->count; k++)
        if (f->reports[k] && !failed) {
            failed = hlo_messages_errors(f->reports[k]) > 0;
            if (f->count > 1)
                name_participant(f->reports[k], k);
            hlo_messages_take(m, f->reports[k]);
        } else {
            hlo_messages_free(f->reports[k]);
        }
}

/* Collects the messages of a call. Returns whether there is an error among them. */
static bool feeding_keep(struct feeding *f, int64_t participant, hlo_messages *m)
{
    bool failed = hlo_messages_errors(m) > 0;
    hlo_messages **reports = &f->reports[participant];
    if (hlo_messages_count(m) == 0) {
        hlo_messages_free(m);
        return false;
    }
    if (*reports)
        hlo_messages_take(*reports, m);
    else
        *reports = m;
    return failed;
}

static enum feed feed_in(void *context, int64_t participant, struct budget *b, struct arena *a,
                         struct literal **out)
{
    struct feeding *f = context;
    const struct hlo_feed_call call = {b};
    hlo_messages *m = hlo_messages_new();
    bool before = oom_begin_callback();
    hlo_literal *h = f->feeds->infeed
                         ? f->feeds->infeed(f->feeds->context, (size_t)participant, &call, m)
                         : NULL;
    oom_end_callback(before);
    hlo_literal_adopt(h);
    bool failed = feeding_keep(f, participant, m);
    if (!h)
        return failed ? FEED_FAILED : FEED_EMPTY;
    *out = hlo_literal_take(a, h->l);
    arena_free(&h->arena);
    heap_free(h);
    return FEED_ITEM;
}

static bool feed_out(void *context, int64_t participant, struct budget *b, const struct literal *l)
{
    struct feeding *f = context;
    const struct hlo_feed_call call = {b};
    if (!f->feeds->outfeed)
        return true;
    hlo_messages *m = hlo_messages_new();
    hlo_literal *h =
        hlo_literal_end(hlo_literal_begin(),
                        (struct literal *)(uintptr_t)l); /* borrowed: only the handle is freed */
    bool before = oom_begin_callback(),
         ok = f->feeds->outfeed(f->feeds->context, (size_t)participant, h, &call, m);
    oom_end_callback(before);
    feeding_keep(f, participant, m);
    arena_free(&h->arena);
    heap_free(h);
    return ok;
}

/* ---- runs ---- */

static bool clear_results(hlo_program *p, hlo_literal **results)
{
    for (size_t k = 0; k < p->count; k++)
        results[k] = NULL;
    p->interrupted = false;
    return false;
}

static bool no_memory(hlo_program *p, hlo_literal **results, hlo_messages *m)
{
    hlo_messages_no_memory(m);
    return clear_results(p, results);
}

bool hlo_run_all(hlo_program *p, const hlo_literal *const *args, size_t count,
                 const struct hlo_feeds *feeds, hlo_literal **results, hlo_messages *m)
{
    OOM_SCOPE(no_memory(p, results, m));
    struct arena a;
    struct hlo_feeds given;
    if (!hlo_options_copy(&given, sizeof given, feeds, m))
        return clear_results(p, results);
    arena_init(&a);
    struct feeding *feeding = feeds ? feeding_new(&a, &given, p->count) : NULL;
    struct world_participant *tasks = ARENA_ARRAY(&a, struct world_participant, p->count);
    for (size_t k = 0; k < p->count; k++) {
        const struct literal **values = ARENA_ARRAY(&a, const struct literal *, count);
        for (size_t i = 0; i < count && p->states[k]; i++)
            values[i] = args[k * count + i]->l;
        results[k] = hlo_literal_begin();
        tasks[k] = (struct world_participant){
            .state = p->states[k], .args = values, .arg_count = count, .arena = &results[k]->arena};
    }
    struct diags *ds = hlo_sink_of_module(m, p->module);
    if (p->shared)
        eval_prepare(p->shared);
    const struct world_feeds host = {feeding, feed_in, feed_out}, *h = feeds ? &host : NULL;
    bool ok = p->world ? ranks_run(p->world->ranks, ds, tasks, (int64_t)p->count, h)
                       : world_run(ds, tasks, (int64_t)p->count, h);
    for (size_t k = 0; k < p->count; k++)
        results[k] = hlo_literal_end_own(results[k], tasks[k].result);
    if (feeding)
        feeding_end(feeding, m);
    arena_free(&a);
    p->interrupted = false; /* clear an interrupt of this run */
    return ok;
}

static bool run_traced(const hlo_module *module, const struct hlo_run_options *options,
                       const struct hlo_trace_callbacks *user, bool ours,
                       const hlo_literal *const *args, size_t count, hlo_messages *m)
{
    struct hlo_run_options traced;
    struct hlo_trace_callbacks callbacks;
    if (!hlo_options_copy(&traced, sizeof traced, options, m) ||
        !hlo_options_copy(&callbacks, sizeof callbacks, user, m))
        return false;
    traced.traced = true;
    SCOPED_PROGRAM *p = hlo_plan(module, &traced, m);
    if (!p)
        return false;
    hlo_literal **results = heap_zalloc(p->count, sizeof *results);
    if (ours)
        hlo_trace_within(p, &callbacks);
    else
        hlo_trace(p, &callbacks);
    bool ok = hlo_run_all(p, args, count, NULL, results, m);
    hlo_literals_free(results, p->count);
    return ok;
}

bool hlo_run_traced(const hlo_module *module, const struct hlo_run_options *options,
                    const struct hlo_trace_callbacks *user, const hlo_literal *const *args,
                    size_t count, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    return run_traced(module, options, user, false, args, count, m);
}

bool hlo_run_traced_within(const hlo_module *module, const struct hlo_run_options *options,
                           const struct hlo_trace_callbacks *ours, const hlo_literal *const *args,
                           size_t count, hlo_messages *m)
{
    return run_traced(module, options, ours, true, args, count, m);
}

void hlo_interrupt(hlo_program *p) { p->interrupted = true; }

struct hlo_progress hlo_run_progress(const hlo_program *p)
{
    struct hlo_progress is = {.iteration = -1};
    size_t k = 0;
    while (k < p->count && !p->states[k])
        k++;
    if (k == p->count)
        return is;
    const struct run_state *first = p->states[k];
    const struct step *at = atomic_load_explicit(&first->mark.at, memory_order_relaxed);
    is.count = (size_t)first->program->entry->step_count;
    if (!at)
        return is;
    is.done = (size_t)(at - first->program->entry->steps);
    is.iteration = atomic_load_explicit(&first->mark.iteration, memory_order_relaxed);
    is.name = at->inst->name.ptr;
    is.name_size = at->inst->name.len;
    return is;
}

hlo_literal *hlo_run(hlo_program *p, const hlo_literal *const *args, size_t count, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    SCOPED_HEAP const hlo_literal **all = heap_zalloc(p->count * count + 1, sizeof *all);
    SCOPED_HEAP hlo_literal **results = heap_zalloc(p->count, sizeof *results);
    for (size_t i = 0; i < p->count * count; i++)
        all[i] = args[i % count];
    hlo_run_all(p, all, count, NULL, results, m);
    hlo_literal *first = results[0];
    for (size_t k = 1; k < p->count; k++)
        hlo_literal_free(results[k]);
    return first;
}
