/*
 * size_rules.c: the sizes of results, and how much of the operands is read, when an operand is
 * smaller than its bounds. One rule for each family (grammar/values.md 17).
 *
 * Arrays that are traversed together are cut to the smallest. Where elements must keep their
 * position although some are missing (groups of features, rows to be transformed), the array is
 * extended to its bounds (value_whole).
 */
#include "eval/eval_priv.h"

/* ---- actions of rules ---- */

static int64_t *dims_of(struct sizes *z, int k) { return z->operands[k].view.dims; }

/* The bounds of operand k of an instruction whose operands are arrays. */
static const int64_t *bounds_of(const struct step *s, int k)
{
    return s->inst->operands[k]->shape->dims;
}

static void cut(struct sizes *z, int k, int64_t d, int64_t size)
{
    dims_of(z, k)[d] = min_i64(dims_of(z, k)[d], size);
}

/* Dimension d of operand j and dimension e of operand k are traversed together. */
static void pair(struct sizes *z, int j, int64_t d, int k, int64_t e)
{
    cut(z, j, d, dims_of(z, k)[e]);
    cut(z, k, e, dims_of(z, j)[d]);
}

static void set(const struct step *s, struct sizes *z, int r, int64_t d, int64_t size)
{
    z->results[r].made[d] = z->results[r].shown[d] = min_i64(size, s->shapes[r]->dims[d]);
}

static bool fill_all(struct eval *ev, const struct step *s, struct sizes *z, int k)
{
    return value_whole(ev, &z->operands[k]) || eval_no_memory(ev, s, s->inst->shape);
}

/* Extends operand k to its bound in one dimension only. */
static bool fill(struct eval *ev, const struct step *s, struct sizes *z, int k, int64_t dimension)
{
    struct view *v = &z->operands[k].view;
    int64_t dims[VIEW_MAX_RANK];
    const int64_t *bounds = z->operands[k].bounds;
    if (!bounds || v->dims[dimension] == bounds[dimension])
        return true;
    for (int d = 0; d < v->rank; d++)
        dims[d] = d == dimension ? bounds[d] : v->dims[d];
    if (!fill_all(ev, s, z, k))
        return false;
    for (int d = 0; d < v->rank; d++)
        v->dims[d] = dims[d];
    return true;
}

/* Operands [first, first + n), of one rank, are traversed together; all have the bounds of the
 * first. */
static void cut_together(struct sizes *z, int first, int n)
{
    for (int turn = 0; turn < 2;
         turn++) /* the first pass finds the smallest size, the second applies it to all */
        for (int k = first + 1; k < first + n; k++)
            for (int d = 0; d < z->operands[first].view.rank; d++)
                pair(z, first, d, k, d);
}

/* Gives result r the sizes of operand k. */
static void as_large(const struct step *s, struct sizes *z, int r, int k)
{
    for (int d = 0; d < s->shapes[r]->rank; d++)
        set(s, z, r, d, dims_of(z, k)[d]);
}

/* The default rule: all operands are extended to their bounds. */
static bool whole(struct eval *ev, const struct step *s, struct sizes *z)
{
    for (int k = 0; k < s->operand_count; k++)
        if (z->operands[k].buffer && !fill_all(ev, s, z, k))
            return false;
    return true;
}

/* ---- element by element ---- */

static bool changes(const struct step *s, const struct sizes *z, int k, int d)
{
    return shape_dim_dynamic(s->inst->operands[k]->shape, d) ||
           z->operands[k].view.dims[d] < bounds_of(s, k)[d];
}

/* Where both sizes may change, an array of size 1 is broadcast along the other, as XLA does. */
static void repeat_single(const struct step *s, struct sizes *z)
{
    for (int d = 0; d < z->operands[0].view.rank; d++) {
        int64_t a = dims_of(z, 0)[d], b = dims_of(z, 1)[d];
        if (a == b || (a != 1 && b != 1) || !changes(s, z, 0, d) || !changes(s, z, 1, d))
            continue;
        struct view *v = &z->operands[a == 1 ? 0 : 1].view;
        v->dims[d] = a == 1 ? b : a;
        v->strides[d] = 0;
    }
}

