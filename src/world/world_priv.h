/*
 * Private to world/.
 *
 * run.c      threads, from their start to the verdict on the run
 * meet.c     meetings and messages of threads, and who waits for whom
 * verdict.c  who waits for ever, and what is said of a run that can't come to an end
 */
#ifndef HLO_WORLD_PRIV_H
#define HLO_WORLD_PRIV_H

#include "world/world.h"

#include <pthread.h>
#include <stdatomic.h>

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

enum state { RUNNING, MEETING, RECEIVING, ENDED, FAILED };

/* A meeting that is under way: from the first to come to the last to leave. */
struct gathering {
    struct tag tag;
    int64_t count, arrived, parted, left;
    const int64_t *members; /* copied: whoever came first may leave first */
    struct meeting **who;   /* by place in the group; NULL: not here yet */
    struct gathering *next; /* of those that somebody is still to come to */
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
    enum state state;
    bool by_itself; /* FAILED, and not because the run had failed elsewhere */
    pthread_cond_t wake;
    /* MEETING, RECEIVING: */
    const struct inst *at;
    struct gathering *gathering;
    struct tag tag;
    int64_t from;
    struct message *inbox; /* in the order of their sending */
};

struct world {
    pthread_mutex_t lock; /* of everything here */
    pthread_mutex_t feeding;
    pthread_cond_t ended; /* for who started them: something has changed */
    const struct world_feeds *feeds;
    struct arena arena;
    int64_t count, running, over;
    struct participant *participants;
    struct gathering *open;
    atomic_bool stop; /* the run has failed: all are to leave */
    struct wait *waits;
    int64_t wait_count;
};

/* ---- meet.c ---- */

extern const struct exchange world_exchange; /* but for its context, a participant, and `stop` */
/* With the lock held. */
void world_stop(struct world *w);
void world_settle(struct world *w); /* after one more waits or is over: is anybody left who can go on? */
bool world_find_stuck(struct world *w); /* whether some wait for ever; `waits` then tells of them */
void world_clean(struct world *w);  /* messages that nobody took */

#endif
