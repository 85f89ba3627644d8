/*
 * transport.h: a transport: messages of bytes between ranks, the processes of one run. It is the
 * only part of MPI that participants in several processes need.
 *
 * A transport is a shared object, loaded on demand, so that other runs do not load the library that
 * it uses. Calls are serialized by the caller; none of them blocks.
 */
#ifndef HLO_WORLD_TRANSPORT_H
#define HLO_WORLD_TRANSPORT_H

#include "base/base.h"

enum { TRANSPORT_HEAD = 64 };

/* A message that has arrived. */
struct transport_message {
    int rank;                         /* the sender */
    int64_t head[TRANSPORT_HEAD / 8]; /* the sender's header */
    size_t size;
    void *body;        /* owned by the receiver, which frees it with mem_free */
    bool body_missing; /* out of memory for the body */
};

struct transport {
    void *context;
    int rank, size;
    /* Messages from one rank to another arrive in the order in which they were sent. `pending` is
     * incremented here, and decremented by `receive` once the body has been read; until then the
     * body must not change. NULL: the body is copied. False: out of memory. */
    bool (*send)(void *context, int to, const void *head, const void *body, size_t size,
                 int *pending);
    /* The next message; false: none. Messages only make progress in calls of this. */
    bool (*receive)(void *context, struct transport_message *out);
    bool (*busy)(void *context); /* a send has not completed yet */
    void (*close)(void *context);
};

/* The symbol that a shared object exports: opens the transport and returns NULL, or returns the
 * reason why it cannot. The number in the name changes with this header. */
typedef const char *transport_open_fn(struct transport *out);
#define TRANSPORT_OPEN hlo_transport_open_1
#define TRANSPORT_OPEN_NAME "hlo_transport_open_1"

#endif
