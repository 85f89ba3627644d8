/*
 * why/sum: operations that combine many elements: reductions, windows, products, convolutions,
 * transforms, factorizations and batch normalization.
 */
#include "why/why_priv.h"

#include "plan/plan.h"

/* ---- reductions ---- */

static void reduce(struct why *w, const struct inst *i, const int64_t *index)
{
    const struct ints dims = inst_ints(i, A_DIMENSIONS);
    const int n = i->operand_count / 2;
    for (int k = 0; k < n; k++) {
        struct why_source *s = why_whole(w, i, k, 0, "reduced");
        for (int d = 0, kept = 0; d < s->rank; d++)
            if (!i64_in(dims.at, (int)dims.count, d))
                why_fix(s, d, index[kept++]);
    }
    for (int k = n; k < i->operand_count; k++)
        why_whole(w, i, k, 0, "init");
}

/* An element of an output depends on the rows of the inputs up to its own; a carry on all. */
static void scan(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    const int64_t along = inst_ints(i, A_DIMENSIONS).at[0];
    const int carries = (int)inst_int(i, A_NUM_CARRIES, 0), inputs = i->operand_count - carries;
    const bool output = leaf < shape_leaf_count(i->shape) - carries;
    for (int k = 0; k < i->operand_count; k++) {
        struct why_source *s = why_whole(w, i, k, 0, k < inputs ? "input" : "init");
        if (k >= inputs || !output)
            continue;
        if (inst_bool(i, A_IS_REVERSE))
            why_span(s, along, index[along], s->count[along] - index[along], 1);
        else
            why_span(s, along, 0, index[along] + 1, 1);
    }
}

void why_reduce(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    if (i->opcode == OP_SCAN)
        scan(w, i, leaf, index);
    else
        reduce(w, i, index);
}

/* ---- windows ---- */

/* Windows have size 1 in dimensions that the attribute omits. */
static struct window_dim dim_of(const struct window *window, int d)
{
    const struct window_dim one = {
        .size = 1, .stride = 1, .base_dilation = 1, .window_dilation = 1};
    return d < window->rank ? window->dims[d] : one;
}

static void reduce_window(struct why *w, const struct inst *i, const int64_t *index)
{
    const struct window window = inst_window(i);
    const int n = i->operand_count / 2;
    for (int k = 0; k < n; k++) {
        struct why_source *s = why_whole(w, i, k, 0, "window");
        bool empty = false;
        for (int d = 0; d < s->rank; d++) {
            const struct window_dim dim = dim_of(&window, d);
            const struct why_window at = why_window_at(&dim, s->count[d], index[d]);
            why_span(s, d, at.start, at.count, at.stride);
            empty |= at.count == 0;
        }
        if (empty)
            w->count--;
    }
    for (int k = n; k < i->operand_count; k++)
        why_whole(w, i, k, 0, "init");
}

/* The range of windows that may contain element `at`. */
static void windows_over(const struct window_dim *d, int64_t places, int64_t at, int64_t *first,
                         int64_t *last)
{
    const int64_t from = at + d->pad_low - (d->size - 1) * d->window_dilation;
    *first = from > 0 ? (from + d->stride - 1) / d->stride : 0;
    *last = (at + d->pad_low) / d->stride;
    if (*last > places - 1)
        *last = places - 1;
}

/* Any window that contains an element may have selected it, depending on all elements of the
 * window. */
static void select_and_scatter(struct why *w, const struct inst *i, const int64_t *index)
{
    const struct window window = inst_window(i);
    const size_t before = w->count;
    bool empty = false;
    why_whole(w, i, 0, 0, "window");
    why_whole(w, i, 1, 0, "source");
    struct why_source *operand = &w->at[before], *source = &w->at[before + 1];
    for (int d = 0; d < operand->rank; d++) {
        const struct window_dim dim = dim_of(&window, d);
        const int64_t size = operand->count[d];
        int64_t first, last;
        windows_over(&dim, source->count[d], index[d], &first, &last);
        const int64_t low = why_clamp(first * dim.stride - dim.pad_low, 0, size);
        const int64_t high = why_clamp(
            last * dim.stride - dim.pad_low + (dim.size - 1) * dim.window_dilation + 1, low, size);
        empty |= last < first;
        why_span(operand, d, low, high - low, 1);
        why_span(source, d, first, last - first + 1, 1);
    }
    if (empty)
        w->count = before;
    why_whole(w, i, 2, 0, "init");
}

