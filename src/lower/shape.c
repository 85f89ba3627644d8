/*
 * shape.c: collapse, reshape with an order of dimensions, slice and pad by lists, start
 * indices as a vector, and results given by an attribute instead of a written shape.
 */
#include "lower/lower_priv.h"

/* ---- results given by an attribute ---- */

bool build_sizes(struct build *b, int more, struct dims *out)
{
    struct ints sizes = inst_ints(b->i, A_SIZES);
    *out = verify_dims(&b->v, sizes.count + more);
    for (int64_t k = 0; k < sizes.count; k++) {
        if (!verify_attr_int(&b->v, b->i, A_SIZES, sizes.at[k], 0, INT64_MAX))
            return false;
        dims_add(out, sizes.at[k], false);
    }
    return true;
}

bool build_lower_sizes(struct build *b)
{
    struct dims d;
    if (!inst_has(b->i, A_SIZES))
        return true;
    return verify_operand_array(&b->v, b->i, 0) && build_sizes(b, 0, &d) &&
           build_shape(b, verify_dims_shape(&b->v, operand_shape(b->i, 0)->dtype, &d));
}

/* `shape=` is the specification's argument; for rng-bit-generator, the shape of the random bits
 * only. */
bool build_lower_shape(struct build *b)
{
    const struct attr *a = inst_attr(b->i, A_SHAPE);
    if (!a)
        return true;
    const struct shape *s = a->v.shape;
    if (b->i->opcode == OP_RNG_BIT_GENERATOR && shape_is_array(s) && b->i->operand_count > 0) {
        const struct shape *both[] = {operand_shape(b->i, 0), s};
        s = shape_tuple(b->v.arena, 2, both);
    }
    return build_shape(b, s);
}

/* spec: ConvertElementType, BitcastConvertType */
bool build_lower_type(struct build *b)
{
    const struct attr *a = inst_attr(b->i, A_NEW_ELEMENT_TYPE);
    struct inst like = *b->i;
    if (!a)
        return true;
    if (!verify_operand_array(&b->v, b->i, 0))
        return false;
    enum dtype t = (enum dtype)a->v.e;
    if (b->i->opcode != OP_BITCAST_CONVERT)
        return build_shape(b, shape_with_dtype(b->v.arena, operand_shape(b->i, 0), t));
    like.shape = shape_scalar(b->v.arena, t); /* the rule depends on its type only */
    const struct shape *s = verify_convert(&b->v, &like);
    return s && build_shape(b, s);
}

/* ---- collapse and reshape ---- */

/* spec: Collapse */
static bool collapse(struct build *b)
{
    const struct shape *s = operand_shape(b->i, 0);
    struct ints dims = inst_ints(b->i, A_DIMENSIONS);
    if (!verify_operand_array(&b->v, b->i, 0))
        return false;
    if (!inst_has(b->i, A_DIMENSIONS))
        return verify_bad_inst(&b->v, b->i, NULL,
                               "requires dimensions={...}, the dimensions to collapse");
    for (int64_t k = 0; k < dims.count; k++) {
        if (!verify_attr_int(&b->v, b->i, A_DIMENSIONS, dims.at[k], 0, s->rank))
            return false;
        if (k > 0 && dims.at[k] != dims.at[k - 1] + 1)
            return verify_bad_attr(&b->v, b->i, A_DIMENSIONS,
                                   "%" PRId64 " follows %" PRId64
                                   "; only adjacent dimensions in order can be collapsed",
                                   dims.at[k], dims.at[k - 1]);
    }
    struct dims d = verify_dims(&b->v, s->rank);
    const bool empty = dims.count > 0 && i64_in(s->dims + dims.at[0], dims.count, 0);
    for (int k = 0; k < s->rank; k++) {
        bool merged = dims.count > 0 && k > dims.at[0] && k <= dims.at[dims.count - 1];
        if (!merged)
            dims_take(&d, s, k);
        else if (!empty && !mul_i64(d.size[d.rank - 1], s->dims[k], &d.size[d.rank - 1]))
            return verify_bad_operand(&b->v, b->i, 0, "a size that does not overflow");
        else
            d.dynamic[d.rank - 1] |= shape_dim_dynamic(s, k);
    }
    if (empty)
        d.size[dims.at[0]] = 0;
    inst_remove_attr(b->i, A_DIMENSIONS);
    return build_shape(b, verify_dims_shape(&b->v, s->dtype, &d));
}

