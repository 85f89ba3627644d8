/*
 * rendezvous.c: rendezvous and messages between threads, and the detection of deadlocks.
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
enum { MAX_SPINS = 2000, MIN_SPINS = 200 };

int world_spins(int64_t participants)
{
    if (participants == 1) /* never blocks; sysconf takes longer than a small run */
        return 0;
    return participants <= sysconf(_SC_NPROCESSORS_ONLN) ? MAX_SPINS : 0;
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
    int max = p->world->spins, n = in_vain ? p->spins / 2 : p->spins * 2;
    p->spins = n > max ? max : n < MIN_SPINS && max > 0 ? MIN_SPINS : n;
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

static void resume(struct participant *p)
{
    p->world->running++;
    atomic_store(&p->state, RUNNING);
    pthread_cond_signal(&p->wake);
}

/* Called with the lock held; it is released while waiting. False: the run has failed. */
static bool block_until_resumed(struct participant *p, enum state state, const struct inst *at)
{
    struct world *w = p->world;
    p->at = at;
    atomic_store(&p->state, state);
    w->running--;
    world_stop_if_blocked(w);
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

void world_stop_if_blocked(struct world *w)
{
    if (w->running > 0 || w->over == w->count || atomic_load(&w->stop))
        return;
    world_detect_deadlock(w);
    world_stop(w);
}

/* ---- rendezvous ---- */

/* A contribution of up to INLINE_BYTES bytes is copied, so that its member need not wait until all
 * others have read it. The copy is aligned as storage is. */
enum { INLINE_BYTES = 512, ALIGNED = 16 };

static size_t aligned(size_t n) { return (n + ALIGNED - 1) / ALIGNED * ALIGNED; }

static bool same_group(const struct rendezvous_state *g, const struct rendezvous *m)
{
    return same_tag(g->tag, m->tag) && g->count == m->count && !g->contributions[m->me].blocks &&
           memcmp(g->members, m->members, (size_t)m->count * sizeof *m->members) == 0;
}

static struct rendezvous_state *new_rendezvous(int64_t count)
{
    size_t n = (size_t)count, head = aligned(sizeof(struct rendezvous_state));
    struct rendezvous_state *g = mem_detach(
        mem_alloc(head + n * (INLINE_BYTES + sizeof *g->contributions + sizeof *g->members)));
    if (g) {
        g->inline_buffers = (char *)g + head;
        g->contributions = (struct contribution *)(void *)(g->inline_buffers + n * INLINE_BYTES);
        g->members = (int64_t *)(void *)(g->contributions + n);
    }
    return g;
}

/* A free one for this number of members, or a new one; NULL: out of memory. */
static struct rendezvous_state *take_rendezvous(struct world *w, int64_t count)
{
    for (struct rendezvous_state **at = &w->closed; *at; at = &(*at)->next)
        if ((*at)->count == count && atomic_load(&(*at)->left) == count) {
            struct rendezvous_state *g = *at;
            *at = g->next;
            return g;
        }
    return new_rendezvous(count);
}

/* The open rendezvous of this group, or a new one; NULL: out of memory. */
static struct rendezvous_state *find_rendezvous(struct world *w, const struct rendezvous *m)
{
    for (struct rendezvous_state *g = w->open; g; g = g->next)
        if (same_group(g, m))
            return g;
    struct rendezvous_state *g = take_rendezvous(w, m->count);
    if (!g)
        return NULL;
    g->tag = m->tag;
    g->count = m->count;
    g->arrived = 0;
    g->lent = false;
    atomic_store(&g->parted, 0);
    atomic_store(&g->left, 0);
    memset(g->contributions, 0, (size_t)m->count * sizeof *g->contributions);
    memcpy(g->members, m->members, (size_t)m->count * sizeof *m->members);
    g->next = w->open;
    w->open = g;
    return g;
}

static void close_rendezvous(struct world *w, struct rendezvous_state *g)
{
    struct rendezvous_state **at = &w->open;
    while (*at != g)
        at = &(*at)->next;
    *at = g->next;
    g->next = w->closed;
    w->closed = g;
    for (int64_t k = 0; k < g->count; k++)
        if (atomic_load(&w->participants[g->members[k]].state) == IN_RENDEZVOUS)
            resume(&w->participants[g->members[k]]);
}

/* Copies the blocks into the cell, after a table of them. False: they do not fit. */
static bool copy_contribution(char *buffer, const struct block *blocks, int64_t count)
{
    struct block *row = (struct block *)(void *)buffer;
    size_t at = (size_t)count * sizeof *row;
    if (at > INLINE_BYTES)
        return false;
    for (int64_t k = 0; k < count; k++) {
        at = aligned(at);
        if (at > INLINE_BYTES || blocks[k].size > INLINE_BYTES - at)
            return false;
        row[k] = (struct block){buffer + at, blocks[k].size};
        if (blocks[k].size > 0)
            memcpy(buffer + at, blocks[k].at, blocks[k].size);
        at += blocks[k].size;
    }
    return true;
}

static void contribute(struct rendezvous_state *g, const struct rendezvous *m)
{
    struct contribution *contribution = &g->contributions[m->me];
    char *buffer = g->inline_buffers + m->me * INLINE_BYTES;
    contribution->same = true;
    for (int64_t k = 1; k < m->count && contribution->same; k++)
        contribution->same = m->out[k].at == m->out[0].at && m->out[k].size == m->out[0].size;
    contribution->lent = !copy_contribution(buffer, m->out, contribution->same ? 1 : m->count);
    contribution->blocks = contribution->lent ? m->out : (const struct block *)(const void *)buffer;
    g->lent |= contribution->lent;
    g->arrived++;
}

static bool rendezvous(void *context, struct rendezvous *m)
{
    struct participant *p = context;
    struct world *w = p->world;
    lock(p);
    struct rendezvous_state *g = find_rendezvous(w, m);
    bool ok = g != NULL && !atomic_load(&w->stop);
    if (ok) {
        m->kept = p->rendezvous_state = g;
        contribute(g, m);
        if (g->arrived == g->count)
            close_rendezvous(w, g);
        else
            ok = block_until_resumed(p, IN_RENDEZVOUS, m->inst);
    }
    pthread_mutex_unlock(&w->lock);
    if (!g)
        out_of_memory();
    for (int64_t j = 0; ok && j < m->count; j++)
        m->in[j] = g->contributions[j].blocks[g->contributions[j].same ? 0 : m->me];
    return ok;
}

/* Cannot deadlock: every member that has returned from `rendezvous` calls this. */
static void leave_rendezvous(void *context, struct rendezvous *m)
{
    struct participant *p = context;
    struct world *w = p->world;
    struct rendezvous_state *g = m->kept;
    bool last = atomic_fetch_add(&g->parted, 1) + 1 == g->count;
    if (last && g->lent) {
        lock(p); /* no member is between its test and pthread_cond_wait */
        for (int64_t k = 0; k < g->count; k++)
            if (g->contributions[k].lent)
                pthread_cond_signal(&w->participants[g->members[k]].wake);
        pthread_mutex_unlock(&w->lock);
    } else if (g->contributions[m->me].lent) {
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
    struct message *m = mem_detach(mem_alloc(sizeof *m + data.size));
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
        resume(receiver);
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
    if (!m && !atomic_load(&w->stop) && block_until_resumed(p, RECEIVING, i)) {
        at = find_message(p, tag, from);
        m = *at;
    }
    if (m)
        *at = m->next;
    pthread_mutex_unlock(&w->lock);
    if (!m)
        return false;
    size_t size_copied = *size < m->size ? *size : m->size;
    if (size_copied > 0)
        memcpy(to, m->data, size_copied);
    *size = m->size;
    mem_free(m);
    return true;
}

static void free_rendezvous(struct rendezvous_state *g)
{
    for (struct rendezvous_state *next; g; g = next) {
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
    free_rendezvous(w->open);
    free_rendezvous(w->closed);
}

/* ---- the host ---- */

static enum feed infeed(void *context, struct arena *a, struct literal **out)
{
    struct participant *p = context;
    const struct world_feeds *f = p->world->feeds;
    atomic_store(&p->asks_host, true);
    enum feed came =
        f ? f->infeed(f->context, p->number, &p->task->state->budget, a, out) : FEED_EMPTY;
    atomic_store(&p->asks_host, false);
    return came;
}

static bool outfeed(void *context, const struct literal *l)
{
    struct participant *p = context;
    const struct world_feeds *f = p->world->feeds;
    atomic_store(&p->asks_host, true);
    bool ok = !f || f->outfeed(f->context, p->number, &p->task->state->budget,
                               l); /* NULL: items are discarded */
    atomic_store(&p->asks_host, false);
    return ok;
}

const struct exchange world_exchange = {
    .rendezvous = rendezvous,
    .leave = leave_rendezvous,
    .send = send,
    .receive = receive,
    .infeed = infeed,
    .outfeed = outfeed,
};

/* ---- deadlocks ---- */

static bool waits(const struct participant *p)
{
    int state = atomic_load(&p->state);
    return state == IN_RENDEZVOUS || state == RECEIVING;
}

static void add_wait(struct world *w, const struct participant *p)
{
    struct blocked *wait = &w->waits[w->wait_count++];
    *wait = (struct blocked){.participant = p->number, .at = p->at};
    int64_t max = p->state == RECEIVING ? 1 : p->rendezvous_state->count;
    wait->waits_for = w->waits_for + p->number * w->count;
    if (p->state == RECEIVING)
        wait->waits_for[wait->count++] = p->from;
    else
        for (int64_t k = 0; k < max; k++)
            if (!p->rendezvous_state->contributions[k].blocks)
                wait->waits_for[wait->count++] = p->rendezvous_state->members[k];
}

bool world_detect_deadlock(struct world *w)
{
    w->wait_count = 0;
    for (int64_t k = 0; k < w->count; k++) {
        w->can_proceed[k] = w->participants[k].state == RUNNING;
        if (waits(&w->participants[k]))
            add_wait(w, &w->participants[k]);
    }
    w->wait_count = world_find_deadlocked(w->waits, w->wait_count, w->can_proceed);
    return w->wait_count > 0;
}
