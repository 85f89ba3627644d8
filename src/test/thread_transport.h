/*
 * A transport between ranks that are threads of one process. As with MPI, messages of different
 * ranks arrive in any order and may be delayed, and a payload that is not copied is read when the
 * receiver takes it.
 */
#ifndef HLO_TEST_THREAD_TRANSPORT_H
#define HLO_TEST_THREAD_TRANSPORT_H

#include "world/transport.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { NETWORK_MAX = 8, NETWORK_SMALL = 64 };

struct packet {
    int from;
    int64_t head[TRANSPORT_HEAD / 8];
    const void *body;
    size_t size;
    int *pending; /* NULL: the payload belongs to the packet, and then to its receiver */
    atomic_bool taken;
    struct packet *next, *next_out;
};
struct mailbox {
    struct network *network;
    int rank;
    uint64_t random;
    struct packet *in, *out; /* out: sent by this rank and possibly not received yet */
};
struct network {
    pthread_mutex_t lock;
    struct mailbox boxes[NETWORK_MAX];
};

static inline bool network_send(void *context, int to, const void *head, const void *body,
                                size_t size, int *pending)
{
    struct mailbox *box = context;
    struct packet *l = calloc(1, sizeof *l), **end = &box->network->boxes[to].in;
    l->from = box->rank;
    memcpy(l->head, head, sizeof l->head);
    l->size = size;
    l->body = body;
    l->pending = size > NETWORK_SMALL ? pending : NULL;
    if (l->pending) {
        l->next_out = box->out;
        box->out = l;
        ++*pending;
    } else if (size > 0) {
        l->body = memcpy(mem_detach(mem_alloc(size)), body,
                         size); /* the receiver may belong to another process */
    } else {
        l->body = NULL;
    }
    pthread_mutex_lock(&box->network->lock);
    while (*end)
        end = &(*end)->next;
    *end = l;
    pthread_mutex_unlock(&box->network->lock);
    return true;
}

static inline void network_reclaim(struct mailbox *box)
{
    for (struct packet **at = &box->out, *l; (l = *at) != NULL;)
        if (atomic_load(&l->taken)) {
            *at = l->next_out;
            --*l->pending;
            free(l);
        } else {
            at = &l->next_out;
        }
}

/* Removes the first packet of a random rank, if there is one. */
static inline struct packet *network_pick(struct mailbox *box)
{
    box->random = box->random * 6364136223846793005u + 1442695040888963407u;
    int from = (int)(box->random >> 33) % NETWORK_MAX;
    pthread_mutex_lock(&box->network->lock);
    struct packet **at = &box->in, *l;
    while ((l = *at) != NULL && l->from != from)
        at = &l->next;
    if (l)
        *at = l->next;
    pthread_mutex_unlock(&box->network->lock);
    return l;
}

static inline bool network_receive(void *context, struct transport_message *out)
{
    struct mailbox *box = context;
    network_reclaim(box);
    struct packet *l = network_pick(box);
    if (!l)
        return false;
    *out = (struct transport_message){
        .rank = l->from, .size = l->size, .body = (void *)(uintptr_t)l->body};
    memcpy(out->head, l->head, sizeof l->head);
    if (l->pending) {
        out->body = memcpy(mem_alloc(l->size), l->body, l->size);
        atomic_store(&l->taken, true);
    } else {
        free(l);
    }
    return true;
}

static inline bool network_busy(void *context) { return ((struct mailbox *)context)->out != NULL; }

static inline void network_no_close(void *context) { (void)context; }

static inline void network_open(struct network *p, uint64_t seed)
{
    memset(p, 0, sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    for (int k = 0; k < NETWORK_MAX; k++)
        p->boxes[k] =
            (struct mailbox){.network = p, .rank = k, .random = seed * NETWORK_MAX + (uint64_t)k};
}

static inline struct transport network_transport(struct network *p, int rank, int size)
{
    return (struct transport){.context = &p->boxes[rank],
                              .rank = rank,
                              .size = size,
                              .send = network_send,
                              .receive = network_receive,
                              .busy = network_busy,
                              .close = network_no_close};
}

/* Frees unreceived messages once all ranks have closed. */
static inline void network_close(struct network *p)
{
    for (int k = 0; k < NETWORK_MAX; k++) {
        for (struct packet *l = p->boxes[k].in, *next; l; l = next) {
            next = l->next;
            if (!l->pending)
                mem_free((void *)(uintptr_t)l->body);
            free(l);
        }
        network_reclaim(&p->boxes[k]);
    }
    pthread_mutex_destroy(&p->lock);
}

#endif