static bool elementwise(struct eval *ev, const struct step *s, struct sizes *z)
{
    int rank = s->shapes[0]->rank, last = -1;
    if (s->operand_count == 2 && z->operands[0].view.rank == z->operands[1].view.rank)
        repeat_single(s, z);
    for (int turn = 0; turn < 2; turn++)
        for (int k = 0; k < s->operand_count; k++) {
            if (z->operands[k].view.rank != rank) /* a scalar for all elements */
                continue;
            for (int d = 0; d < rank && last >= 0; d++)
                pair(z, last, d, k, d);
            last = k;
        }
    if (last >= 0)
        as_large(s, z, 0, last);
    return true;
}

static bool bitcast_convert(struct eval *ev, const struct step *s, struct sizes *z)
{
    int rank = s->shapes[0]->rank, x_rank = z->operands[0].view.rank;
    if (x_rank > rank && !fill(ev, s, z, 0, x_rank - 1)) /* the parts of one element */
        return false;
    for (int d = 0; d < rank && d < x_rank; d++)
        set(s, z, 0, d, dims_of(z, 0)[d]);
    return true;
}

/* ---- rearrangements ---- */

/* Dimensions [x, x_end) of an operand hold the same elements as [out, out_end) of a result: reshape
 * works group by group. */
struct group {
    int x, x_end, out, out_end;
};

static bool is_one(const struct shape *s, int d) { return d < s->rank && s->dims[d] == 1; }

/* The next group, as small as possible; dimensions of size 1 without a counterpart belong to the
 * previous group. */
static void next_group(const struct shape *x, const struct shape *out, struct group *g)
{
    int64_t n = 1, m = 1, total = 0;
    g->x = g->x_end;
    g->out = g->out_end;
    shape_elements(x, &total);
    if (total == 0) {
        g->x_end = x->rank;
        g->out_end = out->rank;
        return;
    }
    do {
        bool grow_x = g->x_end < x->rank &&
                      (g->out_end == out->rank || n < m || (n == m && g->x_end == g->x));
        if (grow_x)
            n *= x->dims[g->x_end++];
        else
            m *= out->dims[g->out_end++];
    } while ((n != m || g->x == g->x_end || g->out == g->out_end) &&
             (g->x_end < x->rank || g->out_end < out->rank));
    while (is_one(x, g->x_end) && !is_one(out, g->out_end))
        g->x_end++;
    while (is_one(out, g->out_end) && !is_one(x, g->x_end))
        g->out_end++;
}

/* The dimension of the result that takes the size of a group: a dynamic one, the one that the
 * attribute names, the first one larger than 1, or else the first. */
static int taker(const struct inst *i, const struct group *g)
{
    int64_t named = inst_int(i, A_INFERRED_DIMENSION, -1);
    int found = -1;
    for (int d = g->out_end - 1; d >= g->out; d--) {
        bool wide = i->shape->dims[d] > 1;
        if (found < 0 || wide)
            found = d;
    }
    if (named >= g->out && named < g->out_end && i->shape->dims[named] > 1)
        found = (int)named;
    for (int d = g->out_end - 1; d >= g->out; d--)
        if (shape_dim_dynamic(i->shape, d))
            found = d;
    return found;
}

static bool reshape_group(struct eval *ev, const struct step *s, struct sizes *z,
                          const struct group *g)
{
    const struct shape *x = s->inst->operands[0]->shape, *out = s->shapes[0];
    const int64_t now = dims_elements(g->x_end - g->x, dims_of(z, 0) + g->x);
    const int64_t all = dims_elements(g->x_end - g->x, x->dims + g->x);
    int64_t others = 1;
    if (now == all)
        return true;
    int to = taker(s->inst, g);
    if (to < 0) /* a single element */
        return fill(ev, s, z, 0, g->x);
    for (int d = g->out; d < g->out_end; d++)
        others *= d == to ? 1 : out->dims[d];
    if (now % others != 0)
        return EVAL_FAIL(ev, s, RESHAPE_UNEVEN, (long long)now, to, (long long)others);
    set(s, z, 0, to, now / others);
    return true;
}

/* Each group of dimensions has its own size; the elements keep their order. */
static bool reshape(struct eval *ev, const struct step *s, struct sizes *z)
{
    const struct shape *x = s->inst->operands[0]->shape, *out = s->shapes[0];
    struct group g = {0};
    while (g.x_end < x->rank || g.out_end < out->rank) {
        next_group(x, out, &g);
        if (!reshape_group(ev, s, z, &g))
            return false;
    }
    return true;
}

