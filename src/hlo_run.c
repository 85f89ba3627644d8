/*
 * The public interface to runs: programs, the participants that run them, and the host that feeds them.
 */
#include "hlo_priv.h"

#include "plan/plan.h"
#include "world/world.h"

#include <assert.h>
#include <stdlib.h>

static_assert((int)HLO_MAX_PARTICIPANTS == (int)WORLD_MAX_PARTICIPANTS, "hlo.h and world.h say the same");
static_assert((int)HLO_ELIDED_RANDOM == (int)ELIDED_RANDOM, "hlo.h and plan.h number these alike");

/* ---- running ---- */

struct hlo_program {
    const hlo_module *module;
    hlo_world *world;           /* NULL: threads */
    size_t count;               /* participants */
    struct program *programs[]; /* one each: what a program keeps while it runs is its participant's; NULL: not here */
};

void hlo_program_free(hlo_program *p)
{
    for (size_t k = 0; p && k < p->count; k++)
        program_free(p->programs[k]);
    free(p);
}

hlo_program *hlo_plan(const hlo_module *module, const struct hlo_run_options *o, hlo_messages *m)
{
    struct diags *ds = hlo_sink_of_module(m, module);
    int64_t replicas = module->m->replica_count, partitions = module->m->num_partitions, count;
    if (!mul_i64(replicas, partitions, &count) || count < 1 || count > WORLD_MAX_PARTICIPANTS) {
        DIAG(ds, NO_SPAN, TOO_MANY_PARTICIPANTS, replicas, partitions, WORLD_MAX_PARTICIPANTS);
        return NULL;
    }
    hlo_program *p = hlo_calloc(sizeof *p + (size_t)count * sizeof *p->programs);
    p->module = module;
    p->world = o->world;
    p->count = (size_t)count;
    for (size_t k = 0; k < p->count; k++) {
        struct plan_options options = {.plain = o->plain,
                                       .elided = (enum elided_mode)o->elided,
                                       .seed = o->seed,
                                       .replica = (int64_t)k / partitions,
                                       .partition = (int64_t)k % partitions,
                                       .foreign = hlo_targets_foreign(o->targets),
                                       .limits = {o->max_steps, o->max_memory, o->timeout}};
        if (!hlo_world_runs(p->world, k))
            continue;
        p->programs[k] = plan_module(ds, module->m, &options);
        if (!p->programs[k]) {
            hlo_program_free(p);
            return NULL;
        }
    }
    return p;
}

size_t hlo_participants(const hlo_program *p)
{
    return p->count;
}

/* ---- feeds ---- */

struct feeding {
    const struct hlo_feeds *feeds;
    hlo_messages *m;
};

static enum feed feed_in(void *context, int64_t participant, struct arena *a, struct literal **out)
{
    struct feeding *f = context;
    size_t errors = hlo_messages_errors(f->m);
    hlo_literal *h = f->feeds->infeed ? f->feeds->infeed(f->feeds->context, (size_t)participant, f->m) : NULL;
    if (!h)
        return hlo_messages_errors(f->m) > errors ? FEED_FAILED : FEED_EMPTY;
    *out = hlo_literal_take(a, h->l);
    arena_free(&h->arena);
    free(h);
    return FEED_ITEM;
}

static bool feed_out(void *context, int64_t participant, const struct literal *l)
{
    struct feeding *f = context;
    if (!f->feeds->outfeed)
        return true;
    hlo_literal *h = hlo_literal_end(hlo_literal_begin(), (struct literal *)(uintptr_t)l); /* lent: only its handle is freed */
    bool ok = f->feeds->outfeed(f->feeds->context, (size_t)participant, h, f->m);
    arena_free(&h->arena);
    free(h);
    return ok;
}

/* ---- the run ---- */

bool hlo_run_all(hlo_program *p, const hlo_literal *const *args, size_t count, const struct hlo_feeds *feeds,
                 hlo_literal **results, hlo_messages *m)
{
    struct arena a;
    struct feeding feeding = {feeds, m};
    struct world_feeds world = {&feeding, feed_in, feed_out};
    arena_init(&a);
    struct world_participant *tasks = ARENA_ARRAY(&a, struct world_participant, p->count);
    for (size_t k = 0; k < p->count; k++) {
        const struct literal **values = ARENA_ARRAY(&a, const struct literal *, count);
        for (size_t i = 0; i < count && p->programs[k]; i++)
            values[i] = args[k * count + i]->l;
        results[k] = hlo_literal_begin();
        tasks[k] = (struct world_participant){
            .program = p->programs[k], .args = values, .arg_count = count, .arena = &results[k]->arena};
    }
    struct diags *ds = hlo_sink_of_module(m, p->module);
    const struct world_feeds *host = feeds ? &world : NULL;
    bool ok = p->world ? ranks_run(p->world->ranks, ds, tasks, (int64_t)p->count, host)
                       : world_run(ds, tasks, (int64_t)p->count, host);
    for (size_t k = 0; k < p->count; k++)
        results[k] = hlo_literal_end(results[k], tasks[k].result);
    arena_free(&a);
    return ok;
}

hlo_literal *hlo_run(hlo_program *p, const hlo_literal *const *args, size_t count, hlo_messages *m)
{
    const hlo_literal **all = hlo_calloc((p->count * count + 1) * sizeof *all);
    hlo_literal **results = hlo_calloc(p->count * sizeof *results);
    for (size_t i = 0; i < p->count * count; i++)
        all[i] = args[i % count];
    hlo_run_all(p, all, count, NULL, results, m);
    hlo_literal *first = results[0];
    for (size_t k = 1; k < p->count; k++)
        hlo_literal_free(results[k]);
    free(results);
    free(all);
    return first;
}
