/*
 * Conversions, and the same bits read as something else.
 */
#include "eval/eval_priv.h"

/* ---- bitcast: the bytes of the operand in its layout's order, read in the order of the result's ---- */

/* perm[k]: the logical dimension that stands k-th in memory, major first. */
static void physical_order(const struct shape *s, int64_t *perm)
{
    for (int k = 0; k < s->rank; k++)
        perm[k] = s->layout && s->layout->rank == s->rank ? s->layout->minor_to_major[s->rank - 1 - k] : k;
}

static void permute(const struct shape *s, const int64_t *perm, int64_t *dims)
{
    for (int k = 0; k < s->rank; k++)
        dims[k] = s->dims[perm[k]];
}

/* The operand in the order of its bytes, as one row. */
static bool bytes_in_order(struct eval *ev, const struct step *s, struct value *row)
{
    const struct shape *shape = s->inst->operands[0]->shape;
    int64_t perm[VIEW_MAX_RANK], dims[VIEW_MAX_RANK];
    struct view turned;
    physical_order(shape, perm);
    permute(shape, perm, dims);
    kern_view_transpose(&turned, eval_view(ev, s, 0), perm);
    if (!value_new(ev, row, shape->dtype, shape->rank, dims))
        return eval_no_memory(ev, s, shape);
    kern_copy(&row->view, &turned);
    return true;
}

/* Copies what row and result have in common, element widths brought together. */
static bool read_bytes(struct eval *ev, const struct step *s, const struct view *row, struct view *out)
{
    const struct shape *to = s->inst->shape;
    int64_t perm[VIEW_MAX_RANK], dims[VIEW_MAX_RANK], n = view_elements(row), wanted = view_elements(out);
    unsigned from_bits = dtype_bits(row->dtype), to_bits = dtype_bits(out->dtype);
    struct view flat, bits, turned;
    struct value cast = {0}, ordered = {0};
    physical_order(to, perm);
    permute(to, perm, dims);
    if (!value_new(ev, &ordered, out->dtype, to->rank, dims))
        return eval_no_memory(ev, s, to);
    view_dense(&flat, row->dtype, 1, &n, row->data);
    view_dense(&bits, out->dtype, 1, &wanted, ordered.view.data);
    int64_t ratio = from_bits > to_bits ? from_bits / to_bits : to_bits / from_bits;
    int64_t in_pair[2] = {wanted, ratio}, out_pair[2] = {n, ratio};
    if (from_bits == to_bits && wanted <= n) {
        flat.dims[0] = wanted;
        ev->kern->bitcast_convert(&bits, &flat);
    } else if (from_bits < to_bits && wanted * ratio <= n) {
        view_dense(&flat, row->dtype, 2, in_pair, row->data);
        ev->kern->bitcast_convert(&bits, &flat);
    } else if (from_bits > to_bits && wanted <= n * ratio && value_new(ev, &cast, out->dtype, 2, out_pair)) {
        ev->kern->bitcast_convert(&cast.view, &flat);
        view_dense(&flat, out->dtype, 1, &wanted, cast.view.data);
        kern_copy(&bits, &flat);
        value_drop(ev, &cast);
    } else {
        return eval_unsupported(ev, s);
    }
    kern_view_transpose(&turned, out, perm);
    kern_copy(&turned, &ordered.view);
    value_drop(ev, &ordered);
    return true;
}

bool bitcast_is_reshape(const struct inst *i)
{
    const struct shape *from = i->operands[0]->shape, *to = i->shape;
    int64_t n, wanted;
    return from->dtype == to->dtype && layout_is_descending(from->layout) &&
           layout_is_descending(to->layout) && shape_elements(from, &n) && shape_elements(to, &wanted) &&
           n == wanted;
}

static bool eval_bitcast(struct eval *ev, const struct step *s)
{
    const struct shape *from = s->inst->operands[0]->shape, *to = s->inst->shape;
    struct value row;
    if (!shape_is_array(from) || !shape_is_array(to))
        return eval_unsupported(ev, s);
    if (bitcast_is_reshape(s->inst))
        return eval_reshape(ev, s);
    struct view *out = bytes_in_order(ev, s, &row) ? eval_result(ev, s, 0) : NULL;
    if (!out)
        return false;
    bool ok = read_bytes(ev, s, &row.view, out);
    value_drop(ev, &row);
    return ok;
}

/* ---- the others ---- */

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
        ev->kern->reduce_precision(out, &in, plan_bits(i, A_EXPONENT_BITS), plan_bits(i, A_MANTISSA_BITS));
    value_drop(ev, &made);
    return out != NULL;
}

static bool eval_bitcast_convert(struct eval *ev, const struct step *s)
{
    struct view *out = eval_result(ev, s, 0);
    if (out)
        ev->kern->bitcast_convert(out, eval_view(ev, s, 0));
    return out != NULL;
}

static bool eval_stochastic_convert(struct eval *ev, const struct step *s)
{
    if (!dtype_is_float(eval_view(ev, s, 0)->dtype) || !dtype_is_signed(s->shapes[0]->dtype))
        return eval_unsupported(ev, s);
    struct view *out = eval_result(ev, s, 0);
    if (out)
        ev->kern->stochastic_convert(out, eval_view(ev, s, 0), eval_view(ev, s, 1));
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
