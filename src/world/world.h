/*
 * world: the participants of a run (replicas times partitions) as threads that synchronize at
 * collectives and send each other messages, in one process or in several.
 *
 * Participants share a program, which is read-only; each has a run state of its own. Deadlocks are
 * detected and reported: which participants are blocked at which instructions, and on which other
 * participants.
 */
#ifndef HLO_WORLD_H
#define HLO_WORLD_H

#include "eval/eval.h"

enum { WORLD_MAX_PARTICIPANTS = 4096 };

/* Callbacks for infeed and outfeed. A participant makes one call at a time; calls of several
 * participants may run concurrently. The callee reports errors. Code that blocks within a call must
 * poll the budget (budget_look) and return FEED_EMPTY or false when it is used up: the time limit
 * is reached, or the run has failed elsewhere. */
struct world_feeds {
    void *context;
    enum feed (*infeed)(void *context, int64_t participant, struct budget *b, struct arena *a,
                        struct literal **out);
    bool (*outfeed)(void *context, int64_t participant, struct budget *b, const struct literal *l);
};

struct world_participant {
    struct run_state *state;           /* with its program */
    const struct literal *const *args; /* for each parameter */
    size_t arg_count;
    struct arena *arena;    /* for the result */
    struct literal *result; /* its storage is freed by literal_free_data */
};

/* Runs all participants. False with diagnostics, and without any result, when one of them fails or
 * is deadlocked; the diagnostics do not depend on the scheduling of threads. `feeds` may be NULL.
 */
bool world_run(struct diags *ds, struct world_participant *p, int64_t count,
               const struct world_feeds *feeds);

/* ---- the same in several processes, the ranks, over a transport ---- */

struct transport;
struct ranks;
/* Takes ownership of the transport. */
struct ranks *ranks_open(const struct transport *t);
void ranks_close(struct ranks *r);
int ranks_rank(const struct ranks *r);
int ranks_count(const struct ranks *r);
bool ranks_has(const struct ranks *r, int64_t participant); /* it runs on this rank */
/* Collective over all ranks: returns the maximum of the values they pass; `who` is the lowest rank
 * that passed it. */
int ranks_agree(struct ranks *r, int value, int *who);
/* Collective over all ranks: broadcasts the text of rank 0. Returns rank 0's `given`. */
bool ranks_share(struct ranks *r, struct buf *text, bool given);
/* world_run, called by all ranks with the same programs; each rank needs only those of its own
 * participants, and their arguments. The return value and the diagnostics are the same on all
 * ranks; the results are on rank 0, whose `feeds` serve all participants. */
bool ranks_run(struct ranks *r, struct diags *ds, struct world_participant *p, int64_t count,
               const struct world_feeds *feeds);

/* Opens the transport `name` from a shared object, hlo-NAME.so. False: the reason is in `why`. */
bool transport_load(const char *name, struct transport *out, struct buf *why);

#endif
