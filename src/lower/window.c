/*
 * window.c: windows given by lists, and padding by name: `valid` means none, `same` pads such
 * that the number of windows in each dimension is its size divided by the stride, rounded up.
 */
#include "lower/lower_priv.h"

/* The attributes that give the properties of a window, by opcode. */
struct window_attrs {
    enum attr_id size, stride, base, window;
};

static bool entries_fit(struct lower *lo, enum attr_id id, int rank)
{
    return id == A_NONE || !inst_has(lo->i, id) ||
           check_attr_count(&lo->infer, lo->i, id, inst_ints(lo->i, id).count, rank);
}

static void take_entries(struct lower *lo, enum attr_id id, struct window_dim *dims, int rank,
                         size_t member)
{
    if (id == A_NONE || !inst_has(lo->i, id))
        return;
    for (int k = 0; k < rank; k++)
        *(int64_t *)((char *)&dims[k] + member) = inst_ints(lo->i, id).at[k];
}

static int64_t dilated_size(int64_t size, int64_t dilation)
{
    int64_t out;
    return size > 0 && mul_i64(size - 1, dilation, &out) && add_i64(out, 1, &out) ? out : size;
}

/* spec: ReduceWindow, Conv (convolution) */
static void pad_same(struct window_dim *w, int64_t size)
{
    int64_t base = dilated_size(size, w->base_dilation),
            window = dilated_size(w->size, w->window_dilation);
    int64_t count = w->stride > 0 ? base / w->stride + (base % w->stride != 0) : 0, covered;
    if (count == 0 || !mul_i64(count - 1, w->stride, &covered) ||
        !add_i64(covered, window, &covered) || covered <= base)
        covered = base;
    w->pad_low = (covered - base) / 2;
    w->pad_high = covered - base - w->pad_low;
}

/* `sizes[k]` is the size of the dimension that window dimension k slides over. */
static bool take_padding(struct lower *lo, struct window_dim *dims, int rank, const int64_t *sizes)
{
    const struct attr *a = inst_attr(lo->i, A_PADDING_FORM);
    if (!a)
        return true;
    const struct window_padding *p = a->v.window_padding;
    if (p->word == PAD_LIST &&
        !check_attr_count(&lo->infer, lo->i, A_PADDING_FORM, p->pads.rank, rank))
        return false;
    for (int k = 0; k < rank; k++) {
        dims[k].pad_low = p->word == PAD_LIST ? p->pads.dims[k].low : 0;
        dims[k].pad_high = p->word == PAD_LIST ? p->pads.dims[k].high : 0;
        if (p->word == PAD_SAME && sizes[k] == DIM_UNBOUNDED)
            return report_attr(&lo->infer, lo->i, A_PADDING_FORM,
                               "'same' requires static dimensions");
        if (p->word == PAD_SAME)
            pad_same(&dims[k], sizes[k]);
    }
    return true;
}

/* Creates the window; properties that neither `window` nor a list gives default to 1, padding to
 * 0. */
static bool make_window(struct lower *lo, const struct window_attrs *from, int rank,
                        const int64_t *sizes, const int64_t *window_sizes)
{
    struct window given = inst_window(lo->i);
    struct window_dim *dims = ARENA_ARRAY(lo->arena, struct window_dim, rank);
    if (given.rank > 0 && !check_attr_count(&lo->infer, lo->i, A_WINDOW, given.rank, rank))
        return false;
    for (int k = 0; k < rank; k++)
        dims[k] = given.rank ? given.dims[k]
                             : (struct window_dim){.size = window_sizes ? window_sizes[k] : 1,
                                                   .stride = 1,
                                                   .base_dilation = 1,
                                                   .window_dilation = 1};
    if (!entries_fit(lo, from->size, rank) || !entries_fit(lo, from->stride, rank) ||
        !entries_fit(lo, from->base, rank) || !entries_fit(lo, from->window, rank))
        return false;
    take_entries(lo, from->size, dims, rank, offsetof(struct window_dim, size));
    take_entries(lo, from->stride, dims, rank, offsetof(struct window_dim, stride));
    take_entries(lo, from->base, dims, rank, offsetof(struct window_dim, base_dilation));
    take_entries(lo, from->window, dims, rank, offsetof(struct window_dim, window_dilation));
    if (!take_padding(lo, dims, rank, sizes))
        return false;
    lower_set_attr(lo, lo->i, A_WINDOW, (union attr_value){.window = {rank, dims}});
    return true;
}

