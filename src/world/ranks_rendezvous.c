/*
 * ranks_rendezvous.c: struct exchange for participants in several processes.
 *
 * A participant that arrives at a rendezvous sends its blocks to the other members and waits for
 * theirs. Feeds are on rank 0; participants on other ranks send it requests.
 */
#include "world/ranks_priv.h"

enum { REPORT_AFTER_NS = 2000000 }; /* a participant that is blocked longer reports to rank 0 */

/* ---- receiving ---- */

void member_take(struct member *p, struct item *i)
{
    items_push(&p->inbox, i);
    p->arrivals++;
    p->received[i->h.from]++;
}

static bool item_matches(const struct item *i, enum kind kind, int64_t from, struct tag tag,
                         uint64_t group)
{
    return i->h.kind == (uint32_t)kind && i->h.from == from && i->h.group == group &&
           same_tag(i->h.tag, tag);
}

/* The first such item, removed from the inbox; NULL: it has not arrived. */
static struct item *take(struct member *p, enum kind kind, int64_t from, struct tag tag,
                         uint64_t group)
{
    struct item **at = &p->inbox.first, *i;
    while ((i = *at) != NULL && !item_matches(i, kind, from, tag, group))
        at = &i->next;
    if (!i)
        return NULL;
    *at = i->next;
    if (!i->next)
        p->inbox.end = at;
    return i;
}

/* Reports that the participant that sends or receives the message fails. Is false. */
static bool no_memory(struct member *p, const struct inst *at, size_t size)
{
    struct str why = arena_printf(
        &p->ds.arena, "%s: out of memory for a message of %zu bytes between participants",
        op_spelling(at->opcode), size);
    struct diag *d = DIAG(&p->ds, at->span, FAILURE, why.ptr);
    d->where = inst_where(&p->ds.arena, at);
    return false;
}

/* ---- waiting ---- */

/* Whether everything has arrived; else the senders of what is missing are in p->waits_for. */
typedef bool condition_fn(struct member *p, void *what);

/* Blocks until `condition` holds. False: the run has failed. */
static bool wait_until(struct member *p, enum state state, const struct inst *at,
                       condition_fn *condition, void *what)
{
    struct rank_run *c = p->rank_run;
    uint64_t seen = p->arrivals;
    int64_t since = 0;
    p->at = at;
    p->reported = false;
    for (unsigned times = 0; !condition(p, what);) {
        p->state = state;
        seen = p->arrivals;
        while (p->arrivals == seen && !atomic_load(&c->stop)) {
            if (rank_run_progress(c)) {
                times = 0;
                continue;
            }
            int64_t t = times > 64 ? now_ns() : 0;
            if (since == 0)
                since = t;
            if (t - since > REPORT_AFTER_NS &&
                (!p->reported || p->reported_arrivals != p->arrivals))
                rank_run_report(p);
            rank_run_pause(c, times++);
        }
        p->state = RUNNING;
        if (p->arrivals == seen)
            return false;
    }
    return true;
}

static void begin_waits_for(struct member *p, int64_t max)
{
    p->waits_for_count = 0;
    if (max > p->waits_for_capacity) {
        p->waits_for = ARENA_ARRAY(&p->rank_run->arena, int64_t, max);
        p->waits_for_capacity = max;
    }
}

/* ---- rendezvous ---- */

struct arrivals_of_rendezvous {
    struct rendezvous *m;
    uint64_t group;
    struct item **got; /* by index in the group; NULL: not arrived yet */
};

static bool all_arrived(struct member *p, void *what)
{
    struct arrivals_of_rendezvous *c = what;
    const struct rendezvous *m = c->m;
    begin_waits_for(p, m->count);
    for (int64_t j = 0; j < m->count; j++) {
        if (j != m->me && !c->got[j])
            c->got[j] = take(p, KIND_BLOCK, m->members[j], m->tag, c->group);
        if (j != m->me && !c->got[j])
            p->waits_for[p->waits_for_count++] = m->members[j];
    }
    return p->waits_for_count == 0;
}

