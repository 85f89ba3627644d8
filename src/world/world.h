/*
 * world: the participants of a run (replicas times partitions) as threads that meet at collectives
 * and send each other messages, in one process or in several.
 *
 * Each participant runs its own program on its own values; they share the module, which nobody
 * changes. Deadlocks are detected and reported: who waits where, and for whom.
 */
#ifndef HLO_WORLD_H
#define HLO_WORLD_H

#include "eval/eval.h"

enum { WORLD_MAX_PARTICIPANTS = 4096 };

/* What infeed and outfeed are connected to. A participant makes one call at a time; calls of
 * several participants may run at the same time. The callee reports what went wrong. Code that
 * waits within a call checks the budget every so often (budget_look) and gives up, with FEED_EMPTY
 * or false, once it is used up: the time limit is reached, or the run has failed elsewhere. */
struct world_feeds {
    void *context;
    enum feed (*infeed)(void *context, int64_t participant, struct budget *b, struct arena *a,
                        struct literal **out);
    bool (*outfeed)(void *context, int64_t participant, struct budget *b, const struct literal *l);
};

struct world_participant {
    struct program *program;
    const struct literal *const *args; /* for each parameter */
    size_t arg_count;
    struct arena *arena;    /* for the result */
    struct literal *result; /* its storage is freed by literal_free_data */
};

/* Runs them all. False with diagnostics, and without any result, when one of them fails or waits
 * for ever; what is reported does not depend on which thread was faster. `feeds` may be NULL. */
bool world_run(struct diags *ds, struct world_participant *p, int64_t count,
               const struct world_feeds *feeds);

/* ---- the same in several processes, the ranks, over a transport ---- */

struct transport;
struct ranks;
/* Takes the transport over. */
struct ranks *ranks_open(const struct transport *t);
void ranks_close(struct ranks *r);
int ranks_rank(const struct ranks *r);
int ranks_count(const struct ranks *r);
bool ranks_has(const struct ranks *r, int64_t participant); /* it runs on this rank */
/* Called by all ranks. Returns the greatest of the values they pass, and the first rank that passed
 * it. */
int ranks_agree(struct ranks *r, int value, int *who);
/* Called by all ranks: what rank 0 gives, if it gives anything, is sent to all others. Returns
 * whether it did. */
bool ranks_share(struct ranks *r, struct buf *text, bool given);
/* world_run, called by all ranks with the same programs; each rank needs only those of its own
 * participants, and their arguments. The outcome and the messages are the same on all ranks; rank 0
 * gets the results, and `feeds` are its own. */
bool ranks_run(struct ranks *r, struct diags *ds, struct world_participant *p, int64_t count,
               const struct world_feeds *feeds);

/* Opens the transport `name` from a shared object, hlo-NAME.so. False: why not is in `why`. */
bool transport_load(const char *name, struct transport *out, struct buf *why);

#endif
