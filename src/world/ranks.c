/*
 * ranks.c: ranks: messages from one to another, and collective operations outside runs.
 */
#include "world/ranks_priv.h"

#include <assert.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static_assert(sizeof(struct head) <= TRANSPORT_HEAD, "a header fits into a transport message");

/* As in out_of_memory; other ranks could not proceed. */
_Noreturn static void no_memory(void)
{
    fputs("hlo: error: out of memory\n", stderr);
    exit(4);
}

void ranks_abort_out_of_memory(void *unused)
{
    (void)unused;
    no_memory();
}

/* ---- items ---- */

struct item *item_new(struct head h, int rank, size_t size, void *body)
{
    struct item *i = calloc(1, sizeof *i);
    if (!i)
        no_memory();
    *i = (struct item){.h = h, .rank = rank, .size = size, .body = body};
    return i;
}

struct item *item_of(struct head h, const struct buf *b)
{
    void *body = mem_alloc(b->size);
    if (!body)
        no_memory();
    return item_new(h, 0, b->size, memcpy(body, b->data, b->size));
}

void items_push(struct items *q, struct item *i)
{
    i->next = NULL;
    if (!q->first)
        q->end = &q->first;
    *q->end = i;
    q->end = &i->next;
}

struct item *items_pop(struct items *q)
{
    struct item *i = q->first;
    if (i)
        q->first = i->next;
    return i;
}

void item_free(struct item *i)
{
    if (i)
        mem_free(i->body);
    free(i);
}

/* ---- messages ---- */

bool ranks_send(struct ranks *r, int rank, struct head h, struct block body, int *pending)
{
    int64_t head[TRANSPORT_HEAD / 8] = {0};
    h.phase = r->phase;
    memcpy(head, &h, sizeof h);
    return r->transport.send(r->transport.context, rank, head, body.at, body.size, pending);
}

void ranks_send_copy(struct ranks *r, int rank, struct head h, struct block body)
{
    if (!ranks_send(r, rank, h, body, NULL))
        no_memory();
}

/* The first early message of the current phase, removed from the list; NULL: none. */
static struct item *pop_early(struct ranks *r)
{
    struct items rest = {0};
    struct item *found = NULL;
    for (struct item *i; (i = items_pop(&r->early)) != NULL;)
        if (!found && i->h.phase == r->phase)
            found = i;
        else
            items_push(&rest, i);
    r->early.first = rest.first;
    if (rest.first)
        r->early.end = rest.end;
    return found;
}

struct item *ranks_receive(struct ranks *r)
{
    struct transport_message p;
    struct item *i = r->early.first ? pop_early(r) : NULL;
    while (!i && r->transport.receive(r->transport.context, &p)) {
        struct head h;
        memcpy(&h, p.head, sizeof h);
        i = item_new(h, p.rank, p.size, p.body);
        i->body_missing = p.body_missing;
        if (i->body_missing && (h.kind == KIND_REPORT || h.kind == KIND_END))
            no_memory();
        if (i->h.phase == r->phase)
            continue;
        if (i->h.phase > r->phase)
            items_push(&r->early, i);
        else
            item_free(i); /* left over from a run that failed */
        i = NULL;
    }
    return i;
}

void ranks_pause(struct ranks *r, unsigned times)
{
    enum {
        SPINS = 2000,
        SHORT = 50000,
        LONG = 500000,
        TIRED = 2200,
        BUSY = 1000000,
        SLEEPS = 1000
    };
    if (times < SPINS && atomic_load(&r->sleeps) <= 0) {
        const int64_t start = now_ns();
        sched_yield();
        if (now_ns() - start > BUSY)
            atomic_store(&r->sleeps, SLEEPS);
        return;
    }
    struct timespec t = {.tv_nsec = times < TIRED ? SHORT : LONG};
    nanosleep(&t, NULL);
    if (atomic_load(&r->sleeps) > 0)
        atomic_fetch_sub(&r->sleeps, 1);
}

/* ---- outside runs ---- */

struct ranks *ranks_open(const struct transport *t)
{
    struct ranks *r = calloc(1, sizeof *r);
    if (!r)
        no_memory();
    r->transport = *t;
    return r;
}

void ranks_close(struct ranks *r)
{
    if (!r)
        return;
    for (struct item *i; (i = items_pop(&r->early)) != NULL;)
        item_free(i);
    r->transport.close(r->transport.context);
    free(r);
}

int ranks_rank(const struct ranks *r) { return r->transport.rank; }
int ranks_count(const struct ranks *r) { return r->transport.size; }
bool ranks_has(const struct ranks *r, int64_t participant)
{
    return rank_of(r, participant) == r->transport.rank;
}

/* Blocks until the next message of this phase arrives. */
static struct item *await(struct ranks *r)
{
    struct item *i;
    for (unsigned times = 0; (i = ranks_receive(r)) == NULL; times++)
        ranks_pause(r, times);
    if (i->body_missing)
        no_memory();
    return i;
}

static struct head await_head(struct ranks *r)
{
    struct item *i = await(r);
    struct head h = i->h;
    item_free(i);
    return h;
}

int ranks_agree(struct ranks *r, int value, int *who)
{
    struct head h = {.kind = KIND_AGREE, .from = r->transport.rank, .value = value};
    r->phase++;
    if (r->transport.rank > 0) {
        ranks_send_copy(r, 0, h, (struct block){0});
        h = await_head(r);
    } else {
        for (int k = 1; k < r->transport.size; k++) {
            struct head other = await_head(r);
            if (other.value > h.value || (other.value == h.value && other.from < h.from))
                h = other;
        }
        h.kind = KIND_AGREED;
        for (int k = 1; k < r->transport.size; k++)
            ranks_send_copy(r, k, h, (struct block){0});
    }
    *who = h.from;
    return (int)h.value;
}

bool ranks_share(struct ranks *r, struct buf *text, bool given)
{
    struct head h = {.kind = KIND_TEXT, .value = given};
    r->phase++;
    for (int k = 1; k < r->transport.size && r->transport.rank == 0; k++)
        ranks_send_copy(r, k, h, (struct block){text->data, text->size});
    if (r->transport.rank == 0)
        return given;
    struct item *i = await(r);
    buf_bytes(text, i->body, i->size);
    given = i->h.value != 0;
    item_free(i);
    return given;
}
