/*
 * world: the participants of a run, replicas times partitions of them, as threads that meet at
 * collectives and send each other messages.
 *
 * Each participant runs its own program on its own values; they share the module, which nobody
 * changes. What can never come to an end is found out and said: who waits where, and for whom.
 */
#ifndef HLO_WORLD_H
#define HLO_WORLD_H

#include "eval/eval.h"

enum { WORLD_MAX_PARTICIPANTS = 4096 };

/* What infeed and outfeed are connected to. Called by whichever participant wants something, one at a
 * time; the callee says what went wrong. */
struct world_feeds {
    void *context;
    enum feed (*infeed)(void *context, int64_t participant, struct arena *a, struct literal **out);
    bool (*outfeed)(void *context, int64_t participant, const struct literal *l);
};

struct world_participant {
    struct program *program;
    const struct literal *const *args; /* for each parameter */
    size_t arg_count;
    struct arena *arena;    /* for the result */
    struct literal *result; /* its storage is freed by literal_free_data */
};

/* Runs them all. False with diagnostics, and without any result, when one of them fails or waits for
 * ever; what is said does not depend on which thread was faster. `feeds` may be NULL. */
bool world_run(struct diags *ds, struct world_participant *p, int64_t count, const struct world_feeds *feeds);

#endif
