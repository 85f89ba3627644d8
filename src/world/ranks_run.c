/*
 * ranks_run.c: a run on several ranks: a thread for each participant of this rank. The main thread
 * handles messages, since participants do not while they compute. On rank 0 further threads serve
 * the feed requests of other ranks, one for each request that may be in progress at the same time,
 * since a feed may block until another one proceeds.
 */
#include "world/ranks_priv.h"

enum { WATCH_NS = 10000000, WATCH_BUSY_NS = 200000 };

/* ---- messages ---- */

struct head crew_head(const struct member *p, enum kind kind, const struct inst *at)
{
    return (struct head){.kind = kind,
                         .from = (int32_t)p->number,
                         .computation = at ? at->parent->index : -1,
                         .inst = at ? at->index : -1};
}

static struct member *crew_member(struct crew *c, int64_t number)
{
    return &c->members[number / ranks_count(c->ranks)];
}

/* A participant that has ended reports again, since its last report does not count this message. */
static void take_block(struct crew *c, struct item *i)
{
    struct member *p = crew_member(c, i->h.to);
    member_take(p, i);
    if (p->state == ENDED || p->state == FAILED)
        crew_report(p);
}

/* Delivers a copy to a participant of this rank. False: out of memory. */
static bool hand_over(struct crew *c, struct head h, struct block body)
{
    void *copy = mem_alloc(body.size);
    if (!copy)
        return false;
    if (body.size > 0)
        memcpy(copy, body.at, body.size);
    take_block(c, item_new(h, ranks_rank(c->ranks), body.size, copy));
    return true;
}

bool crew_post(struct crew *c, struct head h, int64_t to, struct block body, int *pending)
{
    h.to = (int32_t)to;
    bool ok = ranks_has(c->ranks, to)
                  ? hand_over(c, h, body)
                  : ranks_send(c->ranks, rank_of(c->ranks, to), h, body, pending);
    crew_member(c, h.from)->sent[to] += ok;
    return ok;
}

static void answer(struct crew *c, const struct item *request, enum feed came, struct block body)
{
    struct head h = {.kind = KIND_FED, .to = request->h.from, .value = came};
    if (!ranks_send(c->ranks, request->rank, h, body, NULL)) {
        h.value = FEED_FAILED;
        ranks_tell(c->ranks, request->rank, h, (struct block){0});
    }
}

static void *serve(void *context);

/* Ensures that there is a thread for the next request: an idle one, a new one or, if no thread can
 * be started, one that serves another request now. False: there are no threads. */
static bool find_host(struct crew *c)
{
    if (c->serves && c->host_idle <= c->request_count && c->host_count < c->count - c->here &&
        pthread_create(&c->hosts[c->host_count], NULL, serve, c) == 0) {
        c->host_count++;
        c->host_idle++;
    }
    return c->host_count > 0;
}

static void take_request(struct crew *c, struct item *i)
{
    if (find_host(c)) {
        items_push(&c->requests, i);
        c->request_count++;
        pthread_cond_signal(&c->asked);
        return;
    }
    enum feed came = i->h.kind == KIND_FEED_IN ? FEED_EMPTY : FEED_ITEM; /* without feeds */
    if (c->feeds) {
        board_fail(c->board, "cannot start the thread that serves feeds to other ranks");
        came = FEED_FAILED;
    }
    answer(c, i, came, (struct block){0});
    item_free(i);
}

static void take_result(struct crew *c, struct item *i)
{
    struct world_participant *task = &c->tasks[i->h.from];
    struct reader r = {i->body, i->size};
    if (!i->lost)
        task->result = unpack_literal(task->arena, &r);
    if (!task->result)
        board_fail(c->board, "out of memory for the result of a participant on another rank");
    item_free(i);
}

static void take_end(struct crew *c, struct item *i)
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

void crew_take(struct crew *c, struct item *i)
{
    switch ((enum kind)i->h.kind) {
    case KIND_BLOCK:
    case KIND_MESSAGE: take_block(c, i); return;
    case KIND_REPORT: board_report(c->board, i); return;
    case KIND_BUSY: board_busy(c->board, i->h.from); break;
    case KIND_RESULT: take_result(c, i); return;
    case KIND_FEED_IN:
    case KIND_FEED_OUT: take_request(c, i); return;
    case KIND_FED: crew_member(c, i->h.to)->fed = i; return;
    case KIND_END: take_end(c, i); return;
    case KIND_STOP: atomic_store(&c->stop, true); break;
    default: break;
    }
    item_free(i);
}

