/*
 * conv.c: convolution: brings the dimensions into a canonical order. It is computed as a matrix
 * product (conv_tiled.c; conv_planes.c where the features of the result are planes; conv_windows.c
 * where windows are large), or directly (depthwise.c) where groups of one input feature leave no
 * matrices to multiply. An input with base dilation and window stride 1 is decomposed into phases,
 * so that the holes are not multiplied.
 *
 * Padding must not contribute: a zero in its place times an infinity or NaN in the kernel would be
 * NaN. Where zeros are used for it, kernels that contain such values are left to the plain loop.
 * Order and accumulation: as dot; the contracted index is (kernel position row-major, input
 * feature), or the reverse of it in conv_windows.c.
 */
#include <stdlib.h>

#include "kern/conv.h"
#include "kern/interleave.h"
#include "kern/plain/plain.h"

enum { MAX_SPATIAL = 14, LARGE_RESULT = 256 << 10 /* bytes */ };

static void pick(struct view *v, const struct view *x, int spatial, int64_t first, int64_t second,
                 const int64_t *rest)
{
    int64_t order[VIEW_MAX_RANK] = {first, second};
    for (int d = 0; d < spatial; d++)
        order[d + 2] = rest[d];
    kern_view_pick(v, x, spatial + 2, order);
}

static void sort_dims(struct conv *c, const struct view *out, const struct view *lhs,
                      const struct view *rhs, const struct kern_conv_dims *dims)
{
    c->spatial = dims->spatial_count;
    memcpy(c->window, dims->window, sizeof *dims->window * (size_t)dims->spatial_count);
    c->feature_groups = dims->feature_groups;
    c->batch_groups = dims->batch_groups;
    pick(&c->in, lhs, c->spatial, dims->input_batch, dims->input_feature, dims->input_spatial);
    pick(&c->kernel, rhs, c->spatial, dims->kernel_output_feature, dims->kernel_input_feature,
         dims->kernel_spatial);
    pick(&c->out, out, c->spatial, dims->output_batch, dims->output_feature, dims->output_spatial);
    for (int d = 0; d < c->spatial; d++) {
        if (!dims->window[d].reversal || c->kernel.dims[d + 2] == 0)
            continue;
        c->kernel.data += (c->kernel.dims[d + 2] - 1) * c->kernel.strides[d + 2];
        c->kernel.strides[d + 2] = -c->kernel.strides[d + 2];
    }
}

/* ---- padding ---- */

struct conv_axis conv_axis_of(const struct conv *c, int d)
{
    const struct kern_window_dim *w = &c->window[d];
    return (struct conv_axis){.size = c->kernel.dims[d + 2],
                              .dilation = w->window_dilation,
                              .in = c->in.dims[d + 2],
                              .in_step = c->in.strides[d + 2],
                              .base = w->base_dilation,
                              .pad = w->pad_low,
                              .outs = c->out.dims[d + 2],
                              .stride = w->stride};
}

bool conv_extent_fits(const struct conv_axis *x, int64_t terms, int64_t outs, int64_t max,
                      int64_t *elements)
{
    int64_t under_one, between;
    return mul_i64(terms - 1, x->dilation, &under_one) && mul_i64(outs - 1, x->stride, &between) &&
           under_one < max && between < max &&
           mul_i64(*elements, under_one + between + 1, elements) && *elements <= max;
}

bool conv_pads(const struct conv *c)
{
    bool needs = false;
    for (int d = 0; d < c->spatial; d++) {
        const struct conv_axis x = conv_axis_of(c, d);
        needs |= x.base > 1 || x.pad > 0 || conv_extent(&x, x.size, x.outs) - x.pad > x.in;
    }
    return needs;
}

/* An infinity or NaN minus itself is NaN. */
KERN_CLONES static bool run_is_finite_f32(const float *x, int64_t n)
{
    uint32_t odd = 0;
    for (int64_t i = 0; i < n; i++) {
        float difference = x[i] - x[i];
        odd |= difference != 0;
    }
    return !odd;
}

