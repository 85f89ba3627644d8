/*
 * meet.c: rendezvous and messages between threads, and the detection of deadlocks.
 *
 * One lock guards the state. The values themselves are read and written without it, between the
 * arrival of the last member and the time when the last one has read them. What a participant does
 * depends only on the values it receives, so the wait-for graph of a run in which no participant
 * can proceed is the same each time.
 */
#include "world/world_priv.h"

#include <unistd.h>

/* ---- waiting ---- */

/* A thread polls before it blocks on its condition variable, since blocking and waking takes longer
 * than most rendezvous. It does so only if every participant has a core of its own; the number of
 * polls is halved each time they were in vain, and doubled each time they were not. */
enum { MOST_SPINS = 2000, LEAST_SPINS = 200 };

int world_spins(int64_t participants)
{
    if (participants == 1) /* never blocks; sysconf takes longer than a small run */
        return 0;
    return participants <= sysconf(_SC_NPROCESSORS_ONLN) ? MOST_SPINS : 0;
}

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

static void count_spins(struct participant *p, bool in_vain)
{
    int most = p->world->spins, n = in_vain ? p->spins / 2 : p->spins * 2;
    p->spins = n > most ? most : n < LEAST_SPINS && most > 0 ? LEAST_SPINS : n;
}

static void lock(struct participant *p)
{
    for (int k = 0; k < p->spins; k++) {
        if (pthread_mutex_trylock(&p->world->lock) == 0)
            return;
        pause_briefly();
    }
    pthread_mutex_lock(&p->world->lock);
}

static void go_on(struct participant *p)
{
    p->world->running++;
    atomic_store(&p->state, RUNNING);
    pthread_cond_signal(&p->wake);
}

/* Called with the lock held; it is released while waiting. False: the run has failed. */
static bool wait_as(struct participant *p, enum state state, const struct inst *at)
{
    struct world *w = p->world;
    p->at = at;
    atomic_store(&p->state, state);
    w->running--;
    world_settle(w);
    pthread_mutex_unlock(&w->lock);
    for (int k = 0; k < p->spins && atomic_load(&p->state) == (int)state && !atomic_load(&w->stop);
         k++)
        pause_briefly();
    count_spins(p, atomic_load(&p->state) == (int)state);
    lock(p);
    while (atomic_load(&p->state) == (int)state && !atomic_load(&w->stop))
        pthread_cond_wait(&p->wake, &w->lock);
    return atomic_load(&p->state) == RUNNING;
}

void world_stop(struct world *w)
{
    atomic_store(&w->stop, true);
    for (int64_t k = 0; k < w->count; k++)
        pthread_cond_signal(&w->participants[k].wake);
}

void world_settle(struct world *w)
{
    if (w->running > 0 || w->over == w->count || atomic_load(&w->stop))
        return;
    world_find_stuck(w);
    world_stop(w);
}

/* ---- rendezvous ---- */

/* A contribution of up to CELL bytes is copied, so that its member need not wait until all others
 * have read it. The copy is aligned as storage is. */
enum { CELL = 512, ALIGNED = 16 };

static size_t aligned(size_t n) { return (n + ALIGNED - 1) / ALIGNED * ALIGNED; }

static bool same_group(const struct gathering *g, const struct meeting *m)
{
    return same_tag(g->tag, m->tag) && g->count == m->count && !g->gifts[m->me].blocks &&
           memcmp(g->members, m->members, (size_t)m->count * sizeof *m->members) == 0;
}

static struct gathering *new_gathering(int64_t count)
{
    size_t n = (size_t)count, head = aligned(sizeof(struct gathering));
    struct gathering *g =
        mem_keep(mem_alloc(head + n * (CELL + sizeof *g->gifts + sizeof *g->members)));
    if (g) {
        g->cells = (char *)g + head;
        g->gifts = (struct gift *)(void *)(g->cells + n * CELL);
        g->members = (int64_t *)(void *)(g->gifts + n);
    }
    return g;
}

/* A free one for this number of members, or a new one; NULL: out of memory. */
static struct gathering *take_gathering(struct world *w, int64_t count)
{
    for (struct gathering **at = &w->closed; *at; at = &(*at)->next)
        if ((*at)->count == count && atomic_load(&(*at)->left) == count) {
            struct gathering *g = *at;
            *at = g->next;
            return g;
        }
    return new_gathering(count);
}

