/*
 * ranks_run.c: a run on several ranks: a thread for each participant of this rank. The main thread
 * handles messages, since participants do not while they compute. On rank 0 further threads serve
 * the feed requests of other ranks, one for each request that may be in progress at the same time,
 * since a feed may block until another one proceeds.
 */
#include "world/ranks_priv.h"

#include "base/system.h"

enum { MONITOR_NS = 10000000, MONITOR_BUSY_NS = 200000 };

/* ---- messages ---- */

struct head rank_run_head(const struct member *p, enum kind kind, const struct inst *at)
{
    return (struct head){.kind = kind,
                         .from = (int32_t)p->number,
                         .computation = at ? at->parent->index : -1,
                         .inst = at ? at->index : -1};
}

static struct member *rank_run_member(struct rank_run *c, int64_t number)
{
    return &c->members[number / ranks_count(c->ranks)];
}

/* A participant that has ended reports again, since its last report does not count this message. */
static void handle_block(struct rank_run *c, struct item *i)
{
    struct member *p = rank_run_member(c, i->h.to);
    member_take(p, i);
    if (p->state == ENDED || p->state == FAILED)
        rank_run_report(p);
}

/* Delivers a copy to a participant of this rank. False: out of memory. */
static bool deliver_local(struct rank_run *c, struct head h, struct block body)
{
    void *copy = mem_alloc(body.size);
    if (!copy)
        return false;
    if (body.size > 0)
        memcpy(copy, body.at, body.size);
    handle_block(c, item_new(h, ranks_rank(c->ranks), body.size, copy));
    return true;
}

bool rank_run_post(struct rank_run *c, struct head h, int64_t to, struct block body, int *pending)
{
    h.to = (int32_t)to;
    bool ok = ranks_has(c->ranks, to)
                  ? deliver_local(c, h, body)
                  : ranks_send(c->ranks, rank_of(c->ranks, to), h, body, pending);
    rank_run_member(c, h.from)->sent[to] += ok;
    return ok;
}

static void send_reply(struct rank_run *c, const struct item *request, enum feed received,
                       struct block body)
{
    struct head h = {.kind = KIND_FED, .to = request->h.from, .value = received};
    if (!ranks_send(c->ranks, request->rank, h, body, NULL)) {
        h.value = FEED_FAILED;
        ranks_send_copy(c->ranks, request->rank, h, (struct block){0});
    }
}

static void *serve(void *context);

/* Ensures that there is a thread for the next request: an idle one, a new one or, if no thread can
 * be started, one that serves another request now. False: there are no threads. */
static bool ensure_feed_thread(struct rank_run *c)
{
    if (c->serves && c->host_idle <= c->request_count && c->host_count < c->count - c->here &&
        pthread_create(&c->hosts[c->host_count], NULL, serve, c) == 0) {
        c->host_count++;
        c->host_idle++;
    }
    return c->host_count > 0;
}

static void handle_request(struct rank_run *c, struct item *i)
{
    if (ensure_feed_thread(c)) {
        items_push(&c->requests, i);
        c->request_count++;
        pthread_cond_signal(&c->asked);
        return;
    }
    enum feed received = i->h.kind == KIND_FEED_IN ? FEED_EMPTY : FEED_ITEM; /* without feeds */
    if (c->feeds) {
        coordinator_fail(c->coordinator,
                         "cannot start the thread that serves feeds to other ranks");
        received = FEED_FAILED;
    }
    send_reply(c, i, received, (struct block){0});
    item_free(i);
}

static void handle_result(struct rank_run *c, struct item *i)
{
    struct world_participant *task = &c->tasks[i->h.from];
    struct reader r = {i->body, i->size};
    if (!i->body_missing)
        task->result = unpack_literal(task->arena, &r);
    if (!task->result)
        coordinator_fail(c->coordinator,
                         "out of memory for the result of a participant on another rank");
    item_free(i);
}

