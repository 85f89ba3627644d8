/*
 * plain reducer: acc = f(acc, value) for n accumulators at once, value by value; the step of
 * reduce, reduce-window, select-and-scatter and scatter. Private to the plain kernels.
 */
#ifndef HLO_KERN_PLAIN_REDUCER_H
#define HLO_KERN_PLAIN_REDUCER_H

#include "kern/nest.h"

struct plain_reducer {
    bool called;
    struct call_reducer call; /* for several operands, or a body that is not a single op */
    /* for one operand and a single op, in the type `work`; NULL: the value replaces the accumulator
     */
    kern_tile_fn *fn;
    enum dtype work;
    struct loader to_acc, to_work, from_work, from_acc;
    union kern_element acc;
};

/* Operands are converted to the types `acc` of the body (NULL: those of the results), results from
 * them. A body that is a single op runs in `work`; its result is rounded when it is stored. False:
 * out of memory. */
bool plain_reducer_init(struct plain_reducer *f, enum dtype work, int n, const struct view *out,
                        const struct view *x, const enum dtype *acc, const struct kern_body *body);
void plain_reducer_free(struct plain_reducer *f);
void plain_reducer_start(struct plain_reducer *f, const void *const *init);
void plain_reducer_start_at(struct plain_reducer *f, const struct view *init, const int64_t *at);
bool plain_reducer_value(struct plain_reducer *f, const struct view *x,
                         const int64_t *at); /* false: f failed */
void plain_reducer_store(struct plain_reducer *f, const struct view *out, const int64_t *at);

#endif
