/*
 * lane_reducer: reductions of many results at once, one in each lane, by any body that has code on
 * tiles, or by a recognized combiner (spec: Reduce, ReduceWindow). Private to kern.
 *
 * Order and accumulation: every step applies the body to accumulators and values of some lanes. The
 * caller determines the order of the steps.
 */
#ifndef HLO_KERN_LANE_REDUCER_H
#define HLO_KERN_LANE_REDUCER_H

#include "kern/nest.h"

struct lane_slot {
    size_t width;          /* of the accumulator */
    struct loader in, out; /* operand -> accumulator -> result */
    union kern_element init;
};
struct lane_reducer {
    int n;
    const struct kern_lane_code *code;
    bool values_first; /* values precede accumulators in the body's arguments */
    struct lane_slot *slots;
    size_t bytes;                 /* storage of each worker */
    struct kern_lane_op op;       /* of a recognized combiner */
    struct kern_lane_code single; /* likewise */
};
/* The storage of a worker. */
struct lane_state {
    char **acc, **next, **scratch; /* tiles of each operand */
    char *workspace;
    const void **args;
    void **results;
};

/* Initializes a reduction in the types `acc`; of a recognized combiner in `work`, where operand and
 * result have the type acc[0]. False: out of memory. */
bool lane_reducer_init(struct lane_reducer *f, int n, const struct view *out, const struct view *x,
                       const void *const *init, const enum dtype *acc, enum dtype work,
                       const struct kern_body *body);
void lane_reducer_free(struct lane_reducer *f);

/* `storage`: f->bytes */
struct lane_state lane_state(const struct lane_reducer *f, char *storage);
void lane_start(const struct lane_reducer *f, const struct lane_state *s, int64_t lanes);
/* Combines values into the accumulators of lanes [from, from + count): at[k], strides[k] bytes
 * apart are those of operand k. */
void lane_step(const struct lane_reducer *f, const struct lane_state *s, const char *const *at,
               const int64_t *strides, int64_t from, int64_t count);
/* Combines values of the accumulators' types into those of the first `count` lanes. */
void lane_join(const struct lane_reducer *f, const struct lane_state *s, char *const *values,
               int64_t count);
/* Stores the accumulators of operand k. */
void lane_store(const struct lane_reducer *f, const struct lane_state *s, int k, char *out,
                int64_t stride, int64_t lanes);

#endif
