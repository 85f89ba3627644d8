/*
 * gather.c: dimension numbers and result shapes of gather and scatter.
 */
#include "infer/infer_priv.h"

/* The dimension numbers of either operation under common names. */
struct indexed {
    enum attr_id window, collapsed, batching, indices_batching, map;
    const struct shape *operand, *indices;
    int64_t vector; /* index_vector_dim */
    int batch_rank; /* number of dimensions of the indices without the index vector */
    const bool *collapses,
        *batches; /* whether dimension d of the operand is in the list; lists_fit() */
};

static struct indexed gather_of(const struct inst *i)
{
    return (struct indexed){A_OFFSET_DIMS,
                            A_COLLAPSED_SLICE_DIMS,
                            A_OPERAND_BATCHING_DIMS,
                            A_START_INDICES_BATCHING_DIMS,
                            A_START_INDEX_MAP,
                            operand_shape(i, 0),
                            operand_shape(i, 1),
                            inst_int(i, A_INDEX_VECTOR_DIM, 0),
                            0,
                            NULL,
                            NULL};
}

static struct indexed scatter_of(const struct inst *i, int k)
{
    return (struct indexed){A_UPDATE_WINDOW_DIMS,
                            A_INSERTED_WINDOW_DIMS,
                            A_INPUT_BATCHING_DIMS,
                            A_SCATTER_INDICES_BATCHING_DIMS,
                            A_SCATTER_DIMS_TO_OPERAND_DIMS,
                            operand_shape(i, k),
                            operand_shape(i, i->operand_count / 2),
                            inst_int(i, A_INDEX_VECTOR_DIM, 0),
                            0,
                            NULL,
                            NULL};
}

static int64_t count_of(const struct inst *i, enum attr_id id) { return inst_ints(i, id).count; }

static bool indices_fit(struct infer *ctx, const struct inst *i, struct indexed *x, int k)
{
    if (!check_operand_array(ctx, i, k))
        return false;
    if (!dtype_is_integer(x->indices->dtype))
        return report_operand(ctx, i, k, "integer elements");
    if (!check_attr_int(ctx, i, A_INDEX_VECTOR_DIM, x->vector, 0, (int64_t)x->indices->rank + 1))
        return false;
    x->batch_rank = x->indices->rank - (x->vector < x->indices->rank);
    return true;
}

/* The dimension number of the d-th batch dimension of the indices, which excludes that of the index
 * vector. */
static int batch_dim(const struct indexed *x, int d) { return d < x->vector ? d : d + 1; }

static bool lists_fit(struct infer *ctx, const struct inst *i, struct indexed *x)
{
    int64_t rank = x->operand->rank,
            components = x->vector < x->indices->rank ? x->indices->dims[x->vector] : 1;
    int64_t batching = count_of(i, x->batching),
            indices_batching = count_of(i, x->indices_batching);
    int64_t indices_rank = x->batch_rank + 1;
    if (!dim_compatible(components, count_of(i, x->map)))
        return check_attr_count(ctx, i, x->map, count_of(i, x->map), components);
    if (!check_dim_list(ctx, i, x->map, rank, LIST_DISTINCT) ||
        !check_dim_list(ctx, i, x->collapsed, rank, LIST_SORTED) ||
        !check_dim_list(ctx, i, x->batching, rank, LIST_SORTED))
        return false;
    x->collapses = infer_marks(ctx, inst_ints(i, x->collapsed), rank);
    x->batches = infer_marks(ctx, inst_ints(i, x->batching), rank);
    return check_dim_list(ctx, i, x->indices_batching, indices_rank, LIST_DISTINCT) &&
           check_attr_count(ctx, i, x->indices_batching, indices_batching, batching);
}

/* Whether dimension d of the operand is a window dimension: neither collapsed nor a batching
 * dimension. */
static bool in_window(const struct indexed *x, int64_t d)
{
    return !x->collapses[d] && !x->batches[d];
}

static bool window_ranks(struct infer *ctx, const struct inst *i, const struct indexed *x)
{
    int64_t named = count_of(i, x->window) + count_of(i, x->collapsed) + count_of(i, x->batching);
    if (named == x->operand->rank)
        return true;
    return report_attr(ctx, i, x->window,
                       "%" PRId64 " dimensions with '%s' and '%s', the operand has %d", named,
                       attr_spelling(x->collapsed), attr_spelling(x->batching), x->operand->rank);
}

static bool slice_sizes_fit(struct infer *ctx, const struct inst *i, const struct indexed *x)
{
    struct ints sizes = inst_ints(i, A_SLICE_SIZES);
    if (!check_attr_count(ctx, i, A_SLICE_SIZES, sizes.count, x->operand->rank) ||
        !window_ranks(ctx, i, x))
        return false;
    for (int k = 0; k < x->operand->rank; k++) {
        int64_t end = size_end(x->operand->dims[k]);
        if (!in_window(x, k))
            end = min_i64(end, 2);
        if (!check_attr_int(ctx, i, A_SLICE_SIZES, sizes.at[k], 0, end))
            return false;
    }
    return true;
}

/* The next window dimension of the operand, starting at `from`. */
static int next_window_dim(const struct indexed *x, int from)
{
    while (from < x->operand->rank && !in_window(x, from))
        from++;
    return from;
}

