/*
 * fake: generated arguments that suit the program: constraints on the values of a parameter,
 * derived from its uses, and values that satisfy them.
 */
#ifndef HLO_IO_FAKE_H
#define HLO_IO_FAKE_H

#include "io/io.h"

/* Constraints on the elements of one leaf of a parameter. All zeros: none. */
struct fake_facts {
    bool bounded; /* integers in [low, high] */
    int64_t low, high;
    bool loop; /* determines the number of iterations of a loop */
    bool sorted,
        /* As promised by attributes of a gather or scatter; unique also for an unstable sort. */
        unique;
    int vector_dim; /* of index vectors: the dimension of their components; -1: scalar indices */
    int64_t components; /* of an index vector, at least 1 */
    bool positive;      /* operands of log, sqrt, ... */
    bool nonzero;       /* divisors */
    bool unit;          /* in [-1, 1]: operands of acos */
    bool above_one;     /* operands of acosh */
    bool fixed;         /* must equal `value`: the initial value of a reduction */
    double value;
    bool dominant; /* matrices that are factored or solved for: must be diagonally dominant */
    double fan_in; /* number of products summed for one element of a result; 0: none */
    /* Elements are summed: with the largest numbers the result would depend on the order. */
    bool summed;
};

/* The constraints on leaf `leaf` of parameter `param` of the entry computation. */
struct fake_facts io_fake_facts(struct arena *scratch, const struct module *m, int param,
                                int64_t leaf);

#endif