/* The open rendezvous of this group, or a new one; NULL: out of memory. */
static struct gathering *find_gathering(struct world *w, const struct meeting *m)
{
    for (struct gathering *g = w->open; g; g = g->next)
        if (same_group(g, m))
            return g;
    struct gathering *g = take_gathering(w, m->count);
    if (!g)
        return NULL;
    g->tag = m->tag;
    g->count = m->count;
    g->arrived = 0;
    g->lent = false;
    atomic_store(&g->parted, 0);
    atomic_store(&g->left, 0);
    memset(g->gifts, 0, (size_t)m->count * sizeof *g->gifts);
    memcpy(g->members, m->members, (size_t)m->count * sizeof *m->members);
    g->next = w->open;
    w->open = g;
    return g;
}

static void close_gathering(struct world *w, struct gathering *g)
{
    struct gathering **at = &w->open;
    while (*at != g)
        at = &(*at)->next;
    *at = g->next;
    g->next = w->closed;
    w->closed = g;
    for (int64_t k = 0; k < g->count; k++)
        if (atomic_load(&w->participants[g->members[k]].state) == MEETING)
            go_on(&w->participants[g->members[k]]);
}

/* Copies the blocks into the cell, after a table of them. False: they do not fit. */
static bool copy_gift(char *cell, const struct block *blocks, int64_t count)
{
    struct block *row = (struct block *)(void *)cell;
    size_t at = (size_t)count * sizeof *row;
    if (at > CELL)
        return false;
    for (int64_t k = 0; k < count; k++) {
        at = aligned(at);
        if (at > CELL || blocks[k].size > CELL - at)
            return false;
        row[k] = (struct block){cell + at, blocks[k].size};
        if (blocks[k].size > 0)
            memcpy(cell + at, blocks[k].at, blocks[k].size);
        at += blocks[k].size;
    }
    return true;
}

static void bring(struct gathering *g, const struct meeting *m)
{
    struct gift *gift = &g->gifts[m->me];
    char *cell = g->cells + m->me * CELL;
    gift->same = true;
    for (int64_t k = 1; k < m->count && gift->same; k++)
        gift->same = m->out[k].at == m->out[0].at && m->out[k].size == m->out[0].size;
    gift->lent = !copy_gift(cell, m->out, gift->same ? 1 : m->count);
    gift->blocks = gift->lent ? m->out : (const struct block *)(const void *)cell;
    g->lent |= gift->lent;
    g->arrived++;
}

static bool meet(void *context, struct meeting *m)
{
    struct participant *p = context;
    struct world *w = p->world;
    lock(p);
    struct gathering *g = find_gathering(w, m);
    bool ok = g != NULL && !atomic_load(&w->stop);
    if (ok) {
        m->kept = p->gathering = g;
        bring(g, m);
        if (g->arrived == g->count)
            close_gathering(w, g);
        else
            ok = wait_as(p, MEETING, m->inst);
    }
    pthread_mutex_unlock(&w->lock);
    if (!g)
        out_of_memory();
    for (int64_t j = 0; ok && j < m->count; j++)
        m->in[j] = g->gifts[j].blocks[g->gifts[j].same ? 0 : m->me];
    return ok;
}

/* Cannot deadlock: every member that has returned from `meet` calls this. */
static void part(void *context, struct meeting *m)
{
    struct participant *p = context;
    struct world *w = p->world;
    struct gathering *g = m->kept;
    bool last = atomic_fetch_add(&g->parted, 1) + 1 == g->count;
    if (last && g->lent) {
        lock(p); /* no member is between its test and pthread_cond_wait */
        for (int64_t k = 0; k < g->count; k++)
            if (g->gifts[k].lent)
                pthread_cond_signal(&w->participants[g->members[k]].wake);
        pthread_mutex_unlock(&w->lock);
    } else if (g->gifts[m->me].lent) {
        for (int k = 0; k < p->spins && atomic_load(&g->parted) < g->count; k++)
            pause_briefly();
        lock(p);
        while (atomic_load(&g->parted) < g->count)
            pthread_cond_wait(&p->wake, &w->lock);
        pthread_mutex_unlock(&w->lock);
    }
    atomic_fetch_add(&g->left, 1);
}

/* ---- messages ---- */

static struct message **find_message(struct participant *p, struct tag tag, int64_t from)
{
    struct message **at = &p->inbox;
    while (*at && !((*at)->from == from && same_tag((*at)->tag, tag)))
        at = &(*at)->next;
    return at;
}

