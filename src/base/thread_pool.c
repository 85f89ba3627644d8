/*
 * thread_pool.c: a thread pool whose workers share the parts of a task.
 *
 * Threads start with the first task that is large enough. Between tasks they poll for some
 * microseconds, since tasks often follow each other closely, and then sleep. Parts are scheduled
 * dynamically, so results must not depend on which thread runs which part.
 */
#include "base/oom.h"

#include "base/system.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { CACHE_LINE = 64 };
enum { STACK_BYTES = 8 << 20 }; /* of a worker */
enum { POLL_BUDGET = 2000 };    /* polls, some tens of microseconds, before a thread sleeps */

struct task {
    thread_pool_fn *fn;
    void *context;
    int64_t parts;
    struct oom_scope *oom_scope; /* out-of-memory scope of the caller */
};

struct worker {
    struct thread_pool *workers;
    int number; /* from 1: the caller is worker 0 */
    pthread_t thread;
    atomic_int cpu;           /* the processor that ran it last, or will run it; -1: unknown */
    atomic_int_fast64_t next; /* part of its share of the task */
    char unused[CACHE_LINE];  /* keeps members of different workers in different cache lines */
};

struct thread_pool {
    struct tracked tracked;
    int size, started;    /* threads requested and running, the caller included */
    pthread_mutex_t busy; /* held by the caller whose task runs */
    pthread_mutex_t lock; /* protects the following members, except atomic ones */
    pthread_cond_t task_added, left;
    struct task task;
    bool open;                         /* workers may join the task */
    atomic_bool out_of_memory_in_task; /* a worker ran out of memory */
    atomic_int active;                 /* workers running parts, without the caller */
    atomic_bool ended;                 /* the pool is being freed */
    atomic_uint_fast64_t round;        /* number of tasks so far */
    struct worker workers[];           /* by number; the first is the caller */
};

static void relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

static void end_thread_pool(struct tracked *t);

struct thread_pool *thread_pool_new(int threads)
{
    struct thread_pool *t =
        threads > 1 ? calloc(1, sizeof *t + (size_t)threads * sizeof *t->workers) : NULL;
    if (!t)
        return NULL;
    t->tracked.on_oom = end_thread_pool;
    oom_track(&t->tracked, oom_innermost());
    t->size = threads;
    t->started = 1;
    pthread_mutex_init(&t->busy, NULL);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->task_added, NULL);
    pthread_cond_init(&t->left, NULL);
    return t;
}

int thread_pool_size(const struct thread_pool *t) { return t ? t->size : 1; }

/* ---- workers ---- */

/* The first part of a worker's share. */
static int64_t share(const struct thread_pool *t, int64_t parts, int worker)
{
    return parts / t->size * worker + min_i64(parts % t->size, worker);
}

/* A worker runs its own share, and then what is left of the others: consecutive parts use adjacent
 * memory, and those of the next task often the same memory. */
static void do_next_parts(struct thread_pool *t, const struct task *task, int worker)
{
    for (int k = 0; k < t->size; k++) {
        const int owner = (worker + k) % t->size;
        const int64_t end = share(t, task->parts, owner + 1);
        atomic_int_fast64_t *next = &t->workers[owner].next;
        int64_t part;
        while (atomic_load_explicit(next, memory_order_relaxed) < end &&
               (part = atomic_fetch_add_explicit(next, 1, memory_order_relaxed)) < end)
            task->fn(task->context, part, worker);
    }
}

/* Runs parts until none is left. A worker does not leave early, not even when memory runs out. */
static void do_parts(struct thread_pool *t, const struct task *task, int worker)
{
    struct oom_scope g;
    oom_enter(&g, task->oom_scope);
    if (setjmp(g.back) == 0)
        do_next_parts(t, task, worker);
    else
        atomic_store(&t->out_of_memory_in_task, true);
    oom_leave(&g);
}

/* Waits for a task newer than `seen`; false: the pool is being freed. */
static bool wait_for_round(struct thread_pool *t, uint64_t seen)
{
    for (int k = 0; k < POLL_BUDGET; k++) {
        if (atomic_load(&t->round) != seen || atomic_load(&t->ended))
            return !atomic_load(&t->ended);
        relax();
    }
    pthread_mutex_lock(&t->lock);
    while (atomic_load(&t->round) == seen && !atomic_load(&t->ended))
        pthread_cond_wait(&t->task_added, &t->lock);
    pthread_mutex_unlock(&t->lock);
    return !atomic_load(&t->ended);
}

/* Joins the current task, unless it has been closed already; the caller does not wait for late
 * workers. */
static void join_task(struct thread_pool *t, int worker, uint64_t *seen)
{
    pthread_mutex_lock(&t->lock);
    *seen = atomic_load(&t->round);
    struct task task = t->task;
    bool open = t->open;
    if (open)
        atomic_fetch_add(&t->active, 1);
    pthread_mutex_unlock(&t->lock);
    if (!open)
        return;
    do_parts(t, &task, worker);
    pthread_mutex_lock(&t->lock);
    if (atomic_fetch_sub(&t->active, 1) == 1)
        pthread_cond_signal(&t->left);
    pthread_mutex_unlock(&t->lock);
}

