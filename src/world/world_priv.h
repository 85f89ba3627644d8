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
/* How long to wait before a run is stopped in which one participant has failed, or waits for ever,
 * while others go on: until each of those has had that much processor time, or asks the host; on a
 * busy machine, longer. So the same is reported each time. */
enum { WORLD_PATIENCE_NS = 400000000, WORLD_MOST_PATIENCE = 25 /* as long */ };
enum state { RUNNING, MEETING, RECEIVING, ENDED, FAILED }; /* of a participant */

static inline bool same_tag(struct tag a, struct tag b)
{
    return a.op == b.op && a.is_channel == b.is_channel && a.number == b.number;
}

/* ---- run.c: waiting for a time ---- */

void world_cond_init(pthread_cond_t *c); /* its timed waits use the clock of now_ns */
int world_cond_wait(pthread_cond_t *c, pthread_mutex_t *lock,
                    int64_t until); /* ETIMEDOUT when it is past `until` */
bool world_had_its_time(
    pthread_t participant); /* whether it has used WORLD_PATIENCE_NS of processor time */

/* ---- verdict.c: common to threads and ranks ---- */

/* A participant that waits: where, and for which others. */
struct wait {
    int64_t participant;
    const struct inst *at;
    int64_t count;
    int64_t *whom;
};
/* Keeps only those in the list who wait for ever, in their order; returns how many. `hope` says of
 * each participant whether it can still proceed; participants whom everyone they wait for may yet
 * help join them. */
int64_t world_keep_stuck(struct wait *waits, int64_t count, bool *hope);

/* How a participant has ended. */
struct ending {
    bool ended;     /* else it failed ... */
    bool by_itself; /* ... and not because the run had failed elsewhere */
    struct diags *ds;
    int64_t sender;             /* of the first message that it never received ... */
    const struct inst *sent_at; /* ... from there; NULL: there is none */
};
struct outcome {
    struct arena *arena;
    int64_t count;
    struct ending *endings;
    const struct wait *waits; /* who waited for ever */
    int64_t wait_count;
};
/* Reports what went wrong among the messages of the run; true: nothing did. */
bool world_verdict(const struct outcome *o, struct diags *ds);

/* ---- threads ---- */

/* What a member has brought to a meeting: one block for everyone, or a block for each. */
struct gift {
    const struct block *blocks; /* NULL: not here yet */
    bool same, lent;            /* `lent`: it is the member's own storage, which it wants back */
};

/* A meeting, from the first member that comes to the last that leaves; it is reused afterwards. */
struct gathering {
    struct tag tag;
    int64_t count, arrived;
    bool lent; /* some gift is */
    atomic_llong parted,
        left; /* how many need no gift any more; how many don't look at this struct any more */
    int64_t *members;   /* a copy: whoever came first may leave first */
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
    bool by_itself;   /* FAILED, and not because the run had failed elsewhere */
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
    pthread_cond_t ended; /* signalled to the thread that started them: something has changed */
    const struct world_feeds *feeds;
    struct arena arena;
    int64_t count, running, over;
    struct participant *participants;
    struct gathering *open;   /* members are still missing */
    struct gathering *closed; /* all members have come; some may still be there */
    int spins;                /* how often to poll, at most, before going to sleep */
    atomic_bool stop;         /* the run has failed: all are to leave */
    struct wait *waits;
    int64_t wait_count;
    bool *hope; /* these three are as large as they can ever have to be, so that no memory is needed
                   ... */
    int64_t *whom;       /* ... with the lock held */
    struct guard *guard; /* of who started it */
    bool starved;        /* a participant found no memory */
    int64_t started;
};

/* ---- meet.c ---- */

extern const struct exchange world_exchange; /* but for its context, a participant, and `stop` */
int world_spins(int64_t participants);
/* With the lock held. */
void world_stop(struct world *w);
void world_settle(
    struct world *w); /* called after one more waits or has ended: can anybody proceed? */
bool world_find_stuck(
    struct world *w);              /* whether some wait for ever; `waits` then describes them */
void world_clean(struct world *w); /* messages that nobody took */

#endif
