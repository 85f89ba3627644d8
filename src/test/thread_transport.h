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

enum { POST_MAX = 8, POST_SMALL = 64 };

struct letter {
    int from;
    int64_t head[TRANSPORT_HEAD / 8];
    const void *body;
    size_t size;
    int *pending; /* NULL: the payload belongs to the letter, and then to its receiver */
    atomic_bool taken;
    struct letter *next, *next_out;
};
struct letter_box {
    struct post *post;
    int rank;
    uint64_t random;
    struct letter *in, *out; /* out: sent by this rank and possibly not received yet */
};
struct post {
    pthread_mutex_t lock;
    struct letter_box boxes[POST_MAX];
};

static inline bool post_send(void *context, int to, const void *head, const void *body, size_t size,
                             int *pending)
{
    struct letter_box *box = context;
    struct letter *l = calloc(1, sizeof *l), **end = &box->post->boxes[to].in;
    l->from = box->rank;
    memcpy(l->head, head, sizeof l->head);
    l->size = size;
    l->body = body;
    l->pending = size > POST_SMALL ? pending : NULL;
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
    pthread_mutex_lock(&box->post->lock);
    while (*end)
        end = &(*end)->next;
    *end = l;
    pthread_mutex_unlock(&box->post->lock);
    return true;
}

static inline void post_look_after(struct letter_box *box)
{
    for (struct letter **at = &box->out, *l; (l = *at) != NULL;)
        if (atomic_load(&l->taken)) {
            *at = l->next_out;
            --*l->pending;
            free(l);
        } else {
            at = &l->next_out;
        }
}

/* Removes the first letter of a random rank, if there is one. */
static inline struct letter *post_pick(struct letter_box *box)
{
    box->random = box->random * 6364136223846793005u + 1442695040888963407u;
    int from = (int)(box->random >> 33) % POST_MAX;
    pthread_mutex_lock(&box->post->lock);
    struct letter **at = &box->in, *l;
    while ((l = *at) != NULL && l->from != from)
        at = &l->next;
    if (l)
        *at = l->next;
    pthread_mutex_unlock(&box->post->lock);
    return l;
}

static inline bool post_receive(void *context, struct transport_message *out)
{
    struct letter_box *box = context;
    post_look_after(box);
    struct letter *l = post_pick(box);
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

static inline bool post_busy(void *context) { return ((struct letter_box *)context)->out != NULL; }

static inline void post_no_close(void *context) { (void)context; }

static inline void post_open(struct post *p, uint64_t seed)
{
    memset(p, 0, sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    for (int k = 0; k < POST_MAX; k++)
        p->boxes[k] =
            (struct letter_box){.post = p, .rank = k, .random = seed * POST_MAX + (uint64_t)k};
}

static inline struct transport post_transport(struct post *p, int rank, int size)
{
    return (struct transport){.context = &p->boxes[rank],
                              .rank = rank,
                              .size = size,
                              .send = post_send,
                              .receive = post_receive,
                              .busy = post_busy,
                              .close = post_no_close};
}

/* Frees unreceived messages once all ranks have closed. */
static inline void post_close(struct post *p)
{
    for (int k = 0; k < POST_MAX; k++) {
        for (struct letter *l = p->boxes[k].in, *next; l; l = next) {
            next = l->next;
            if (!l->pending)
                mem_free((void *)(uintptr_t)l->body);
            free(l);
        }
        post_look_after(&p->boxes[k]);
    }
    pthread_mutex_destroy(&p->lock);
}

#endif
