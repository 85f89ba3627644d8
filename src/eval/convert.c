/*
 * convert.c: conversions, and bitcasts to another type.
 */
#include "eval/eval_priv.h"

#include "kern/nest.h"

/* ---- bitcast: the operand's bytes, in the order of its layout, are read in the order of the
 * result's layout ---- */

/* perm[k]: the logical dimension that is k-th in memory order, major first. */
static void physical_order(const struct shape *s, int64_t *perm)
{
    for (int k = 0; k < s->rank; k++)
        perm[k] = s->layout && s->layout->rank == s->rank
                      ? s->layout->minor_to_major[s->rank - 1 - k]
                      : k;
}

/* The operand as one row of elements in memory order. */
static bool bytes_in_order(struct eval *ev, const struct step *s, struct value *row)
{
    const struct shape *shape = s->inst->operands[0]->shape;
    int64_t perm[VIEW_MAX_RANK];
    struct view turned;
    physical_order(shape, perm);
    kern_view_pick(&turned, eval_view(ev, s, 0), shape->rank, perm);
    if (!value_new(ev, row, shape->dtype, shape->rank, turned.dims))
        return eval_no_memory(ev, s, shape);
    EVAL_RUN(ev, copy, ev->workers, &row->view, &turned);
    return true;
}

/* Copies the first `count` elements of a row to another of the same type. */
static void copy_first(struct eval *ev, const struct view *to, const struct view *from,
                       int64_t count)
{
    struct view a = *to, b = *from;
    a.dims[0] = b.dims[0] = count;
    EVAL_RUN(ev, copy, ev->workers, &a, &b);
}

/* Elements narrower than a byte share a byte, from the low end; the last byte is padded with
 * zeros. */
static int64_t packed_bytes(enum dtype t, int64_t n)
{
    const int64_t bits = (int64_t)dtype_bits(t);
    return bits < 8 ? ratio_up(n, 8 / bits) : n * bits / 8;
}

/* Byte k of a row. */
static unsigned byte_at(const struct view *row, int64_t k)
{
    const int bits = (int)dtype_bits(row->dtype), per_byte = 8 / bits;
    unsigned byte = 0;
    if (bits >= 8)
        return (unsigned char)row->data[k];
    for (int64_t j = 0, i = k * per_byte; j < per_byte && i < row->dims[0]; j++, i++)
        byte |= (unsigned)bits_load(row->dtype, row->data + i) << j * bits;
    return byte;
}

/* out = the bytes of `row`, both one-dimensional and contiguous; false with a message if `out`
 * needs more bytes than `row` has. */
static bool recast_row(struct eval *ev, const struct step *s, const struct view *row,
                       struct view *out)
{
    const enum dtype t = out->dtype;
    const int bits = (int)dtype_bits(t), per_byte = bits < 8 ? 8 / bits : 1;
    const int64_t have = packed_bytes(row->dtype, row->dims[0]),
                  bytes = packed_bytes(t, out->dims[0]);
    if (bytes > have)
        return EVAL_FAIL(ev, s, BITCAST_TOO_LONG, bytes, have);
    if (eval_is_dry_run(ev) || bytes == 0)
        return true;
    if (bits >= 8 && t != DT_PRED && dtype_bits(row->dtype) >= 8) {
        memcpy(out->data, row->data, (size_t)bytes);
        return true;
    }
    for (int64_t k = 0; k < bytes; k++) {
        const unsigned byte = byte_at(row, k);
        if (bits > 8)
            out->data[k] = (char)byte;
        for (int64_t j = 0, i = k * per_byte; bits <= 8 && j < per_byte && i < out->dims[0];
             j++, i++)
            bits_store(t, out->data + i, byte >> j * bits);
    }
    return true;
}

