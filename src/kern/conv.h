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

enum conv_outcome { CONV_DONE, CONV_NO_MEMORY, CONV_BY_FORMULA /* this is for the plain kernel */ };

bool conv_pads(const struct conv *c); /* windows reach beyond the input, or into holes of it */

/* True for a kernel without infinities and NaNs, and for types that have none. */
bool conv_kernel_is_finite(const struct view *kernel);
bool conv_run_is_finite(enum dtype t, const void *x, int64_t n); /* gapless f32 or f64 */

/* As a product of matrices, block by block, in any types. */
enum conv_outcome conv_tiled(struct team *team, const struct conv *c);
bool conv_by_rows(const struct conv *c); /* its patches are rows */

/* One input feature to a group, in numbers that are not complex. */
bool depthwise_applies(const struct conv *c);
bool depthwise_run(struct team *team, const struct conv *c); /* false: no memory */

#endif