static void free_arrivals(struct arrivals_of_rendezvous *c)
{
    for (int64_t j = 0; j < c->m->count; j++)
        item_free(c->got[j]);
    mem_free(c->got);
}

/* Waits until the sends of its blocks are completed. Their receivers handle messages until the run
 * ends, so this does not deadlock. */
static void wait_for_readers(struct member *p)
{
    for (unsigned times = 0; p->pending > 0;)
        if (rank_run_progress(p->rank_run))
            times = 0;
        else
            rank_run_pause(p->rank_run, times++);
}

static bool send_blocks(struct member *p, struct rendezvous *m, uint64_t group)
{
    struct head h = rank_run_head(p, KIND_BLOCK, m->inst);
    bool ok = true;
    h.tag = m->tag;
    h.group = group;
    for (int64_t j = 0; j < m->count && ok; j++)
        if (j != m->me)
            ok = rank_run_post(p->rank_run, h, m->members[j], m->out[j], &p->pending);
    return ok;
}

static bool set_inputs(struct member *p, struct arrivals_of_rendezvous *c)
{
    struct rendezvous *m = c->m;
    for (int64_t j = 0; j < m->count; j++) {
        const struct item *i = c->got[j];
        if (i && i->body_missing)
            return no_memory(p, m->inst, i->size);
        m->in[j] = i ? (struct block){i->body, i->size} : m->out[j];
    }
    return true;
}

static bool rendezvous(void *context, struct rendezvous *m)
{
    struct cleanup u;
    struct member *p = context;
    struct arrivals_of_rendezvous c = {.m = m, .got = mem_zalloc((size_t)m->count * sizeof *c.got)};
    c.group = hash_bytes(m->members, (size_t)m->count * sizeof *m->members);
    m->kept = c.got;
    if (!c.got)
        return no_memory(p, m->inst, (size_t)m->count * sizeof *c.got);
    rank_run_enter(p->rank_run, &u);
    bool ok = !atomic_load(&p->rank_run->stop) &&
              (send_blocks(p, m, c.group) || no_memory(p, m->inst, m->out[0].size)) &&
              wait_until(p, IN_RENDEZVOUS, m->inst, all_arrived, &c) && set_inputs(p, &c);
    if (!ok) {
        wait_for_readers(p);
        free_arrivals(&c);
    }
    rank_run_leave(p->rank_run, &u);
    return ok;
}

static void leave_rendezvous(void *context, struct rendezvous *m)
{
    struct cleanup u;
    struct member *p = context;
    rank_run_enter(p->rank_run, &u);
    wait_for_readers(p);
    rank_run_leave(p->rank_run, &u);
    free_arrivals(&(struct arrivals_of_rendezvous){.m = m, .got = m->kept});
}

/* ---- messages ---- */

static bool send(void *context, const struct inst *i, struct tag tag, int64_t to, struct block data)
{
    struct cleanup u;
    struct member *p = context;
    struct head h = rank_run_head(p, KIND_MESSAGE, i);
    h.tag = tag;
    rank_run_enter(p->rank_run, &u);
    bool ok = rank_run_post(p->rank_run, h, to, data, NULL);
    pthread_cond_signal(
        &p->rank_run->changed); /* the main thread polls until the send has completed */
    rank_run_leave(p->rank_run, &u);
    return ok;
}

struct receive_request {
    struct tag tag;
    int64_t from;
    struct item *got;
};

static bool message_arrived(struct member *p, void *what)
{
    struct receive_request *w = what;
    w->got = take(p, KIND_MESSAGE, w->from, w->tag, 0);
    begin_waits_for(p, 1);
    if (!w->got)
        p->waits_for[p->waits_for_count++] = w->from;
    return w->got != NULL;
}

