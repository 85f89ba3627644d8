/*
 * collective.c: shapes of the collectives: those of the operands, in some with one dimension scaled
 * by the number of participants.
 */
#include "infer/infer_priv.h"

static int64_t only_dimension(const struct inst *i)
{
    struct ints d = inst_ints(i, A_DIMENSIONS);
    return d.count ? d.at[0] : -1;
}

/* The first array of a result that is an array or a tuple of arrays; NULL if it has no array. */
static const struct shape *first_array(const struct shape *s)
{
    if (s && s->dtype == DT_TUPLE)
        s = s->count ? s->elements[0] : NULL;
    return s && shape_is_array(s) ? s : NULL;
}

/* The shape with another size of dimension d. */
static const struct shape *resized(struct infer *ctx, const struct shape *s, int64_t d,
                                   int64_t size, bool dynamic)
{
    struct dims out = dims_of(ctx->arena, s, 0);
    out.size[d] = size;
    out.dynamic[d] = dynamic;
    return dims_shape(ctx->arena, s->dtype, &out);
}

/* a / b rounded up: the number of participants that two sizes imply; 0 if either is 0. */
static int64_t parts(int64_t a, int64_t b) { return b > 0 && a > 0 ? (a - 1) / b + 1 : 0; }

static bool check_parts(struct infer *ctx, const struct inst *i, int64_t count, int64_t group)
{
    return group == 1 || count == group ||
           report_inst(ctx, i, NULL,
                       "scales its dimension by %" PRId64 ", but a group has %" PRId64
                       " participants",
                       count, group);
}

/* ---- all-gather, reduce-scatter ---- */

/* The result shapes: all operands with dimension d multiplied (or divided) by `count`. */
static const struct shape *scaled(struct infer *ctx, const struct inst *i, int64_t d, int64_t count,
                                  bool divide)
{
    const struct shape **out = ARENA_ARRAY(ctx->arena, const struct shape *, i->operand_count);
    for (int k = 0; k < i->operand_count; k++) {
        const struct shape *s = operand_shape(i, k);
        int64_t size;
        if (divide && (count == 0 || s->dims[d] % count != 0))
            return report_operand(ctx, i, k, "dimension %" PRId64 " divisible by %" PRId64, d,
                                  count),
                   NULL;
        if (divide) {
            bool dynamic = shape_dim_dynamic(s, (int)d);
            size = dynamic ? DIM_UNBOUNDED : s->dims[d] / count;
            out[k] = resized(ctx, s, d, size, dynamic);
        } else {
            if (!mul_i64(s->dims[d], count, &size))
                return report_operand(ctx, i, k,
                                      "a size that does not overflow when multiplied by %" PRId64,
                                      count),
                       NULL;
            out[k] = resized(ctx, s, d, size, false);
        }
    }
    return i->operand_count == 1 ? out[0] : shape_tuple(ctx->arena, i->operand_count, out);
}

static bool dimension_in_range(struct infer *ctx, const struct inst *i, int64_t d)
{
    for (int k = 0; k < i->operand_count; k++)
        if (!check_attr_int(ctx, i, A_DIMENSIONS, d, 0, operand_shape(i, k)->rank))
            return false;
    return true;
}

/* The operands with their dimension multiplied or divided by the number of participants. That
 * number follows from the written result, `written`; NULL: the result is to be inferred. */
static const struct shape *scaled_by_group(struct infer *ctx, const struct inst *i,
                                           const struct shape *written, bool divide)
{
    struct group_facts g;
    int64_t d = only_dimension(i);
    if (!check_operand_least(ctx, i, 1) || !check_operand_arrays(ctx, i, 0, i->operand_count) ||
        !dimension_in_range(ctx, i, d) || !groups_check(ctx, i, true, &g))
        return NULL;
    int64_t count = g.size;
    if (written) {
        const struct shape *in = operand_shape(i, 0), *out = first_array(written);
        if (!out || out->rank != in->rank)
            return report_inst(ctx, i, NULL,
                               "has result %s, expected arrays of the rank of the operands",
                               report_text(ctx, written)),
                   NULL;
        count = divide ? parts(in->dims[d], out->dims[d]) : parts(out->dims[d], in->dims[d]);
        if (!divide && count == 0)
            return report_operand(ctx, i, 0,
                                  "a dimension %" PRId64 " that is not empty, nor in the result",
                                  d),
                   NULL;
        if (!check_parts(ctx, i, count, g.size))
            return NULL;
    }
    return scaled(ctx, i, d, count, divide);
}