bool crew_progress(struct crew *c)
{
    struct item *i = ranks_receive(c->ranks);
    if (i)
        crew_take(c, i);
    return i != NULL;
}

void crew_tell(struct crew *c, struct head h, struct block body)
{
    for (int k = 0; k < ranks_count(c->ranks); k++)
        if (k != ranks_rank(c->ranks))
            ranks_tell(c->ranks, k, h, body);
}

void crew_enter(struct crew *c, struct undo *u)
{
    pthread_mutex_lock(&c->lock);
    guard_undo(u, ranks_lost, NULL);
}

void crew_leave(struct crew *c, struct undo *u)
{
    guard_done(u);
    pthread_mutex_unlock(&c->lock);
}

void crew_rest(struct crew *c, unsigned times)
{
    pthread_mutex_unlock(&c->lock);
    ranks_rest(times);
    pthread_mutex_lock(&c->lock);
}

/* ---- participants ---- */

/* Waits until all sends have completed: rank 0 ends the run when all participants have reported
 * their end. */
static void see_off(struct crew *c)
{
    for (unsigned times = 0; c->ranks->transport.busy(c->ranks->transport.context);)
        if (crew_progress(c))
            times = 0;
        else
            crew_rest(c, times++);
}

/* Sends the result to rank 0. False: out of memory. */
static bool deliver_result(struct member *p)
{
    struct crew *c = p->crew;
    struct literal *l = p->task->result;
    size_t size = 0;
    int pending = 0;
    if (ranks_rank(c->ranks) == 0)
        return true;
    void *bytes = pack_literal(l, &size);
    bool ok = bytes && ranks_send(c->ranks, 0, crew_head(p, KIND_RESULT, NULL),
                                  (struct block){bytes, size}, &pending);
    see_off(c);
    mem_free(bytes);
    literal_free_data(l);
    p->task->result = NULL;
    return ok || DIAG_ERROR(&p->ds, NO_SPAN, FAILURE, "out of memory for sending the result");
}

/* The end of a participant; its report follows everything else that it has sent. */
static void end(struct member *p)
{
    struct crew *c = p->crew;
    struct undo u;
    crew_enter(c, &u);
    bool stopped = atomic_load(&c->stop);
    see_off(c);
    p->state = p->task->result && deliver_result(p) ? ENDED : FAILED;
    p->by_itself = p->state == FAILED && !stopped;
    c->over++;
    crew_report(p);
    pthread_cond_signal(&c->changed);
    crew_leave(c, &u);
}

static void run_program(struct member *p)
{
    struct exchange e = ranks_exchange;
    e.context = p;
    e.stop = &p->crew->stop;
    p->task->result = eval_program(&p->ds, p->task->program, p->task->args, p->task->arg_count, &e,
                                   p->task->arena);
}

static void *run_one(void *context)
{
    struct member *p = context;
    struct guard g;
    guard_enter(&g, p->crew->guard);
    if (setjmp(g.back) == 0) {
        run_program(p);
    } else {
        diags_no_memory(&p->ds);
        p->crew->starved = true;
    }
    end(p);
    guard_leave(&g);
    return NULL;
}

static void start(struct crew *c)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, WORLD_STACK_BYTES);
    for (struct member *p = c->members; p < c->members + c->here; p++) {
        int error = pthread_create(&p->thread, &attr, run_one, p);
        p->started = error == 0;
        if (p->started)
            continue;
        struct str why = arena_printf(&p->ds.arena, "cannot start thread: %s", strerror(error));
        DIAG(&p->ds, NO_SPAN, FAILURE, why.ptr);
        end(p);
    }
    pthread_attr_destroy(&attr);
}

/* ---- feeds of participants on other ranks ---- */

static void feed_in(struct crew *c, const struct item *request)
{
    struct arena a;
    struct budget b;
    struct literal *l = NULL;
    size_t size = 0;
    void *bytes = NULL;
    arena_init(&a);
    budget_start(&b, &(struct limits){0},
                 &c->stop); /* the time limit is checked by the participant */
    enum feed came = c->feeds->infeed(c->feeds->context, request->h.from, &b, &a, &l);
    if (came == FEED_ITEM) {
        bytes = pack_literal(l, &size);
        came = bytes ? FEED_ITEM : FEED_FAILED;
        literal_free_data(l);
    }
    pthread_mutex_lock(&c->lock);
    answer(c, request, came, (struct block){bytes, size});
    pthread_mutex_unlock(&c->lock);
    mem_free(bytes);
    arena_free(&a);
}

