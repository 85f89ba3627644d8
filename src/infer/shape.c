/*
 * shape.c: result shapes of operations that only move elements, and of iota.
 */
#include "verify/verify_priv.h"

#include <stdlib.h>

/* A declared result must have the operand's element type; with mixed precision any float types
 * match. */
static bool declared_type_matches(struct verify *v, const struct inst *i)
{
    enum dtype in = operand_shape(i, 0)->dtype, out = i->shape->dtype;
    if (in == out || (v->options.mixed_precision && dtype_same_kind(in, out)))
        return true;
    return verify_bad_operand(v, i, 0, "elements of the result's type, %s", dtype_spelling(out));
}

static bool declared_array(struct verify *v, const struct inst *i)
{
    if (!shape_is_array(i->shape))
        return verify_bad_inst(v, i, NULL, "returns %s, expected an array",
                               verify_text(v, i->shape));
    return true;
}

/* spec: Reshape */
static const struct shape *reshape_shape(struct verify *v, const struct inst *i)
{
    int64_t in, out;
    if (!declared_array(v, i) || !declared_type_matches(v, i))
        return NULL;
    if (!shape_elements(operand_shape(i, 0), &in) || !shape_elements(i->shape, &out) || in != out)
        return verify_bad_operand(v, i, 0, "as many elements as the result %s",
                                  verify_text(v, i->shape)),
               NULL;
    return i->shape;
}

/* The shape that XLA's parser infers for a broadcast, where `dimensions` are sizes of new leading
 * dimensions. */
static const struct shape *broadcast_inferred(struct verify *v, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    struct ints sizes = inst_ints(i, A_DIMENSIONS);
    struct dims d = verify_dims(v, sizes.count + s->rank);
    for (int64_t k = 0; k < sizes.count; k++) {
        if (!verify_attr_int(v, i, A_DIMENSIONS, sizes.at[k], 0, INT64_MAX))
            return NULL;
        dims_add(&d, sizes.at[k], false);
    }
    for (int k = 0; k < s->rank; k++)
        dims_take(&d, s, k);
    if (shape_has_unbounded(s))
        return verify_bad_operand(v, i, 0, "bounded dimensions"), NULL;
    return verify_dims_shape(v, s->dtype, &d);
}

/* spec: BroadcastInDim */
static const struct shape *broadcast_shape(struct verify *v, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    struct ints dims = inst_ints(i, A_DIMENSIONS);
    if (v->parsing)
        return broadcast_inferred(v, i);
    if (!declared_array(v, i) || !declared_type_matches(v, i) ||
        !verify_attr_count(v, i, A_DIMENSIONS, dims.count, s->rank))
        return NULL;
    for (int k = 0; k < s->rank; k++) {
        if (!verify_attr_int(v, i, A_DIMENSIONS, dims.at[k], 0, i->shape->rank))
            return NULL;
        if (i->shape->dims[dims.at[k]] != s->dims[k]) {
            verify_bad_operand(
                v, i, 0, "dimension %d to be %" PRId64 ", as dimension %" PRId64 " of the result",
                k, i->shape->dims[dims.at[k]], dims.at[k]);
            return NULL;
        }
    }
    return i->shape;
}

/* The operand's layout with renumbered dimensions: dimension dimensions[k] becomes k. */
static const struct layout *permuted_layout(struct verify *v, const struct layout *l,
                                            struct ints dimensions)
{
    int64_t *position = ARENA_ARRAY(v->arena, int64_t, l->rank),
            *mtm = ARENA_ARRAY(v->arena, int64_t, l->rank);
    for (int k = 0; k < l->rank; k++)
        position[dimensions.at[k]] = k;
    for (int k = 0; k < l->rank; k++) {
        if (l->minor_to_major[k] < 0 || l->minor_to_major[k] >= l->rank)
            return NULL;
        mtm[k] = position[l->minor_to_major[k]];
    }
    struct layout *out = arena_copy(v->arena, l, sizeof *l);
    out->minor_to_major = mtm;
    return out;
}

/* spec: Transpose */
static const struct shape *transpose_shape(struct verify *v, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    struct ints dimensions = inst_ints(i, A_DIMENSIONS);
    if (!verify_attr_count(v, i, A_DIMENSIONS, dimensions.count, s->rank) ||
        !verify_dim_list(v, i, A_DIMENSIONS, s->rank, LIST_DISTINCT))
        return NULL;
    struct dims d = verify_dims(v, s->rank);
    for (int k = 0; k < s->rank; k++)
        dims_take(&d, s, dimensions.at[k]);
    const struct layout *l = permuted_layout(v, s->layout, dimensions);
    const struct shape *out = verify_dims_shape(v, s->dtype, &d);
    return l ? shape_with_layout(v->arena, out, l) : out;
}

