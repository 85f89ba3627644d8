/*
 * shape.c: result shapes of operations that only move elements.
 */
#include "infer/infer_priv.h"

/* spec: BroadcastInDim (the verifier checks a written shape). For XLA's parser, `dimensions` are
 * sizes of new leading dimensions. */
static const struct shape *broadcast_shape(struct infer *ctx, const struct inst *i)
{
    if (!ctx->parsing)
        return i->shape;
    const struct shape *s = operand_shape(i, 0);
    struct ints sizes = inst_ints(i, A_DIMENSIONS);
    struct dims d = dims_new(ctx->arena, sizes.count + s->rank);
    for (int64_t k = 0; k < sizes.count; k++) {
        if (!check_attr_int(ctx, i, A_DIMENSIONS, sizes.at[k], 0, INT64_MAX))
            return NULL;
        dims_add(&d, sizes.at[k], false);
    }
    for (int k = 0; k < s->rank; k++)
        dims_take(&d, s, k);
    if (shape_has_unbounded(s))
        return report_operand(ctx, i, 0, "bounded dimensions"), NULL;
    return dims_shape(ctx->arena, s->dtype, &d);
}

/* The operand's layout with renumbered dimensions: dimension dimensions[k] becomes k. */
static const struct layout *permuted_layout(struct infer *ctx, const struct layout *l,
                                            struct ints dimensions)
{
    int64_t *position = ARENA_ARRAY(ctx->arena, int64_t, l->rank),
            *mtm = ARENA_ARRAY(ctx->arena, int64_t, l->rank);
    for (int k = 0; k < l->rank; k++)
        position[dimensions.at[k]] = k;
    for (int k = 0; k < l->rank; k++) {
        if (l->minor_to_major[k] < 0 || l->minor_to_major[k] >= l->rank)
            return NULL;
        mtm[k] = position[l->minor_to_major[k]];
    }
    struct layout *out = arena_copy(ctx->arena, l, sizeof *l);
    out->minor_to_major = mtm;
    return out;
}

/* spec: Transpose */
static const struct shape *transpose_shape(struct infer *ctx, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    struct ints dimensions = inst_ints(i, A_DIMENSIONS);
    if (!check_attr_count(ctx, i, A_DIMENSIONS, dimensions.count, s->rank) ||
        !check_dim_list(ctx, i, A_DIMENSIONS, s->rank, LIST_DISTINCT))
        return NULL;
    struct dims d = dims_new(ctx->arena, s->rank);
    for (int k = 0; k < s->rank; k++)
        dims_take(&d, s, dimensions.at[k]);
    const struct layout *l = permuted_layout(ctx, s->layout, dimensions);
    const struct shape *out = dims_shape(ctx->arena, s->dtype, &d);
    return l ? shape_with_layout(ctx->arena, out, l) : out;
}

/* spec: Rev (reverse) */
static const struct shape *reverse_shape(struct infer *ctx, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    return check_dim_list(ctx, i, A_DIMENSIONS, s->rank, LIST_DISTINCT) ? s : NULL;
}

static bool slice_dim(struct infer *ctx, const struct inst *i, int k, struct slice_dim c,
                      struct dims *out)
{
    const struct shape *s = operand_shape(i, 0);
    if (c.start < 0 || c.start > c.limit || c.limit > s->dims[k])
        return report_attr(ctx, i, A_SLICE, "[%" PRId64 ":%" PRId64 "] exceeds dimension %d of %s",
                           c.start, c.limit, k, report_text(ctx, s));
    if (c.stride <= 0)
        return report_attr(ctx, i, A_SLICE, "stride %" PRId64 " is less than 1", c.stride);
    int64_t length = c.limit - c.start, size = length / c.stride + (length % c.stride != 0);
    dims_add(out, size, size != 1 && shape_dim_dynamic(s, k));
    return true;
}

/* spec: Slice */
static const struct shape *slice_shape(struct infer *ctx, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    const struct attr *a = inst_attr(i, A_SLICE);
    int count = a ? a->v.slices.rank : 0;
    if (!check_attr_count(ctx, i, A_SLICE, count, s->rank))
        return NULL;
    struct dims d = dims_new(ctx->arena, s->rank);
    for (int k = 0; k < s->rank; k++)
        if (!slice_dim(ctx, i, k, a->v.slices.dims[k], &d))
            return NULL;
    return dims_shape(ctx->arena, s->dtype, &d);
}

static bool padded_size(int64_t size, struct padding_dim p, int64_t *out)
{
    int64_t between = size > 1 ? size - 1 : 0;
    return mul_i64(between, p.interior, &between) && add_i64(size, between, out) &&
           add_i64(*out, p.low, out) && add_i64(*out, p.high, out) && *out >= 0;
}

static bool pad_dim(struct infer *ctx, const struct inst *i, int k, struct padding_dim p,
                    struct dims *out)
{
    const struct shape *s = operand_shape(i, 0);
    int64_t size = s->dims[k];
    if (p.interior < 0)
        return report_attr(ctx, i, A_PADDING, "interior padding %" PRId64 " is negative",
                           p.interior);
    if (size != DIM_UNBOUNDED && !padded_size(size, p, &size))
        return report_attr(ctx, i, A_PADDING,
                           "%" PRId64 "_%" PRId64 "_%" PRId64 " takes dimension %d of %s below 0",
                           p.low, p.high, p.interior, k, report_text(ctx, s));
    dims_add(out, size, shape_dim_dynamic(s, k));
    return true;
}

