/*
 * collective.c: shapes of the collectives: those of the operands, in some with one dimension scaled
 * by the number of participants.
 */
#include "verify/verify_priv.h"

static int64_t only_dimension(const struct inst *i)
{
    struct ints d = inst_ints(i, A_DIMENSIONS);
    return d.count ? d.at[0] : -1;
}

/* The first array of a result that is an array or a tuple of arrays; NULL if there is none. */
static const struct shape *first_array(const struct shape *s)
{
    if (s && s->dtype == DT_TUPLE)
        s = s->count ? s->elements[0] : NULL;
    return s && shape_is_array(s) ? s : NULL;
}

/* The shape with another size of dimension d. */
static const struct shape *resized(struct verify *v, const struct shape *s, int64_t d, int64_t size,
                                   bool dynamic)
{
    struct dims out = verify_dims(v, s->rank);
    for (int k = 0; k < s->rank; k++) {
        if (k == d)
            dims_add(&out, size, dynamic);
        else
            dims_take(&out, s, k);
    }
    return verify_dims_shape(v, s->dtype, &out);
}

/* a / b rounded up: the number of participants that two sizes imply; 0 if either is 0. */
static int64_t parts(int64_t a, int64_t b) { return b > 0 && a > 0 ? (a - 1) / b + 1 : 0; }

static bool check_parts(struct verify *v, const struct inst *i, int64_t count, int64_t group)
{
    return group == 1 || count == group ||
           verify_bad_inst(v, i, NULL,
                           "scales its dimension by %" PRId64 ", but a group has %" PRId64
                           " participants",
                           count, group);
}

/* ---- all-gather, reduce-scatter ---- */

/* The result shapes: all operands with dimension d multiplied (or divided) by `count`. */
static const struct shape *scaled(struct verify *v, const struct inst *i, int64_t d, int64_t count,
                                  bool divide)
{
    const struct shape **out = ARENA_ARRAY(v->arena, const struct shape *, i->operand_count);
    for (int k = 0; k < i->operand_count; k++) {
        const struct shape *s = operand_shape(i, k);
        int64_t size;
        if (divide && (count == 0 || s->dims[d] % count != 0)) {
            verify_bad_operand(v, i, k, "dimension %" PRId64 " divisible by %" PRId64, d, count);
            return NULL;
        }
        if (divide) {
            bool dynamic = shape_dim_dynamic(s, (int)d);
            size = dynamic ? DIM_UNBOUNDED : s->dims[d] / count;
            out[k] = resized(v, s, d, size, dynamic);
        } else {
            if (!mul_i64(s->dims[d], count, &size)) {
                verify_bad_operand(
                    v, i, k, "a size that does not overflow when multiplied by %" PRId64, count);
                return NULL;
            }
            out[k] = resized(v, s, d, size, false);
        }
    }
    return i->operand_count == 1 ? out[0] : shape_tuple(v->arena, i->operand_count, out);
}

static bool dimension_in_range(struct verify *v, const struct inst *i, int64_t d)
{
    for (int k = 0; k < i->operand_count; k++)
        if (!verify_attr_int(v, i, A_DIMENSIONS, d, 0, operand_shape(i, k)->rank))
            return false;
    return true;
}

/* The operands with their dimension multiplied or divided by the number of participants. That
 * number follows from the written result, `written`; NULL: the result is to be inferred. */
static const struct shape *scaled_by_group(struct verify *v, const struct inst *i,
                                           const struct shape *written, bool divide)
{
    struct group_facts g;
    int64_t d = only_dimension(i);
    if (!verify_operand_least(v, i, 1) || !verify_operand_arrays(v, i, 0, i->operand_count) ||
        !dimension_in_range(v, i, d) || !verify_groups(v, i, true, &g))
        return NULL;
    int64_t count = g.size;
    if (written) {
        const struct shape *in = operand_shape(i, 0), *out = first_array(written);
        if (!out || out->rank != in->rank) {
            verify_bad_inst(v, i, NULL,
                            "has result %s, expected arrays of the rank of the operands",
                            verify_text(v, written));
            return NULL;
        }
        count = divide ? parts(in->dims[d], out->dims[d]) : parts(out->dims[d], in->dims[d]);
        if (!divide && count == 0) {
            verify_bad_operand(v, i, 0,
                               "a dimension %" PRId64 " that is not empty, nor in the result", d);
            return NULL;
        }
        if (!check_parts(v, i, count, g.size))
            return NULL;
    }
    return scaled(v, i, d, count, divide);
}

static const struct shape *verify_all_gather(struct verify *v, const struct inst *i)
{
    return scaled_by_group(v, i, i->shape, false);
}

