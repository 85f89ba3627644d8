/*
 * Threads that meet and send each other messages, and how it is found out that some wait for ever.
 *
 * One lock guards all of it; the values themselves are read and written without it, between the
 * moment in which the last member comes and the one in which the last has read. What a participant does
 * depends on nothing but what it is given, so who waits where, once nobody can go on, is the same each time.
 */
#include "world/world_priv.h"

static bool same_tag(struct tag a, struct tag b)
{
    return a.op == b.op && a.is_channel == b.is_channel && a.number == b.number;
}

/* ---- waiting ---- */

static void go_on(struct participant *p)
{
    p->state = RUNNING;
    p->world->running++;
    pthread_cond_signal(&p->wake);
}

/* False: the run has failed. */
static bool wait_as(struct participant *p, enum state state, const struct inst *at)
{
    struct world *w = p->world;
    p->state = state;
    p->at = at;
    w->running--;
    world_settle(w);
    while (p->state == state && !atomic_load(&w->stop))
        pthread_cond_wait(&p->wake, &w->lock);
    return p->state == RUNNING;
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

/* ---- meetings ---- */

static bool same_group(const struct gathering *g, const struct meeting *m)
{
    return same_tag(g->tag, m->tag) && g->count == m->count && !g->who[m->me] &&
           memcmp(g->members, m->members, (size_t)m->count * sizeof *m->members) == 0;
}

/* The meeting of this group that is under way, or a new one. */
static struct gathering *find_gathering(struct world *w, const struct meeting *m)
{
    for (struct gathering *g = w->open; g; g = g->next)
        if (same_group(g, m))
            return g;
    size_t places = (size_t)m->count * sizeof(struct meeting *), ids = (size_t)m->count * sizeof(int64_t);
    struct gathering *g = mem_zalloc(sizeof *g + places + ids);
    if (!g)
        return NULL;
    g->tag = m->tag;
    g->count = m->count;
    g->who = (struct meeting **)(void *)(g + 1);
    int64_t *members = (int64_t *)(void *)(g->who + m->count);
    memcpy(members, m->members, ids);
    g->members = members;
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
    for (int64_t k = 0; k < g->count; k++)
        if (w->participants[g->members[k]].state == MEETING)
            go_on(&w->participants[g->members[k]]);
}

static bool meet(void *context, struct meeting *m)
{
    struct participant *p = context;
    struct world *w = p->world;
    pthread_mutex_lock(&w->lock);
    struct gathering *g = find_gathering(w, m);
    bool ok = g != NULL && !atomic_load(&w->stop);
    if (ok) {
        g->who[m->me] = m;
        m->kept = p->gathering = g;
        if (++g->arrived == g->count)
            close_gathering(w, g);
        else
            ok = wait_as(p, MEETING, m->inst);
    }
    pthread_mutex_unlock(&w->lock);
    for (int64_t j = 0; ok && j < m->count; j++)
        m->in[j] = g->who[j]->out[m->me];
    return ok;
}

/* Everybody comes to part: nothing that could fail lies between. So this is no waiting for ever. */
static void part(void *context, struct meeting *m)
{
    struct participant *p = context;
    struct world *w = p->world;
    struct gathering *g = m->kept;
    pthread_mutex_lock(&w->lock);
    if (++g->parted == g->count)
        for (int64_t k = 0; k < g->count; k++)
            pthread_cond_signal(&w->participants[g->members[k]].wake);
    while (g->parted < g->count)
        pthread_cond_wait(&p->wake, &w->lock);
    bool last = ++g->left == g->count;
    pthread_mutex_unlock(&w->lock);
    if (last)
        mem_free(g);
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
    struct message *m = mem_alloc(sizeof *m + data.size);
    if (!m)
        return false;
    *m = (struct message){.tag = tag, .from = p->number, .sent_at = i, .size = data.size, .data = (char *)(m + 1)};
    if (data.size > 0)
        memcpy(m->data, data.at, data.size);
    pthread_mutex_lock(&w->lock);
    struct participant *receiver = &w->participants[to];
    struct message **end = &receiver->inbox;
    while (*end)
        end = &(*end)->next;
    *end = m;
    if (receiver->state == RECEIVING && receiver->from == p->number && same_tag(receiver->tag, tag))
        go_on(receiver);
    pthread_mutex_unlock(&w->lock);
    return true;
}

static bool receive(void *context, const struct inst *i, struct tag tag, int64_t from, void *to, size_t *size)
{
    struct participant *p = context;
    struct world *w = p->world;
    pthread_mutex_lock(&w->lock);
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

void world_clean(struct world *w)
{
    for (int64_t k = 0; k < w->count; k++)
        for (struct message *m = w->participants[k].inbox, *next; m; m = next) {
            next = m->next;
            mem_free(m);
        }
    for (struct gathering *g = w->open, *next; g; g = next) {
        next = g->next;
        mem_free(g);
    }
}

/* ---- the host ---- */

static enum feed infeed(void *context, struct arena *a, struct literal **out)
{
    struct participant *p = context;
    struct world *w = p->world;
    if (!w->feeds)
        return FEED_EMPTY;
    pthread_mutex_lock(&w->feeding);
    enum feed came = w->feeds->infeed(w->feeds->context, p->number, a, out);
    pthread_mutex_unlock(&w->feeding);
    return came;
}

static bool outfeed(void *context, const struct literal *l)
{
    struct participant *p = context;
    struct world *w = p->world;
    if (!w->feeds)
        return true; /* nobody listens */
    pthread_mutex_lock(&w->feeding);
    bool ok = w->feeds->outfeed(w->feeds->context, p->number, l);
    pthread_mutex_unlock(&w->feeding);
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

/* ---- who waits for ever ---- */

static bool waits(const struct participant *p)
{
    return p->state == MEETING || p->state == RECEIVING;
}

static void add_wait(struct world *w, const struct participant *p)
{
    struct wait *wait = &w->waits[w->wait_count++];
    *wait = (struct wait){.participant = p->number, .at = p->at};
    int64_t most = p->state == RECEIVING ? 1 : p->gathering->count;
    wait->whom = ARENA_ARRAY(&w->arena, int64_t, most);
    if (p->state == RECEIVING)
        wait->whom[wait->count++] = p->from;
    else
        for (int64_t k = 0; k < most; k++)
            if (!p->gathering->who[k])
                wait->whom[wait->count++] = p->gathering->members[k];
}

bool world_find_stuck(struct world *w)
{
    bool *hope = ARENA_ARRAY(&w->arena, bool, w->count);
    w->waits = ARENA_ARRAY(&w->arena, struct wait, w->count);
    w->wait_count = 0;
    for (int64_t k = 0; k < w->count; k++) {
        hope[k] = w->participants[k].state == RUNNING;
        if (waits(&w->participants[k]))
            add_wait(w, &w->participants[k]);
    }
    w->wait_count = world_keep_stuck(w->waits, w->wait_count, hope);
    return w->wait_count > 0;
}
