/*
 * exchange.h: the operations of other participants and of the host that a run needs.
 *
 * eval is independent of threads and MPI: the runtime of several participants gives each of them
 * one of these. All arithmetic is done in eval, from whole blocks and in the order of the group, so
 * that every implementation gives the same bits. A function that returns false ends the run; the
 * implementation reports the reason, unless noted otherwise.
 */
#ifndef HLO_EVAL_EXCHANGE_H
#define HLO_EVAL_EXCHANGE_H

#include "ir/ir.h"

/* Messages and rendezvous belong together when their tags are equal: of one instruction or of one
 * channel. */
struct tag {
    enum opcode op;
    bool is_channel;
    int64_t number; /* channel, or computation and instruction */
};

struct block {
    const void *at;
    size_t size;
};

/* A rendezvous of all members of a group at a collective. */
struct meeting {
    const struct inst *inst; /* the instruction of this participant */
    struct tag tag;
    int64_t count, me;       /* number of members; index of this participant */
    const int64_t *members;  /* participants, in the order of the group */
    const struct block *out; /* by member: the block sent to it */
    struct block *in;        /* by member: the block received, set by `meet` */
    void *kept;              /* private to the implementation */
};

enum feed { FEED_ITEM, FEED_EMPTY, FEED_FAILED };

struct exchange {
    void *context;
    /* `meet` returns once all members have arrived; their blocks may be read until `part` is
     * called, which returns once no other member reads this participant's blocks. */
    bool (*meet)(void *context, struct meeting *m);
    void (*part)(void *context, struct meeting *m);
    /* Messages from one participant to another arrive in the order in which they were sent. `send`
     * does not block; false: out of memory. `recv` blocks, returns the size of the message, and
     * copies as much of it as fits. */
    bool (*send)(void *context, const struct inst *i, struct tag tag, int64_t to,
                 struct block data);
    bool (*receive)(void *context, const struct inst *i, struct tag tag, int64_t from, void *to,
                    size_t *size);
    /* `infeed`: the next item from the host, in the arena; the caller frees its storage. `outfeed`
     * only reads the value. FEED_FAILED, or false: the reason has been reported, or the budget was
     * exhausted while waiting for the host. */
    enum feed (*infeed)(void *context, struct arena *a, struct literal **out);
    bool (*outfeed)(void *context, const struct literal *l);
    /* Set when the run has failed elsewhere, so that this participant must end too. */
    const _Atomic bool *stop;
};

#endif
