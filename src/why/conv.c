/*
 * Convolutions: the elements under the kernel and the elements of the kernel, but for those that fall on padding and holes.
 */
#include "why/why_priv.h"

/* One spatial dimension of both boxes; false where the kernel lies wholly beside the array. */
static bool spatial(struct why_source *input, struct why_source *kernel, const struct dim_labels *l, int k,
                    const struct window_dim *d, const int64_t *index)
{
    const int64_t in = l->input_spatial[k], of_kernel = l->kernel_spatial[k];
    const struct why_window at = why_window_at(d, input->count[in], index[l->output_spatial[k]]);
    why_span(input, in, at.start, at.count, at.stride);
    why_span(kernel, of_kernel, d->reversal ? d->size - 1 - at.first : at.first, at.count, d->reversal ? -at.step : at.step);
    return at.count > 0;
}

static void walk_along(struct why_source *s, int64_t batch, int64_t feature, const int64_t *spatial_dims, int count)
{
    s->walk[0] = (int)batch;
    s->walk[1] = (int)feature;
    for (int k = 0; k < count; k++)
        s->walk[2 + k] = (int)spatial_dims[k];
}

void why_conv(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    const struct dim_labels *l = inst_attr(i, A_DIM_LABELS)->v.dim_labels;
    const struct window window = inst_window(i);
    const int64_t feature_groups = inst_int(i, A_FEATURE_GROUP_COUNT, 1), batch_groups = inst_int(i, A_BATCH_GROUP_COUNT, 1);
    const size_t before = w->count;
    const int64_t feature = index[l->output_feature], batch = index[l->output_batch];
    (void)leaf;
    why_whole(w, i, 0, 0, "input");
    why_whole(w, i, 1, 0, "kernel");
    struct why_source *input = &w->at[before], *kernel = &w->at[before + 1];
    const int64_t features = kernel->count[l->kernel_output_feature], each = input->count[l->input_feature] / feature_groups;
    const int64_t batches = input->count[l->input_batch] / batch_groups;
    bool meets = true;
    input->product = true;
    for (int k = 0; k < l->spatial_count && k < window.rank; k++)
        meets &= spatial(input, kernel, l, k, &window.dims[k], index);
    why_fix(input, l->input_batch, batch + feature / (features / batch_groups) * batches);
    why_span(input, l->input_feature, feature / (features / feature_groups) * each, each, 1);
    why_fix(kernel, l->kernel_output_feature, feature);
    walk_along(input, l->input_batch, l->input_feature, l->input_spatial, l->spatial_count);
    walk_along(kernel, l->kernel_output_feature, l->kernel_input_feature, l->kernel_spatial, l->spatial_count);
    if (!meets || each == 0)
        w->count = before; /* a sum of nothing */
}