/* Reads the bytes of `row` as the result, in the memory order of its layout. */
static bool read_bytes(struct eval *ev, const struct step *s, const struct view *row,
                       struct view *out)
{
    const struct shape *to = s->inst->shape;
    int64_t perm[VIEW_MAX_RANK], n = view_elements(row), requested = view_elements(out);
    struct view flat, ordered_flat, turned;
    struct value ordered = {0};
    physical_order(to, perm);
    kern_view_pick(&turned, out, to->rank, perm);
    if (!value_new(ev, &ordered, out->dtype, to->rank, turned.dims))
        return eval_no_memory(ev, s, to);
    view_dense(&flat, row->dtype, 1, &n, row->data);
    view_dense(&ordered_flat, out->dtype, 1, &requested, ordered.view.data);
    bool ok = true;
    if (row->dtype == out->dtype && requested <= n)
        copy_first(ev, &ordered_flat, &flat, requested);
    else
        ok = recast_row(ev, s, &flat, &ordered_flat);
    if (ok)
        EVAL_RUN(ev, copy, ev->workers, &turned, &ordered.view);
    value_drop(ev, &ordered);
    return ok;
}

bool bitcast_is_reshape(const struct inst *i)
{
    const struct shape *from = i->operands[0]->shape, *to = i->shape;
    int64_t n, requested;
    return from->dtype == to->dtype && layout_is_descending(from->layout) &&
           layout_is_descending(to->layout) && shape_elements(from, &n) &&
           shape_elements(to, &requested) && n == requested;
}

static bool eval_bitcast(struct eval *ev, const struct step *s)
{
    const struct shape *from = s->inst->operands[0]->shape, *to = s->inst->shape;
    struct value row;
    if (!shape_is_array(from) || !shape_is_array(to))
        return EVAL_FAIL(ev, s, NOT_DEFINED, op_spelling(OP_BITCAST),
                         "values of different tuple structure");
    if (layout_problem(from->layout, from) ||
        layout_problem(to->layout, to)) /* the verifier does not check this */
        return EVAL_FAIL(ev, s, NOT_DEFINED, op_spelling(OP_BITCAST),
                         "a layout that is not a permutation of the dimensions");
    if (bitcast_is_reshape(s->inst))
        return eval_reshape(ev, s);
    struct view *out = bytes_in_order(ev, s, &row) ? eval_result(ev, s, 0) : NULL;
    if (!out)
        return false;
    bool ok = read_bytes(ev, s, &row.view, out);
    value_drop(ev, &row);
    return ok;
}

/* ---- other operations ---- */

static bool eval_reduce_precision(struct eval *ev, const struct step *s)
{
    const struct inst *i = s->inst;
    struct value made;
    const struct view *x = eval_as_type(ev, s, 0, s->shapes[0]->dtype, &made);
    if (!x)
        return false;
    struct view in;
    view_copy(&in, x);
    struct view *out = eval_result(ev, s, 0);
    if (out)
        EVAL_RUN(ev, reduce_precision, ev->workers, out, &in, plan_bits(i, A_EXPONENT_BITS),
                 plan_bits(i, A_MANTISSA_BITS));
    value_drop(ev, &made);
    return out != NULL;
}

static bool eval_bitcast_convert(struct eval *ev, const struct step *s)
{
    if (step_tile(s))
        return eval_elementwise(ev, s);
    struct view *out = eval_result(ev, s, 0);
    if (out)
        EVAL_RUN(ev, bitcast_convert, ev->workers, out, eval_view(ev, s, 0));
    return out != NULL;
}

static bool eval_stochastic_convert(struct eval *ev, const struct step *s)
{
    struct view *out = eval_result(ev, s, 0);
    if (out)
        EVAL_RUN(ev, stochastic_convert, ev->workers, out, eval_view(ev, s, 0),
                 eval_view(ev, s, 1));
    return out != NULL;
}

bool eval_convert(struct eval *ev, const struct step *s)
{
    switch (s->inst->opcode) {
    case OP_BITCAST: return eval_bitcast(ev, s);
    case OP_BITCAST_CONVERT: return eval_bitcast_convert(ev, s);
    case OP_REDUCE_PRECISION: return eval_reduce_precision(ev, s);
    case OP_STOCHASTIC_CONVERT: return eval_stochastic_convert(ev, s);
    default: return eval_elementwise(ev, s);
    }
}
