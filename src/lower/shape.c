/*
 * shape.c: collapse, reshape with an order of dimensions, slice and pad by lists, start
 * indices as a vector, and results given by an attribute instead of a written shape.
 */
#include "lower/lower_priv.h"

/* ---- results given by an attribute ---- */

bool lower_read_sizes(struct lower *lo, int more, struct dims *out)
{
    struct ints sizes = inst_ints(lo->i, A_SIZES);
    *out = dims_new(lo->arena, sizes.count + more);
    for (int64_t k = 0; k < sizes.count; k++) {
        if (!check_attr_int(&lo->infer, lo->i, A_SIZES, sizes.at[k], 0, INT64_MAX))
            return false;
        dims_add(out, sizes.at[k], false);
    }
    return true;
}

bool lower_sizes_attr(struct lower *lo)
{
    struct dims d;
    if (!inst_has(lo->i, A_SIZES))
        return true;
    return check_operand_array(&lo->infer, lo->i, 0) && lower_read_sizes(lo, 0, &d) &&
           lower_set_shape(lo, dims_shape(lo->arena, operand_shape(lo->i, 0)->dtype, &d));
}

/* `shape=` is the specification's argument; for rng-bit-generator, the shape of the random bits
 * only. */
bool lower_shape_attr(struct lower *lo)
{
    const struct attr *a = inst_attr(lo->i, A_SHAPE);
    if (!a)
        return true;
    const struct shape *s = a->v.shape;
    if (lo->i->opcode == OP_RNG_BIT_GENERATOR && shape_is_array(s) && lo->i->operand_count > 0) {
        const struct shape *both[] = {operand_shape(lo->i, 0), s};
        s = shape_tuple(lo->arena, 2, both);
    }
    return lower_set_shape(lo, s);
}

/* spec: ConvertElementType, BitcastConvertType */
bool lower_element_type_attr(struct lower *lo)
{
    const struct attr *a = inst_attr(lo->i, A_NEW_ELEMENT_TYPE);
    struct inst like = *lo->i;
    if (!a)
        return true;
    if (!check_operand_array(&lo->infer, lo->i, 0))
        return false;
    enum dtype t = (enum dtype)a->v.e;
    if (lo->i->opcode != OP_BITCAST_CONVERT)
        return lower_set_shape(lo, shape_with_dtype(lo->arena, operand_shape(lo->i, 0), t));
    like.shape = shape_scalar(lo->arena, t); /* the rule depends on its type only */
    const struct shape *s = infer_result(&lo->infer, &like);
    return s && lower_set_shape(lo, s);
}

/* ---- collapse and reshape ---- */

/* spec: Collapse */
static bool collapse(struct lower *lo)
{
    const struct shape *s = operand_shape(lo->i, 0);
    struct ints dims = inst_ints(lo->i, A_DIMENSIONS);
    if (!check_operand_array(&lo->infer, lo->i, 0))
        return false;
    if (!inst_has(lo->i, A_DIMENSIONS))
        return report_inst(&lo->infer, lo->i, NULL,
                           "requires dimensions={...}, the dimensions to collapse");
    for (int64_t k = 0; k < dims.count; k++) {
        if (!check_attr_int(&lo->infer, lo->i, A_DIMENSIONS, dims.at[k], 0, s->rank))
            return false;
        if (k > 0 && dims.at[k] != dims.at[k - 1] + 1)
            return report_attr(&lo->infer, lo->i, A_DIMENSIONS,
                               "%" PRId64 " follows %" PRId64
                               "; only adjacent dimensions in order can be collapsed",
                               dims.at[k], dims.at[k - 1]);
    }
    struct dims d = dims_new(lo->arena, s->rank);
    const bool empty = dims.count > 0 && i64_in(s->dims + dims.at[0], dims.count, 0);
    for (int k = 0; k < s->rank; k++) {
        bool merged = dims.count > 0 && k > dims.at[0] && k <= dims.at[dims.count - 1];
        if (!merged)
            dims_take(&d, s, k);
        else if (!empty && !mul_i64(d.size[d.rank - 1], s->dims[k], &d.size[d.rank - 1]))
            return report_operand(&lo->infer, lo->i, 0, "a size that does not overflow");
        else
            d.dynamic[d.rank - 1] |= shape_dim_dynamic(s, k);
    }
    if (empty)
        d.size[dims.at[0]] = 0;
    inst_remove_attr(lo->i, A_DIMENSIONS);
    return lower_set_shape(lo, dims_shape(lo->arena, s->dtype, &d));
}

