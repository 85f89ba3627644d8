/*
 * sum: one accumulator of products of elements of any types, for the plain dot and convolution.
 */
#ifndef HLO_KERN_PLAIN_SUM_H
#define HLO_KERN_PLAIN_SUM_H

#include "kern/product.h"

/* work: the type of products and sum. An operand is converted to its `via`, then to work. */
struct plain_sum {
    enum dtype work;
    kern_tile_fn *multiply, *add;
    struct loader first[2], second[2], out;
    union kern_cell total;
};
void plain_sum_init(struct plain_sum *s, enum dtype out, enum dtype lhs, enum dtype rhs);
void plain_sum_clear(struct plain_sum *s);
void plain_sum_add(struct plain_sum *s, const char *l, const char *r); /* total += l * r */
void plain_sum_store(const struct plain_sum *s, char *out);

#endif
