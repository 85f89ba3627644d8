/*
 * coordinator.c: the coordinator, on rank 0: the last reported status of each participant; deadlock
 * detection; the end of the run.
 *
 * Reports are made at different times, so a participant that reported that it is blocked may have
 * proceeded since. But it can only proceed when it receives a message from each of those that it
 * waits for, and messages are counted at both ends. Suppose that some participants wait only for
 * each other and for participants that have ended, and that the counts agree between each of them
 * and those it waits for. Then none of them has proceeded since its report: the first that did
 * would have needed a message that its sender sent after its own report, so that the sender would
 * have proceeded before it.
 */
#include "world/ranks_priv.h"

/* The last report of a participant. */
struct report_state {
    enum state state; /* RUNNING: no report yet */
    bool by_itself, busy;
    const struct inst *at,
        *sent_at;   /* where it is blocked; the send of the first message left in its inbox ... */
    int64_t sender; /* ... and its sender */
    int64_t waits_for_count;
    const int64_t *waits_for, *sent, *received; /* the last two by participant */
    struct diags ds;
    struct item *report; /* owns these lists */
};

struct coordinator {
    struct rank_run *rank_run;
    int64_t over, count;
    struct report_state *report_states;
    struct blocked *waits; /* the deadlocked participants, as of the last check; ... */
    int64_t wait_count;    /* ... set when the run is stopped */
    bool *can_proceed;
    struct diags messages; /* diagnostics of the run */
    int64_t seen_over,
        seen_at; /* number of participants that had ended at the last change, and its time */
    bool seen_failed;
};

struct coordinator *coordinator_new(struct rank_run *c)
{
    struct coordinator *b = ARENA_NEW(&c->arena, struct coordinator);
    b->rank_run = c;
    b->count = c->count;
    b->report_states = ARENA_ARRAY(&c->arena, struct report_state, c->count);
    b->waits = ARENA_ARRAY(&c->arena, struct blocked, c->count);
    b->can_proceed = ARENA_ARRAY(&c->arena, bool, c->count);
    diags_init(&b->messages, c->ds->source);
    for (int64_t k = 0; k < c->count; k++)
        diags_init(&b->report_states[k].ds, c->ds->source);
    return b;
}

void coordinator_free(struct coordinator *b)
{
    for (int64_t k = 0; k < b->count; k++) {
        diags_free(&b->report_states[k].ds);
        item_free(b->report_states[k].report);
    }
    diags_free(&b->messages);
}

void coordinator_fail(struct coordinator *b, const char *why)
{
    DIAG(&b->messages, NO_SPAN, FAILURE, why);
}

/* ---- reports ---- */

static void pack_inst(struct buf *b, const struct inst *i)
{
    pack_int(b, i ? i->parent->index : -1);
    pack_int(b, i ? i->index : -1);
}

static const struct inst *unpack_inst(const struct coordinator *b, struct reader *r)
{
    const struct module *m = b->rank_run->tasks[0].state->program->module;
    int64_t computation = unpack_int(r), inst = unpack_int(r);
    return computation < 0 ? NULL : m->computations[computation]->insts[inst];
}

static void pack_list(struct buf *b, const int64_t *list, int64_t count)
{
    buf_bytes(b, list, (size_t)count * sizeof *list);
}

static const int64_t *unpack_list(struct reader *r, int64_t count)
{
    const int64_t *list = (const int64_t *)(const void *)r->at;
    for (int64_t k = 0; k < count; k++)
        unpack_int(r);
    return list;
}

void rank_run_report(struct member *p)
{
    struct rank_run *c = p->rank_run;
    SCOPED_BUF b = {0};
    const struct item *left = p->state == ENDED ? p->inbox.first : NULL;
    pack_int(&b, p->state);
    pack_int(&b, p->by_itself);
    pack_inst(&b, p->state == IN_RENDEZVOUS || p->state == RECEIVING ? p->at : NULL);
    pack_int(&b, left ? left->h.computation : -1);
    pack_int(&b, left ? left->h.inst : -1);
    pack_int(&b, left ? left->h.from : -1);
    pack_int(&b, p->waits_for_count);
    pack_list(&b, p->waits_for, p->waits_for_count);
    pack_list(&b, p->sent, c->count);
    pack_list(&b, p->received, c->count);
    pack_diags(&b, &p->ds);
    p->reported = true;
    p->reported_arrivals = p->arrivals;
    struct head h = rank_run_head(p, KIND_REPORT, NULL);
    if (ranks_rank(c->ranks) > 0) {
        ranks_send_copy(c->ranks, 0, h, (struct block){b.data, b.size});
    } else {
        coordinator_report(c->coordinator, item_of(h, &b));
    }
}

void coordinator_busy(struct coordinator *b, int64_t participant)
{
    b->report_states[participant].busy = true;
}

static bool is_over(enum state s) { return s == ENDED || s == FAILED; }

static void settle(struct coordinator *b);

void coordinator_report(struct coordinator *b, struct item *report)
{
    struct report_state *s = &b->report_states[report->h.from];
    struct reader r = {report->body, report->size};
    bool was_over = is_over(s->state);
    s->state = (enum state)unpack_int(&r);
    s->by_itself = unpack_int(&r) != 0;
    s->at = unpack_inst(b, &r);
    s->sent_at = unpack_inst(b, &r);
    s->sender = unpack_int(&r);
    s->waits_for_count = unpack_int(&r);
    s->waits_for = unpack_list(&r, s->waits_for_count);
    s->sent = unpack_list(&r, b->count);
    s->received = unpack_list(&r, b->count);
    item_free(s->report);
    s->report = report;
    if (is_over(s->state) && !was_over) {
        unpack_diags(&s->ds, &r);
        b->over++;
    }
    settle(b);
}