/* Transposes the operand to the order of dimensions given by the reshape, slowest first. */
static bool reorder(struct build *b)
{
    struct inst *x = b->i->operands[0];
    struct ints order = inst_ints(b->i, A_DIMENSIONS);
    const struct shape *s = x->shape;
    bool moved = false;
    if (!verify_attr_count(&b->v, b->i, A_DIMENSIONS, order.count, s->rank) ||
        !verify_dim_list(&b->v, b->i, A_DIMENSIONS, s->rank, LIST_DISTINCT))
        return false;
    struct dims d = verify_dims(&b->v, s->rank);
    for (int k = 0; k < s->rank; k++) {
        moved |= order.at[k] != k;
        dims_take(&d, s, order.at[k]);
    }
    inst_remove_attr(b->i, A_DIMENSIONS);
    if (!moved)
        return true;
    struct inst *turned =
        build_inst(b, OP_TRANSPOSE, verify_dims_shape(&b->v, s->dtype, &d), 1, &x);
    build_set_ints(b, turned, A_DIMENSIONS, order.count, order.at);
    build_operands(b, 1, &turned);
    return true;
}

/* spec: Reshape */
bool build_lower_reshape(struct build *b)
{
    if (b->form == FORM_COLLAPSE)
        return collapse(b);
    bool ordered = inst_has(b->i, A_DIMENSIONS);
    if (ordered && !b->i->shape && !inst_has(b->i, A_SIZES))
        return verify_bad_inst(&b->v, b->i, NULL,
                               "requires an explicit result shape or sizes={...}");
    if (ordered && (!verify_operand_array(&b->v, b->i, 0) || !reorder(b)))
        return false;
    return build_lower_sizes(b);
}

/* ---- slice and pad by lists ---- */

/* Checks that a list has an entry for each dimension of operand 0. */
static bool entry_each(struct build *b, enum attr_id id)
{
    return !inst_has(b->i, id) || verify_attr_count(&b->v, b->i, id, inst_ints(b->i, id).count,
                                                    operand_shape(b->i, 0)->rank);
}

static int64_t entry_or(struct build *b, enum attr_id id, int k, int64_t absent)
{
    return inst_has(b->i, id) ? inst_ints(b->i, id).at[k] : absent;
}

/* spec: Slice */
bool build_lower_slice(struct build *b)
{
    struct inst *i = b->i;
    const struct shape *s = operand_shape(i, 0);
    bool start = inst_has(i, A_START_INDICES), limit = inst_has(i, A_LIMIT_INDICES);
    if (!start && !limit && !inst_has(i, A_STRIDES))
        return true;
    if (inst_has(i, A_SLICE))
        return verify_bad_attr(&b->v, i, A_SLICE,
                               "redundant with start_indices, limit_indices and strides");
    if (!verify_operand_array(&b->v, i, 0) || !entry_each(b, A_START_INDICES) ||
        !entry_each(b, A_LIMIT_INDICES) || !entry_each(b, A_STRIDES))
        return false;
    struct slice_dim *dims = ARENA_ARRAY(b->v.arena, struct slice_dim, s->rank);
    for (int k = 0; k < s->rank; k++)
        dims[k] = (struct slice_dim){entry_or(b, A_START_INDICES, k, 0),
                                     entry_or(b, A_LIMIT_INDICES, k, s->dims[k]),
                                     entry_or(b, A_STRIDES, k, 1)};
    build_set(b, i, A_SLICE, (union attr_value){.slices = {s->rank, dims}});
    return true;
}

