/*
 * conv: convolution, in an order of dimensions that suits us. It runs as a product of matrices (conv_tiled.c), or, where one
 * input feature to a group leaves no matrices to multiply, directly (depthwise.c). A dilated input whose windows step by one
 * is taken phase by phase, so that nothing is multiplied with the holes.
 *
 * Padding must not take part: a zero there times an infinity or NaN in the kernel would be NaN. Such
 * kernels, and paddings out of all proportion, go to the plain loop.
 *
 * Order and accumulation: as dot; the contracted index is (kernel position row-major, input feature).
 */
#include <stdlib.h>

#include "kern/conv.h"
#include "kern/plain/plain.h"

enum {
    CACHED_BYTES = 1 << 20, /* of a chunk of the batch that is padded */
    MOST_SPATIAL = 14
};

static void pick(struct view *v, const struct view *x, int spatial, int64_t first, int64_t second,
                 const int64_t *rest)
{
    int64_t order[VIEW_MAX_RANK] = {first, second};
    for (int d = 0; d < spatial; d++)
        order[d + 2] = rest[d];
    view_pick(v, x, spatial + 2, order);
}

static void sort_dims(struct conv *c, const struct view *out, const struct view *lhs, const struct view *rhs,
                      const struct kern_conv_dims *dims)
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

/* How far the windows reach along spatial dimension d, in padded positions. */
static int64_t reach(const struct conv *c, int d)
{
    const struct kern_window_dim *w = &c->window[d];
    return (c->out.dims[d + 2] - 1) * w->stride + (c->kernel.dims[d + 2] - 1) * w->window_dilation + 1;
}

bool conv_pads(const struct conv *c)
{
    bool needs = false;
    for (int d = 0; d < c->spatial; d++) {
        const struct kern_window_dim *w = &c->window[d];
        needs |= w->base_dilation > 1 || w->pad_low > 0 || reach(c, d) - w->pad_low > c->in.dims[d + 2];
    }
    return needs;
}

/* An infinity or NaN less itself is NaN. */
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

/* All parts of all elements, in the order of memory. */
static void memory_order(struct nest *n, const struct view *k, enum dtype part)
{
    int64_t order[VIEW_MAX_RANK];
    nest_init(n, 1);
    for (int d = 0; d < k->rank; d++) {
        int at = d;
        for (; at > 0 && llabs(k->strides[order[at - 1]]) < llabs(k->strides[d]); at--)
            order[at] = order[at - 1];
        order[at] = d;
    }
    for (int d = 0; d < k->rank; d++)
        nest_add(n, k->dims[order[d]], &k->strides[order[d]]);
    if (part != k->dtype)
        nest_add(n, 2, (int64_t[]){(int64_t)dtype_bytes(part)});
    nest_merge(n);
    if (n->rank == 0)
        nest_add(n, 1, (int64_t[]){0});
}

bool conv_kernel_is_finite(const struct view *k)
{
    char room[LOADER_ROOM] __attribute__((aligned(64)));
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
            const void *run = loader_read(&widen, room, w.at[0] + i * stride, stride, count);
            if (!conv_run_is_finite(work, run, count))
                return false;
        }
    } while (nest_step(&w));
    return true;
}

/* Gapless strides for dims [n, c, x...], features side by side. */
static void feature_strides(struct view *v)
{
    int64_t step = (int64_t)dtype_bytes(v->dtype);
    v->strides[1] = step;
    step *= v->dims[1];
    for (int d = v->rank - 1; d >= 2; d--) {
        v->strides[d] = step;
        step *= v->dims[d];
    }
    v->strides[0] = step;
}

/* The dims of the input with everything that the windows reach made real; false when that is out of
 * all proportion. */
static bool padded_dims(const struct conv *c, struct view *padded, struct kern_pad_dim *pads)
{
    int64_t bytes = (int64_t)dtype_bytes(c->work);
    *padded = c->in;
    padded->dtype = c->work;
    pads[0] = pads[1] = (struct kern_pad_dim){0};
    for (int d = 0; d < c->spatial; d++) {
        pads[d + 2] =
            (struct kern_pad_dim){.low = c->window[d].pad_low, .interior = c->window[d].base_dilation - 1};
        padded->dims[d + 2] = reach(c, d);
    }
    for (int d = 0; d < padded->rank; d++)
        if (!mul_i64(bytes, padded->dims[d], &bytes))
            return false;
    return bytes / 64 <= view_elements(&c->in) + view_elements(&c->out) + (1 << 20);
}

/* Replaces the input by a padded copy in the work type. Its storage is zeros where the padding will be. */
static void make_padded(struct conv *c, const struct view *like, const struct kern_pad_dim *pads,
                        void *storage)
{
    struct view padded = *like, from = c->in;
    padded.dims[0] = c->in.dims[0];
    feature_strides(&padded);
    padded.data = storage;
    c->in = padded;
    pad_landing(&padded, &from, pads);
    kern_convert_view(NULL, &padded, &from);
}

/* ---- one input feature to a group: one chunk of the batch after the other ---- */

