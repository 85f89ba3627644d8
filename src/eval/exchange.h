/*
 * exchange.h: the interface through which a running participant communicates with the other
 * participants and with the host.
 *
 * eval depends on neither threads nor MPI: the caller that runs several participants passes each of
 * them an implementation. Values are computed in eval, from whole blocks and in the order of the
 * group, so that every implementation gives the same bits. A function that returns false ends the
 * run; the implementation reports the reason, unless noted otherwise.
 */
#ifndef HLO_EVAL_EXCHANGE_H
#define HLO_EVAL_EXCHANGE_H

#include "ir/ir.h"

/* Matches messages and rendezvous with each other: those of one instruction or of one channel have
 * equal tags. */
struct tag {
    enum opcode op;
    bool is_channel;
    int64_t number; /* channel, or computation and instruction */
};

struct block {
    const void *at;
    size_t size;
};

/* A rendezvous: all members of a replica group at a collective. */
struct rendezvous {
    const struct inst *inst; /* the collective, on this participant */
    struct tag tag;
    int64_t count, me;       /* number of members; index of this one */
    const int64_t *members;  /* participants, in the order of the group */
    const struct block *out; /* out[j] is sent to member j */
    struct block *in;        /* in[j] is received from member j; filled in by `rendezvous` */
    void *kept;              /* private to the implementation */
};

enum feed { FEED_ITEM, FEED_EMPTY, FEED_FAILED };

struct exchange {
    void *context;
    /* `rendezvous` returns when all members have arrived; their blocks may be read until `leave` is
     * called, which returns when no other member reads this participant's blocks any more. */
    bool (*rendezvous)(void *context, struct rendezvous *m);
    void (*leave)(void *context, struct rendezvous *m);
    /* Messages from one participant to another arrive in the order in which they were sent. `send`
     * does not block; false: out of memory. `receive` blocks, copies at most *size bytes, and sets
     * *size to the size of the message. */
    bool (*send)(void *context, const struct inst *i, struct tag tag, int64_t to,
                 struct block data);
    bool (*receive)(void *context, const struct inst *i, struct tag tag, int64_t from, void *to,
                    size_t *size);
    /* The next item from the host, in the arena; the caller frees its storage. `outfeed` only reads
     * the value. FEED_FAILED, or false: the reason has been reported, or the budget was used up
     * while waiting for the host. */
    enum feed (*infeed)(void *context, struct arena *a, struct literal **out);
    bool (*outfeed)(void *context, const struct literal *l);
    /* Set when the run has failed elsewhere, so that this participant must stop too. */
    const _Atomic bool *stop;
};

#endif
