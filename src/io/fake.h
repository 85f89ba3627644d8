/*
 * Arguments that respect the program: what the uses of a parameter ask of its values, and values that do so.
 */
#ifndef HLO_IO_FAKE_H
#define HLO_IO_FAKE_H

#include "io/io.h"

/* What is known of one leaf of a parameter. Zeros: nothing. */
struct fake_facts {
    bool bounded;       /* whole numbers from low to high */
    int64_t low, high;
    bool loop;          /* they say how often a loop goes round */
    bool sorted, unique; /* as the attributes of a gather or scatter promise, or a sort had better have */
    int vector_dim;     /* of indices that go together: where their components stand; -1: each is alone */
    int64_t components; /* of those, 1 or more */
    bool positive;      /* log, sqrt, ... */
    bool nonzero;       /* divisors */
    bool unit;          /* between -1 and 1: acos */
    bool above_one;     /* acosh */
    bool fixed;         /* nothing but `value` has a meaning there: what a reduction begins with */
    double value;
    bool dominant;      /* matrices whose diagonal outweighs the rest: they are factored, or solved for */
    double fan_in;      /* products that are summed to make one element; 0: none */
    bool summed;        /* the program sums: what comes of the largest numbers depends on the order */
};

/* Of leaf `leaf` of parameter `param` of the entry computation. */
struct fake_facts io_fake_facts(struct arena *scratch, const struct module *m, int param, int64_t leaf);

#endif
