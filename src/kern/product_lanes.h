/*
 * product_lanes: the inner loops of small products, per instruction set. Private to product*.c.
 */
#ifndef HLO_KERN_PRODUCT_LANES_H
#define HLO_KERN_PRODUCT_LANES_H

#include "kern/product.h"

/* Computes `count` products of s->type, f32 or f64, the matrices of which are step[0] (c), step[1]
 * (a) and step[2] (b) bytes apart. */
typedef void product_fn(const struct small *s, const char *a, const char *b, char *c,
                        const int64_t *step, int64_t count);
struct product_lanes {
    product_fn *columns[2]; /* f32, f64: columns of b and of c are contiguous */
    product_fn *dots[2];    /* terms of a and of b are contiguous */
};
extern const struct product_lanes product_lanes_baseline, product_lanes_avx2, product_lanes_avx512;

#endif