static bool broadcast(struct eval *ev, const struct step *s, struct sizes *z)
{
    struct ints dimensions = inst_ints(s->inst, A_DIMENSIONS);
    for (int64_t k = 0; k < dimensions.count; k++) { /* a dimension listed twice is a diagonal */
        int64_t d = dimensions.at[k];
        set(s, z, 0, d, min_i64(z->results[0].made[d], dims_of(z, 0)[k]));
    }
    return true;
}

static bool transpose(struct eval *ev, const struct step *s, struct sizes *z)
{
    struct ints permutation = inst_ints(s->inst, A_DIMENSIONS);
    for (int64_t d = 0; d < permutation.count; d++)
        set(s, z, 0, d, dims_of(z, 0)[permutation.at[d]]);
    return true;
}

/* A slice of one element exists for any size; a longer one ends with the array. */
static bool slice(struct eval *ev, const struct step *s, struct sizes *z)
{
    const struct slices slices = inst_attr(s->inst, A_SLICE)->v.slices;
    for (int d = 0; d < slices.rank; d++) {
        const struct slice_dim *w = &slices.dims[d];
        int64_t limit = min_i64(w->limit, dims_of(z, 0)[d]);
        if (s->shapes[0]->dims[d] > 1)
            z->results[0].shown[d] = limit > w->start ? (limit - w->start - 1) / w->stride + 1 : 0;
    }
    return fill_all(ev, s, z, 0);
}

static bool concatenate(struct eval *ev, const struct step *s, struct sizes *z)
{
    int64_t dimension = inst_ints(s->inst, A_DIMENSIONS).at[0], sum = 0;
    for (int turn = 0; turn < 2; turn++)
        for (int k = 1; k < s->operand_count; k++)
            for (int d = 0; d < s->shapes[0]->rank; d++)
                if (d != dimension)
                    pair(z, 0, d, k, d);
    for (int k = 0; k < s->operand_count; k++)
        sum += dims_of(z, k)[dimension];
    as_large(s, z, 0, 0);
    set(s, z, 0, dimension, sum);
    return true;
}

static bool pad(struct eval *ev, const struct step *s, struct sizes *z)
{
    const struct padding padding = inst_attr(s->inst, A_PADDING)->v.padding;
    for (int d = 0; d < padding.rank; d++) {
        int64_t n = dims_of(z, 0)[d], inner = n > 0 ? n + (n - 1) * padding.dims[d].interior : 0;
        int64_t size = inner + padding.dims[d].low + padding.dims[d].high;
        set(s, z, 0, d, size > 0 ? size : 0);
    }
    return true;
}

static bool shape(struct eval *ev, const struct step *s, struct sizes *z)
{
    switch (s->inst->opcode) {
    case OP_RESHAPE: return reshape(ev, s, z);
    case OP_BROADCAST: return broadcast(ev, s, z);
    case OP_TRANSPOSE: return transpose(ev, s, z);
    case OP_SLICE: return slice(ev, s, z);
    case OP_CONCATENATE: return concatenate(ev, s, z);
    case OP_PAD: return pad(ev, s, z);
    default: return elementwise(ev, s, z); /* copy, reverse */
    }
}

static bool convert(struct eval *ev, const struct step *s, struct sizes *z)
{
    switch (s->inst->opcode) {
    case OP_BITCAST: return bitcast_is_reshape(s->inst) ? reshape(ev, s, z) : whole(ev, s, z);
    case OP_BITCAST_CONVERT: return bitcast_convert(ev, s, z);
    default: return elementwise(ev, s, z);
    }
}

/* ---- indexed ---- */

/* Indices are clamped to the bounds of the array, not to its current size: a growing buffer is
 * written beyond its current size before the new size is set. A slice over a whole dimension has
 * that dimension's current size. */