static const struct shape *verify_all_gather_start(struct verify *v, const struct inst *i)
{
    const struct shape *s = i->shape;
    if (s && (s->dtype != DT_TUPLE || s->count != 2)) {
        verify_bad_inst(v, i, NULL, "has result %s, expected (operands, gathered)",
                        verify_text(v, s));
        return NULL;
    }
    const struct shape *out = scaled_by_group(v, i, s ? s->elements[1] : NULL, false);
    if (!out)
        return NULL;
    const struct shape *both[] = {verify_operands_shape(v, i, i->operand_count), out};
    return shape_tuple(v->arena, 2, both);
}

static const struct shape *verify_reduce_scatter(struct verify *v, const struct inst *i)
{
    return scaled_by_group(v, i, i->shape, true);
}

/* ---- all-reduce ---- */

static const struct shape *verify_all_reduce(struct verify *v, const struct inst *i)
{
    struct group_facts g;
    if (i->opcode == OP_ALL_REDUCE && inst_int(i, A_CHANNEL_ID, 1) <= 0) {
        verify_bad_attr(v, i, A_CHANNEL_ID, "expected a positive integer");
        return NULL;
    }
    if (!verify_groups(v, i, false, &g) || !verify_operand_arrays(v, i, 0, i->operand_count))
        return NULL;
    return verify_operands_shape(v, i, i->operand_count);
}

/* ---- all-to-all ---- */

static const struct shape *all_to_all_array(struct verify *v, const struct inst *i, int64_t group)
{
    if (i->operand_count != 1) {
        verify_bad_inst(v, i, NULL, "with dimensions has %d operands, expected 1",
                        i->operand_count);
        return NULL;
    }
    const struct shape *s = operand_shape(i, 0);
    int64_t d = only_dimension(i);
    if (!verify_operand_array(v, i, 0) || !verify_attr_int(v, i, A_DIMENSIONS, d, 0, s->rank))
        return NULL;
    if (shape_has_dynamic(s) && !shape_has_unbounded(s)) {
        verify_bad_operand(v, i, 0, "no dynamic dimension");
        return NULL;
    }
    if (group <= 0 || s->dims[d] % group != 0) {
        verify_bad_operand(v, i, 0, "dimension %" PRId64 " divisible by %" PRId64, d, group);
        return NULL;
    }
    return s;
}

static const struct shape *verify_all_to_all(struct verify *v, const struct inst *i)
{
    struct group_facts g;
    if (!verify_groups(v, i, true, &g))
        return NULL;
    if (inst_has(i, A_DIMENSIONS))
        return all_to_all_array(v, i, g.size);
    if (i->operand_count != g.size) {
        verify_bad_inst(v, i, NULL, "has %d operands, but a group has %" PRId64 " participants",
                        i->operand_count, g.size);
        return NULL;
    }
    const struct shape **out = ARENA_ARRAY(v->arena, const struct shape *, i->operand_count);
    for (int k = 0; k < i->operand_count; k++) {
        out[k] = operand_shape(i, k);
        if (!shape_equal(out[k], out[0], IGNORE_MEMORY_SPACE)) {
            verify_bad_operands(v, i, 0, k, "shape or layout");
            return NULL;
        }
    }
    return shape_tuple(v->arena, i->operand_count, out);
}

static const struct shape *verify_ragged_all_to_all(struct verify *v, const struct inst *i)
{
    struct group_facts g;
    if (i->operand_count != 6) {
        verify_bad_inst(v, i, NULL, "has %d operands, expected 6", i->operand_count);
        return NULL;
    }
    if (!verify_groups(v, i, true, &g) || !verify_operand_arrays(v, i, 1, 6))
        return NULL;
    for (int k = 2; k < 6; k++) {
        int rank = operand_shape(i, k)->rank;
        if (rank < 1 || rank > 2) {
            verify_bad_operand(v, i, k, "rank 1 or 2");
            return NULL;
        }
        if (!shape_equal(operand_shape(i, k), operand_shape(i, 2), IGNORE_MEMORY_SPACE)) {
            verify_bad_operands(v, i, 2, k, "shape or layout");
            return NULL;
        }
    }
    return operand_shape(i, 1);
}

/* ---- collective-permute ---- */

/* Offsets into an array: a tuple of one per dimension, or a tuple of such tuples. */
static bool offsets_fit(const struct shape *offsets, const struct shape *array)
{
    if (offsets->dtype != DT_TUPLE || !shape_is_array(array))
        return false;
    if (offsets->count > 0 && offsets->elements[0]->dtype == DT_TUPLE) {
        for (int k = 0; k < offsets->count; k++)
            if (offsets->elements[k]->dtype != DT_TUPLE ||
                offsets->elements[k]->count != array->rank)
                return false;
        return true;
    }
    return offsets->count == array->rank;
}

