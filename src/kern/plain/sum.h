/*
 * sum: one accumulator of products of elements of any types, for the plain dot and convolution.
 */
#ifndef HLO_KERN_PLAIN_SUM_H
#define HLO_KERN_PLAIN_SUM_H

#include "kern/product.h"

/* `work`: the type of products and sum. An operand is converted to its `via`, then to `work`. */
struct plain_sum {
    enum dtype work;
    kern_tile_fn *multiply, *add;
    struct loader first[2], second[2], out;
    union kern_element total;
};
void plain_sum_init(struct plain_sum *s, enum dtype out, enum dtype lhs, enum dtype rhs);
void plain_sum_clear(struct plain_sum *s);
void plain_sum_add(struct plain_sum *s, const char *l, const char *r); /* total += l * r */
void plain_sum_store(const struct plain_sum *s, char *out);

/* An operand times the scale of each element's block, in the type in which products of its type are
 * summed. `scale` NULL: the operand itself. */
struct plain_scaled {
    const struct view *x, *scale;
    enum dtype work;
    kern_tile_fn *multiply;
    struct loader load;
};
void plain_scaled_init(struct plain_scaled *s, const struct view *x, const struct view *scale);
void plain_scaled_element(const struct plain_scaled *s, const int64_t *at, void *out);

#endif
