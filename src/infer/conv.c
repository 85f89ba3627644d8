/*
 * conv.c: the result shape of a convolution.
 */
#include "infer/infer_priv.h"

struct conv {
    const struct shape *lhs, *rhs;
    const struct dim_labels *labels;
    int64_t feature_groups, batch_groups;
    int64_t sparse; /* the number of input features of the kernel that each stored one represents */
};

static bool group_counts(struct infer *ctx, const struct inst *i, struct conv *c)
{
    c->feature_groups = inst_int(i, A_FEATURE_GROUP_COUNT, 1);
    c->batch_groups = inst_int(i, A_BATCH_GROUP_COUNT, 1);
    if (!check_attr_int(ctx, i, A_FEATURE_GROUP_COUNT, c->feature_groups, 1, INT64_MAX) ||
        !check_attr_int(ctx, i, A_BATCH_GROUP_COUNT, c->batch_groups, 1, INT64_MAX))
        return false;
    if (c->feature_groups > 1 && c->batch_groups > 1)
        return report_attr(ctx, i, A_BATCH_GROUP_COUNT,
                           "feature_group_count and batch_group_count must not both exceed 1");
    return true;
}

/* A kernel with 1:N structured sparsity stores one of every N input features. */
static bool sparsity(struct infer *ctx, const struct inst *i, struct conv *c)
{
    const struct attr *a = inst_attr(i, A_SPARSITY_CONFIG);
    c->sparse = 1;
    if (!a || !a->v.sparsity->rhs.given)
        return true;
    const struct sparsity_side *s = &a->v.sparsity->rhs;
    if (s->n != 1 || s->m < 1)
        return report_attr(ctx, i, A_SPARSITY_CONFIG, "%" PRId64 ":%" PRId64 ", expected 1:N", s->n,
                           s->m);
    c->sparse = s->m;
    return true;
}

static bool permutation(int rank, int64_t a, int64_t b, const int64_t *spatial)
{
    uint64_t seen = 0;
    for (int k = 0; k < rank; k++) {
        int64_t d = k == 0 ? a : k == 1 ? b : spatial[k - 2];
        if (d < 0 || d >= rank || rank > 64 || seen >> d & 1)
            return false;
        seen |= (uint64_t)1 << d;
    }
    return true;
}

static bool labels_fit(struct infer *ctx, const struct inst *i, const struct conv *c)
{
    const struct dim_labels *l = c->labels;
    int rank = l->spatial_count + 2;
    if (!check_label_ranks(ctx, i, l))
        return false;
    if (!permutation(rank, l->input_batch, l->input_feature, l->input_spatial) ||
        !permutation(rank, l->kernel_input_feature, l->kernel_output_feature, l->kernel_spatial) ||
        !permutation(rank, l->output_batch, l->output_feature, l->output_spatial))
        return report_attr(ctx, i, A_DIM_LABELS, "each dimension must be named exactly once");
    return check_attr_count(ctx, i, A_WINDOW, inst_window(i).rank, l->spatial_count);
}

/* The size, or 0 for an unbounded dimension: 0 is divisible by anything. */
static int64_t known(int64_t size) { return size == DIM_UNBOUNDED ? 0 : size; }

static bool features_fit(struct infer *ctx, const struct inst *i, const struct conv *c)
{
    int64_t in = c->lhs->dims[c->labels->input_feature],
            batch = known(c->lhs->dims[c->labels->input_batch]);
    int64_t kernel_in = c->rhs->dims[c->labels->kernel_input_feature];
    int64_t kernel_out = known(c->rhs->dims[c->labels->kernel_output_feature]);
    bool open = in == DIM_UNBOUNDED || kernel_in == DIM_UNBOUNDED;
    if (!open && !mul_i64(kernel_in, c->sparse, &kernel_in))
        return report_operand(ctx, i, 1, "fewer input features");
    if (!open && (in % c->feature_groups != 0 || in / c->feature_groups != kernel_in))
        return report_operand(ctx, i, 1,
                              "%" PRId64 " input features, those of %s in %" PRId64 " group(s)",
                              in / c->feature_groups, report_text(ctx, c->lhs), c->feature_groups);
    if (kernel_out % c->batch_groups != 0 || kernel_out % c->feature_groups != 0)
        return report_operand(ctx, i, 1, "output features divisible by %" PRId64 " groups",
                              c->batch_groups > 1 ? c->batch_groups : c->feature_groups);
    if (batch % c->batch_groups != 0)
        return report_operand(ctx, i, 0, "a batch size divisible by %" PRId64 " groups",
                              c->batch_groups);
    if (shape_dim_dynamic(c->rhs, (int)c->labels->kernel_output_feature))
        return report_operand(ctx, i, 1, "a fixed number of output features");
    return true;
}

static bool spatial_dims(struct infer *ctx, const struct inst *i, const struct conv *c,
                         struct dims *out)
{
    struct window w = inst_window(i);
    for (int k = 0; k < w.rank; k++) {
        int in = (int)c->labels->input_spatial[k], kernel = (int)c->labels->kernel_spatial[k];
        int64_t at = c->labels->output_spatial[k];
        if (!dim_compatible(c->rhs->dims[kernel], w.dims[k].size))
            return report_attr(
                ctx, i, A_WINDOW, "size %" PRId64 ", dimension %d of the kernel %s is %" PRId64,
                w.dims[k].size, kernel, report_text(ctx, c->rhs), c->rhs->dims[kernel]);
        if (!window_dim_size(ctx, i, &w.dims[k], c->lhs->dims[in], &out->size[at]))
            return false;
        out->dynamic[at] = shape_dim_dynamic(c->lhs, in) || shape_dim_dynamic(c->rhs, kernel);
    }
    return true;
}

/* spec: ConvWithGeneralPadding */
const struct shape *infer_conv(struct infer *ctx, const struct inst *i)
{
    struct conv c = {operand_shape(i, 0), operand_shape(i, 1),
                     .labels = inst_attr(i, A_DIM_LABELS)->v.dim_labels};
    enum dtype t;
    if (!check_operand_arrays(ctx, i, 0, i->operand_count) || !group_counts(ctx, i, &c) ||
        !sparsity(ctx, i, &c) || !labels_fit(ctx, i, &c) || !features_fit(ctx, i, &c) ||
        !dot_result_type(ctx, i, 1, &t))
        return NULL;
    struct dims d = dims_new(ctx->arena, c.lhs->rank);
    d.rank = c.lhs->rank;
    int in = (int)c.labels->input_batch, batch = (int)c.labels->output_batch;
    d.size[batch] =
        c.lhs->dims[in] == DIM_UNBOUNDED ? DIM_UNBOUNDED : c.lhs->dims[in] / c.batch_groups;
    d.dynamic[batch] = shape_dim_dynamic(c.lhs, in);
    d.size[c.labels->output_feature] = c.rhs->dims[c.labels->kernel_output_feature];
    return spatial_dims(ctx, i, &c, &d) ? dims_shape(ctx->arena, t, &d) : NULL;
}