KERN_CLONES static bool run_is_finite_f64(const double *x, int64_t n)
{
    uint64_t odd = 0;
    for (int64_t i = 0; i < n; i++)
        odd |= x[i] - x[i] != 0;
    return !odd;
}

bool conv_run_is_finite(enum dtype t, const void *x, int64_t n)
{
    return t == DT_F64 ? run_is_finite_f64(x, n) : run_is_finite_f32(x, n);
}

/* All parts of all elements, in memory order. */
static void memory_order(struct nest *n, const struct view *k, enum dtype part)
{
    nest_init(n, 1);
    for (int d = 0; d < k->rank; d++)
        nest_add_sorted(n, k->dims[d], &k->strides[d], 0);
    if (part != k->dtype)
        nest_add(n, 2, (int64_t[]){(int64_t)dtype_bytes(part)});
    nest_merge(n);
    if (n->rank == 0)
        nest_add(n, 1, (int64_t[]){0});
}

bool conv_kernel_is_finite(const struct view *k)
{
    char scratch[LOADER_BYTES] __attribute__((aligned(64)));
    enum dtype part = dtype_component(k->dtype), work = part == DT_F64 ? DT_F64 : DT_F32;
    struct loader widen;
    struct nest n;
    struct nest_walk w;
    if (!dtype_is_float(part))
        return true;
    loader_init(&widen, work, part);
    memory_order(&n, k, part);
    int64_t dim = n.dims[n.rank - 1], stride = n.strides[0][n.rank - 1];
    nest_start(&w, &n, n.rank - 1, (char *[]){k->data});
    do {
        for (int64_t i = 0; i < dim; i += KERN_TILE) {
            int64_t count = dim - i < KERN_TILE ? dim - i : KERN_TILE;
            const void *run = loader_read(&widen, scratch, w.at[0] + i * stride, stride, count);
            if (!conv_run_is_finite(work, run, count))
                return false;
        }
    } while (nest_step(&w));
    return true;
}

bool conv_found_odd(struct thread_pool *workers, const char *workspaces, int64_t bytes)
{
    bool odd = false;
    for (int k = 0; k < thread_pool_size(workers); k++)
        odd |= workspaces[k * bytes] != 0;
    return odd;
}

void conv_contracted_order(struct view *v, const struct view *k, bool features_first)
{
    int64_t order[VIEW_MAX_RANK];
    int n = 0;
    if (features_first)
        order[n++] = 0;
    for (int d = 2; d < k->rank; d++)
        order[n++] = d;
    order[n++] = 1;
    if (!features_first)
        order[n++] = 0;
    kern_view_pick(v, k, n, order);
}

bool conv_same_storage(enum dtype a, enum dtype b)
{
    return a == b || (dtype_is_integer(a) && dtype_is_integer(b) && dtype_bits(a) == dtype_bits(b));
}

bool conv_is_small(const struct conv *c)
{
    enum { SMALL = 1 << 20 }; /* products; with fewer, starting a second thread does not pay off */
    int64_t products;
    return mul_i64(view_elements(&c->kernel), view_elements(&c->out) / c->out.dims[1], &products) &&
           products < SMALL;
}

static enum conv_outcome conv_whole(struct thread_pool *workers, const struct conv *c)
{
    union kern_element zero = {{0}};
    if (view_elements(&c->in) == 0 || view_elements(&c->kernel) == 0) {
        if (dtype_is_float(c->out.dtype))
            float_store(c->out.dtype, &zero, 0);
        kern_fill(workers, &c->out, &zero);
        return CONV_DONE;
    }
    if (depthwise_applies(c))
        return depthwise_run(workers, c) ? CONV_DONE : CONV_NO_MEMORY;
    if (conv_windows_applies(c))
        return conv_windows(workers, c);
    return conv_planes_applies(c) ? conv_planes(workers, c) : conv_tiled(workers, c);
}

/* ---- base dilation ---- */