static const struct shape *all_gather(struct infer *ctx, const struct inst *i)
{
    return scaled_by_group(ctx, i, i->shape, false);
}

static const struct shape *all_gather_start(struct infer *ctx, const struct inst *i)
{
    const struct shape *s = i->shape;
    if (s && (s->dtype != DT_TUPLE || s->count != 2))
        return report_inst(ctx, i, NULL, "has result %s, expected (operands, gathered)",
                           report_text(ctx, s)),
               NULL;
    const struct shape *out = scaled_by_group(ctx, i, s ? s->elements[1] : NULL, false);
    if (!out)
        return NULL;
    const struct shape *both[] = {infer_operands_shape(ctx, i, i->operand_count), out};
    return shape_tuple(ctx->arena, 2, both);
}

static const struct shape *reduce_scatter(struct infer *ctx, const struct inst *i)
{
    return scaled_by_group(ctx, i, i->shape, true);
}

/* ---- all-reduce ---- */

static const struct shape *all_reduce(struct infer *ctx, const struct inst *i)
{
    struct group_facts g;
    if (i->opcode == OP_ALL_REDUCE && inst_int(i, A_CHANNEL_ID, 1) <= 0)
        return report_attr(ctx, i, A_CHANNEL_ID, "expected a positive integer"), NULL;
    if (!groups_check(ctx, i, false, &g) || !check_operand_arrays(ctx, i, 0, i->operand_count))
        return NULL;
    return infer_operands_shape(ctx, i, i->operand_count);
}

/* ---- all-to-all ---- */

static const struct shape *all_to_all_array(struct infer *ctx, const struct inst *i, int64_t group)
{
    if (i->operand_count != 1)
        return report_inst(ctx, i, NULL, "with dimensions has %d operands, expected 1",
                           i->operand_count),
               NULL;
    const struct shape *s = operand_shape(i, 0);
    int64_t d = only_dimension(i);
    if (!check_operand_array(ctx, i, 0) || !check_attr_int(ctx, i, A_DIMENSIONS, d, 0, s->rank))
        return NULL;
    if (shape_has_dynamic(s) && !shape_has_unbounded(s))
        return report_operand(ctx, i, 0, "no dynamic dimension"), NULL;
    if (group <= 0 || s->dims[d] % group != 0)
        return report_operand(ctx, i, 0, "dimension %" PRId64 " divisible by %" PRId64, d, group),
               NULL;
    return s;
}

static const struct shape *all_to_all(struct infer *ctx, const struct inst *i)
{
    struct group_facts g;
    if (!groups_check(ctx, i, true, &g))
        return NULL;
    if (inst_has(i, A_DIMENSIONS))
        return all_to_all_array(ctx, i, g.size);
    if (i->operand_count != g.size)
        return report_inst(ctx, i, NULL,
                           "has %d operands, but a group has %" PRId64 " participants",
                           i->operand_count, g.size),
               NULL;
    const struct shape **out = ARENA_ARRAY(ctx->arena, const struct shape *, i->operand_count);
    for (int k = 0; k < i->operand_count; k++) {
        out[k] = operand_shape(i, k);
        if (!shape_equal(out[k], out[0], IGNORE_MEMORY_SPACE))
            return report_operands(ctx, i, 0, k, "shape or layout"), NULL;
    }
    return shape_tuple(ctx->arena, i->operand_count, out);
}