/* spec: Rev (reverse) */
static const struct shape *reverse_shape(struct verify *v, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    return verify_dim_list(v, i, A_DIMENSIONS, s->rank, LIST_DISTINCT) ? s : NULL;
}

static bool slice_dim(struct verify *v, const struct inst *i, int k, struct slice_dim c,
                      struct dims *out)
{
    const struct shape *s = operand_shape(i, 0);
    if (c.start < 0 || c.start > c.limit || c.limit > s->dims[k])
        return verify_bad_attr(v, i, A_SLICE,
                               "[%" PRId64 ":%" PRId64 "] exceeds dimension %d of %s", c.start,
                               c.limit, k, verify_text(v, s));
    if (c.stride <= 0)
        return verify_bad_attr(v, i, A_SLICE, "stride %" PRId64 " is less than 1", c.stride);
    int64_t length = c.limit - c.start, size = length / c.stride + (length % c.stride != 0);
    dims_add(out, size, size != 1 && shape_dim_dynamic(s, k));
    return true;
}

/* spec: Slice */
static const struct shape *slice_shape(struct verify *v, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    const struct attr *a = inst_attr(i, A_SLICE);
    int count = a ? a->v.slices.rank : 0;
    if (!verify_attr_count(v, i, A_SLICE, count, s->rank))
        return NULL;
    struct dims d = verify_dims(v, s->rank);
    for (int k = 0; k < s->rank; k++)
        if (!slice_dim(v, i, k, a->v.slices.dims[k], &d))
            return NULL;
    return verify_dims_shape(v, s->dtype, &d);
}

static bool padded_size(int64_t size, struct padding_dim p, int64_t *out)
{
    int64_t between = size > 1 ? size - 1 : 0;
    return mul_i64(between, p.interior, &between) && add_i64(size, between, out) &&
           add_i64(*out, p.low, out) && add_i64(*out, p.high, out) && *out >= 0;
}

static bool pad_dim(struct verify *v, const struct inst *i, int k, struct padding_dim p,
                    struct dims *out)
{
    const struct shape *s = operand_shape(i, 0);
    int64_t size = s->dims[k];
    if (p.interior < 0)
        return verify_bad_attr(v, i, A_PADDING, "interior padding %" PRId64 " is negative",
                               p.interior);
    if (size != DIM_UNBOUNDED && !padded_size(size, p, &size))
        return verify_bad_attr(
            v, i, A_PADDING, "%" PRId64 "_%" PRId64 "_%" PRId64 " takes dimension %d of %s below 0",
            p.low, p.high, p.interior, k, verify_text(v, s));
    dims_add(out, size, shape_dim_dynamic(s, k));
    return true;
}

/* spec: Pad */
static const struct shape *pad_shape(struct verify *v, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0), *value = operand_shape(i, 1);
    const struct attr *a = inst_attr(i, A_PADDING);
    enum dtype t;
    if (!verify_operand_arrays(v, i, 0, 2))
        return NULL;
    if (value->rank != 0)
        return verify_bad_operand(v, i, 1, "a scalar"), NULL;
    if (!dtype_same_kind(s->dtype, value->dtype))
        return verify_bad_operands(v, i, 0, 1, "element type"), NULL;
    if (!verify_attr_count(v, i, A_PADDING, a ? a->v.padding.rank : 0, s->rank) ||
        !verify_higher(v, i, 0, 1, &t))
        return NULL;
    struct dims d = verify_dims(v, s->rank);
    for (int k = 0; k < s->rank; k++)
        if (!pad_dim(v, i, k, a->v.padding.dims[k], &d))
            return NULL;
    return verify_dims_shape(v, t, &d);
}

