/*
 * board.c: the board, on rank 0: the last reported status of each participant; deadlock detection;
 * the end of the run.
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
struct standing {
    enum state state; /* RUNNING: no report yet */
    bool by_itself, busy;
    const struct inst *at,
        *sent_at;   /* where it is blocked; the send of the first message left in its inbox ... */
    int64_t sender; /* ... and its sender */
    int64_t whom_count;
    const int64_t *whom, *sent, *came; /* the last two by participant */
    struct diags ds;
    struct item *report; /* owns these lists */
};

struct board {
    struct crew *crew;
    int64_t over, count;
    struct standing *standings;
    struct wait *waits; /* the deadlocked participants, as of the last check; ... */
    int64_t wait_count; /* ... set when the run is stopped */
    bool *hope;
    struct diags said; /* diagnostics of the run */
    int64_t seen_over,
        seen_at; /* number of participants that had ended at the last change, and its time */
    bool seen_failed;
};

struct board *board_new(struct crew *c)
{
    struct board *b = ARENA_NEW(&c->arena, struct board);
    b->crew = c;
    b->count = c->count;
    b->standings = ARENA_ARRAY(&c->arena, struct standing, c->count);
    b->waits = ARENA_ARRAY(&c->arena, struct wait, c->count);
    b->hope = ARENA_ARRAY(&c->arena, bool, c->count);
    diags_init(&b->said, c->ds->source);
    for (int64_t k = 0; k < c->count; k++)
        diags_init(&b->standings[k].ds, c->ds->source);
    return b;
}

void board_free(struct board *b)
{
    for (int64_t k = 0; k < b->count; k++) {
        diags_free(&b->standings[k].ds);
        item_free(b->standings[k].report);
    }
    diags_free(&b->said);
}

void board_fail(struct board *b, const char *why) { DIAG(&b->said, NO_SPAN, FAILURE, why); }

/* ---- reports ---- */

static void pack_inst(struct buf *b, const struct inst *i)
{
    pack_int(b, i ? i->parent->index : -1);
    pack_int(b, i ? i->index : -1);
}

