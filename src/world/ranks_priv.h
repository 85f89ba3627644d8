/*
 * ranks_priv.h: private to world/: participants in several processes, the ranks.
 *
 *   ranks.c             messages between ranks; collective operations of ranks outside runs
 *   ranks_rendezvous.c  struct exchange for participants: rendezvous, messages, feeds
 *   ranks_run.c         a run: threads for the participants of this rank, and the message loop
 *   coordinator.c       on rank 0: the status of all participants, deadlock detection, end of a run
 *   pack.c              serialization of diagnostics and literals
 *
 * A block of values is sent directly to the participant that receives it, and a rendezvous is
 * complete for a participant when it has all blocks; there is no coordinator. A participant that is
 * blocked for long reports to rank 0 which participants it waits for, and how many messages it has
 * received from, and sent to, each other participant. Rank 0 detects deadlocks from these reports
 * alone.
 */
#ifndef HLO_WORLD_RANKS_PRIV_H
#define HLO_WORLD_RANKS_PRIV_H

#include "base/oom.h"
#include "world/transport.h"
#include "world/world_priv.h"

/* ---- pack.c ---- */

struct reader {
    const char *at;
    size_t left;
};
void pack_int(struct buf *b, int64_t v);
int64_t unpack_int(struct reader *r); /* 0 at the end */
void pack_diags(struct buf *b, const struct diags *ds);
void unpack_diags(struct diags *ds, struct reader *r);
/* A literal with all its data, in storage for mem_free; NULL: out of memory. */
void *pack_literal(const struct literal *l, size_t *size);
/* NULL: out of memory. */
struct literal *unpack_literal(struct arena *a, struct reader *r);

/* ---- ranks.c: messages between ranks ---- */

enum kind {
    KIND_BLOCK,    /* of a rendezvous, from one member of a group to another */
    KIND_MESSAGE,  /* of a send */
    KIND_REPORT,   /* the status of a participant (coordinator.c) */
    KIND_BUSY,     /* a participant has used its grace period, or waits for the host */
    KIND_RESULT,   /* of a participant */
    KIND_FEED_IN,  /* a participant requests an item from the host */
    KIND_FEED_OUT, /* a participant sends an item to the host */
    KIND_FED,      /* the host's reply; value: enum feed */
    KIND_STOP,     /* the run has failed, all participants must stop */
    KIND_END,      /* the run has ended; value: whether it succeeded; body: its diagnostics */
    KIND_AGREE,    /* value: that of this rank */
    KIND_AGREED,   /* value: the maximum; from: the lowest rank with this value */
    KIND_TEXT      /* value: whether there is one */
};

struct head {
    uint32_t kind, phase;
    int32_t from, to; /* participants */
    struct tag tag;
    uint64_t group;            /* of KIND_BLOCK: a hash of the members */
    int32_t computation, inst; /* indices of the send; -1: none */
    int64_t value;
};

struct item {
    struct head h;
    int rank; /* the sender */
    size_t size;
    void *body;
    bool body_missing;
    struct item *next;
};
struct items {
    struct item *first, **end;
};
struct item *item_new(struct head h, int rank, size_t size, void *body);
struct item *item_of(struct head h, const struct buf *b); /* a message to oneself; copied */
void items_push(struct items *q, struct item *i);
struct item *items_pop(struct items *q); /* NULL: empty */
void item_free(struct item *i);          /* frees its body, too */

struct ranks {
    struct transport transport;
    uint32_t phase; /* number of the current run or collective; the same sequence on all ranks */
    struct items early; /* messages of later phases: other ranks may be ahead of this one */
    atomic_int sleeps; /* pauses that are to sleep, since other processes keep the processor busy */
};
static inline int rank_of(const struct ranks *r, int64_t participant)
{
    return (int)(participant % r->transport.size);
}
/* As in struct transport. */
bool ranks_send(struct ranks *r, int rank, struct head h, struct block body, int *pending);
/* The body is copied; the process exits if there is no memory for it. For small bodies. */
void ranks_send_copy(struct ranks *r, int rank, struct head h, struct block body);
/* The next message of this phase; NULL: none. */
struct item *ranks_receive(struct ranks *r);
/* Yields the processor, or sleeps: longer the more often the caller has polled in vain, and always
 * for some time after a yield that lost the processor to another process, since that takes
 * milliseconds. */
