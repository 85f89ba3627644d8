/*
 * plain convolution: every result element is the sum, over kernel positions and the input features
 * of its group, of input times kernel; positions in padding and between dilated elements are
 * skipped.
 */
#include "kern/plain/plain.h"
#include "kern/plain/sum.h"

/* The position of the input under kernel position k of the window at o; false in padding or a hole.
 */
static bool input_position(const struct kern_window_dim *w, int64_t dim, int64_t o, int64_t k,
                           int64_t *p)
{
    *p = o * w->stride - w->pad_low + k * w->window_dilation;
    if (*p < 0 || *p % w->base_dilation != 0)
        return false;
    *p /= w->base_dilation;
    return *p < dim;
}

/* spec: ConvWithGeneralPadding. l, r: indices of lhs and rhs; o: of the result. */
bool plain_conv(struct thread_pool *workers, const struct view *out, const struct view *lhs,
                const struct view *rhs, const struct kern_conv_dims *dims)
{
    int64_t o[VIEW_MAX_RANK] = {0}, l[VIEW_MAX_RANK], r[VIEW_MAX_RANK], k[VIEW_MAX_RANK] = {0},
            sizes[VIEW_MAX_RANK];
    struct plain_sum sum;
    int64_t features = rhs->dims[dims->kernel_output_feature],
            depth = rhs->dims[dims->kernel_input_feature];
    const bool nothing = view_elements(lhs) == 0 || view_elements(rhs) == 0;
    if (view_elements(out) == 0)
        return true;
    for (int d = 0; d < dims->spatial_count; d++)
        sizes[d] = rhs->dims[dims->kernel_spatial[d]];
    plain_sum_init(&sum, out->dtype, lhs->dtype, rhs->dtype);
    do {
        int64_t f = o[dims->output_feature];
        int64_t feature_group = f / (features / dims->feature_groups),
                batch_group = f / (features / dims->batch_groups);
        l[dims->input_batch] = o[dims->output_batch] + batch_group * out->dims[dims->output_batch];
        r[dims->kernel_output_feature] = f;
        plain_sum_clear(&sum);
        do {
            bool inside = !nothing;
            for (int d = 0; d < dims->spatial_count && inside; d++) {
                const struct kern_window_dim *w = &dims->window[d];
                int64_t *p = &l[dims->input_spatial[d]];
                inside = input_position(w, lhs->dims[dims->input_spatial[d]],
                                        o[dims->output_spatial[d]], k[d], p);
                r[dims->kernel_spatial[d]] = w->reversal ? sizes[d] - 1 - k[d] : k[d];
            }
            for (int64_t z = 0; inside && z < depth; z++) {
                l[dims->input_feature] = feature_group * depth + z;
                r[dims->kernel_input_feature] = z;
                plain_sum_add(&sum, view_at(lhs, l), view_at(rhs, r));
            }
        } while (!nothing && index_next(dims->spatial_count, sizes, k));
        plain_sum_store(&sum, view_at(out, o));
    } while (index_next(out->rank, out->dims, o));
    return true;
}