/* Transposes the operand to the order of dimensions given by the reshape, slowest first. */
static bool reorder(struct lower *lo)
{
    struct inst *x = lo->i->operands[0];
    struct ints order = inst_ints(lo->i, A_DIMENSIONS);
    const struct shape *s = x->shape;
    bool moved = false;
    if (!check_attr_count(&lo->infer, lo->i, A_DIMENSIONS, order.count, s->rank) ||
        !check_dim_list(&lo->infer, lo->i, A_DIMENSIONS, s->rank, LIST_DISTINCT))
        return false;
    struct dims d = dims_new(lo->arena, s->rank);
    for (int k = 0; k < s->rank; k++) {
        moved |= order.at[k] != k;
        dims_take(&d, s, order.at[k]);
    }
    inst_remove_attr(lo->i, A_DIMENSIONS);
    if (!moved)
        return true;
    struct inst *turned =
        lower_helper(lo, OP_TRANSPOSE, dims_shape(lo->arena, s->dtype, &d), 1, &x);
    lower_set_ints(lo, turned, A_DIMENSIONS, order.count, order.at);
    lower_set_operands(lo, 1, &turned);
    return true;
}

/* spec: Reshape */
bool lower_reshape(struct lower *lo)
{
    if (lo->form == FORM_COLLAPSE)
        return collapse(lo);
    bool ordered = inst_has(lo->i, A_DIMENSIONS);
    if (ordered && !lo->i->shape && !inst_has(lo->i, A_SIZES))
        return report_inst(&lo->infer, lo->i, NULL,
                           "requires an explicit result shape or sizes={...}");
    if (ordered && (!check_operand_array(&lo->infer, lo->i, 0) || !reorder(lo)))
        return false;
    return lower_sizes_attr(lo);
}

/* ---- slice and pad by lists ---- */

/* Checks that a list has an entry for each dimension of operand 0. */
static bool check_entry_count(struct lower *lo, enum attr_id id)
{
    return !inst_has(lo->i, id) ||
           check_attr_count(&lo->infer, lo->i, id, inst_ints(lo->i, id).count,
                            operand_shape(lo->i, 0)->rank);
}

static int64_t entry_or(struct lower *lo, enum attr_id id, int k, int64_t absent)
{
    return inst_has(lo->i, id) ? inst_ints(lo->i, id).at[k] : absent;
}

/* spec: Slice */
bool lower_slice(struct lower *lo)
{
    struct inst *i = lo->i;
    const struct shape *s = operand_shape(i, 0);
    bool start = inst_has(i, A_START_INDICES), limit = inst_has(i, A_LIMIT_INDICES);
    if (!start && !limit && !inst_has(i, A_STRIDES))
        return true;
    if (inst_has(i, A_SLICE))
        return report_attr(&lo->infer, i, A_SLICE,
                           "redundant with start_indices, limit_indices and strides");
    if (!check_operand_array(&lo->infer, i, 0) || !check_entry_count(lo, A_START_INDICES) ||
        !check_entry_count(lo, A_LIMIT_INDICES) || !check_entry_count(lo, A_STRIDES))
        return false;
    struct slice_dim *dims = ARENA_ARRAY(lo->arena, struct slice_dim, s->rank);
    for (int k = 0; k < s->rank; k++)
        dims[k] = (struct slice_dim){entry_or(lo, A_START_INDICES, k, 0),
                                     entry_or(lo, A_LIMIT_INDICES, k, s->dims[k]),
                                     entry_or(lo, A_STRIDES, k, 1)};
    lower_set_attr(lo, i, A_SLICE, (union attr_value){.slices = {s->rank, dims}});
    return true;
}

