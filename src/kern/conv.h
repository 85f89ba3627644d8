/*
 * conv: shared by the implementations of convolution (conv_planes.c, conv_tiled.c, conv_windows.c,
 * depthwise.c). Private to kern.
 */
#ifndef HLO_KERN_CONV_H
#define HLO_KERN_CONV_H

#include "kern/product.h"

/* Operands and result with their dimensions in canonical order; a reversed kernel has been
 * reversed. */
struct conv {
    int spatial;
    struct view in, kernel, out; /* [n, c, x...] [f, z, k...] [n, f, o...] */
    struct kern_window_dim window[VIEW_MAX_RANK];
    int64_t feature_groups, batch_groups;
    enum dtype work; /* type of products and sums */
};

/* Divides n into equal shares of at most `max`, each a multiple of `unit`. */
static inline int64_t even_share(int64_t n, int64_t max, int64_t unit)
{
    const int64_t shares = ratio_up(n, max);
    return min_i64(round_up(ratio_up(n, shares), unit), round_up(n, unit));
}

enum conv_outcome {
    CONV_DONE,
    CONV_NO_MEMORY,
    CONV_BY_FORMULA /* CONV_BY_FORMULA: the plain kernel must compute it */
};

bool conv_pads(
    const struct conv *c); /* windows extend beyond the input, or into the holes of its dilation */

/* True for a kernel without infinities and NaNs, and for types without them. */
bool conv_kernel_is_finite(const struct view *kernel);
bool conv_run_is_finite(enum dtype t, const void *x, int64_t n); /* n packed f32 or f64 */
/* Whether any worker has set the flag at the start of its workspace, of `bytes` bytes: it found an
 * infinity or NaN in the kernel. */
bool conv_found_odd(struct thread_pool *workers, const char *workspaces, int64_t bytes);

bool conv_is_small(const struct conv *c); /* too little work for the thread pool */

bool conv_same_storage(enum dtype a, enum dtype b); /* the same, or integers of the same width */

/* The kernel with its dimensions in the order of the contracted index, output features first or
 * last. */
void conv_contracted_order(struct view *v, const struct view *kernel, bool features_first);

/* A dimension of the window: kernel positions, the input, and positions of the result. */
struct conv_axis {
    int64_t size, dilation;
    int64_t in, in_step, base, pad; /* the input: positions, bytes between them, their dilation */
    int64_t outs, stride;
};
struct conv_axis conv_axis_of(const struct conv *c, int spatial_dimension);
/* Positions of the padded and dilated input under `terms` kernel positions at `outs` positions of
 * the result. */
static inline int64_t conv_extent(const struct conv_axis *x, int64_t terms, int64_t outs)
{
    return (terms - 1) * x->dilation + (outs - 1) * x->stride + 1;
}
/* Multiplies *elements by that; false if it or the product is greater than `max`. */
bool conv_extent_fits(const struct conv_axis *x, int64_t terms, int64_t outs, int64_t max,
                      int64_t *elements);

/* conv_region.c: positions first, first + stride, ... of an axis, counted from the start of the
 * input, that are copied to positions `step` bytes apart. */
struct region_dim {
    const struct conv_axis *axis;
    int64_t first, count, stride, step;
};
/* Copies these elements from in->data, converted, to `region`. Returns whether some of them are in
 * padding or in holes; then the `bytes` bytes of the region are zeroed first. */
bool conv_fetch(const struct view *in, int rank, const struct region_dim *dims, enum dtype type,
                char *region, int64_t bytes);

/* conv_tiled.c: patches in rows by the kernel, block by block, for any types. */
enum conv_outcome conv_tiled(struct thread_pool *workers, const struct conv *c);

/* conv_planes.c: the kernel by the input in place, for results whose features are planes. */
bool conv_planes_applies(const struct conv *c);
enum conv_outcome conv_planes(struct thread_pool *workers, const struct conv *c);

/* conv_windows.c: for windows of more positions than the result, of any real types. */
bool conv_windows_applies(const struct conv *c);
enum conv_outcome conv_windows(struct thread_pool *workers, const struct conv *c);

/* depthwise.c: for groups with one input feature each, and real types. */
bool depthwise_applies(const struct conv *c);
bool depthwise_run(struct thread_pool *workers, const struct conv *c); /* false: out of memory */

#endif