static bool buffers_fit(const struct shape *offsets, const struct shape *buffer)
{
    if (buffer->dtype != DT_TUPLE)
        return offsets_fit(offsets, buffer);
    if (offsets->dtype != DT_TUPLE || offsets->count != buffer->count)
        return false;
    for (int k = 0; k < buffer->count; k++)
        if (!offsets_fit(offsets->elements[k], buffer->elements[k]))
            return false;
    return true;
}

static bool check_in_place(struct verify *v, const struct inst *i)
{
    const struct shape *in = operand_shape(i, 0), *out = operand_shape(i, 1);
    bool tuples = in->dtype == DT_TUPLE && out->dtype == DT_TUPLE && in->count == out->count;
    if (!tuples && !(shape_is_array(in) && shape_is_array(out)))
        return verify_bad_operands(v, i, 0, 1, "being arrays or tuples of the same length");
    for (int k = 0; k < 2; k++)
        if (!buffers_fit(operand_shape(i, 2 + k), operand_shape(i, k)))
            return verify_bad_operand(v, i, 2 + k, "one offset per dimension of operand %d", k);
    return true;
}

static bool in_place(const struct inst *i)
{
    const struct attr *sizes = inst_attr(i, A_SLICE_SIZES_LIST);
    return sizes && sizes->v.ints_list.count > 0;
}

static bool check_permute(struct verify *v, const struct inst *i)
{
    if ((in_place(i) && !verify_operand_least(v, i, 4)) || !verify_permute_pairs(v, i, in_place(i)))
        return false;
    return in_place(i) ? check_in_place(v, i) : verify_operand_arrays(v, i, 0, i->operand_count);
}

static const struct shape *verify_collective_permute(struct verify *v, const struct inst *i)
{
    if (!check_permute(v, i))
        return NULL;
    return in_place(i) ? operand_shape(i, 1) : verify_operands_shape(v, i, i->operand_count);
}

/* (operands, results, context...); the shapes of the context are arbitrary. */
static const struct shape *verify_collective_permute_start(struct verify *v, const struct inst *i)
{
    if (!check_permute(v, i))
        return NULL;
    const struct shape *from =
        in_place(i) ? operand_shape(i, 0) : verify_operands_shape(v, i, i->operand_count);
    const struct shape *to = in_place(i) ? operand_shape(i, 1) : from, *s = i->shape;
    int count = s && s->dtype == DT_TUPLE && s->count > 2 ? s->count : 2;
    const struct shape **out = ARENA_ARRAY(v->arena, const struct shape *, count);
    out[0] = from;
    out[1] = to;
    for (int k = 2; k < count; k++)
        out[k] = s->elements[k];
    return shape_tuple(v->arena, count, out);
}

/* ---- others ---- */

static const struct shape *second_of_operand(struct verify *v, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    if (s->dtype == DT_TUPLE && s->count >= 2)
        return s->elements[1];
    verify_bad_operand(v, i, 0, "the tuple of its start");
    return NULL;
}

static const struct shape *verify_collective_broadcast(struct verify *v, const struct inst *i)
{
    if (!verify_operand_least(v, i, 1) || !verify_operand_array(v, i, 0))
        return NULL;
    return operand_shape(i, 0);
}

/* spec: AllGather, AllReduce, AllToAll, CollectiveBroadcast, CollectivePermute, RaggedAllToAll,
 * ReduceScatter */
const struct shape *verify_collective(struct verify *v, const struct inst *i)
{
    switch ((enum opcode)i->opcode) {
    case OP_ALL_GATHER: return verify_all_gather(v, i);
    case OP_ALL_GATHER_START: return verify_all_gather_start(v, i);
    case OP_ALL_REDUCE:
    case OP_ALL_REDUCE_START: return verify_all_reduce(v, i);
    case OP_ALL_REDUCE_DONE: return operand_shape(i, 0);
    case OP_ALL_TO_ALL: return verify_all_to_all(v, i);
    case OP_RAGGED_ALL_TO_ALL: return verify_ragged_all_to_all(v, i);
    case OP_REDUCE_SCATTER: return verify_reduce_scatter(v, i);
    case OP_COLLECTIVE_BROADCAST: return verify_collective_broadcast(v, i);
    case OP_COLLECTIVE_PERMUTE: return verify_collective_permute(v, i);
    case OP_COLLECTIVE_PERMUTE_START: return verify_collective_permute_start(v, i);
    case OP_ALL_GATHER_DONE:
    case OP_COLLECTIVE_PERMUTE_DONE: return second_of_operand(v, i);
    default: return shape_scalar(v->arena, DT_U32); /* replica-id, partition-id */
    }
}