static bool padding_config(struct lower *lo, struct padding_dim *dims)
{
    const struct attr *a = inst_attr(lo->i, A_PADDING_CONFIG);
    if (!check_attr_count(&lo->infer, lo->i, A_PADDING_CONFIG, a->v.ints_list.count,
                          operand_shape(lo->i, 0)->rank))
        return false;
    for (int64_t k = 0; k < a->v.ints_list.count; k++) {
        struct ints one = a->v.ints_list.at[k];
        if (one.count != 3)
            return report_attr(&lo->infer, lo->i, A_PADDING_CONFIG,
                               "%" PRId64 " entries for dimension %" PRId64
                               ", expected {low,high,interior}",
                               one.count, k);
        dims[k] = (struct padding_dim){one.at[0], one.at[1], one.at[2]};
    }
    return true;
}

/* spec: Pad */
bool lower_pad(struct lower *lo)
{
    struct inst *i = lo->i;
    const struct shape *s = operand_shape(i, 0);
    static const enum attr_id lists[] = {A_EDGE_PADDING_LOW, A_EDGE_PADDING_HIGH,
                                         A_INTERIOR_PADDING};
    bool config = inst_has(i, A_PADDING_CONFIG), listed = false;
    for (size_t k = 0; k < COUNT_OF(lists); k++)
        listed |= inst_has(i, lists[k]);
    if (!config && !listed)
        return true;
    if ((config && listed) || inst_has(i, A_PADDING))
        return report_inst(&lo->infer, i, NULL, "has duplicate padding");
    if (!check_operand_array(&lo->infer, i, 0))
        return false;
    for (size_t k = 0; k < COUNT_OF(lists); k++)
        if (!check_entry_count(lo, lists[k]))
            return false;
    struct padding_dim *dims = ARENA_ARRAY(lo->arena, struct padding_dim, s->rank);
    if (config && !padding_config(lo, dims))
        return false;
    for (int k = 0; listed && k < s->rank; k++)
        dims[k] = (struct padding_dim){entry_or(lo, lists[0], k, 0), entry_or(lo, lists[1], k, 0),
                                       entry_or(lo, lists[2], k, 0)};
    lower_set_attr(lo, i, A_PADDING, (union attr_value){.padding = {s->rank, dims}});
    return true;
}

/* ---- start indices as a vector ---- */

/* Splits the vector that is operand `first` into a scalar per dimension. With a written shape, the
 * form is core HLO and is kept. */
static bool split_indices(struct lower *lo, int first)
{
    struct inst *i = lo->i;
    if (i->shape || i->operand_count != first + 1 || !shape_is_array(operand_shape(i, first)) ||
        operand_shape(i, first)->rank != 1)
        return true;
    struct inst *vector = i->operands[first];
    const struct shape *s = vector->shape, *element, *index = shape_scalar(lo->arena, s->dtype);
    if (!check_operand_array(&lo->infer, i, 0))
        return false;
    int rank = operand_shape(i, 0)->rank;
    if (s->dims[0] != rank)
        return report_operand(&lo->infer, i, first, "one index per dimension, %d in all", rank);
    static const int64_t one = 1;
    element = shape_array(lo->arena, s->dtype, 1, &one, NULL, NULL);
    struct inst **operands = ARENA_ARRAY(lo->arena, struct inst *, first + rank);
    memcpy(operands, i->operands, (size_t)first * sizeof *operands);
    for (int k = 0; k < rank; k++) {
        struct slice_dim *dim = ARENA_NEW(lo->arena, struct slice_dim);
        *dim = (struct slice_dim){k, k + 1, 1};
        struct inst *part = lower_helper(lo, OP_SLICE, element, 1, &vector);
        lower_set_attr(lo, part, A_SLICE, (union attr_value){.slices = {1, dim}});
        operands[first + k] = lower_helper(lo, OP_RESHAPE, index, 1, &part);
    }
    lower_set_operands(lo, first + rank, operands);
    return true;
}

/* spec: DynamicSlice */
bool lower_dynamic_slice(struct lower *lo) { return split_indices(lo, 1); }

/* spec: DynamicUpdateSlice */
bool lower_dynamic_update_slice(struct lower *lo) { return split_indices(lo, 2); }