static bool send(void *context, const struct inst *i, struct tag tag, int64_t to, struct block data)
{
    struct participant *p = context;
    struct world *w = p->world;
    struct message *m = mem_keep(mem_alloc(sizeof *m + data.size));
    if (!m)
        return false;
    *m = (struct message){
        .tag = tag, .from = p->number, .sent_at = i, .size = data.size, .data = (char *)(m + 1)};
    if (data.size > 0)
        memcpy(m->data, data.at, data.size);
    lock(p);
    struct participant *receiver = &w->participants[to];
    struct message **end = &receiver->inbox;
    while (*end)
        end = &(*end)->next;
    *end = m;
    if (atomic_load(&receiver->state) == RECEIVING && receiver->from == p->number &&
        same_tag(receiver->tag, tag))
        go_on(receiver);
    pthread_mutex_unlock(&w->lock);
    return true;
}

static bool receive(void *context, const struct inst *i, struct tag tag, int64_t from, void *to,
                    size_t *size)
{
    struct participant *p = context;
    struct world *w = p->world;
    lock(p);
    struct message **at = find_message(p, tag, from), *m = *at;
    p->from = from;
    p->tag = tag;
    if (!m && !atomic_load(&w->stop) && wait_as(p, RECEIVING, i)) {
        at = find_message(p, tag, from);
        m = *at;
    }
    if (m)
        *at = m->next;
    pthread_mutex_unlock(&w->lock);
    if (!m)
        return false;
    size_t room = *size < m->size ? *size : m->size;
    if (room > 0)
        memcpy(to, m->data, room);
    *size = m->size;
    mem_free(m);
    return true;
}

static void free_gatherings(struct gathering *g)
{
    for (struct gathering *next; g; g = next) {
        next = g->next;
        mem_free(g);
    }
}

void world_clean(struct world *w)
{
    for (int64_t k = 0; k < w->count; k++)
        for (struct message *m = w->participants[k].inbox, *next; m; m = next) {
            next = m->next;
            mem_free(m);
        }
    free_gatherings(w->open);
    free_gatherings(w->closed);
}

/* ---- the host ---- */

static enum feed infeed(void *context, struct arena *a, struct literal **out)
{
    struct participant *p = context;
    const struct world_feeds *f = p->world->feeds;
    atomic_store(&p->asks_host, true);
    enum feed came =
        f ? f->infeed(f->context, p->number, &p->task->program->budget, a, out) : FEED_EMPTY;
    atomic_store(&p->asks_host, false);
    return came;
}

static bool outfeed(void *context, const struct literal *l)
{
    struct participant *p = context;
    const struct world_feeds *f = p->world->feeds;
    atomic_store(&p->asks_host, true);
    bool ok = !f || f->outfeed(f->context, p->number, &p->task->program->budget,
                               l); /* NULL: items are discarded */
    atomic_store(&p->asks_host, false);
    return ok;
}

const struct exchange world_exchange = {
    .meet = meet,
    .part = part,
    .send = send,
    .receive = receive,
    .infeed = infeed,
    .outfeed = outfeed,
};

/* ---- deadlocks ---- */

static bool waits(const struct participant *p)
{
    int state = atomic_load(&p->state);
    return state == MEETING || state == RECEIVING;
}

static void add_wait(struct world *w, const struct participant *p)
{
    struct wait *wait = &w->waits[w->wait_count++];
    *wait = (struct wait){.participant = p->number, .at = p->at};
    int64_t most = p->state == RECEIVING ? 1 : p->gathering->count;
    wait->whom = w->whom + p->number * w->count;
    if (p->state == RECEIVING)
        wait->whom[wait->count++] = p->from;
    else
        for (int64_t k = 0; k < most; k++)
            if (!p->gathering->gifts[k].blocks)
                wait->whom[wait->count++] = p->gathering->members[k];
}

bool world_find_stuck(struct world *w)
{
    w->wait_count = 0;
    for (int64_t k = 0; k < w->count; k++) {
        w->hope[k] = w->participants[k].state == RUNNING;
        if (waits(&w->participants[k]))
            add_wait(w, &w->participants[k]);
    }
    w->wait_count = world_keep_stuck(w->waits, w->wait_count, w->hope);
    return w->wait_count > 0;
}