static void *worker_main(void *argument)
{
    struct worker *m = argument;
    uint64_t seen = 0;
    while (wait_for_round(m->workers, seen)) {
        atomic_store_explicit(&m->cpu, system_cpu(), memory_order_relaxed);
        join_task(m->workers, m->number, &seen);
    }
    return NULL;
}

/* Blocks signals: they are delivered to the calling thread, which may have blocked them in order to
 * wait for them. Synchronous signals (SIGSEGV and the like) are not blocked. */
static void without_signals(sigset_t *before)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    sigset_t set;
    sigfillset(&set);
    for (size_t i = 0; i < COUNT_OF(faults); i++)
        sigdelset(&set, faults[i]);
    pthread_sigmask(SIG_BLOCK, &set, before);
}

/* Starts the threads. A thread that cannot be started is not an error: the others run its parts. */
static void start_workers(struct thread_pool *t)
{
    sigset_t before;
    without_signals(&before);
    while (t->started < t->size) {
        struct worker *m = &t->workers[t->started];
        *m = (struct worker){.workers = t, .number = t->started, .cpu = system_cpu()};
        if (system_start_thread(&m->thread, STACK_BYTES, worker_main, m) != 0)
            break;
        t->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void end_thread_pool(struct tracked *tracked)
{
    struct thread_pool *t = (struct thread_pool *)(void *)tracked;
    pthread_mutex_lock(&t->lock);
    atomic_store(&t->ended, true);
    pthread_cond_broadcast(&t->task_added);
    pthread_mutex_unlock(&t->lock);
    for (int k = 1; k < t->started; k++)
        pthread_join(t->workers[k].thread, NULL);
    pthread_cond_destroy(&t->left);
    pthread_cond_destroy(&t->task_added);
    pthread_mutex_destroy(&t->lock);
    pthread_mutex_destroy(&t->busy);
    free(t);
}

void thread_pool_free(struct thread_pool *t)
{
    if (!t)
        return;
    oom_untrack(&t->tracked);
    end_thread_pool(&t->tracked);
}

/* ---- tasks ---- */

/* Moves workers that would run on the processor of the caller: the system may leave them there for
 * milliseconds while other processors are idle. */
static void spread_workers(struct thread_pool *t)
{
    const int own = system_cpu();
    for (int k = 1; k < t->started; k++) {
        struct worker *m = &t->workers[k];
        if (own >= 0 && atomic_load_explicit(&m->cpu, memory_order_relaxed) == own)
            atomic_store_explicit(&m->cpu, system_move_thread(m->thread, k - 1),
                                  memory_order_relaxed);
    }
}

static void open_task(struct thread_pool *t, struct task task)
{
    pthread_mutex_lock(&t->lock);
    t->task = task;
    for (int k = 0; k < t->size; k++)
        atomic_store(&t->workers[k].next, share(t, task.parts, k));
    t->open = true;
    atomic_fetch_add(&t->round, 1);
    pthread_cond_broadcast(&t->task_added);
    pthread_mutex_unlock(&t->lock);
    spread_workers(t);
}

/* Returns when no worker is running parts of the task any more. */
static void close_task(struct thread_pool *t)
{
    pthread_mutex_lock(&t->lock);
    t->open = false;
    pthread_mutex_unlock(&t->lock);
    for (int k = 0; k < POLL_BUDGET && atomic_load(&t->active) > 0; k++)
        relax();
    pthread_mutex_lock(&t->lock);
    while (atomic_load(&t->active) > 0)
        pthread_cond_wait(&t->left, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

void thread_pool_run(struct thread_pool *t, int64_t parts, thread_pool_fn *fn, void *context)
{
    if (parts < 2 || !t || t->size < 2 || pthread_mutex_trylock(&t->busy) != 0) {
        for (int64_t part = 0; part < parts; part++)
            fn(context, part, 0);
        return;
    }
    struct task task = {fn, context, parts, oom_innermost()};
    start_workers(t);
    open_task(t, task);
    do_parts(t, &task, 0);
    close_task(t);
    bool out_of_memory_in_task = atomic_exchange(&t->out_of_memory_in_task, false);
    pthread_mutex_unlock(&t->busy);
    if (out_of_memory_in_task)
        out_of_memory();
}

struct ranges {
    int64_t count, piece;
    thread_pool_range_fn *fn;
    void *context;
};

static void run_range(void *context, int64_t part, int worker)
{
    const struct ranges *r = context;
    const int64_t from = part * r->piece, left = r->count - from;
    r->fn(r->context, from, left < r->piece ? r->count : from + r->piece, worker);
}

void thread_pool_share(struct thread_pool *t, int64_t count, int64_t piece,
                       thread_pool_range_fn *fn, void *context)
{
    struct ranges r = {count, piece, fn, context};
    thread_pool_run(t, ratio_up(count, piece), run_range, &r);
}