/* spec: Gather */
static const struct shape *gather_shape(struct infer *ctx, const struct inst *i)
{
    struct indexed x = gather_of(i);
    if (!check_operand_array(ctx, i, 0) || !indices_fit(ctx, i, &x, 1))
        return NULL;
    struct ints offsets = inst_ints(i, A_OFFSET_DIMS), sizes = inst_ints(i, A_SLICE_SIZES);
    int64_t rank = offsets.count + x.batch_rank;
    if (!check_dim_list(ctx, i, A_OFFSET_DIMS, rank, LIST_SORTED) || !lists_fit(ctx, i, &x) ||
        !slice_sizes_fit(ctx, i, &x))
        return NULL;
    struct dims d = dims_new(ctx->arena, rank);
    const bool *is_offset = infer_marks(ctx, offsets, rank);
    int at = 0, batch = 0;
    for (int64_t k = 0; k < rank; k++) {
        if (!is_offset[k]) {
            dims_take(&d, x.indices, batch_dim(&x, batch++));
            continue;
        }
        at = next_window_dim(&x, at);
        if (at == x.operand->rank)
            return report_attr(ctx, i, A_OFFSET_DIMS, "more entries than dimensions of the slices"),
                   NULL;
        dims_add(&d, sizes.at[at],
                 sizes.at[at] == x.operand->dims[at] && shape_dim_dynamic(x.operand, at));
        at++;
    }
    return dims_shape(ctx->arena, x.operand->dtype, &d);
}

/* ---- scatter ---- */

/* Checks the sizes of updates k: windows must not be larger than the operand, other dimensions must
 * be those of the indices. */
static bool update_sizes(struct infer *ctx, const struct inst *i, const struct indexed *x, int k)
{
    const struct shape *s = operand_shape(i, k);
    const bool *window = infer_marks(ctx, inst_ints(i, A_UPDATE_WINDOW_DIMS), s->rank);
    int at = 0, batch = 0;
    for (int d = 0; d < s->rank; d++) {
        if (window[d]) {
            at = next_window_dim(x, at);
            if (at == x->operand->rank)
                return report_attr(ctx, i, A_UPDATE_WINDOW_DIMS,
                                   "more entries than dimensions of the windows");
            if (s->dims[d] > x->operand->dims[at] && x->operand->dims[at] != DIM_UNBOUNDED)
                return report_operand(ctx, i, k, "a dimension %d of at most %" PRId64, d,
                                      x->operand->dims[at]);
            at++;
            continue;
        }
        int64_t size = x->indices->dims[batch_dim(x, batch++)];
        if (!dim_compatible(s->dims[d], size))
            return report_operand(ctx, i, k, "a dimension %d of %" PRId64 ", as the indices have",
                                  d, size);
    }
    return true;
}

static bool scatter_operand(struct infer *ctx, const struct inst *i, int k, int count)
{
    struct indexed x = scatter_of(i, k);
    const struct shape *updates = operand_shape(i, count + 1 + k);
    if (!indices_fit(ctx, i, &x, count))
        return false;
    int64_t rank = x.batch_rank + count_of(i, A_UPDATE_WINDOW_DIMS);
    if (updates->rank != rank)
        return report_operand(ctx, i, count + 1 + k, "%" PRId64 " dimensions", rank);
    return check_dim_list(ctx, i, A_UPDATE_WINDOW_DIMS, rank, LIST_SORTED) &&
           lists_fit(ctx, i, &x) && window_ranks(ctx, i, &x) &&
           update_sizes(ctx, i, &x, count + 1 + k);
}

static bool scatter_reducer(struct infer *ctx, const struct inst *i, int count)
{
    struct reducer r = {inst_computation(i, A_TO_APPLY), count, NULL, NULL};
    const struct shape **init = ARENA_ARRAY(ctx->arena, const struct shape *, count);
    enum dtype *input = ARENA_ARRAY(ctx->arena, enum dtype, count);
    for (int k = 0; k < count; k++) {
        init[k] = shape_scalar(ctx->arena, operand_shape(i, k)->dtype);
        input[k] = operand_shape(i, count + 1 + k)->dtype;
    }
    r.init = init;
    r.input = input;
    return reduce_check_reducer(ctx, i, &r);
}

/* spec: Scatter */
static const struct shape *scatter_shape(struct infer *ctx, const struct inst *i)
{
    int count = i->operand_count / 2;
    if (i->operand_count % 2 == 0 || count == 0)
        return report_inst(
                   ctx, i, NULL,
                   "has %d operands, expected inputs, indices and one update for each input",
                   i->operand_count),
               NULL;
    if (!check_operand_arrays(ctx, i, 0, i->operand_count) || !scatter_reducer(ctx, i, count))
        return NULL;
    for (int k = 0; k < count; k++)
        if (!scatter_operand(ctx, i, k, count))
            return NULL;
    return infer_operands_shape(ctx, i, count);
}

const struct shape *infer_gather(struct infer *ctx, const struct inst *i)
{
    return i->opcode == OP_GATHER ? gather_shape(ctx, i) : scatter_shape(ctx, i);
}
