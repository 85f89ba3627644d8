/*
 * why: which elements of its operands made an element of an instruction's result.
 *
 * Each family of operations has a function that gives boxes of elements: elements outside of all
 * boxes can change without changing the element. Where values decide (indices, predicates,
 * permutations), known ones are used; for unknown ones the boxes are larger. No value is computed.
 *
 *   why.c      boxes, known values, dispatch by family
 *   element.c  elementwise operations, conversions, random numbers
 *   move.c     operations that move elements: shapes, slices, gather, scatter, sort
 *   sum.c      operations that combine elements: reductions, windows, products, transforms
 *   control.c  calls, loops, tuples, parameters, feeds, collectives
 */
#ifndef HLO_WHY_H
#define HLO_WHY_H

#include "base/base.h"
#include "ir/ir.h"
#include "type/type.h"

/* Where a source is, relative to the instruction. */
enum why_where {
    WHY_HERE,    /* in the same computation: an operand */
    WHY_INSIDE,  /* in a computation that the instruction calls: its root */
    WHY_OUTSIDE, /* where its computation was called: the operand of the caller for this parameter
                  */
    WHY_BESIDE   /* in another iteration of the loop that it is in */
};

/* A box of elements of one leaf of a value: start, start + step, ... in each dimension. */
struct why_source {
    const struct inst *inst;
    enum why_where where;
    int64_t iteration; /* INSIDE of a while and BESIDE: which */
    int operand;       /* number of the operand, of the instruction or of the caller; -1: none */
    int64_t leaf;
    int rank;
    int64_t start[VIEW_MAX_RANK], count[VIEW_MAX_RANK], step[VIEW_MAX_RANK];
    int walk[VIEW_MAX_RANK]; /* the dimensions in the order in which elements are counted, slowest
                                first */
    bool product;            /* element n is multiplied by element n of the next source */
    const char *role;        /* a word or two: "lhs", "window", "index" */
};

/* Known values of the run. Either function may return NULL, or -1: unknown. */
struct why_known {
    void *context;
    const struct literal *(*value)(
        void *context, const struct inst *i); /* of an instruction of this computation */
    int64_t (*iterations)(
        void *context, const struct inst *i); /* of a while of this computation, or of the caller */
};

struct why {
    struct arena *arena;
    const struct why_known *known;
    const struct inst *caller; /* of its computation; NULL: it is the entry computation */
    int64_t iteration;         /* of the caller, a while: from 0; -1 in its condition */
    struct why_source *at;     /* the answer */
    size_t count, capacity;
};

/* Adds the sources of an element. `index` fits the leaf, which has at most VIEW_MAX_RANK
 * dimensions, and so have those of operands: why_fits. */
void why_element(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index);
/* Whether all shapes involved have ranks that can be run. */
bool why_fits(const struct inst *i);

/* The shape of a leaf, tuples flattened in order; and its value: NULL where it is not known, or a
 * token. */
const struct shape *why_leaf_shape(const struct shape *s, int64_t leaf);
const struct literal *why_leaf(const struct shape *s, const struct literal *l, int64_t leaf);

typedef void why_family_fn(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index);

#endif