/* spec: ReduceWindow, SelectAndScatter */
bool lower_windowed(struct lower *lo)
{
    static const struct window_attrs from = {A_WINDOW_DIMENSIONS, A_WINDOW_STRIDES,
                                             A_BASE_DILATIONS, A_WINDOW_DILATIONS};
    bool any = inst_has(lo->i, from.size) || inst_has(lo->i, from.stride) ||
               inst_has(lo->i, from.base) || inst_has(lo->i, from.window) ||
               inst_has(lo->i, A_PADDING_FORM);
    if (!any)
        return true;
    if (!check_operand_least(&lo->infer, lo->i, 2) || !check_operand_array(&lo->infer, lo->i, 0))
        return false;
    if (!inst_has(lo->i, A_WINDOW) && !inst_has(lo->i, from.size))
        return report_inst(&lo->infer, lo->i, NULL, "requires window_dimensions={...}");
    const struct shape *s = operand_shape(lo->i, 0);
    return make_window(lo, &from, s->rank, s->dims, NULL);
}

/* ---- convolution ---- */

/* The default labels of the specification: batch, feature, spatial; output feature, input feature,
 * spatial. */
static const struct dim_labels *default_labels(struct lower *lo, int spatial)
{
    struct dim_labels *l = ARENA_NEW(lo->arena, struct dim_labels);
    int64_t *at = ARENA_ARRAY(lo->arena, int64_t, spatial);
    for (int k = 0; k < spatial; k++)
        at[k] = k + 2;
    *l = (struct dim_labels){.spatial_count = spatial,
                             .input_batch = 0,
                             .input_feature = 1,
                             .input_spatial = at,
                             .kernel_output_feature = 0,
                             .kernel_input_feature = 1,
                             .kernel_spatial = at,
                             .output_batch = 0,
                             .output_feature = 1,
                             .output_spatial = at};
    return l;
}

/* spec: Conv (convolution), ConvWithGeneralPadding (convolution) */
bool lower_convolution(struct lower *lo)
{
    static const struct window_attrs from = {A_NONE, A_WINDOW_STRIDES, A_LHS_DILATION,
                                             A_RHS_DILATION};
    struct inst *i = lo->i;
    bool any = inst_has(i, from.stride) || inst_has(i, from.base) || inst_has(i, from.window) ||
               inst_has(i, A_PADDING_FORM) || lo->form != FORM_NONE ||
               (!inst_has(i, A_DIM_LABELS) && !inst_has(i, A_WINDOW));
    if (!any || i->operand_count < 2)
        return true;
    if (!check_operand_arrays(&lo->infer, i, 0, 2))
        return false;
    if (operand_shape(i, 0)->rank < 2)
        return report_operand(&lo->infer, i, 0, "at least the dimensions batch and feature");
    if (!inst_has(i, A_DIM_LABELS))
        lower_set_attr(
            lo, i, A_DIM_LABELS,
            (union attr_value){.dim_labels = default_labels(lo, operand_shape(i, 0)->rank - 2)});
    const struct dim_labels *l = inst_attr(i, A_DIM_LABELS)->v.dim_labels;
    if (!check_label_ranks(&lo->infer, i, l))
        return false;
    int64_t *sizes = ARENA_ARRAY(lo->arena, int64_t, l->spatial_count);
    int64_t *window_sizes = ARENA_ARRAY(lo->arena, int64_t, l->spatial_count);
    for (int k = 0; k < l->spatial_count; k++) {
        sizes[k] = operand_shape(i, 0)->dims[l->input_spatial[k]];
        window_sizes[k] = operand_shape(i, 1)->dims[l->kernel_spatial[k]];
    }
    return make_window(lo, &from, l->spatial_count, sizes, window_sizes);
}