/* spec: Pad */
static const struct shape *pad_shape(struct infer *ctx, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0), *value = operand_shape(i, 1);
    const struct attr *a = inst_attr(i, A_PADDING);
    enum dtype t;
    if (!check_operand_arrays(ctx, i, 0, 2))
        return NULL;
    if (value->rank != 0)
        return report_operand(ctx, i, 1, "a scalar"), NULL;
    if (!check_same_kind(ctx, i, 0, 1) ||
        !check_attr_count(ctx, i, A_PADDING, a ? a->v.padding.rank : 0, s->rank) ||
        !infer_common_type(ctx, i, 0, 1, &t))
        return NULL;
    struct dims d = dims_new(ctx->arena, s->rank);
    for (int k = 0; k < s->rank; k++)
        if (!pad_dim(ctx, i, k, a->v.padding.dims[k], &d))
            return NULL;
    return dims_shape(ctx->arena, t, &d);
}

/* Adds the sizes of one more operand. */
static bool concatenate_operand(struct infer *ctx, const struct inst *i, int k, int64_t along,
                                struct dims *d)
{
    const struct shape *s = operand_shape(i, k);
    if (!check_same_kind(ctx, i, 0, k))
        return false;
    if (s->rank != d->rank)
        return report_operands(ctx, i, 0, k, "rank");
    for (int j = 0; j < d->rank; j++) {
        d->dynamic[j] |= shape_dim_dynamic(s, j);
        if (j != along && !dim_compatible(d->size[j], s->dims[j]))
            return report_operands(ctx, i, 0, k, "a dimension that is not concatenated");
        bool unbounded = d->size[j] == DIM_UNBOUNDED || s->dims[j] == DIM_UNBOUNDED;
        if (j == along && unbounded)
            d->size[j] = DIM_UNBOUNDED;
        else if (j == along && !add_i64(d->size[j], s->dims[j], &d->size[j]))
            return report_inst(ctx, i, NULL, "returns more than 2^63 elements along a dimension");
        else if (d->size[j] == DIM_UNBOUNDED)
            d->size[j] = s->dims[j];
    }
    return true;
}

/* spec: Concatenate */
static const struct shape *concatenate_shape(struct infer *ctx, const struct inst *i)
{
    struct ints along = inst_ints(i, A_DIMENSIONS);
    if (!check_operand_least(ctx, i, 1) || !check_operand_arrays(ctx, i, 0, i->operand_count) ||
        !check_attr_count(ctx, i, A_DIMENSIONS, along.count, 1))
        return NULL;
    const struct shape *first = operand_shape(i, 0);
    if (!check_attr_int(ctx, i, A_DIMENSIONS, along.at[0], 0, first->rank))
        return NULL;
    struct dims d = dims_of(ctx->arena, first, 0);
    for (int k = 1; k < i->operand_count; k++)
        if (!concatenate_operand(ctx, i, k, along.at[0], &d))
            return NULL;
    enum dtype t;
    if (!infer_common_type(ctx, i, 0, i->operand_count - 1, &t))
        return NULL;
    return dims_shape(ctx->arena, t, &d);
}

/* spec: CopyStart */
static const struct shape *copy_start_shape(struct infer *ctx, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    const struct shape *parts[] = {s, s, shape_scalar(ctx->arena, DT_U32)};
    return shape_tuple(ctx->arena, 3, parts);
}

/* spec: CopyDone */
static const struct shape *copy_done_shape(struct infer *ctx, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    if (!shape_is_tuple(s) || s->count < 2)
        return report_operand(ctx, i, 0, "a copy-start"), NULL;
    bool same = ctx->layout_sensitive ? shape_equal(s->elements[0], s->elements[1],
                                                    IGNORE_MEMORY_SPACE | IGNORE_SPLITS)
                                      : shape_compatible(s->elements[0], s->elements[1]);
    if (!same)
        return report_operand(ctx, i, 0, "a tuple whose elements 0 and 1 are equal"), NULL;
    return s->elements[0];
}

/* spec: Copy */
static const struct shape *copy_shape(struct infer *ctx, const struct inst *i)
{
    if (operand_shape(i, 0)->dtype == DT_OPAQUE)
        return report_operand(ctx, i, 0, "a copyable type"), NULL;
    return operand_shape(i, 0);
}

static infer_family_fn *const rules[OP_COUNT] = {
    [OP_BROADCAST] = broadcast_shape,
    [OP_CONCATENATE] = concatenate_shape,
    [OP_COPY] = copy_shape,
    [OP_COPY_DONE] = copy_done_shape,
    [OP_COPY_START] = copy_start_shape,
    [OP_PAD] = pad_shape,
    [OP_REVERSE] = reverse_shape,
    [OP_SLICE] = slice_shape,
    [OP_TRANSPOSE] = transpose_shape,
};

const struct shape *infer_shape(struct infer *ctx, const struct inst *i)
{
    return rules[i->opcode](ctx, i);
}