static bool dynslice(struct eval *ev, const struct step *s, struct sizes *z)
{
    bool update = s->inst->opcode == OP_DYNAMIC_UPDATE_SLICE;
    const int64_t *bounds = bounds_of(s, 0), *piece = update ? bounds_of(s, 1) : s->shapes[0]->dims;
    for (int d = 0; d < s->shapes[0]->rank; d++) {
        int64_t now = dims_of(z, 0)[d];
        if (update && piece[d] == bounds[d] && dims_of(z, 1)[d] < bounds[d])
            now = dims_of(z, 1)[d];
        if (update || piece[d] == bounds[d])
            z->results[0].shown[d] = now;
    }
    for (int k = 0; k < s->operand_count; k++) /* indices may be a row */
        if (!(update && k == 1) && !fill_all(ev, s, z, k))
            return false;
    return true;
}

/* Pairs the batch dimensions of the indices with those of the results, one by one. */
static void batch_sizes(const struct kern_gather_dims *d, struct sizes *z, int indices, int array,
                        int64_t *sizes)
{
    int n = 0;
    for (int k = 0; k < z->operands[indices].view.rank; k++) {
        if (k == d->index_vector_dim)
            continue;
        for (int j = 0; j < d->batching_count; j++)
            if (d->indices_batching[j] == k)
                cut(z, indices, k, dims_of(z, array)[d->operand_batching[j]]);
        sizes[n++] = dims_of(z, indices)[k];
    }
}

static bool is_offset(const struct kern_gather_dims *d, int64_t dimension)
{
    return i64_in(d->offset_dims, d->offset_count, dimension);
}

static bool gather(struct eval *ev, const struct step *s, struct sizes *z)
{
    struct kern_gather_dims d;
    int64_t kept[VIEW_MAX_RANK], batch[VIEW_MAX_RANK];
    int n = 0;
    plan_gather_dims(s->inst, &d);
    if (d.index_vector_dim < z->operands[1].view.rank && !fill(ev, s, z, 1, d.index_vector_dim))
        return false;
    batch_sizes(&d, z, 1, 0, batch);
    for (int k = 0; k < s->shapes[0]->rank; k++)
        if (!is_offset(&d, k))
            set(s, z, 0, k, batch[n++]);
    eval_gather_kept(&d, z->operands[0].view.rank, kept);
    for (int k = 0; k < d.offset_count; k++)
        set(s, z, 0, d.offset_dims[k], min_i64(d.slice_sizes[kept[k]], dims_of(z, 0)[kept[k]]));
    return true;
}

static bool scatter(struct eval *ev, const struct step *s, struct sizes *z)
{
    struct kern_gather_dims d;
    int64_t kept[VIEW_MAX_RANK], batch[VIEW_MAX_RANK];
    int n = s->operand_count / 2;
    plan_gather_dims(s->inst, &d);
    if (d.index_vector_dim < z->operands[n].view.rank && !fill(ev, s, z, n, d.index_vector_dim))
        return false;
    cut_together(z, 0, n);
    cut_together(z, n + 1, n);
    batch_sizes(&d, z, n, 0, batch);
    eval_gather_kept(&d, z->operands[0].view.rank, kept);
    for (int j = 0; j < n; j++) {
        int b = 0;
        for (int k = 0; k < z->operands[n + 1 + j].view.rank; k++)
            if (!is_offset(&d, k))
                cut(z, n + 1 + j, k, batch[b++]);
        for (int k = 0; k < d.offset_count;
             k++) /* a window of the array's size has the size of the array */
            if (bounds_of(s, n + 1)[d.offset_dims[k]] == bounds_of(s, 0)[kept[k]])
                cut(z, n + 1 + j, d.offset_dims[k], dims_of(z, 0)[kept[k]]);
        as_large(s, z, j, j);
    }
    return true;
}

static bool gather_or_scatter(struct eval *ev, const struct step *s, struct sizes *z)
{
    return s->inst->opcode == OP_GATHER ? gather(ev, s, z) : scatter(ev, s, z);
}

/* ---- reductions, windows, sorting ---- */

static bool reduce(struct eval *ev, const struct step *s, struct sizes *z)
{
    int n = s->operand_count / 2;
    struct ints reduced = inst_ints(s->inst, A_DIMENSIONS);
    cut_together(z, 0, n);
    for (int r = 0; r < n; r++)
        for (int d = 0, to = 0; d < z->operands[0].view.rank; d++)
            if (!i64_in(reduced.at, reduced.count, d))
                set(s, z, r, to++, dims_of(z, 0)[d]);
    return true;
}

