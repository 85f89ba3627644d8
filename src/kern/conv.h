/*
 * conv: what the two ways of computing a convolution share. Private to kern.
 */
#ifndef HLO_KERN_CONV_H
#define HLO_KERN_CONV_H

#include "kern/product.h"

/* Operands and result with their dimensions in one order; a reversed kernel is turned round already. */
struct conv {
    int spatial;
    struct view in, kernel, out; /* [n, c, x...] [f, z, k...] [n, f, o...] */
    struct kern_window_dim window[VIEW_MAX_RANK];
    int64_t feature_groups, batch_groups;
    enum dtype work; /* of products and sums */
};

/* Groups of one input feature, in f32 or f64, padded and converted, features side by side. */
bool depthwise_applies(const struct conv *c);
bool depthwise_run(const struct conv *c); /* false: no memory */

#endif