static const struct inst *unpack_inst(const struct board *b, struct reader *r)
{
    const struct module *m = b->crew->tasks[0].program->module;
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

void crew_report(struct member *p)
{
    struct crew *c = p->crew;
    struct buf b = {0};
    const struct item *left = p->state == ENDED ? p->inbox.first : NULL;
    pack_int(&b, p->state);
    pack_int(&b, p->by_itself);
    pack_inst(&b, p->state == MEETING || p->state == RECEIVING ? p->at : NULL);
    pack_int(&b, left ? left->h.computation : -1);
    pack_int(&b, left ? left->h.inst : -1);
    pack_int(&b, left ? left->h.from : -1);
    pack_int(&b, p->whom_count);
    pack_list(&b, p->whom, p->whom_count);
    pack_list(&b, p->sent, c->count);
    pack_list(&b, p->came, c->count);
    pack_diags(&b, &p->ds);
    p->told = true;
    p->told_arrivals = p->arrivals;
    struct head h = crew_head(p, KIND_REPORT, NULL);
    if (ranks_rank(c->ranks) > 0) {
        ranks_tell(c->ranks, 0, h, (struct block){b.data, b.size});
    } else {
        board_report(c->board, item_of(h, &b));
    }
    buf_free(&b);
}

void board_busy(struct board *b, int64_t participant) { b->standings[participant].busy = true; }

static bool is_over(enum state s) { return s == ENDED || s == FAILED; }

static void settle(struct board *b);

void board_report(struct board *b, struct item *report)
{
    struct standing *s = &b->standings[report->h.from];
    struct reader r = {report->body, report->size};
    bool was_over = is_over(s->state);
    s->state = (enum state)unpack_int(&r);
    s->by_itself = unpack_int(&r) != 0;
    s->at = unpack_inst(b, &r);
    s->sent_at = unpack_inst(b, &r);
    s->sender = unpack_int(&r);
    s->whom_count = unpack_int(&r);
    s->whom = unpack_list(&r, s->whom_count);
    s->sent = unpack_list(&r, b->count);
    s->came = unpack_list(&r, b->count);
    item_free(s->report);
    s->report = report;
    if (is_over(s->state) && !was_over) {
        unpack_diags(&s->ds, &r);
        b->over++;
    }
    settle(b);
}

/* ---- deadlocks ---- */

static bool any_failed(const struct board *b)
{
    for (int64_t k = 0; k < b->count; k++)
        if (b->standings[k].state == FAILED)
            return true;
    return false;
}

/* The receiver reported that it waits for the sender. If the counts differ, one of the two has
 * proceeded since its report, or can: it is marked in `hope`. */
static void compare_counts(struct board *b, int64_t receiver, int64_t sender)
{
    const struct standing *to = &b->standings[receiver], *from = &b->standings[sender];
    if (!from->report || !to->report)
        return;
    if (from->sent[receiver] > to->came[sender])
        b->hope[receiver] = true;
    if (from->sent[receiver] < to->came[sender])
        b->hope[sender] = true;
}

/* Fills in `waits` and returns its length. */
static int64_t find_stuck(struct board *b)
{
    int64_t count = 0;
    for (int64_t k = 0; k < b->count; k++)
        b->hope[k] = b->standings[k].state == RUNNING;
    for (int64_t k = 0; k < b->count; k++) {
        const struct standing *s = &b->standings[k];
        if (s->state == RUNNING || is_over(s->state))
            continue;
        for (int64_t j = 0; j < s->whom_count; j++)
            compare_counts(b, k, s->whom[j]);
        b->waits[count++] = (struct wait){.participant = k,
                                          .at = s->at,
                                          .count = s->whom_count,
                                          .whom = (int64_t *)(uintptr_t)s->whom};
    }
    return world_keep_stuck(b->waits, count, b->hope);
}

static void stop(struct board *b, int64_t stuck)
{
    struct crew *c = b->crew;
    b->wait_count = stuck;
    /* The lists that `waits` points to are freed with the next reports. */
    for (int64_t k = 0; k < b->wait_count; k++)
        b->waits[k].whom = ARENA_DUP(&c->arena, b->waits[k].whom, b->waits[k].count);
    atomic_store(&c->stop, true);
    crew_tell(c, (struct head){.kind = KIND_STOP}, (struct block){0});
}

/* ---- the end ---- */

/* Whether all messages that were sent have been received. */
static bool all_has_come(const struct board *b)
{
    for (int64_t k = 0; k < b->count; k++)
        for (int64_t j = 0; j < b->count; j++)
            if (b->standings[k].sent[j] != b->standings[j].came[k])
                return false;
    return true;
}

static void conclude(struct board *b)
{
    struct crew *c = b->crew;
    struct outcome o = {
        .arena = &c->arena, .count = b->count, .waits = b->waits, .wait_count = b->wait_count};
    struct buf said = {0};
    o.endings = ARENA_ARRAY(&c->arena, struct ending, b->count);
    for (int64_t k = 0; k < b->count; k++) {
        struct standing *s = &b->standings[k];
        o.endings[k] = (struct ending){.ended = s->state == ENDED,
                                       .by_itself = s->by_itself,
                                       .ds = &s->ds,
                                       .sender = s->sender,
                                       .sent_at = s->sent_at};
    }
    bool ok = b->said.errors == 0 && world_verdict(&o, &b->said);
    pack_diags(&said, &b->said);
    struct head h = {.kind = KIND_END, .value = ok};
    crew_tell(c, h, (struct block){said.data, said.size});
    crew_take(c, item_of(h, &said));
    buf_free(&said);
}

static void settle(struct board *b)
{
    struct crew *c = b->crew;
    int64_t waiting = 0;
    for (int64_t k = 0; k < b->count; k++)
        waiting += b->standings[k].state == MEETING || b->standings[k].state == RECEIVING;
    if (c->ended)
        return;
    if (b->over == b->count) {
        if (any_failed(b) || all_has_come(b))
            conclude(b);
    } else if (b->over + waiting == b->count && !atomic_load(&c->stop) &&
               find_stuck(b) == waiting) {
        stop(b, waiting);
    }
}

static int64_t patience(const struct board *b)
{
    for (int64_t k = 0; k < b->count; k++)
        if (b->standings[k].state == RUNNING && !b->standings[k].busy)
            return (int64_t)WORLD_PATIENCE_NS * WORLD_MOST_PATIENCE;
    return WORLD_PATIENCE_NS;
}

void board_look(struct board *b)
{
    int64_t now = now_ns();
    bool changed = b->over != b->seen_over || b->seen_at == 0;
    b->seen_over = b->over;
    if (changed)
        b->seen_at = now;
    if (b->crew->ended || atomic_load(&b->crew->stop) || now - b->seen_at < patience(b))
        return;
    b->seen_at = now;
    int64_t stuck = b->seen_failed ? 0 : find_stuck(b);
    if (b->seen_failed || stuck > 0)
        stop(b, stuck);
    b->seen_failed = any_failed(b);
}
