/*
 * ranks_priv.h: private to world/: participants in several processes, the ranks.
 *
 *   ranks.c       what ranks do outside runs; how messages travel between them
 *   ranks_meet.c  what participants ask of each other and of the host
 *   ranks_run.c   a run: threads for the participants of this rank, and what the rank does beside
 * them board.c       on rank 0: what is known of all participants, who waits for ever, the end
 *   pack.c        values and messages as bytes
 *
 * A block of values is sent straight from the participant that gives it to the one that gets it,
 * and a meeting is over for a participant once it has all blocks: nobody else is asked. A
 * participant that waits for long tells rank 0 for whom, how many messages it has received from
 * each other participant, and how many it has sent. From these reports rank 0 finds out what is
 * stuck, without asking anybody.
 */
#ifndef HLO_WORLD_RANKS_PRIV_H
#define HLO_WORLD_RANKS_PRIV_H

#include "base/guard.h"
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
/* Storage with everything that a literal holds, for mem_free; NULL: no memory. */
void *pack_literal(const struct literal *l, size_t *size);
/* NULL: no memory. */
struct literal *unpack_literal(struct arena *a, struct reader *r);

/* ---- ranks.c: messages between ranks ---- */

enum kind {
    KIND_BLOCK,    /* what one member of a group gives another */
    KIND_MESSAGE,  /* of a send */
    KIND_REPORT,   /* a participant: how it stands (board.c) */
    KIND_BUSY,     /* from a participant: it has had so much time that nobody need wait for it any
                      longer */
    KIND_RESULT,   /* of a participant */
    KIND_FEED_IN,  /* a participant wants an item from the host; */
    KIND_FEED_OUT, /* has one for it */
    KIND_FED,      /* the host's answer; value: enum feed */
    KIND_STOP,     /* the run has failed, all are to leave */
    KIND_END,      /* the run has ended; value: whether it went well; body: its messages */
    KIND_AGREE,    /* value: what this rank says; */
    KIND_AGREED,   /* value: the greatest one; from: the first rank that gave it */
    KIND_TEXT      /* value: whether there is one */
};

struct head {
    uint32_t kind, phase;
    int32_t from, to; /* participants */
    struct tag tag;
    uint64_t group;            /* of KIND_BLOCK: a hash of the members */
    int32_t computation, inst; /* where it was sent: indices; -1 */
    int64_t value;
};

struct item {
    struct head h;
    int rank; /* the sender */
    size_t size;
    void *body;
    bool lost;
    struct item *next;
};
struct items {
    struct item *first, **end;
};
struct item *item_new(struct head h, int rank, size_t size, void *body);
struct item *item_of(struct head h, const struct buf *b); /* a message to oneself; copied */
void items_push(struct items *q, struct item *i);
struct item *items_pop(struct items *q); /* NULL when there is none */
void item_free(struct item *i);          /* and its body */

struct ranks {
    struct transport transport;
    uint32_t phase; /* number of the current run or agreement; all ranks go through the same ones */
    struct items early; /* messages of a later phase: other ranks may be ahead of this one */
};
static inline int rank_of(const struct ranks *r, int64_t participant)
{
    return (int)(participant % r->transport.size);
}
/* As in struct transport. */
bool ranks_send(struct ranks *r, int rank, struct head h, struct block body, int *pending);
/* The body is copied. It is so small that a lack of memory for it ends the process. */
void ranks_tell(struct ranks *r, int rank, struct head h, struct block body);
/* The next message of this phase; NULL: there is none. */
struct item *ranks_receive(struct ranks *r);
/* Lets other threads run, for longer the more often one has looked in vain. */
void ranks_rest(unsigned times);
void ranks_lost(void *unused); /* an undo_fn: there is no memory, so nobody can go on */

/* ---- ranks_meet.c ---- */

/* A participant that runs on this rank. */
struct member {
    struct crew *crew;
    int64_t number;
    pthread_t thread;
    bool started;
    struct diags ds;
    struct world_participant *task;
    enum state state;
    bool by_itself;
    atomic_bool asks_host;
    bool busy;            /* rank 0 knows that it is */
    struct items inbox;   /* blocks and messages, in the order of their arrival */
    uint64_t arrivals;    /* how many have come */
    int64_t *sent, *came; /* to and from each participant */
    int pending;          /* its own blocks that are still being read */
    struct item *fed;     /* the host's answer */
    /* MEETING, RECEIVING: */
    const struct inst *at;
    int64_t *whom, whom_count, whom_room;
    bool told;              /* rank 0 knows, as of ... */
    uint64_t told_arrivals; /* ... this many */
};
extern const struct exchange ranks_exchange;        /* but for its context, a member, and `stop` */
void member_take(struct member *p, struct item *i); /* a block or a message for it has arrived */

/* ---- ranks_run.c ---- */

/* A run, as far as it takes place on this rank. */
struct crew {
    struct ranks *ranks;
    pthread_mutex_t lock;   /* guards everything here, and the ranks' transport */
    pthread_cond_t changed; /* for the main thread: look around */
    pthread_cond_t asked;   /* wakes threads that serve the host to participants on other ranks */
    const struct world_feeds *feeds; /* on rank 0 */
    struct world_participant *tasks;
    struct diags *ds;    /* of the run */
    struct guard *guard; /* of the thread that started the run */
    atomic_bool starved; /* a participant of this rank ran out of memory */
    struct arena arena;
    int64_t count, here, over; /* participants; those on this rank; those of them that have ended */
    struct member *members;
    bool serves;           /* rank 0 does, which has the host: */
    struct items requests; /* that nobody serves yet; so many: */
    int64_t request_count;
    pthread_t *hosts; /* one thread for each participant that may have to wait */
    int64_t host_count, host_idle;
    atomic_bool stop;
    bool ended, ok;      /* KIND_END has come */
    struct board *board; /* on rank 0 */
};
/* Takes the lock, and releases it. In between, running out of memory ends the process: nobody could
 * be told of it, and all would wait. */
void crew_enter(struct crew *c, struct undo *u);
void crew_leave(struct crew *c, struct undo *u);
/* All of this with the lock held. */
void crew_take(struct crew *c, struct item *i); /* handles a message */
bool crew_progress(struct crew *c);             /* handles one message; false: there is none */
/* From a participant of this rank to another participant. False: no memory. */
bool crew_post(struct crew *c, struct head h, int64_t to, struct block body, int *pending);
void crew_tell(struct crew *c, struct head h, struct block body); /* to all other ranks */
struct head crew_head(const struct member *p, enum kind kind, const struct inst *at);
/* Releases the lock for a while. */
void crew_rest(struct crew *c, unsigned times);

/* ---- board.c ---- */

struct board *board_new(struct crew *c);
void board_free(struct board *b);
void board_fail(struct board *b, const char *why); /* whatever else the participants report */
void crew_report(struct member *p); /* reports the state of a participant of this rank */
void board_report(struct board *b, struct item *report); /* that has arrived; takes ownership */
void board_busy(struct board *b,
                int64_t participant); /* the others need not wait for it for long */
/* Stops the run when nobody can proceed, and ends it when all participants have ended. Checks from
 * time to time whether some hold up the others. */
void board_look(struct board *b);

#endif