/* ---- deadlocks ---- */

static bool any_failed(const struct coordinator *b)
{
    for (int64_t k = 0; k < b->count; k++)
        if (b->report_states[k].state == FAILED)
            return true;
    return false;
}

/* The receiver reported that it waits for the sender. If the counts differ, one of the two has
 * proceeded since its report, or can: it is marked in `can_proceed`. */
static void compare_counts(struct coordinator *b, int64_t receiver, int64_t sender)
{
    const struct report_state *to = &b->report_states[receiver], *from = &b->report_states[sender];
    if (!from->report || !to->report)
        return;
    if (from->sent[receiver] > to->received[sender])
        b->can_proceed[receiver] = true;
    if (from->sent[receiver] < to->received[sender])
        b->can_proceed[sender] = true;
}

/* Fills in `waits` and returns its length. */
static int64_t detect_deadlock(struct coordinator *b)
{
    int64_t count = 0;
    for (int64_t k = 0; k < b->count; k++)
        b->can_proceed[k] = b->report_states[k].state == RUNNING;
    for (int64_t k = 0; k < b->count; k++) {
        const struct report_state *s = &b->report_states[k];
        if (s->state == RUNNING || is_over(s->state))
            continue;
        for (int64_t j = 0; j < s->waits_for_count; j++)
            compare_counts(b, k, s->waits_for[j]);
        b->waits[count++] = (struct blocked){.participant = k,
                                             .at = s->at,
                                             .count = s->waits_for_count,
                                             .waits_for = (int64_t *)(uintptr_t)s->waits_for};
    }
    return world_find_deadlocked(b->waits, count, b->can_proceed);
}

static void stop(struct coordinator *b, int64_t stuck)
{
    struct rank_run *c = b->rank_run;
    b->wait_count = stuck;
    /* The lists that `waits` points to are freed with the next reports. */
    for (int64_t k = 0; k < b->wait_count; k++)
        b->waits[k].waits_for = ARENA_DUP(&c->arena, b->waits[k].waits_for, b->waits[k].count);
    atomic_store(&c->stop, true);
    rank_run_broadcast(c, (struct head){.kind = KIND_STOP}, (struct block){0});
}

/* ---- the end ---- */

/* Whether all messages that were sent have been received. */
static bool all_received(const struct coordinator *b)
{
    for (int64_t k = 0; k < b->count; k++)
        for (int64_t j = 0; j < b->count; j++)
            if (b->report_states[k].sent[j] != b->report_states[j].received[k])
                return false;
    return true;
}

static void end_run(struct coordinator *b)
{
    struct rank_run *c = b->rank_run;
    struct outcome o = {
        .arena = &c->arena, .count = b->count, .waits = b->waits, .wait_count = b->wait_count};
    SCOPED_BUF messages = {0};
    o.endings = ARENA_ARRAY(&c->arena, struct ending, b->count);
    for (int64_t k = 0; k < b->count; k++) {
        struct report_state *s = &b->report_states[k];
        o.endings[k] = (struct ending){.ended = s->state == ENDED,
                                       .by_itself = s->by_itself,
                                       .ds = &s->ds,
                                       .sender = s->sender,
                                       .sent_at = s->sent_at};
    }
    bool ok = b->messages.errors == 0 && world_verdict(&o, &b->messages);
    pack_diags(&messages, &b->messages);
    struct head h = {.kind = KIND_END, .value = ok};
    rank_run_broadcast(c, h, (struct block){messages.data, messages.size});
    rank_run_handle(c, item_of(h, &messages));
}

static void settle(struct coordinator *b)
{
    struct rank_run *c = b->rank_run;
    int64_t waiting = 0;
    for (int64_t k = 0; k < b->count; k++)
        waiting +=
            b->report_states[k].state == IN_RENDEZVOUS || b->report_states[k].state == RECEIVING;
    if (c->ended)
        return;
    if (b->over == b->count) {
        if (any_failed(b) || all_received(b))
            end_run(b);
    } else if (b->over + waiting == b->count && !atomic_load(&c->stop) &&
               detect_deadlock(b) == waiting) {
        stop(b, waiting);
    }
}

static int64_t stall_timeout(const struct coordinator *b)
{
    for (int64_t k = 0; k < b->count; k++)
        if (b->report_states[k].state == RUNNING && !b->report_states[k].busy)
            return (int64_t)WORLD_STALL_NS * WORLD_MAX_STALLS;
    return WORLD_STALL_NS;
}

void coordinator_check(struct coordinator *b)
{
    int64_t now = now_ns();
    bool changed = b->over != b->seen_over || b->seen_at == 0;
    b->seen_over = b->over;
    if (changed)
        b->seen_at = now;
    if (b->rank_run->ended || atomic_load(&b->rank_run->stop) ||
        now - b->seen_at < stall_timeout(b))
        return;
    b->seen_at = now;
    int64_t stuck = b->seen_failed ? 0 : detect_deadlock(b);
    if (b->seen_failed || stuck > 0)
        stop(b, stuck);
    b->seen_failed = any_failed(b);
}