static bool receive(void *context, const struct inst *i, struct tag tag, int64_t from, void *to,
                    size_t *size)
{
    struct cleanup u;
    struct member *p = context;
    struct receive_request w = {.tag = tag, .from = from};
    rank_run_enter(p->rank_run, &u);
    bool ok = wait_until(p, RECEIVING, i, message_arrived, &w);
    rank_run_leave(p->rank_run, &u);
    if (ok && w.got->body_missing)
        ok = no_memory(p, i, w.got->size);
    if (ok) {
        size_t size_copied = *size < w.got->size ? *size : w.got->size;
        if (size_copied > 0)
            memcpy(to, w.got->body, size_copied);
        *size = w.got->size;
    }
    item_free(w.got);
    return ok;
}

/* ---- the host ---- */

/* Sends a request to rank 0 and waits for the reply; NULL: none, because the run has
 * failed or reached its time limit. */
static struct item *ask_host(struct member *p, enum kind kind, struct block body)
{
    struct rank_run *c = p->rank_run;
    struct head h = rank_run_head(p, kind, NULL);
    if (!ranks_send(c->ranks, 0, h, body, NULL))
        DIAG(&p->ds, NO_SPAN, FAILURE, "out of memory for an outfeed item");
    for (unsigned times = 0; p->ds.errors == 0 && !p->fed && budget_look(&p->task->state->budget);)
        if (rank_run_progress(c))
            times = 0;
        else
            rank_run_pause(c, times++);
    struct item *answer = p->fed;
    p->fed = NULL;
    return answer;
}

static enum feed request_item(struct member *p, struct arena *a, struct literal **out)
{
    struct cleanup u;
    struct rank_run *c = p->rank_run;
    enum feed received = FEED_FAILED;
    if (ranks_rank(c->ranks) == 0) {
        const struct world_feeds *f = c->feeds;
        return f ? f->infeed(f->context, p->number, &p->task->state->budget, a, out) : FEED_EMPTY;
    }
    rank_run_enter(c, &u);
    struct item *answer = ask_host(p, KIND_FEED_IN, (struct block){0});
    rank_run_leave(c, &u);
    if (answer)
        received = (enum feed)answer->h.value;
    if (received == FEED_ITEM) {
        struct reader r = {answer->body, answer->size};
        *out = answer->body_missing ? NULL : unpack_literal(a, &r);
        if (!*out) {
            DIAG(&p->ds, NO_SPAN, FAILURE, "out of memory for an infeed item");
            received = FEED_FAILED;
        }
    }
    item_free(answer);
    return received;
}

static enum feed infeed(void *context, struct arena *a, struct literal **out)
{
    struct member *p = context;
    atomic_store(&p->asks_host, true);
    enum feed received = request_item(p, a, out);
    atomic_store(&p->asks_host, false);
    return received;
}

static bool send_outfeed(struct member *p, const struct literal *l)
{
    struct cleanup u;
    struct rank_run *c = p->rank_run;
    if (ranks_rank(c->ranks) == 0) {
        const struct world_feeds *f = c->feeds;
        return !f || f->outfeed(f->context, p->number, &p->task->state->budget,
                                l); /* NULL: items are discarded */
    }
    size_t size;
    void *bytes = pack_literal(l, &size);
    if (!bytes)
        return DIAG_ERROR(&p->ds, NO_SPAN, FAILURE, "out of memory for an outfeed item");
    rank_run_enter(c, &u);
    struct item *answer = ask_host(p, KIND_FEED_OUT, (struct block){bytes, size});
    rank_run_leave(c, &u);
    mem_free(bytes);
    bool ok = answer && answer->h.value == FEED_ITEM;
    item_free(answer);
    return ok;
}

static bool outfeed(void *context, const struct literal *l)
{
    struct member *p = context;
    atomic_store(&p->asks_host, true);
    bool ok = send_outfeed(p, l);
    atomic_store(&p->asks_host, false);
    return ok;
}

const struct exchange ranks_exchange = {
    .rendezvous = rendezvous,
    .leave = leave_rendezvous,
    .send = send,
    .receive = receive,
    .infeed = infeed,
    .outfeed = outfeed,
};
