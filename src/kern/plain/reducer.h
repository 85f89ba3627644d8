/*
 * plain reducer: acc = f(acc, value) for n accumulators at once, value by value; the step of
 * reduce, reduce-window, select-and-scatter and scatter. Private to the plain kernels.
 */
#ifndef HLO_KERN_PLAIN_REDUCER_H
#define HLO_KERN_PLAIN_REDUCER_H

#include "kern/nest.h"

struct plain_slot {
    union kern_element acc, value, narrow, result; /* narrow: a value before it is widened */
    /* operand -> accumulator type -> type that the body computes in, and back */
    struct loader to_acc, to_work, from_work, from_acc;
    size_t width; /* of an accumulator, in the last of these types */
};
struct plain_reducer {
    int n;
    const struct kern_body *body;
    kern_tile_fn *fn;  /* of a body that is a single op; NULL: */
    bool called;       /* the body is called; else the value replaces the accumulator */
    bool values_first; /* values precede accumulators in the body's arguments; false at first */
    struct plain_slot *slots;
    const void **args;
    void **results;
};

/* Operands are converted to the types `acc` of the body (NULL: those of the results), results from
 * them. A body that is a single op runs in `work`; its result is rounded when it is stored. False:
 * out of memory. */
bool plain_reducer_init(struct plain_reducer *f, enum dtype work, int n, const struct view *out,
                        const struct view *x, const enum dtype *acc, const struct kern_body *body);
void plain_reducer_free(struct plain_reducer *f);
void plain_reducer_start(struct plain_reducer *f, const void *const *init);
void plain_reducer_start_at(struct plain_reducer *f, const struct view *init, const int64_t *at);
/* The elements at this index become the accumulators. */
void plain_reducer_load(struct plain_reducer *f, const struct view *x, const int64_t *at);
bool plain_reducer_value(struct plain_reducer *f, const struct view *x,
                         const int64_t *at); /* false: f failed */
/* Combines n values of the accumulators' types. */
bool plain_reducer_join(struct plain_reducer *f, const union kern_element *values);
void plain_reducer_store(struct plain_reducer *f, const struct view *out, const int64_t *at);

#endif