static void handle_end(struct rank_run *c, struct item *i)
{
    struct reader r = {i->body, i->size};
    unpack_diags(c->ds, &r);
    c->ok = i->h.value != 0;
    c->ended = true;
    atomic_store(&c->stop,
                 true); /* a feed may be blocked on behalf of a participant that has stopped */
    pthread_cond_signal(&c->changed);
    pthread_cond_broadcast(&c->asked);
    item_free(i);
}

void rank_run_handle(struct rank_run *c, struct item *i)
{
    switch ((enum kind)i->h.kind) {
    case KIND_BLOCK:
    case KIND_MESSAGE: handle_block(c, i); return;
    case KIND_REPORT: coordinator_report(c->coordinator, i); return;
    case KIND_BUSY: coordinator_busy(c->coordinator, i->h.from); break;
    case KIND_RESULT: handle_result(c, i); return;
    case KIND_FEED_IN:
    case KIND_FEED_OUT: handle_request(c, i); return;
    case KIND_FED: rank_run_member(c, i->h.to)->fed = i; return;
    case KIND_END: handle_end(c, i); return;
    case KIND_STOP: atomic_store(&c->stop, true); break;
    default: break;
    }
    item_free(i);
}

bool rank_run_progress(struct rank_run *c)
{
    struct item *i = ranks_receive(c->ranks);
    if (i)
        rank_run_handle(c, i);
    return i != NULL;
}

void rank_run_broadcast(struct rank_run *c, struct head h, struct block body)
{
    for (int k = 0; k < ranks_count(c->ranks); k++)
        if (k != ranks_rank(c->ranks))
            ranks_send_copy(c->ranks, k, h, body);
}

void rank_run_enter(struct rank_run *c, struct cleanup *u)
{
    pthread_mutex_lock(&c->lock);
    oom_push_cleanup(u, ranks_abort_out_of_memory, NULL);
}

void rank_run_leave(struct rank_run *c, struct cleanup *u)
{
    oom_pop_cleanup(u);
    pthread_mutex_unlock(&c->lock);
}

void rank_run_pause(struct rank_run *c, unsigned times)
{
    pthread_mutex_unlock(&c->lock);
    ranks_pause(c->ranks, times);
    pthread_mutex_lock(&c->lock);
}

/* ---- participants ---- */

/* Waits until all sends have completed: rank 0 ends the run when all participants have reported
 * their end. */
static void wait_for_sends(struct rank_run *c)
{
    for (unsigned times = 0; c->ranks->transport.busy(c->ranks->transport.context);)
        if (rank_run_progress(c))
            times = 0;
        else
            rank_run_pause(c, times++);
}

/* Sends the result to rank 0. False: out of memory. */
static bool deliver_result(struct member *p)
{
    struct rank_run *c = p->rank_run;
    struct literal *l = p->task->result;
    size_t size = 0;
    int pending = 0;
    if (ranks_rank(c->ranks) == 0)
        return true;
    void *bytes = pack_literal(l, &size);
    bool ok = bytes && ranks_send(c->ranks, 0, rank_run_head(p, KIND_RESULT, NULL),
                                  (struct block){bytes, size}, &pending);
    wait_for_sends(c);
    mem_free(bytes);
    literal_free_data(l);
    p->task->result = NULL;
    return ok || DIAG_ERROR(&p->ds, NO_SPAN, FAILURE, "out of memory for sending the result");
}

/* The end of a participant; its report follows everything else that it has sent. */
static void finish_participant(struct member *p)
{
    struct rank_run *c = p->rank_run;
    struct cleanup u;
    rank_run_enter(c, &u);
    bool stopped = atomic_load(&c->stop);
    wait_for_sends(c);
    p->state = p->task->result && deliver_result(p) ? ENDED : FAILED;
    p->by_itself = p->state == FAILED && !stopped;
    c->over++;
    rank_run_report(p);
    pthread_cond_signal(&c->changed);
    rank_run_leave(c, &u);
}