void why_window(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    if (i->opcode == OP_REDUCE_WINDOW)
        reduce_window(w, i, index);
    else
        select_and_scatter(w, i, index);
}

/* ---- products ---- */

/* Elements are enumerated over the contracting dimensions in their order, which both sides
 * share. */
static void walk_contracting(struct why_source *s, const int64_t *contracting, int count)
{
    int n = 0;
    for (int d = 0; d < s->rank; d++)
        if (!i64_in(contracting, count, d))
            s->walk[n++] = d;
    for (int k = 0; k < count; k++)
        s->walk[n++] = (int)contracting[k];
}

/* Operand k: one index of its batch and free dimensions, all of `skipped` and of the contracting
 * ones. Returns the next dimension of the result. */
static int64_t *row_of(struct why *w, const struct inst *i, int k, const struct kern_dot_dims *dims,
                       int64_t skipped, const int64_t *index, int64_t *next)
{
    const int64_t *batch = k == 0 ? dims->lhs_batch : dims->rhs_batch;
    const int64_t *contracting = k == 0 ? dims->lhs_contracting : dims->rhs_contracting;
    struct why_source *s = why_whole(w, i, k, 0, k == 0 ? "lhs" : "rhs");
    for (int b = 0; b < dims->batch_count; b++)
        if (batch[b] != skipped)
            why_fix(s, batch[b], index[b]);
    for (int d = 0; d < s->rank; d++)
        if (d != skipped && !i64_in(batch, dims->batch_count, d) &&
            !i64_in(contracting, dims->contracting_count, d))
            why_fix(s, d, *next++);
    walk_contracting(s, contracting, dims->contracting_count);
    return next;
}

/* Each scale applies to a block of elements. */
static void scales(struct why *w, const struct inst *i, size_t rows)
{
    for (int k = 0; k < 2; k++) {
        struct why_source *s = why_whole(w, i, 2 + k, 0, "scale");
        const struct why_source *row = &w->at[rows + (size_t)k];
        for (int d = 0; d < s->rank && s->rank == row->rank; d++) {
            const int64_t size = i->operands[k]->shape->dims[d];
            const int64_t each = s->count[d] > 0 ? size / s->count[d] : 0;
            if (row->count[d] == 1 && size > 1 && each > 0)
                why_fix(s, d, row->start[d] / each);
        }
    }
}

/* The group sizes determine the group of a row; all of them are sources. */
static void ragged(struct why *w, const struct inst *i, const struct kern_dot_dims *dims,
                   int64_t *index)
{
    const struct ints ragged = inst_ints(i, A_LHS_RAGGED_DIMS),
                      groups = inst_ints(i, A_RHS_GROUP_DIMS);
    const bool sums = i64_in(dims->lhs_contracting, dims->contracting_count, ragged.at[0]);
    if (sums)
        index++; /* the group dimension */
    int64_t *next = row_of(w, i, 0, dims, -1, index, index + dims->batch_count);
    row_of(w, i, 1, dims, groups.count ? groups.at[0] : -1, index, next);
    why_whole(w, i, 2, 0, "group sizes");
}

void why_dot(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    struct kern_dot_dims dims;
    int64_t at[VIEW_MAX_RANK];
    const size_t rows = w->count;
    plan_dot_dims(i, &dims);
    for (int d = 0; d < i->shape->rank; d++)
        at[d] = index[d];
    if (i->opcode == OP_RAGGED_DOT) {
        ragged(w, i, &dims, at);
        return;
    }
    int64_t *next = row_of(w, i, 0, &dims, -1, at, at + dims.batch_count);
    row_of(w, i, 1, &dims, -1, at, next);
    w->at[rows].product = true;
    if (i->opcode == OP_SCALED_DOT)
        scales(w, i, rows);
    for (int k = 2; k < i->operand_count && i->opcode == OP_DOT; k++)
        why_every_leaf(w, i, k, "metadata");
}

/* ---- convolutions ---- */

/* Restricts one spatial dimension of both boxes; false if the kernel is entirely in the padding. */
static bool spatial(struct why_source *input, struct why_source *kernel, const struct dim_labels *l,
                    int k, const struct window_dim *d, const int64_t *index)
{
    const int64_t in = l->input_spatial[k], of_kernel = l->kernel_spatial[k];
    const struct why_window at = why_window_at(d, input->count[in], index[l->output_spatial[k]]);
    why_span(input, in, at.start, at.count, at.stride);
    why_span(kernel, of_kernel, d->reversal ? d->size - 1 - at.first : at.first, at.count,
             d->reversal ? -at.step : at.step);
    return at.count > 0;
}