/* The inputs are cut to the same size along the dimension that is scanned. */
static bool scan(struct eval *ev, const struct step *s, struct sizes *z)
{
    int64_t dimension = inst_ints(s->inst, A_DIMENSIONS).at[0];
    int carries = (int)inst_int(s->inst, A_NUM_CARRIES, 0);
    for (int turn = 0; turn < 2; turn++)
        for (int k = 1; k < s->operand_count - carries; k++)
            pair(z, 0, dimension, k, dimension);
    for (int r = 0; r < s->result_count - carries && s->operand_count > carries; r++)
        set(s, z, r, dimension, dims_of(z, 0)[dimension]);
    return true;
}

static bool reduce_or_scan(struct eval *ev, const struct step *s, struct sizes *z)
{
    return s->inst->opcode == OP_SCAN ? scan(ev, s, z) : reduce(ev, s, z);
}

/* The number of windows in n elements. */
static int64_t windows(int64_t n, const struct kern_window_dim *w)
{
    int64_t dilated = n > 0 ? (n - 1) * w->base_dilation + 1 : 0;
    int64_t padded = dilated + w->pad_low + w->pad_high;
    int64_t window = w->size > 0 ? (w->size - 1) * w->window_dilation + 1 : 0;
    return padded < window || padded <= 0 ? 0 : (padded - window) / w->stride + 1;
}

static bool window(struct eval *ev, const struct step *s, struct sizes *z)
{
    struct kern_window_dim w[VIEW_MAX_RANK];
    bool scatters = s->inst->opcode == OP_SELECT_AND_SCATTER;
    int n = scatters ? 1 : s->operand_count / 2;
    eval_window_dims(s->inst, z->operands[0].view.rank, w);
    cut_together(z, 0, n);
    for (int d = 0; d < z->operands[0].view.rank; d++) {
        int64_t size = dims_of(z, 0)[d], count = windows(size, &w[d]);
        for (int r = 0; r < n; r++)
            set(s, z, r, d, scatters ? size : count);
        if (scatters)
            cut(z, 1, d, count);
    }
    return true;
}

static bool topk(struct eval *ev, const struct step *s, struct sizes *z)
{
    for (int r = 0; r < s->result_count; r++)
        if (s->shapes[r]->rank == z->operands[0].view.rank)
            as_large(s, z, r, 0); /* `set` keeps the last dimension within k */
    return true;
}

static bool sort(struct eval *ev, const struct step *s, struct sizes *z)
{
    if (s->inst->opcode == OP_TOPK)
        return topk(ev, s, z);
    cut_together(z, 0, s->operand_count);
    for (int r = 0; r < s->result_count; r++)
        as_large(s, z, r, r);
    return true;
}

/* ---- products ---- */

static bool dot(struct eval *ev, const struct step *s, struct sizes *z)
{
    struct kern_dot_dims d;
    if (s->inst->opcode != OP_DOT || s->operand_count != 2)
        return whole(ev, s, z);
    plan_dot_dims(s->inst, &d);
    int to = 0;
    for (int k = 0; k < d.contracting_count; k++)
        pair(z, 0, d.lhs_contracting[k], 1, d.rhs_contracting[k]);
    for (int k = 0; k < d.batch_count; k++) {
        pair(z, 0, d.lhs_batch[k], 1, d.rhs_batch[k]);
        set(s, z, 0, to++, dims_of(z, 0)[d.lhs_batch[k]]);
    }
    for (int side = 0; side < 2; side++) {
        const int64_t *batch = side ? d.rhs_batch : d.lhs_batch;
        const int64_t *contracting = side ? d.rhs_contracting : d.lhs_contracting;
        for (int k = 0; k < z->operands[side].view.rank; k++)
            if (!i64_in(batch, d.batch_count, k) && !i64_in(contracting, d.contracting_count, k))
                set(s, z, 0, to++, dims_of(z, side)[k]);
    }
    return true;
}

/* Feature groups are equal parts of the bound of a dimension, and the kernel has the size given by
 * the window. */
