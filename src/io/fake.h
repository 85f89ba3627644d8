/*
 * fake: made-up arguments that suit the program: what the uses of a parameter demand of its values,
 * and values that meet that.
 */
#ifndef HLO_IO_FAKE_H
#define HLO_IO_FAKE_H

#include "io/io.h"

/* What is known about the elements of one leaf of a parameter. All zeros: nothing. */
struct fake_facts {
    bool bounded; /* integers from low to high */
    int64_t low, high;
    bool loop; /* they determine the number of iterations of a loop */
    bool sorted,
        unique; /* as attributes of a gather or scatter promise; unique also for an unstable sort */
    int vector_dim; /* of index vectors: the dimension of their components; -1: each index is alone
                     */
    int64_t components; /* of an index vector, 1 or more */
    bool positive;      /* operands of log, sqrt, ... */
    bool nonzero;       /* divisors */
    bool unit;          /* between -1 and 1: operands of acos */
    bool above_one;     /* operands of acosh */
    bool fixed;         /* only `value` makes sense: the initial value of a reduction */
    double value;
    bool dominant; /* matrices that are factored or solved for: their diagonal must dominate the
                      rest */
    double fan_in; /* how many products are summed for one element of a result; 0: none are */
    bool summed; /* the program sums: with the largest numbers the result would depend on the order
                  */
};

/* The facts of leaf `leaf` of parameter `param` of the entry computation. */
struct fake_facts io_fake_facts(struct arena *scratch, const struct module *m, int param,
                                int64_t leaf);

#endif