void ranks_pause(struct ranks *r, unsigned times);
void ranks_abort_out_of_memory(
    void *unused); /* a cleanup_fn: out of memory is fatal, as other ranks would block */

/* ---- ranks_rendezvous.c ---- */

/* A participant that runs on this rank. */
struct member {
    struct rank_run *rank_run;
    int64_t number;
    pthread_t thread;
    bool started;
    struct diags ds;
    struct world_participant *task;
    enum state state;
    bool by_itself;
    atomic_bool asks_host;
    bool busy;                /* has been reported to rank 0 (KIND_BUSY) */
    struct items inbox;       /* blocks and messages, in the order of their arrival */
    uint64_t arrivals;        /* number of messages received */
    int64_t *sent, *received; /* numbers of messages sent to and received from each participant */
    int pending;              /* sends of its own blocks that are not completed */
    struct item *fed;         /* the host's reply */
    /* IN_RENDEZVOUS, RECEIVING: */
    const struct inst *at;
    int64_t *waits_for, waits_for_count, waits_for_capacity;
    bool reported;              /* this has been reported to rank 0, ... */
    uint64_t reported_arrivals; /* ... at this number of arrivals */
};
extern const struct exchange ranks_exchange;        /* without `context`, a member, and `stop` */
void member_take(struct member *p, struct item *i); /* a block or a message for it has arrived */

/* ---- ranks_run.c ---- */

/* The state of a run on this rank. */
struct rank_run {
    struct ranks *ranks;
    pthread_mutex_t lock;            /* guards everything here, and the ranks' transport */
    pthread_cond_t changed;          /* signalled to the main thread */
    pthread_cond_t asked;            /* wakes threads that serve feed requests of other ranks */
    const struct world_feeds *feeds; /* on rank 0 */
    struct world_participant *tasks;
    struct diags *ds;              /* of the run */
    struct oom_scope *oom_scope;   /* of the thread that started the run */
    atomic_bool ran_out_of_memory; /* a participant of this rank ran out of memory */
    struct arena arena;
    int64_t count, here, over; /* participants; those on this rank; those of them that have ended */
    struct member *members;
    bool serves;           /* on rank 0: feed requests of other ranks */
    struct items requests; /* not served yet ... */
    int64_t request_count; /* ... and their number */
    pthread_t *hosts;      /* up to one thread for each participant on another rank */
    int64_t host_count, host_idle;
    atomic_bool stop;
    bool ended, ok;                  /* KIND_END has been received; its value */
    struct coordinator *coordinator; /* on rank 0 */
};
/* Acquire and release the lock. In between, running out of memory is fatal: other participants
 * would block without being notified. */
void rank_run_enter(struct rank_run *c, struct cleanup *u);
void rank_run_leave(struct rank_run *c, struct cleanup *u);
/* The following are called with the lock held. */
void rank_run_handle(struct rank_run *c, struct item *i); /* handles a message */
bool rank_run_progress(struct rank_run *c);               /* handles one message; false: none */
/* Sends from a participant of this rank to any participant. False: out of memory. */
bool rank_run_post(struct rank_run *c, struct head h, int64_t to, struct block body, int *pending);
void rank_run_broadcast(struct rank_run *c, struct head h,
                        struct block body); /* sends to all other ranks */
struct head rank_run_head(const struct member *p, enum kind kind, const struct inst *at);
/* Releases the lock for a while. */
void rank_run_pause(struct rank_run *c, unsigned times);

/* ---- coordinator.c ---- */

struct coordinator *coordinator_new(struct rank_run *c);
void coordinator_free(struct coordinator *b);
void coordinator_fail(struct coordinator *b,
                      const char *why); /* the run fails, with this diagnostic */
void rank_run_report(struct member *p); /* reports the status of a participant of this rank */
void coordinator_report(struct coordinator *b,
                        struct item *report);                      /* records it; takes ownership */
void coordinator_busy(struct coordinator *b, int64_t participant); /* records KIND_BUSY */
/* Called periodically: stops the run when the grace period after a failure or a deadlock of some
 * participants is over. */
void coordinator_check(struct coordinator *b);

#endif
