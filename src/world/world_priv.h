/*
 * Private to world/.
 *
 * run.c      the participants' threads, from their start to the diagnostics of the run
 * rendezvous.c     rendezvous and messages between threads, and the wait-for graph
 * ranks*.c, coordinator.c, pack.c: the same in several processes, see ranks_priv.h
 * verdict.c  for both: which participants are deadlocked, and the diagnostics of a failed run
 */
#ifndef HLO_WORLD_PRIV_H
#define HLO_WORLD_PRIV_H

#include "world/world.h"

#include <pthread.h>
#include <stdatomic.h>

enum { WORLD_STACK_BYTES = 16 << 20 }; /* of a participant's thread */
/* Grace period before a run is stopped in which one participant has failed, or is deadlocked, while
 * others are still running: until each of those has used that much processor time, or waits for the
 * host, but no longer than a multiple of it in wall time. The diagnostics are then reproducible,
 * also on a busy machine. */
enum { WORLD_STALL_NS = 400000000, WORLD_MAX_STALLS = 25 /* times */ };
enum state { RUNNING, IN_RENDEZVOUS, RECEIVING, ENDED, FAILED }; /* of a participant */

static inline bool same_tag(struct tag a, struct tag b)
{
    return a.op == b.op && a.is_channel == b.is_channel && a.number == b.number;
}

/* ---- run.c: timeouts ---- */

/* Whether it has used WORLD_STALL_NS of processor time; true if that is unknown. */
bool world_grace_is_over(pthread_t participant);

/* ---- verdict.c: common to threads and ranks ---- */

/* A blocked participant: the instruction, and the participants that it waits for. */
struct blocked {
    int64_t participant;
    const struct inst *at;
    int64_t count;
    int64_t *waits_for;
};
/* Removes from the list the participants that may still proceed; the deadlocked ones keep their
 * order. Returns their number. can_proceed[k]: whether participant k may proceed; a blocked
 * participant for which all those that it waits for may proceed is added. */
int64_t world_find_deadlocked(struct blocked *waits, int64_t count, bool *can_proceed);

/* How a participant has terminated. */
struct ending {
    bool ended;     /* successfully; else it failed ... */
    bool by_itself; /* ... by an error of its own, not because the run had failed elsewhere */
    struct diags *ds;
    int64_t sender;             /* of the first message left in its inbox ... */
    const struct inst *sent_at; /* ... and the send; NULL: the inbox is empty */
};
struct outcome {
    struct arena *arena;
    int64_t count;
    struct ending *endings;
    const struct blocked *waits; /* the deadlocked participants */
    int64_t wait_count;
};
/* Reports the failure of the run to `ds`; true: it has not failed. */
bool world_verdict(const struct outcome *o, struct diags *ds);

/* ---- threads ---- */

/* The contribution of a member to a rendezvous: one block for all members, or a block for each. */
struct contribution {
    const struct block *blocks; /* NULL: the member has not arrived yet */
    bool same, lent;            /* `lent`: not copied, but in the member's storage */
};

/* The state of a rendezvous, from the arrival of the first member until the last one leaves; it is
 * reused afterwards. */
struct rendezvous_state {
    struct tag tag;
    int64_t count, arrived;
    bool lent; /* some contribution is */
    atomic_llong parted,
        left; /* members that have read all contributions; members that no longer use this struct */
    int64_t *members;                   /* a copy: the first member to arrive may leave first */
    struct contribution *contributions; /* by index in the group */
    char *inline_buffers;               /* for each index, a buffer for a small contribution */
    struct rendezvous_state *next;
};

struct message {
    struct tag tag;
    int64_t from;
    const struct inst *sent_at;
    size_t size;
    char *data;
    struct message *next;
};

struct participant {
    struct world *world;
    int64_t number;
    pthread_t thread;
    struct diags ds;
    struct world_participant *task;
    atomic_int state; /* enum state */
    bool by_itself;   /* FAILED by an error of its own */
    atomic_bool asks_host;
    pthread_cond_t wake;
    int spins; /* polls before it blocks */
    /* IN_RENDEZVOUS, RECEIVING: */
    const struct inst *at;
    struct rendezvous_state *rendezvous_state;
    struct tag tag;
    int64_t from;
    struct message *inbox; /* in the order in which they were sent */
};

struct world {
    pthread_mutex_t lock; /* guards everything in this struct */
    pthread_cond_t ended; /* signalled to the thread that started the run: a participant ended */
    const struct world_feeds *feeds;
    struct arena arena;
    int64_t count, running, over;
    struct participant *participants;
    struct rendezvous_state *open;   /* rendezvous at which members are missing */
    struct rendezvous_state *closed; /* all members have arrived; some may not have left yet */
    int spins;                       /* maximum number of polls before blocking */
    atomic_bool stop;                /* the run has failed: all participants must stop */
    struct blocked *waits;
    int64_t wait_count;
    bool *can_proceed;  /* `waits`, `can_proceed` and `waits_for` have their maximum size from the
                           start, ... */
    int64_t *waits_for; /* ... so that nothing is allocated with the lock held */
    struct oom_scope *oom_scope; /* of the thread that started the run */
    bool ran_out_of_memory;      /* a participant ran out of memory */
    int64_t started;
};

/* ---- rendezvous.c ---- */

extern const struct exchange world_exchange; /* without `context`, a participant, and `stop` */
int world_spins(int64_t participants);
/* With the lock held. */
void world_stop(struct world *w);
void world_stop_if_blocked(
    struct world *w); /* after a participant blocked or ended: stops the run if all are blocked */
bool world_detect_deadlock(
    struct world *w);              /* whether some are deadlocked, which are then in `waits` */
void world_clean(struct world *w); /* frees rendezvous and messages not received */

#endif