static void walk_spatial(struct why_source *s, int64_t batch, int64_t feature,
                         const int64_t *spatial_dims, int count)
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
    const int64_t feature_groups = inst_int(i, A_FEATURE_GROUP_COUNT, 1),
                  batch_groups = inst_int(i, A_BATCH_GROUP_COUNT, 1);
    const size_t before = w->count;
    const int64_t feature = index[l->output_feature], batch = index[l->output_batch];
    why_whole(w, i, 0, 0, "input");
    why_whole(w, i, 1, 0, "kernel");
    struct why_source *input = &w->at[before], *kernel = &w->at[before + 1];
    const int64_t features = kernel->count[l->kernel_output_feature],
                  each = input->count[l->input_feature] / feature_groups;
    const int64_t batches = input->count[l->input_batch] / batch_groups;
    bool meets = true;
    input->product = true;
    for (int k = 0; k < l->spatial_count && k < window.rank; k++)
        meets &= spatial(input, kernel, l, k, &window.dims[k], index);
    why_fix(input, l->input_batch, batch + feature / (features / batch_groups) * batches);
    why_span(input, l->input_feature, feature / (features / feature_groups) * each, each, 1);
    why_fix(kernel, l->kernel_output_feature, feature);
    walk_spatial(input, l->input_batch, l->input_feature, l->input_spatial, l->spatial_count);
    walk_spatial(kernel, l->kernel_output_feature, l->kernel_input_feature, l->kernel_spatial,
                 l->spatial_count);
    if (!meets || each == 0)
        w->count = before; /* an empty sum */
}

/* ---- transforms and factorizations ---- */

void why_fft(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    const int64_t transformed = inst_ints(i, A_FFT_LENGTH).count;
    struct why_source *s = why_whole(w, i, 0, leaf, "line");
    for (int d = 0; d < s->rank - transformed; d++)
        why_fix(s, d, index[d]);
}

static struct why_source *matrix(struct why *w, const struct inst *i, int k, const int64_t *index,
                                 const char *role)
{
    struct why_source *s = why_whole(w, i, k, 0, role);
    for (int d = 0; d < s->rank - 2; d++)
        why_fix(s, d, index[d]);
    return s;
}

void why_linalg(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    matrix(w, i, 0, index, "matrix");
    if (i->opcode != OP_TRIANGULAR_SOLVE)
        return;
    struct why_source *s = matrix(w, i, 1, index, inst_bool(i, A_LEFT_SIDE) ? "column" : "row");
    const int d = inst_bool(i, A_LEFT_SIDE) ? s->rank - 1 : s->rank - 2;
    why_fix(s, d, index[d]);
}

/* ---- batch normalization ---- */

static void of_feature(struct why *w, const struct inst *i, int k, int64_t feature,
                       const char *role)
{
    why_fix(why_whole(w, i, k, 0, role), 0, feature);
}

static void all_of_feature(struct why *w, const struct inst *i, int k, int64_t feature,
                           const char *role)
{
    why_fix(why_whole(w, i, k, 0, role), inst_int(i, A_FEATURE_INDEX, 0), feature);
}

void why_batchnorm(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    const int64_t feature = index[leaf == 0 ? inst_int(i, A_FEATURE_INDEX, 0) : 0];
    const bool training = i->opcode == OP_BATCH_NORM_TRAINING,
               inference = i->opcode == OP_BATCH_NORM_INFERENCE;
    static const char *const of_inference[] = {"operand", "scale", "offset", "mean", "variance"};
    static const char *const of_grad[] = {"operand", "scale", "mean", "variance"};
    if (inference)
        why_point(w, i, 0, 0, index, "operand");
    else if (training || leaf < 2)
        all_of_feature(w, i, 0, feature, "feature");
    if (!training && !inference)
        all_of_feature(w, i, 4, feature, "gradient");
    const int end = inference ? 5 : training ? 3 : 4;
    /* For the gradient of the scale. */
    for (int k = 1; k < end; k++)
        if (leaf == 0 || (leaf == 1 && !training && k > 1))
            of_feature(w, i, k, feature, inference || training ? of_inference[k] : of_grad[k]);
}