static bool padding_config(struct build *b, struct padding_dim *dims)
{
    const struct attr *a = inst_attr(b->i, A_PADDING_CONFIG);
    if (!verify_attr_count(&b->v, b->i, A_PADDING_CONFIG, a->v.ints_list.count,
                           operand_shape(b->i, 0)->rank))
        return false;
    for (int64_t k = 0; k < a->v.ints_list.count; k++) {
        struct ints one = a->v.ints_list.at[k];
        if (one.count != 3)
            return verify_bad_attr(&b->v, b->i, A_PADDING_CONFIG,
                                   "%" PRId64 " entries for dimension %" PRId64
                                   ", expected {low,high,interior}",
                                   one.count, k);
        dims[k] = (struct padding_dim){one.at[0], one.at[1], one.at[2]};
    }
    return true;
}

/* spec: Pad */
bool build_lower_pad(struct build *b)
{
    struct inst *i = b->i;
    const struct shape *s = operand_shape(i, 0);
    static const enum attr_id lists[] = {A_EDGE_PADDING_LOW, A_EDGE_PADDING_HIGH,
                                         A_INTERIOR_PADDING};
    bool config = inst_has(i, A_PADDING_CONFIG), listed = false;
    for (size_t k = 0; k < COUNT_OF(lists); k++)
        listed |= inst_has(i, lists[k]);
    if (!config && !listed)
        return true;
    if ((config && listed) || inst_has(i, A_PADDING))
        return verify_bad_inst(&b->v, i, NULL, "has duplicate padding");
    if (!verify_operand_array(&b->v, i, 0))
        return false;
    for (size_t k = 0; k < COUNT_OF(lists); k++)
        if (!entry_each(b, lists[k]))
            return false;
    struct padding_dim *dims = ARENA_ARRAY(b->v.arena, struct padding_dim, s->rank);
    if (config && !padding_config(b, dims))
        return false;
    for (int k = 0; listed && k < s->rank; k++)
        dims[k] = (struct padding_dim){entry_or(b, lists[0], k, 0), entry_or(b, lists[1], k, 0),
                                       entry_or(b, lists[2], k, 0)};
    build_set(b, i, A_PADDING, (union attr_value){.padding = {s->rank, dims}});
    return true;
}

/* ---- start indices as a vector ---- */

/* Splits the vector that is operand `first` into a scalar per dimension. With a written shape, the
 * form is core HLO and is kept. */
static bool split_indices(struct build *b, int first)
{
    struct inst *i = b->i;
    if (i->shape || i->operand_count != first + 1 || !shape_is_array(operand_shape(i, first)) ||
        operand_shape(i, first)->rank != 1)
        return true;
    struct inst *vector = i->operands[first];
    const struct shape *s = vector->shape, *element, *index = shape_scalar(b->v.arena, s->dtype);
    if (!verify_operand_array(&b->v, i, 0))
        return false;
    int rank = operand_shape(i, 0)->rank;
    if (s->dims[0] != rank)
        return verify_bad_operand(&b->v, i, first, "one index per dimension, %d in all", rank);
    static const int64_t one = 1;
    element = shape_array(b->v.arena, s->dtype, 1, &one, NULL, NULL);
    struct inst **operands = ARENA_ARRAY(b->v.arena, struct inst *, first + rank);
    memcpy(operands, i->operands, (size_t)first * sizeof *operands);
    for (int k = 0; k < rank; k++) {
        struct slice_dim *dim = ARENA_NEW(b->v.arena, struct slice_dim);
        *dim = (struct slice_dim){k, k + 1, 1};
        struct inst *part = build_inst(b, OP_SLICE, element, 1, &vector);
        build_set(b, part, A_SLICE, (union attr_value){.slices = {1, dim}});
        operands[first + k] = build_inst(b, OP_RESHAPE, index, 1, &part);
    }
    build_operands(b, first + rank, operands);
    return true;
}

/* spec: DynamicSlice */
bool build_lower_dynamic_slice(struct build *b) { return split_indices(b, 1); }

/* spec: DynamicUpdateSlice */
bool build_lower_dynamic_update_slice(struct build *b) { return split_indices(b, 2); }