static void feed_out(struct crew *c, const struct item *request)
{
    struct arena a;
    struct budget b;
    struct reader r = {request->body, request->size};
    arena_init(&a);
    budget_start(&b, &(struct limits){0}, &c->stop);
    struct literal *l = request->lost ? NULL : unpack_literal(&a, &r);
    bool ok = l && c->feeds->outfeed(c->feeds->context, request->h.from, &b, l);
    pthread_mutex_lock(&c->lock);
    answer(c, request, ok ? FEED_ITEM : FEED_FAILED, (struct block){0});
    pthread_mutex_unlock(&c->lock);
    if (l)
        literal_free_data(l);
    arena_free(&a);
}

static void *serve(void *context)
{
    struct crew *c = context;
    struct guard g;
    struct undo u;
    guard_enter(&g, c->guard); /* ranks_lost exits before it unwinds */
    crew_enter(c, &u);
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
    crew_leave(c, &u);
    guard_leave(&g);
    return NULL;
}

/* ---- the run ---- */

static void tell_who_is_busy(struct crew *c)
{
    for (struct member *p = c->members; p < c->members + c->here; p++) {
        if (p->busy || !p->started || p->state != RUNNING ||
            !(atomic_load(&p->asks_host) || world_had_its_time(p->thread)))
            continue;
        p->busy = true;
        if (c->board)
            board_busy(c->board, p->number);
        else
            ranks_tell(c->ranks, 0, crew_head(p, KIND_BUSY, NULL), (struct block){0});
    }
}

/* The message loop of the main thread: blocked participants poll for messages themselves, running
 * ones do not. */
static void watch(struct crew *c)
{
    pthread_mutex_lock(&c->lock);
    for (unsigned times = 0; !c->ended;) {
        while (!c->ended && crew_progress(c))
            times = 0;
        tell_who_is_busy(c);
        if (c->board)
            board_look(c->board);
        if (c->ended)
            break;
        if (c->over == c->here || c->serves) {
            crew_rest(c, times++);
            continue;
        }
        bool busy = c->ranks->transport.busy(c->ranks->transport.context);
        world_cond_wait(&c->changed, &c->lock, now_ns() + (busy ? WATCH_BUSY_NS : WATCH_NS));
    }
    pthread_mutex_unlock(&c->lock);
}

static void init(struct crew *c, struct source *source)
{
    int ranks = ranks_count(c->ranks), rank = ranks_rank(c->ranks);
    arena_init(&c->arena);
    pthread_mutex_init(&c->lock, NULL);
    world_cond_init(&c->changed);
    pthread_cond_init(&c->asked, NULL);
    c->here = rank < c->count ? (c->count - rank + ranks - 1) / ranks : 0;
    c->members = ARENA_ARRAY(&c->arena, struct member, c->here);
    for (int64_t k = 0; k < c->here; k++) {
        struct member *p = &c->members[k];
        int64_t number = rank + k * ranks;
        *p = (struct member){.crew = c, .number = number, .task = &c->tasks[number]};
        p->sent = ARENA_ARRAY(&c->arena, int64_t, c->count);
        p->came = ARENA_ARRAY(&c->arena, int64_t, c->count);
        diags_init(&p->ds, source);
    }
    for (int64_t k = 0; k < c->count; k++)
        c->tasks[k].result = NULL;
    c->board = rank == 0 ? board_new(c) : NULL;
    c->serves = c->feeds && c->here < c->count;
    if (c->serves) /* a participant has at most one request in progress */
        c->hosts = ARENA_ARRAY(&c->arena, pthread_t, c->count - c->here);
}

static void free_items(struct items *q)
{
    for (struct item *i; (i = items_pop(q)) != NULL;)
        item_free(i);
}

static void finish(struct crew *c)
{
    if (c->board)
        board_free(c->board);
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
    struct crew c = {.ranks = r, .tasks = tasks, .count = count, .ds = ds};
    r->phase++;
    if (r->transport.rank == 0)
        c.feeds = feeds;
    struct undo losing;
    c.guard = guard_innermost();
    init(&c, ds->source);
    guard_undo(&losing, ranks_lost, NULL); /* other ranks would block */
    start(&c);
    watch(&c);
    for (struct member *p = c.members; p < c.members + c.here; p++)
        if (p->started)
            pthread_join(p->thread, NULL);
    for (int64_t k = 0; k < c.host_count; k++)
        pthread_join(c.hosts[k], NULL);
    guard_done(&losing);
    finish(&c);
    if (c.starved)
        out_of_memory();
    return c.ok;
}