static const struct shape *ragged_all_to_all(struct infer *ctx, const struct inst *i)
{
    struct group_facts g;
    if (i->operand_count != 6)
        return report_inst(ctx, i, NULL, "has %d operands, expected 6", i->operand_count), NULL;
    if (!groups_check(ctx, i, true, &g) || !check_operand_arrays(ctx, i, 1, 6))
        return NULL;
    for (int k = 2; k < 6; k++) {
        int rank = operand_shape(i, k)->rank;
        if (rank < 1 || rank > 2)
            return report_operand(ctx, i, k, "rank 1 or 2"), NULL;
        if (!shape_equal(operand_shape(i, k), operand_shape(i, 2), IGNORE_MEMORY_SPACE))
            return report_operands(ctx, i, 2, k, "shape or layout"), NULL;
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

static bool check_in_place(struct infer *ctx, const struct inst *i)
{
    const struct shape *in = operand_shape(i, 0), *out = operand_shape(i, 1);
    bool tuples = in->dtype == DT_TUPLE && out->dtype == DT_TUPLE && in->count == out->count;
    if (!tuples && !(shape_is_array(in) && shape_is_array(out)))
        return report_operands(ctx, i, 0, 1, "tuple structure");
    for (int k = 0; k < 2; k++)
        if (!buffers_fit(operand_shape(i, 2 + k), operand_shape(i, k)))
            return report_operand(ctx, i, 2 + k, "one offset per dimension of operand %d", k);
    return true;
}

static bool in_place(const struct inst *i)
{
    const struct attr *sizes = inst_attr(i, A_SLICE_SIZES_LIST);
    return sizes && sizes->v.ints_list.count > 0;
}

static bool check_permute(struct infer *ctx, const struct inst *i)
{
    if ((in_place(i) && !check_operand_least(ctx, i, 4)) ||
        !groups_check_pairs(ctx, i, in_place(i)))
        return false;
    return in_place(i) ? check_in_place(ctx, i) : check_operand_arrays(ctx, i, 0, i->operand_count);
}

static const struct shape *collective_permute(struct infer *ctx, const struct inst *i)
{
    if (!check_permute(ctx, i))
        return NULL;
    return in_place(i) ? operand_shape(i, 1) : infer_operands_shape(ctx, i, i->operand_count);
}

/* (operands, results, context...); the shapes of the context are arbitrary. */
static const struct shape *collective_permute_start(struct infer *ctx, const struct inst *i)
{
    if (!check_permute(ctx, i))
        return NULL;
    const struct shape *from =
        in_place(i) ? operand_shape(i, 0) : infer_operands_shape(ctx, i, i->operand_count);
    const struct shape *to = in_place(i) ? operand_shape(i, 1) : from, *s = i->shape;
    int count = s && s->dtype == DT_TUPLE && s->count > 2 ? s->count : 2;
    const struct shape **out = ARENA_ARRAY(ctx->arena, const struct shape *, count);
    out[0] = from;
    out[1] = to;
    for (int k = 2; k < count; k++)
        out[k] = s->elements[k];
    return shape_tuple(ctx->arena, count, out);
}

/* ---- others ---- */

static const struct shape *second_of_operand(struct infer *ctx, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    if (s->dtype == DT_TUPLE && s->count >= 2)
        return s->elements[1];
    report_operand(ctx, i, 0, "the tuple of its start");
    return NULL;
}

static const struct shape *collective_broadcast(struct infer *ctx, const struct inst *i)
{
    if (!check_operand_least(ctx, i, 1) || !check_operand_array(ctx, i, 0))
        return NULL;
    return operand_shape(i, 0);
}

/* spec: AllGather, AllReduce, AllToAll, CollectiveBroadcast, CollectivePermute, RaggedAllToAll,
 * ReduceScatter */
const struct shape *infer_collective(struct infer *ctx, const struct inst *i)
{
    switch ((enum opcode)i->opcode) {
    case OP_ALL_GATHER: return all_gather(ctx, i);
    case OP_ALL_GATHER_START: return all_gather_start(ctx, i);
    case OP_ALL_REDUCE:
    case OP_ALL_REDUCE_START: return all_reduce(ctx, i);
    case OP_ALL_REDUCE_DONE: return operand_shape(i, 0);
    case OP_ALL_TO_ALL: return all_to_all(ctx, i);
    case OP_RAGGED_ALL_TO_ALL: return ragged_all_to_all(ctx, i);
    case OP_REDUCE_SCATTER: return reduce_scatter(ctx, i);
    case OP_COLLECTIVE_BROADCAST: return collective_broadcast(ctx, i);
    case OP_COLLECTIVE_PERMUTE: return collective_permute(ctx, i);
    case OP_COLLECTIVE_PERMUTE_START: return collective_permute_start(ctx, i);
    case OP_ALL_GATHER_DONE:
    case OP_COLLECTIVE_PERMUTE_DONE: return second_of_operand(ctx, i);
    default: return shape_scalar(ctx->arena, DT_U32); /* replica-id, partition-id */
    }
}
