/*
 * fold: acc = f(acc, value) for n accumulators at once, value by value; the step of reduce,
 * reduce-window, select-and-scatter and scatter. Private to the plain kernels.
 */
#ifndef HLO_KERN_PLAIN_FOLD_H
#define HLO_KERN_PLAIN_FOLD_H

#include "kern/nest.h"

struct plain_fold {
    bool called;
    struct call_fold call; /* for several operands, or a body that is not a single op */
    /* for one operand and a single op, in the type `work`; NULL: the value replaces the accumulator
     */
    kern_tile_fn *fn;
    enum dtype work;
    struct loader to_acc, to_work, from_work, from_acc;
    union kern_cell acc;
};

/* Operands are converted to the types `acc` of the body (NULL: those of the results), results from
 * them. A body that is a single op runs in `work`; its result is rounded when it is stored. False:
 * out of memory. */
bool plain_fold_init(struct plain_fold *f, enum dtype work, int n, const struct view *out,
                     const struct view *x, const enum dtype *acc, const struct kern_body *body);
void plain_fold_free(struct plain_fold *f);
void plain_fold_start(struct plain_fold *f, const void *const *init);
void plain_fold_start_at(struct plain_fold *f, const struct view *init, const int64_t *at);
bool plain_fold_value(struct plain_fold *f, const struct view *x,
                      const int64_t *at); /* false: f failed */
void plain_fold_store(struct plain_fold *f, const struct view *out, const int64_t *at);

#endif
