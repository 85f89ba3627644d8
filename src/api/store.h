/*
 * store: values of a traced run, kept within a memory budget, and requests for values that another
 * run must recompute.
 *
 * The key of a value is its execution: participant, instruction and nesting, that is, the enclosing
 * calls and iterations. A caller that does not distinguish executions leaves the nesting empty, so
 * that the last value is kept.
 *
 *     first run:   store_put for every event; values that exceed the budget are dropped
 *     queries:     store_get; NULL and store_request for dropped values
 *     later runs:  store_refill, then store_put for every event: keeps requested values
 */
#ifndef HLO_API_STORE_H
#define HLO_API_STORE_H

#include "api/api.h"

struct store_key {
    size_t inst, participant;
    const struct hlo_within *within;
    size_t depth;
};

struct store {
    const hlo_listing *l;
    uint64_t budget, bytes; /* bytes of values and their keys */
    bool dropped;           /* a value was not kept; another run can recompute it */
    bool missed;            /* a value has been requested since the last run */
    bool failed;            /* out of memory for a value in this run */
    bool refilling;         /* a later run: requested values are kept, whatever the budget */
    struct arena arena;
    struct map entries;
    struct buf key;
    const struct shape **shapes; /* by instruction: of its value that was kept last */
};

/* The listing must outlive the store. */
void store_init(struct store *s, const hlo_listing *l, uint64_t budget);
void store_free(struct store *s);
/* Drops all values; another run can recompute them. Can be used as a cleanup_fn when memory has run
 * out. */
void store_drop_all(void *store);

/* The key of an event; `within` belongs to the event. */
struct store_key store_key_of(const struct hlo_event *e);

/* Keeps a copy of the value of an event under a key, replacing an earlier one. False if it is not
 * kept: over budget, not requested in a later run, or out of memory. */
bool store_put(struct store *s, const struct store_key *k, const struct hlo_event *e);
/* The value, which the store owns until the next call that changes it; NULL: not kept. */
const hlo_literal *store_get(struct store *s, const struct store_key *k);
/* Records the number of iterations of a `while` so far; -1: unknown. May be dropped. */
void store_put_iterations(struct store *s, const struct store_key *k, int64_t count);
int64_t store_iterations(struct store *s, const struct store_key *k);

/* Requests a value, or a number of iterations, from the next run. Sets `missed` unless it was
 * requested before, or nothing was dropped. */
void store_request(struct store *s, const struct store_key *k);
/* Call it before each later run. */
void store_refill(struct store *s);

#endif
