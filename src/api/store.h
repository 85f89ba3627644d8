/*
 * store: values of a traced run, within a budget of memory, and which of them another run must
 * give.
 *
 * A value has the key of the execution that made it: participant, instruction and nesting, that is
 * the calls and iterations around it. A caller that counts executions makes one entry of nesting
 * out of the number (store_execution); one that distinguishes none leaves the nesting empty, so
 * that the last value put is the one that is kept.
 *
 *     first run:   store_put for every event; what does not fit the budget is dropped
 *     questions:   store_get; NULL and store_want for what was dropped
 *     later runs:  store_refill, then store_put for every event: it keeps what is wanted
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
    uint64_t budget, bytes; /* of values and their keys */
    bool dropped;           /* a value was not kept: another run can give it */
    bool missed;            /* some value is wanted that no run since has been made for */
    bool failed;            /* there was no memory for a value in this run */
    bool refilling;         /* this is a later run: what is wanted is kept, whatever the budget */
    struct arena arena;
    struct map entries;
    struct buf key;
    const struct shape **shapes; /* by instruction: of its value that was kept last */
};

void store_init(struct store *s, const hlo_listing *l,
                uint64_t budget); /* the listing must outlive it */
void store_free(struct store *s);
/* Drops all values; another run can give them. Safe as an undo_fn, when memory has run out. */
void store_drop_all(void *store);

/* The key of an event; `within` belongs to the event. */
struct store_key store_key_of(const struct hlo_event *e);
/* The key of an execution by number; `room` holds its nesting. */
struct store_key store_execution(size_t inst, size_t participant, uint64_t execution,
                                 struct hlo_within *room);

/* Keeps a copy of the value of an event under a key, in place of an earlier one. False when it is
 * not kept: it does not fit, is not wanted in a later run, or there is no memory. */
bool store_put(struct store *s, const struct store_key *k, const struct hlo_event *e);
/* The value, which the store owns until the next call that changes it; NULL: it is not kept. */
const hlo_literal *store_get(struct store *s, const struct store_key *k);
/* How many iterations a `while` has done, counted up to now; -1: unknown. Put may drop it. */
void store_put_iterations(struct store *s, const struct store_key *k, int64_t count);
int64_t store_iterations(struct store *s, const struct store_key *k);

/* Marks a value, or a number of iterations, for the next run. Sets `missed` unless it was marked
 * before, or nothing was dropped. */
void store_want(struct store *s, const struct store_key *k);
/* To be called before each later run. */
void store_refill(struct store *s);
/* Forgets all values and marks, to be filled with other ones. */
void store_clear(struct store *s);

#endif