/* Whether results along a dimension are computed in phases. */
static bool is_phased(const struct kern_window_dim *w)
{
    return w->base_dilation > 1 && w->stride == 1 && w->window_dilation == 1;
}

/* A spatial dimension in phases, or -1. */
static int phased_dimension(const struct conv *c)
{
    for (int d = 0; d < c->spatial; d++)
        if (is_phased(&c->window[d]))
            return d;
    return -1;
}

/* Keeps every `step`-th element of a dimension from `first` on. */
static void thin_out(struct view *v, int d, int64_t first, int64_t step)
{
    v->data += first * v->strides[d];
    v->dims[d] = v->dims[d] > first ? ratio_up(v->dims[d] - first, step) : 0;
    v->strides[d] *= step;
}

/* Results `phase`, `phase` + dilation, ... along d depend only on every dilation-th kernel
 * position: that is an undilated convolution with those. The strides of the result are already
 * those of a phase; phases start `step` bytes apart. */
static void take_phase(struct conv *c, int d, int64_t phase, int64_t step)
{
    struct kern_window_dim *w = &c->window[d];
    int64_t dilation = w->base_dilation, first = (w->pad_low - phase) % dilation;
    first += first < 0 ? dilation : 0;
    c->out.data += phase * step;
    c->out.dims[d + 2] = ratio_up(c->out.dims[d + 2] - phase, dilation);
    thin_out(&c->kernel, d + 2, first, dilation);
    w->pad_low = (w->pad_low - phase - first) / dilation;
    w->size = c->kernel.dims[d + 2];
    w->base_dilation = 1;
}

static enum conv_outcome run_phases(struct thread_pool *workers, const struct conv *c,
                                    const int64_t *steps)
{
    int d = phased_dimension(c);
    enum conv_outcome outcome = CONV_DONE;
    if (d < 0)
        return conv_whole(workers, c);
    for (int64_t phase = 0; phase < c->window[d].base_dilation && phase < c->out.dims[d + 2];
         phase++) {
        struct conv part = *c;
        take_phase(&part, d, phase, steps[d]);
        outcome = run_phases(workers, &part, steps);
        if (outcome != CONV_DONE)
            break;
    }
    return outcome;
}

/* Phases along the last dimension that alternate within cache lines. */
struct alternating {
    struct view whole; /* the result, with a dimension for them */
    struct view phase[KERN_INTERLEAVED];
    const struct view *phases[KERN_INTERLEAVED];
    int count;
};

/* Whether each of them would write all cache lines of a large result. Makes the views, without
 * storage. */
static bool find_alternating(const struct conv *c, struct alternating *a)
{
    const int rank = c->out.rank;
    int64_t dims[VIEW_MAX_RANK];
    if (c->spatial == 0 || !is_phased(&c->window[c->spatial - 1]) || !view_is_dense(&c->out) ||
        view_elements(&c->out) * (int64_t)dtype_bytes(c->out.dtype) < LARGE_RESULT)
        return false;
    const int64_t count = c->window[c->spatial - 1].base_dilation;
    if (count > KERN_INTERLEAVED || c->out.dims[rank - 1] % count != 0)
        return false;
    a->count = (int)count;
    memcpy(dims, c->out.dims, sizeof dims);
    dims[rank - 1] /= count;
    dims[rank] = count;
    view_dense(&a->whole, c->out.dtype, rank + 1, dims, c->out.data);
    dims[rank] = 1;
    for (int k = 0; k < a->count; k++) {
        view_dense(&a->phase[k], c->out.dtype, rank + 1, dims, NULL);
        a->phases[k] = &a->phase[k];
    }
    return kern_interleaves(&a->whole, a->count, a->phases, rank);
}

/* Provides the storage of alternating phases, one after the other, `step` bytes apart, as the
 * result of c. False: out of memory. */