static void run_program(struct member *p)
{
    struct exchange e = ranks_exchange;
    e.context = p;
    e.stop = &p->rank_run->stop;
    p->task->result =
        eval_program(&p->ds, p->task->state, p->task->args, p->task->arg_count, &e, p->task->arena);
}

static void *run_one(void *context)
{
    struct member *p = context;
    struct oom_scope g;
    oom_enter(&g, p->rank_run->oom_scope);
    if (setjmp(g.back) == 0) {
        run_program(p);
    } else {
        diags_no_memory(&p->ds);
        p->rank_run->ran_out_of_memory = true;
    }
    finish_participant(p);
    oom_leave(&g);
    return NULL;
}

static void start(struct rank_run *c)
{
    for (struct member *p = c->members; p < c->members + c->here; p++) {
        int error = system_start_thread(&p->thread, WORLD_STACK_BYTES, run_one, p);
        p->started = error == 0;
        if (p->started)
            continue;
        struct str why = arena_printf(&p->ds.arena, "cannot start thread: %s", strerror(error));
        DIAG(&p->ds, NO_SPAN, FAILURE, why.ptr);
        finish_participant(p);
    }
}

/* ---- feeds of participants on other ranks ---- */

static void feed_in(struct rank_run *c, const struct item *request)
{
    SCOPED_ARENA a = arena_make();
    struct budget b;
    struct literal *l = NULL;
    size_t size = 0;
    void *bytes = NULL;
    budget_start(&b, &(struct limits){0},
                 &c->stop); /* the time limit is checked by the participant */
    enum feed received = c->feeds->infeed(c->feeds->context, request->h.from, &b, &a, &l);
    if (received == FEED_ITEM) {
        bytes = pack_literal(l, &size);
        received = bytes ? FEED_ITEM : FEED_FAILED;
        literal_free_data(l);
    }
    pthread_mutex_lock(&c->lock);
    send_reply(c, request, received, (struct block){bytes, size});
    pthread_mutex_unlock(&c->lock);
    mem_free(bytes);
}

static void feed_out(struct rank_run *c, const struct item *request)
{
    SCOPED_ARENA a = arena_make();
    struct budget b;
    struct reader r = {request->body, request->size};
    budget_start(&b, &(struct limits){0}, &c->stop);
    struct literal *l = request->body_missing ? NULL : unpack_literal(&a, &r);
    bool ok = l && c->feeds->outfeed(c->feeds->context, request->h.from, &b, l);
    pthread_mutex_lock(&c->lock);
    send_reply(c, request, ok ? FEED_ITEM : FEED_FAILED, (struct block){0});
    pthread_mutex_unlock(&c->lock);
    if (l)
        literal_free_data(l);
}

static void *serve(void *context)
{
    struct rank_run *c = context;
    struct oom_scope g;
    struct cleanup u;
    oom_enter(&g, c->oom_scope); /* ranks_abort_out_of_memory exits before it unwinds */
    rank_run_enter(c, &u);
    while (!c->ended) {
        struct item *i = items_pop(&c->requests);
        if (!i) {
            pthread_cond_wait(&c->asked, &c->lock);
            continue;
        }
        c->request_count--;
        c->host_idle--;
        pthread_mutex_unlock(&c->lock);
        if (i->h.kind == KIND_FEED_IN)
            feed_in(c, i);
        else
            feed_out(c, i);
        item_free(i);
        pthread_mutex_lock(&c->lock);
        c->host_idle++;
    }
    rank_run_leave(c, &u);
    oom_leave(&g);
    return NULL;
}

/* ---- the run ---- */

static void report_busy(struct rank_run *c)
{
    for (struct member *p = c->members; p < c->members + c->here; p++) {
        if (p->busy || !p->started || p->state != RUNNING ||
            !(atomic_load(&p->asks_host) || world_grace_is_over(p->thread)))
            continue;
        p->busy = true;
        if (c->coordinator)
            coordinator_busy(c->coordinator, p->number);
        else
            ranks_send_copy(c->ranks, 0, rank_run_head(p, KIND_BUSY, NULL), (struct block){0});
    }
}