/* Adds the sizes of one more operand. */
static bool concatenate_operand(struct verify *v, const struct inst *i, int k, int64_t along,
                                struct dims *d)
{
    const struct shape *s = operand_shape(i, k);
    if (!dtype_same_kind(s->dtype, operand_shape(i, 0)->dtype))
        return verify_bad_operands(v, i, 0, k, "element type");
    if (s->rank != d->rank)
        return verify_bad_operands(v, i, 0, k, "rank");
    for (int j = 0; j < d->rank; j++) {
        d->dynamic[j] |= shape_dim_dynamic(s, j);
        if (j != along && !dim_compatible(d->size[j], s->dims[j]))
            return verify_bad_operands(v, i, 0, k, "a dimension that is not concatenated");
        bool unbounded = d->size[j] == DIM_UNBOUNDED || s->dims[j] == DIM_UNBOUNDED;
        if (j == along && unbounded)
            d->size[j] = DIM_UNBOUNDED;
        else if (j == along && !add_i64(d->size[j], s->dims[j], &d->size[j]))
            return verify_bad_inst(v, i, NULL, "returns more than 2^63 elements along a dimension");
        else if (d->size[j] == DIM_UNBOUNDED)
            d->size[j] = s->dims[j];
    }
    return true;
}

/* spec: Concatenate */
static const struct shape *concatenate_shape(struct verify *v, const struct inst *i)
{
    struct ints along = inst_ints(i, A_DIMENSIONS);
    if (!verify_operand_least(v, i, 1) || !verify_operand_arrays(v, i, 0, i->operand_count) ||
        !verify_attr_count(v, i, A_DIMENSIONS, along.count, 1))
        return NULL;
    const struct shape *first = operand_shape(i, 0);
    if (!verify_attr_int(v, i, A_DIMENSIONS, along.at[0], 0, first->rank))
        return NULL;
    struct dims d = verify_dims(v, first->rank);
    for (int k = 0; k < first->rank; k++)
        dims_take(&d, first, k);
    for (int k = 1; k < i->operand_count; k++)
        if (!concatenate_operand(v, i, k, along.at[0], &d))
            return NULL;
    enum dtype t;
    if (!verify_higher(v, i, 0, i->operand_count - 1, &t))
        return NULL;
    return verify_dims_shape(v, t, &d);
}

/* spec: Iota */
static const struct shape *iota_shape(struct verify *v, const struct inst *i)
{
    if (!declared_array(v, i))
        return NULL;
    if (i->shape->rank == 0 || i->shape->dtype == DT_PRED) {
        verify_bad_inst(v, i, NULL, "returns %s, expected a numeric array of rank at least 1",
                        verify_text(v, i->shape));
        return NULL;
    }
    int64_t along = inst_int(i, A_IOTA_DIMENSION, 0);
    return verify_attr_int(v, i, A_IOTA_DIMENSION, along, 0, i->shape->rank) ? i->shape : NULL;
}

/* spec: CopyStart */
static const struct shape *copy_start_shape(struct verify *v, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    const struct shape *parts[] = {s, s, shape_scalar(v->arena, DT_U32)};
    return shape_tuple(v->arena, 3, parts);
}

/* spec: CopyDone */
static const struct shape *copy_done_shape(struct verify *v, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    if (!shape_is_tuple(s) || s->count < 2)
        return verify_bad_operand(v, i, 0, "a copy-start"), NULL;
    bool same = v->options.layout_sensitive ? shape_equal(s->elements[0], s->elements[1],
                                                          IGNORE_MEMORY_SPACE | IGNORE_SPLITS)
                                            : shape_compatible(s->elements[0], s->elements[1]);
    if (!same)
        return verify_bad_operand(v, i, 0, "a tuple whose elements 0 and 1 are equal"), NULL;
    return s->elements[0];
}

/* spec: Copy */
static const struct shape *copy_shape(struct verify *v, const struct inst *i)
{
    if (operand_shape(i, 0)->dtype == DT_OPAQUE)
        return verify_bad_operand(v, i, 0, "a copyable type"), NULL;
    return operand_shape(i, 0);
}

static verify_family_fn *const rules[OP_COUNT] = {
    [OP_BROADCAST] = broadcast_shape,
    [OP_CONCATENATE] = concatenate_shape,
    [OP_COPY] = copy_shape,
    [OP_COPY_DONE] = copy_done_shape,
    [OP_COPY_START] = copy_start_shape,
    [OP_IOTA] = iota_shape,
    [OP_PAD] = pad_shape,
    [OP_RESHAPE] = reshape_shape,
    [OP_REVERSE] = reverse_shape,
    [OP_SLICE] = slice_shape,
    [OP_TRANSPOSE] = transpose_shape,
};

const struct shape *verify_shape(struct verify *v, const struct inst *i)
{
    return rules[i->opcode](v, i);
}
