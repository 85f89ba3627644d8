/*
 * exchange.h: what a participant asks of the others, and of the host, while it runs.
 *
 * eval knows neither threads nor MPI: whoever runs several participants gives each of them one of
 * these. Values are computed in eval, from whole blocks and in the order of the group, so that
 * every implementation gives the same bits. A function that returns false ends the run; reporting
 * why is up to the implementation, unless noted otherwise.
 */
#ifndef HLO_EVAL_EXCHANGE_H
#define HLO_EVAL_EXCHANGE_H

#include "ir/ir.h"

/* Which messages and meetings belong together: those with equal tags, of one instruction or of one
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

/* All members of a group at a collective. */
struct meeting {
    const struct inst *inst; /* where this participant is */
    struct tag tag;
    int64_t count, me;       /* members, and which of them this is */
    const int64_t *members;  /* participants, in the order of the group */
    const struct block *out; /* what each of them gets */
    struct block *in;        /* what each of them gave, filled in by `meet` */
    void *kept;              /* the implementation's own */
};

enum feed { FEED_ITEM, FEED_EMPTY, FEED_FAILED };

struct exchange {
    void *context;
    /* `meet` returns once all members have come; their blocks may be read until `part` is called,
     * which returns once nobody reads this participant's blocks any more. */
    bool (*meet)(void *context, struct meeting *m);
    void (*part)(void *context, struct meeting *m);
    /* Messages from one participant to another arrive in the order in which they were sent. Sending
     * does not wait; false: no memory. Receiving returns the size of the message, and copies as
     * much of it as fits. */
    bool (*send)(void *context, const struct inst *i, struct tag tag, int64_t to,
                 struct block data);
    bool (*receive)(void *context, const struct inst *i, struct tag tag, int64_t from, void *to,
                    size_t *size);
    /* The next item from the host, in the arena; its storage is the caller's to free. `outfeed`
     * only reads the value. FEED_FAILED, or false: the reason has been reported, or the budget was
     * used up while waiting for the host. */
    enum feed (*infeed)(void *context, struct arena *a, struct literal **out);
    bool (*outfeed)(void *context, const struct literal *l);
    /* Whether the run has failed elsewhere, so that this participant must end too. */
    const _Atomic bool *stop;
};

#endif
