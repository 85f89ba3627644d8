/*
 * transport.h: a transport: messages of bytes between ranks, the processes of one run. It is all
 * that participants in several processes need of MPI.
 *
 * A transport comes as a shared object of its own, which is opened when it is asked for, so that
 * nobody else pays for the library behind it. No two threads call it at the same time; nothing in
 * it waits.
 */
#ifndef HLO_WORLD_TRANSPORT_H
#define HLO_WORLD_TRANSPORT_H

#include "base/base.h"

enum { TRANSPORT_HEAD = 64 };

/* A message that has arrived. */
struct parcel {
    int rank;                         /* the sender */
    int64_t head[TRANSPORT_HEAD / 8]; /* what the sender put before the body */
    size_t size;
    void *body; /* owned by the receiver, who frees it with mem_free */
    bool lost;  /* there was no memory for the body */
};

struct transport {
    void *context;
    int rank, size;
    /* Messages from one rank to another arrive in the order in which they were sent. `pending` is
     * incremented here, and decremented by `receive` once the body has been read; until then the
     * body must stay. NULL: the body is copied. False: no memory for that. */
    bool (*send)(void *context, int to, const void *head, const void *body, size_t size,
                 int *pending);
    /* The next message, if there is one. Messages only make progress while somebody calls this. */
    bool (*receive)(void *context, struct parcel *out);
    bool (*busy)(void *context); /* something that was sent has not left yet */
    void (*close)(void *context);
};

/* What a shared object provides: opens the transport, or returns why it can't. The number in the
 * name changes with this header. */
typedef const char *transport_open_fn(struct transport *out);
#define TRANSPORT_OPEN hlo_transport_open_1
#define TRANSPORT_OPEN_NAME "hlo_transport_open_1"

#endif
