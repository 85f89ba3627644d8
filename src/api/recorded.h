/*
 * recorded: a run whose values can be asked for (recorded.c), and elements of them by name (element.c).
 */
#ifndef HLO_API_RECORDED_H
#define HLO_API_RECORDED_H

#include "api/store.h"

struct execution { /* of an instruction: where it ran */
    bool ran;
    size_t depth, capacity;
    struct hlo_within *within;
};
struct hlo_recorded {
    const hlo_listing *l;
    const struct hlo_run_options *options;
    const hlo_literal *const *args;
    size_t count;
    struct hlo_recording how;
    struct store store;
    struct arena arena;
    uint64_t events;
    struct execution *last; /* by instruction: its last execution */
    struct {                /* an execution looked for in a later run, by iterations; inst -1: none */
        long inst;
        const int64_t *iterations;
        size_t count;
        struct execution found;
    } sought;
};

/* Runs the module once more for the values wanted and the execution sought. */
void recorded_run_again(struct hlo_recorded *r);
/* The whole value of the instruction of an element; the module runs again for a dropped one. */
const hlo_literal *recorded_value(struct hlo_recorded *r, const struct hlo_element *e);
/* An undo_fn: when memory has run out, later runs give the values again. */
void recorded_forget(void *recorded);

#endif