/* The message loop of the main thread: blocked participants poll for messages themselves, running
 * ones do not. */
static void monitor(struct rank_run *c)
{
    pthread_mutex_lock(&c->lock);
    for (unsigned times = 0; !c->ended;) {
        while (!c->ended && rank_run_progress(c))
            times = 0;
        report_busy(c);
        if (c->coordinator)
            coordinator_check(c->coordinator);
        if (c->ended)
            break;
        if (c->over == c->here || c->serves) {
            rank_run_pause(c, times++);
            continue;
        }
        bool busy = c->ranks->transport.busy(c->ranks->transport.context);
        system_cond_wait(&c->changed, &c->lock, now_ns() + (busy ? MONITOR_BUSY_NS : MONITOR_NS));
    }
    pthread_mutex_unlock(&c->lock);
}

static void init(struct rank_run *c, struct source *source)
{
    int ranks = ranks_count(c->ranks), rank = ranks_rank(c->ranks);
    arena_init(&c->arena);
    pthread_mutex_init(&c->lock, NULL);
    system_cond_init(&c->changed);
    pthread_cond_init(&c->asked, NULL);
    c->here = rank < c->count ? (c->count - rank + ranks - 1) / ranks : 0;
    c->members = ARENA_ARRAY(&c->arena, struct member, c->here);
    for (int64_t k = 0; k < c->here; k++) {
        struct member *p = &c->members[k];
        int64_t number = rank + k * ranks;
        *p = (struct member){.rank_run = c, .number = number, .task = &c->tasks[number]};
        p->sent = ARENA_ARRAY(&c->arena, int64_t, c->count);
        p->received = ARENA_ARRAY(&c->arena, int64_t, c->count);
        diags_init(&p->ds, source);
    }
    for (int64_t k = 0; k < c->count; k++)
        c->tasks[k].result = NULL;
    c->coordinator = rank == 0 ? coordinator_new(c) : NULL;
    c->serves = c->feeds && c->here < c->count;
    if (c->serves) /* a participant has at most one request in progress */
        c->hosts = ARENA_ARRAY(&c->arena, pthread_t, c->count - c->here);
}

static void free_items(struct items *q)
{
    for (struct item *i; (i = items_pop(q)) != NULL;)
        item_free(i);
}

static void finish(struct rank_run *c)
{
    if (c->coordinator)
        coordinator_free(c->coordinator);
    free_items(&c->requests);
    for (struct member *p = c->members; p < c->members + c->here; p++) {
        free_items(&p->inbox);
        item_free(p->fed);
        diags_free(&p->ds);
    }
    for (int64_t k = 0; k < c->count && !c->ok; k++)
        if (c->tasks[k].result) {
            literal_free_data(c->tasks[k].result);
            c->tasks[k].result = NULL;
        }
    pthread_cond_destroy(&c->asked);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    arena_free(&c->arena);
}

bool ranks_run(struct ranks *r, struct diags *ds, struct world_participant *tasks, int64_t count,
               const struct world_feeds *feeds)
{
    struct rank_run c = {.ranks = r, .tasks = tasks, .count = count, .ds = ds};
    r->phase++;
    if (r->transport.rank == 0)
        c.feeds = feeds;
    struct cleanup abort_on_oom;
    c.oom_scope = oom_innermost();
    init(&c, ds->source);
    oom_push_cleanup(&abort_on_oom, ranks_abort_out_of_memory, NULL); /* other ranks would block */
    start(&c);
    monitor(&c);
    for (struct member *p = c.members; p < c.members + c.here; p++)
        if (p->started)
            pthread_join(p->thread, NULL);
    for (int64_t k = 0; k < c.host_count; k++)
        pthread_join(c.hosts[k], NULL);
    oom_pop_cleanup(&abort_on_oom);
    finish(&c);
    if (c.ran_out_of_memory)
        out_of_memory();
    return c.ok;
}