static bool store_apart(struct conv *c, struct alternating *a, int64_t *step, void **storage)
{
    char *at = *storage = mem_alloc((size_t)view_elements(&c->out) * dtype_bytes(c->out.dtype));
    if (!at)
        return false;
    *step = view_elements(&a->phase[0]) * (int64_t)dtype_bytes(c->out.dtype);
    for (int k = 0; k < a->count; k++)
        a->phase[k].data = at + k * *step;
    c->out.data = at;
    memcpy(c->out.strides, a->phase[0].strides, sizeof c->out.strides);
    return true;
}

/* Computes a dilated convolution phase by phase, without multiplying by the holes of the input.
 * Phases that alternate are stored one after the other, and interleaved. */
static enum conv_outcome fast_conv(struct thread_pool *workers, const struct conv *c)
{
    struct conv phases = *c;
    struct alternating a;
    int64_t steps[VIEW_MAX_RANK] = {0};
    void *storage = NULL;
    int in_place = c->spatial; /* dimensions whose phases are stored in place */
    if (find_alternating(c, &a) && !store_apart(&phases, &a, &steps[--in_place], &storage))
        return CONV_NO_MEMORY;
    for (int d = 0; d < in_place; d++) {
        steps[d] = phases.out.strides[d + 2];
        phases.out.strides[d + 2] *= is_phased(&c->window[d]) ? c->window[d].base_dilation : 1;
    }
    const enum conv_outcome outcome = run_phases(workers, &phases, steps);
    if (storage && outcome == CONV_DONE)
        kern_interleave(workers, &a.whole, a.count, a.phases);
    mem_free(storage);
    return outcome;
}

const char *kern_conv_choice(const struct view *out, const struct view *lhs, const struct view *rhs,
                             const struct kern_conv_dims *dims)
{
    struct product_types types;
    struct conv c;
    if (dims->spatial_count > MAX_SPATIAL)
        return "element by element";
    sort_dims(&c, out, lhs, rhs, dims);
    product_find_types(&types, out->dtype, lhs->dtype, rhs->dtype);
    c.work = types.work;
    c.in.dtype = types.via[0];
    c.kernel.dtype = types.via[1];
    if (view_elements(&c.in) == 0 || view_elements(&c.kernel) == 0 || view_elements(out) == 0)
        return "nothing to multiply";
    const bool phases = phased_dimension(&c) >= 0;
    if (depthwise_applies(&c))
        return phases ? "phase by phase, rows of features" : "rows of features";
    if (conv_windows_applies(&c))
        return phases ? "phase by phase, windows in place by the kernel in panels"
                      : "windows in place by the kernel in panels";
    if (conv_planes_applies(&c))
        return phases ? "phase by phase, the kernel in rows by the input in place"
                      : "the kernel in rows by the input in place";
    return phases ? "phase by phase, patches in rows by the kernel in panels"
                  : "patches in rows by the kernel in panels";
}

/* spec: ConvWithGeneralPadding */
bool kern_conv(struct thread_pool *workers, const struct view *out, const struct view *lhs,
               const struct view *rhs, const struct kern_conv_dims *dims)
{
    struct product_types types;
    struct conv c;
    void *storage[2] = {NULL, NULL};
    enum conv_outcome outcome = CONV_NO_MEMORY;
    if (view_elements(out) == 0)
        return true;
    if (dims->spatial_count > MAX_SPATIAL)
        return plain_conv(NULL, out, lhs, rhs, dims);
    sort_dims(&c, out, lhs, rhs, dims);
    product_find_types(&types, out->dtype, lhs->dtype, rhs->dtype);
    c.work = types.work;
    if (c.in.dtype == DT_F8E8M0FNU) /* f8e8m0fnu has no zero for padding */
        types.via[0] = types.work;
    if (product_convert_operand(workers, &c.in, types.via[0], &storage[0]) &&
        product_convert_operand(workers, &c.kernel, types.via[1], &storage[1]))
        outcome = fast_conv(workers, &c);
    mem_free(storage[0]);
    mem_free(storage[1]);
    return outcome == CONV_BY_FORMULA ? plain_conv(NULL, out, lhs, rhs, dims)
                                      : outcome == CONV_DONE;
}