/* Runs images [from, from + count). */
static bool conv_images(const struct conv *whole, int64_t from, int64_t count, const struct view *padded,
                        const struct kern_pad_dim *pads, void *storage)
{
    struct conv c = *whole;
    c.out.dims[0] = c.in.dims[0] = count;
    c.out.data += from * c.out.strides[0];
    c.in.data += from * c.in.strides[0];
    make_padded(&c, padded, pads, storage);
    return depthwise_run(&c);
}

static enum conv_outcome conv_depthwise(const struct conv *c)
{
    struct view padded;
    struct kern_pad_dim pads[VIEW_MAX_RANK];
    const int64_t images = c->out.dims[0];
    if (!padded_dims(c, &padded, pads) || (conv_pads(c) && !conv_kernel_is_finite(&c->kernel)))
        return CONV_BY_FORMULA;
    int64_t image = (int64_t)dtype_bytes(c->work);
    for (int d = 1; d < padded.rank; d++)
        image *= padded.dims[d];
    int64_t chunk = image > CACHED_BYTES ? 1 : CACHED_BYTES / image;
    chunk = chunk < images ? chunk : images;
    /* Every chunk overwrites what the one before left in it, and leaves the padding. */
    void *storage = mem_zalloc((size_t)(chunk * image));
    bool ok = storage != NULL;
    for (int64_t i = 0; i < images && ok; i += chunk)
        ok = conv_images(c, i, images - i < chunk ? images - i : chunk, &padded, pads, storage);
    mem_free(storage);
    return ok ? CONV_DONE : CONV_NO_MEMORY;
}

static enum conv_outcome conv_whole(struct team *team, const struct conv *c)
{
    union kern_cell zero = {{0}};
    if (view_elements(&c->kernel) == 0) {
        if (dtype_is_float(c->out.dtype))
            float_store(c->out.dtype, &zero, 0);
        kern_fill(&c->out, &zero);
        return CONV_DONE;
    }
    return depthwise_applies(c) ? conv_depthwise(c) : conv_tiled(team, c);
}

/* ---- base dilation ---- */

/* A spatial dimension whose input is dilated and whose windows step by one, or -1. */
static int dilated_dimension(const struct conv *c)
{
    for (int d = 0; d < c->spatial; d++)
        if (c->window[d].base_dilation > 1 && c->window[d].stride == 1 && c->window[d].window_dilation == 1)
            return d;
    return -1;
}

/* Keeps every `step`-th element of a dimension from `first` on. */
static void thin_out(struct view *v, int d, int64_t first, int64_t step)
{
    v->data += first * v->strides[d];
    v->dims[d] = v->dims[d] > first ? (v->dims[d] - first + step - 1) / step : 0;
    v->strides[d] *= step;
}

/* Results `phase`, `phase` + dilation, ... along d see only every dilation-th kernel position: an undilated
 * convolution of the rest. */
static void take_phase(struct conv *c, int d, int64_t phase)
{
    struct kern_window_dim *w = &c->window[d];
    int64_t dilation = w->base_dilation, first = (w->pad_low - phase) % dilation;
    first += first < 0 ? dilation : 0;
    thin_out(&c->out, d + 2, phase, dilation);
    thin_out(&c->kernel, d + 2, first, dilation);
    w->pad_low = (w->pad_low - phase - first) / dilation;
    w->size = c->kernel.dims[d + 2];
    w->base_dilation = 1;
}

/* Nothing is multiplied with the zeros between the elements of a dilated input. */
static enum conv_outcome fast_conv(struct team *team, const struct conv *c)
{
    int d = dilated_dimension(c);
    enum conv_outcome outcome = CONV_DONE;
    if (d < 0)
        return conv_whole(team, c);
    for (int64_t phase = 0; phase < c->window[d].base_dilation && phase < c->out.dims[d + 2]; phase++) {
        struct conv part = *c;
        take_phase(&part, d, phase);
        outcome = fast_conv(team, &part);
        if (outcome != CONV_DONE)
            break;
    }
    return outcome;
}

/* spec: ConvWithGeneralPadding */
bool kern_conv(struct team *team, const struct view *out, const struct view *lhs, const struct view *rhs,
               const struct kern_conv_dims *dims)
{
    struct product_types types;
    struct conv c;
    void *storage[2] = {NULL, NULL};
    enum conv_outcome outcome = CONV_NO_MEMORY;
    if (view_elements(out) == 0)
        return true;
    if (dims->spatial_count > MOST_SPATIAL)
        return plain_conv(NULL, out, lhs, rhs, dims);
    sort_dims(&c, out, lhs, rhs, dims);
    product_find_types(&types, out->dtype, lhs->dtype, rhs->dtype);
    c.work = types.work;
    if (c.in.dtype == DT_F8E8M0FNU) /* has no zero for what lies in the padding */
        types.via[0] = types.work;
    if (product_convert_operand(team, &c.in, types.via[0], &storage[0]) &&
        product_convert_operand(team, &c.kernel, types.via[1], &storage[1]))
        outcome = fast_conv(team, &c);
    mem_free(storage[0]);
    mem_free(storage[1]);
    return outcome == CONV_BY_FORMULA ? plain_conv(NULL, out, lhs, rhs, dims) : outcome == CONV_DONE;
}