static bool conv(struct eval *ev, const struct step *s, struct sizes *z)
{
    struct kern_conv_dims d;
    eval_conv_dims(s->inst, &d);
    bool ok = true;
    for (int k = 0; k < d.spatial_count; k++)
        ok = ok && fill(ev, s, z, 1, d.kernel_spatial[k]);
    if (d.batch_groups > 1)
        ok = ok && fill(ev, s, z, 0, d.input_batch);
    if (d.feature_groups > 1)
        ok = ok && fill(ev, s, z, 0, d.input_feature) && fill(ev, s, z, 1, d.kernel_input_feature);
    if (d.feature_groups > 1 || d.batch_groups > 1)
        ok = ok && fill(ev, s, z, 1, d.kernel_output_feature);
    if (!ok)
        return false;
    if (d.feature_groups == 1)
        pair(z, 0, d.input_feature, 1, d.kernel_input_feature);
    if (d.batch_groups == 1)
        set(s, z, 0, d.output_batch, dims_of(z, 0)[d.input_batch]);
    set(s, z, 0, d.output_feature, dims_of(z, 1)[d.kernel_output_feature]);
    for (int k = 0; k < d.spatial_count; k++)
        set(s, z, 0, d.output_spatial[k], windows(dims_of(z, 0)[d.input_spatial[k]], &d.window[k]));
    return true;
}

/* ---- linear algebra, fft, normalization ---- */

static bool linalg(struct eval *ev, const struct step *s, struct sizes *z)
{
    int rank = z->operands[0].view.rank, m = rank - 2, n = rank - 1;
    bool solve = s->operand_count > 1;
    /* the dimension of b that is contracted with the matrix */
    int side = inst_bool(s->inst, A_LEFT_SIDE) ? m : n;
    for (int turn = 0; turn < 2; turn++) {
        pair(z, 0, m, 0, n);
        for (int d = 0; d < m && solve; d++)
            pair(z, 0, d, 1, d);
        if (solve)
            pair(z, 0, n, 1, side);
    }
    as_large(s, z, 0, s->operand_count - 1);
    return true;
}

static bool fft(struct eval *ev, const struct step *s, struct sizes *z)
{
    int rank = s->shapes[0]->rank, lines = rank - (int)inst_ints(s->inst, A_FFT_LENGTH).count;
    for (int d = 0; d < rank; d++)
        if (d < lines)
            set(s, z, 0, d, dims_of(z, 0)[d]);
        else if (!fill(ev, s, z, 0, d))
            return false;
    return true;
}

/* ---- other operations ---- */

/* Ragged-all-to-all, collective-permute in place: offsets refer to the bounds, and results have the
 * sizes of the operands that they update. */
static bool collective(struct eval *ev, const struct step *s, struct sizes *z)
{
    for (int r = 0; r < s->result_count; r++) {
        int k = s->starts[1] + r;
        for (int d = 0; k < s->operand_count && z->operands[k].buffer && d < s->shapes[r]->rank;
             d++)
            z->results[r].shown[d] = dims_of(z, k)[d];
    }
    return whole(ev, s, z);
}

static size_rule *const rules[FAMILY_COUNT] = {
    [FAMILY_collective] = collective,
    [FAMILY_compare] = elementwise,
    [FAMILY_conv] = conv,
    [FAMILY_convert] = convert,
    [FAMILY_dot] = dot,
    [FAMILY_dynslice] = dynslice,
    [FAMILY_elementwise] = elementwise,
    [FAMILY_fft] = fft,
    [FAMILY_gather] = gather_or_scatter,
    [FAMILY_linalg] = linalg,
    [FAMILY_reduce] = reduce_or_scan,
    [FAMILY_rng] = whole,
    [FAMILY_shape] = shape,
    [FAMILY_sort] = sort,
    [FAMILY_window] = window,
};

size_rule *find_size_rule(const struct step *s)
{
    const struct inst *i = s->inst;
    if (i->opcode == OP_MAP)
        return elementwise;
    if (i->opcode == OP_CUSTOM_CALL && str_is(inst_str(i, A_CUSTOM_CALL_TARGET), "TopK"))
        return topk;
    if (op_table[i->opcode].family == FAMILY_collective && i->opcode != OP_RAGGED_ALL_TO_ALL &&
        !inst_has(i, A_SLICE_SIZES_LIST))
        return NULL; /* collective.c exchanges the sizes of all members */
    return rules[op_table[i->opcode].family];
}
