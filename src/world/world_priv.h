/*
 * Private to world/.
 *
 * run.c      threads, from their start to the verdict on the run
 * meet.c     meetings and messages of threads, and who waits for whom
 * ranks*.c, board.c, pack.c: the same in several processes, see ranks_priv.h
 * verdict.c  for both: who waits for ever, and what is said of a run that can't come to an end
 */
#ifndef HLO_WORLD_PRIV_H
#define HLO_WORLD_PRIV_H

#include "world/world.h"

#include <pthread.h>
#include <stdatomic.h>

enum { WORLD_STACK_BYTES = 16 << 20 }; /* of a participant's thread */
/* So long nobody may come to an end while one has failed, or waits for ever, and others go on: if those have had so much of a
 * processor each, or ask the host; else, on a machine with much else to do, longer. What is said of them is then the same. */
enum { WORLD_PATIENCE_NS = 400000000, WORLD_MOST_PATIENCE = 25 /* as long */ };
enum state { RUNNING, MEETING, RECEIVING, ENDED, FAILED }; /* of a participant */

static inline bool same_tag(struct tag a, struct tag b)
{
    return a.op == b.op && a.is_channel == b.is_channel && a.number == b.number;
}

/* ---- run.c: waiting for a time ---- */

void world_cond_init(pthread_cond_t *c); /* whose waits end by the clock of now_ns */
int world_cond_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until); /* ETIMEDOUT when it is that late */
bool world_had_its_time(pthread_t participant); /* WORLD_PATIENCE_NS of a processor */

/* ---- verdict.c: whatever it is that moves values between participants ---- */

/* A participant that waits: where, and for which others. */
struct wait {
    int64_t participant;
    const struct inst *at;
    int64_t count;
    int64_t *whom;
};
/* Only those who wait for ever stay in the list, in their order; returns how many. `hope` says of each
 * participant whether it can go on as it is; those whom all others that they wait for may yet help on join them. */
int64_t world_keep_stuck(struct wait *waits, int64_t count, bool *hope);

/* What became of a participant. */
struct ending {
    bool ended;     /* else it failed ... */
    bool by_itself; /* ... and not because the run had failed elsewhere */
    struct diags *ds;
    int64_t sender; /* of the first message that it never received ... */
    const struct inst *sent_at; /* ... from there; NULL: there is none */
};
struct outcome {
    struct arena *arena;
    int64_t count;
    struct ending *endings;
    const struct wait *waits; /* who waited for ever */
    int64_t wait_count;
};
/* What went wrong, into the messages of the run; true: nothing did. */
bool world_verdict(const struct outcome *o, struct diags *ds);

/* ---- threads ---- */

/* What a member brought to a meeting: one block for all, or a row of them. */
struct gift {
    const struct block *blocks; /* NULL: not here yet */
    bool same, lent;            /* lent: the member's own storage, which it wants back */
};

/* A meeting that is under way: from the first to come to the last to leave; then used again. */
struct gathering {
    struct tag tag;
    int64_t count, arrived;
    bool lent; /* some gift is */
    atomic_llong parted, left; /* who need no gift any more, and who don't look at this any more */
    int64_t *members; /* copied: whoever came first may leave first */
    struct gift *gifts; /* by place in the group */
    char *cells;        /* for each place, room for a small gift */
    struct gathering *next;
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
    bool by_itself; /* FAILED, and not because the run had failed elsewhere */
    atomic_bool asks_host;
    pthread_cond_t wake;
    int spins; /* how often it looks before it goes to sleep */
    /* MEETING, RECEIVING: */
    const struct inst *at;
    struct gathering *gathering;
    struct tag tag;
    int64_t from;
    struct message *inbox; /* in the order of their sending */
};

struct world {
    pthread_mutex_t lock; /* of everything here */
    pthread_cond_t ended; /* for who started them: something has changed */
    const struct world_feeds *feeds;
    struct arena arena;
    int64_t count, running, over;
    struct participant *participants;
    struct gathering *open;   /* that somebody is still to come to */
    struct gathering *closed; /* that all came to, whether some are still there or not */
    int spins;                /* how often to look at most before going to sleep */
    atomic_bool stop; /* the run has failed: all are to leave */
    struct wait *waits;
    int64_t wait_count;
    bool *hope;               /* these three have room for the most that there can be, so that nobody takes memory ... */
    int64_t *whom;            /* ... with the lock held */
    struct guard *guard;      /* of who started it */
    bool starved;             /* a participant found no memory */
    int64_t started;
};

/* ---- meet.c ---- */

extern const struct exchange world_exchange; /* but for its context, a participant, and `stop` */
int world_spins(int64_t participants);
/* With the lock held. */
void world_stop(struct world *w);
void world_settle(struct world *w); /* after one more waits or is over: is anybody left who can go on? */
bool world_find_stuck(struct world *w); /* whether some wait for ever; `waits` then tells of them */
void world_clean(struct world *w);  /* messages that nobody took */

#endif
