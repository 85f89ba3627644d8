/*
 * run.c: a run: a thread for each participant, and the diagnostics when all of them have ended.
 *
 * A failure does not stop the other participants at once: they continue until they are deadlocked
 * or end, so that the diagnostics do not depend on the scheduling of threads. A participant that
 * continues beyond the grace period is stopped.
 */
#include "world/world_priv.h"

#include "base/oom.h"
#include "base/system.h"

#include <errno.h>
#include <time.h>

static void run_program(struct participant *p)
{
    struct world_participant *t = p->task;
    struct exchange e = world_exchange;
    e.context = p;
    e.stop = &p->world->stop;
    t->result = eval_program(&p->ds, t->state, t->args, t->arg_count, &e, t->arena);
}

static void *run_one(void *context)
{
    struct participant *p = context;
    struct world *w = p->world;
    struct oom_scope g;
    oom_enter(&g, w->oom_scope);
    bool ran_out_of_memory = setjmp(g.back) != 0;
    if (!ran_out_of_memory)
        run_program(p);
    oom_leave(&g);
    pthread_mutex_lock(&w->lock);
    w->ran_out_of_memory |= ran_out_of_memory;
    p->state = p->task->result ? ENDED : FAILED;
    p->by_itself = p->state == FAILED && !atomic_load(&w->stop);
    w->running--;
    w->over++;
    world_stop_if_blocked(w);
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static bool any_failed(const struct world *w)
{
    for (int64_t k = 0; k < w->count; k++)
        if (w->participants[k].state == FAILED)
            return true;
    return false;
}

bool world_grace_is_over(pthread_t participant)
{
    int64_t ns = system_thread_time(participant);
    return ns < 0 || ns >= WORLD_STALL_NS;
}

/* Whether every running participant has used its grace period, in which it would have reached an
 * instruction that blocks. */
static bool all_graces_are_over(const struct world *w)
{
    for (int64_t k = 0; k < w->count; k++) {
        const struct participant *p = &w->participants[k];
        if (atomic_load(&p->state) == RUNNING && !atomic_load(&p->asks_host) &&
            !world_grace_is_over(p->thread))
            return false;
    }
    return true;
}

/* Waits until all participants have ended. Checks periodically whether one has failed while others
 * are still running, or some are deadlocked while others are running, and stops the run then. */
static void monitor(struct world *w)
{
    bool failed = false;
    int waited = 0; /* number of timeouts since a participant last ended */
    pthread_mutex_lock(&w->lock);
    while (w->over < w->count) {
        int64_t over = w->over, until = now_ns() + WORLD_STALL_NS;
        int stall_count = 0;
        while (w->over == over && stall_count != ETIMEDOUT)
            stall_count = system_cond_wait(&w->ended, &w->lock, until);
        waited = w->over == over ? waited + 1 : 0;
        if (stall_count != ETIMEDOUT || atomic_load(&w->stop) ||
            (waited < WORLD_MAX_STALLS && !all_graces_are_over(w)))
            continue;
        if (failed || world_detect_deadlock(w))
            world_stop(w);
        failed = any_failed(w);
    }
    pthread_mutex_unlock(&w->lock);
}

/* Starts the threads. Returns 0 or, when a thread cannot be started, the error number; the first
 * w->started participants run. */
static int start(struct world *w)
{
    int error = 0;
    pthread_mutex_lock(&w->lock); /* no participant blocks before all are started */
    while (w->started < w->count && error == 0) {
        struct participant *p = &w->participants[w->started];
        error = system_start_thread(&p->thread, WORLD_STACK_BYTES, run_one, p);
        w->started += error == 0;
    }
    if (error != 0) {
        for (int64_t k = w->started; k < w->count; k++)
            w->participants[k].state = ENDED;
        w->running = w->started;
        w->over = w->count - w->started;
        world_stop(w);
    }
    pthread_mutex_unlock(&w->lock);
    return error;
}

static void init(struct world *w, struct world_participant *tasks, int64_t count,
                 struct source *source)
{
    arena_init(&w->arena);
    w->count = w->running = count;
    w->spins = world_spins(count);
    w->participants = ARENA_ARRAY(&w->arena, struct participant, count);
    w->waits = ARENA_ARRAY(&w->arena, struct blocked, count);
    w->can_proceed = ARENA_ARRAY(&w->arena, bool, count);
    w->waits_for = arena_alloc(&w->arena, (size_t)(count * count) * sizeof *w->waits_for);
    w->oom_scope = oom_innermost();
    pthread_mutex_init(&w->lock, NULL);
    system_cond_init(&w->ended);
    for (int64_t k = 0; k < count; k++) {
        struct participant *p = &w->participants[k];
        *p = (struct participant){.world = w, .number = k, .task = &tasks[k], .spins = w->spins};
        tasks[k].result = NULL;
        diags_init(&p->ds, source);
        pthread_cond_init(&p->wake, NULL);
    }
}

static void finish(void *world)
{
    struct world *w = world;
    world_clean(w);
    for (int64_t k = 0; k < w->count; k++) {
        diags_free(&w->participants[k].ds);
        pthread_cond_destroy(&w->participants[k].wake);
    }
    pthread_cond_destroy(&w->ended);
    pthread_mutex_destroy(&w->lock);
    arena_free(&w->arena);
}

static bool judge(struct world *w, struct diags *ds)
{
    struct outcome o = {
        .arena = &w->arena, .count = w->count, .waits = w->waits, .wait_count = w->wait_count};
    o.endings = ARENA_ARRAY(&w->arena, struct ending, w->count);
    for (int64_t k = 0; k < w->count; k++) {
        struct participant *p = &w->participants[k];
        o.endings[k] =
            (struct ending){.ended = p->state == ENDED, .by_itself = p->by_itself, .ds = &p->ds};
        if (p->inbox) {
            o.endings[k].sender = p->inbox->from;
            o.endings[k].sent_at = p->inbox->sent_at;
        }
    }
    return world_verdict(&o, ds);
}

bool world_run(struct diags *ds, struct world_participant *tasks, int64_t count,
               const struct world_feeds *feeds)
{
    struct world w = {.feeds = feeds};
    unsigned errors = ds->errors;
    struct cleanup finishing;
    int error = 0;
    init(&w, tasks, count, ds->source);
    oom_push_cleanup(&finishing, finish, &w);
    if (count == 1) {
        run_one(&w.participants[0]); /* needs no thread */
    } else {
        error = start(&w);
        monitor(&w);
        for (int64_t k = 0; k < w.started; k++)
            pthread_join(w.participants[k].thread, NULL);
    }
    if (w.ran_out_of_memory)
        out_of_memory();
    if (error != 0) {
        struct str why = arena_printf(&w.arena, "participant %" PRId64 ": cannot start thread: %s",
                                      w.started, strerror(error));
        DIAG(ds, NO_SPAN, FAILURE, why.ptr);
    }
    bool ok = ds->errors == errors && judge(&w, ds);
    for (int64_t k = 0; k < count && !ok; k++)
        if (tasks[k].result) {
            literal_free_data(tasks[k].result);
            tasks[k].result = NULL;
        }
    oom_pop_cleanup(&finishing);
    finish(&w);
    return ok;
}
