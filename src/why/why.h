/*
 * why: provenance: the elements of the operands that an element of an instruction's result depends
 * on.
 *
 * Each family of operations has a function that computes boxes of elements: elements outside of all
 * boxes do not affect the result element. Where values matter (indices, predicates, permutations),
 * known ones are used; unknown ones make the boxes larger. No value is computed.
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

/* The location of a source relative to the instruction. */
enum why_where {
    WHY_HERE,    /* an operand in the same computation */
    WHY_INSIDE,  /* the root of a computation that the instruction calls */
    WHY_OUTSIDE, /* the operand of the caller that is bound to this parameter */
    WHY_BESIDE   /* in another iteration of the enclosing loop */
};

/* A box of elements of one leaf of a value: start, start + step, ... in each dimension. */
struct why_source {
    const struct inst *inst;
    enum why_where where;
    int64_t iteration; /* WHY_INSIDE of a while, and WHY_BESIDE: the iteration */
    int operand;       /* operand number, of the instruction or of the caller; -1: none */
    int64_t leaf;
    int rank;
    int64_t start[VIEW_MAX_RANK], count[VIEW_MAX_RANK], step[VIEW_MAX_RANK];
    int walk[VIEW_MAX_RANK]; /* the dimensions in the order of enumeration, slowest first */
    bool product;            /* element n is multiplied by element n of the next source */
    const char *role;        /* one or two words: "lhs", "window", "index" */
};

/* Known values of the run. Either function may return NULL, or -1: unknown. */
struct why_known {
    void *context;
    /* Of an instruction of this computation. */
    const struct literal *(*value)(void *context, const struct inst *i);
    /* Of a while of this computation, or of the caller. */
    int64_t (*iterations)(void *context, const struct inst *i);
};

struct why {
    struct arena *arena;
    const struct why_known *known;
    /* The caller of its computation; NULL: it is the entry computation. */
    const struct inst *caller;
    int64_t iteration;     /* of a while that is the caller: from 0; -1 in its condition */
    struct why_source *at; /* the result */
    size_t count, capacity;
};

/* Adds the sources of an element. `index` must fit the leaf, which has at most VIEW_MAX_RANK
 * dimensions, like the operands: why_fits. */
void why_element(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index);
/* Whether the ranks of all shapes involved are supported. */
bool why_fits(const struct inst *i);

/* The shape of a leaf of the flattened tuple, and its value: NULL if it is unknown, or a token. */
const struct shape *why_leaf_shape(const struct shape *s, int64_t leaf);
const struct literal *why_leaf(const struct shape *s, const struct literal *l, int64_t leaf);

typedef void why_family_fn(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index);

#endif
