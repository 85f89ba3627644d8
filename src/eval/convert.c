/*
 * convert.c: conversions, and bitcasts to another type.
 */
#include "eval/eval_priv.h"

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

static void permute(const struct shape *s, const int64_t *perm, int64_t *dims)
{
    for (int k = 0; k < s->rank; k++)
        dims[k] = s->dims[perm[k]];
}

/* The operand as one row of elements in memory order. */
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
    ev->kern->copy(ev->workers, &row->view, &turned);
    return true;
}

/* Elements narrower than a byte share a byte, from the low end; the last byte is padded with
 * zeros. */
struct packing {
    int64_t per_byte, bytes_each; /* elements per byte, bytes per element; one of them is 1 */
};

static struct packing packing_of(enum dtype t)
{
    const int64_t bits = (int64_t)dtype_bits(t);
    return bits < 8 ? (struct packing){8 / bits, 1} : (struct packing){1, bits / 8};
}

static int64_t packed_bytes(enum dtype t, int64_t n)
{
    const struct packing p = packing_of(t);
    return (n / p.per_byte + (n % p.per_byte != 0)) * p.bytes_each;
}

/* Converts `bytes` to elements, or back: several bytes per element, or several elements per
 * byte. */
static void recast_bytes(struct eval *ev, struct view *bytes, struct view *elements, bool to_bytes)
{
    const struct packing p = packing_of(elements->dtype);
    struct view *wide = p.per_byte > 1 ? bytes : elements,
                *narrow = wide == bytes ? elements : bytes;
    const int64_t ratio = p.per_byte * p.bytes_each, count = view_elements(narrow) / ratio;
    struct view w, n;
    view_dense(&w, wide->dtype, 1, &count, wide->data);
    view_dense(&n, narrow->dtype, ratio > 1 ? 2 : 1, (const int64_t[]){count, ratio}, narrow->data);
    const bool narrow_is_bytes = narrow == bytes;
    if (narrow_is_bytes == to_bytes)
        ev->kern->bitcast_convert(ev->workers, &n, &w);
    else
        ev->kern->bitcast_convert(ev->workers, &w, &n);
}

/* Copies the first `count` elements of a row to another of the same type. */
static void copy_first(struct eval *ev, const struct view *to, const struct view *from,
                       int64_t count)
{
    struct view a = *to, b = *from;
    a.dims[0] = b.dims[0] = count;
    ev->kern->copy(ev->workers, &a, &b);
}

/* A row of n elements, plus those that pad the last byte, all zero. */
static bool new_row(struct eval *ev, struct value *v, enum dtype t, int64_t n)
{
    const struct packing p = packing_of(t);
    n = packed_bytes(t, n) / p.bytes_each * p.per_byte;
    if (!value_new(ev, v, t, 1, &n))
        return false;
    if (!eval_is_dry_run(ev))
        memset(v->view.data, 0, (size_t)n * dtype_bytes(t));
    return true;
}

/* out = the bytes of `row`, both one-dimensional and contiguous; false with a message if `out`
 * needs more bytes than `row` has. */
static bool recast_row(struct eval *ev, const struct step *s, const struct view *row,
                       struct view *out)
{
    const int64_t n = view_elements(row), requested = view_elements(out);
    int64_t have = packed_bytes(row->dtype, n),
            requested_bytes = packed_bytes(out->dtype, requested);
    struct value filled = {0}, bytes = {0}, made = {0};
    if (requested_bytes > have)
        return EVAL_FAIL(ev, s, BITCAST_TOO_LONG, requested_bytes, have);
    bool ok = new_row(ev, &filled, row->dtype, n) && value_new(ev, &bytes, DT_U8, 1, &have) &&
              new_row(ev, &made, out->dtype, requested);
    if (ok) {
        copy_first(ev, &filled.view, row, n);
        recast_bytes(ev, &bytes.view, &filled.view, true);
        bytes.view.dims[0] = requested_bytes;
        recast_bytes(ev, &bytes.view, &made.view, false);
        copy_first(ev, out, &made.view, requested);
    }
    value_drop(ev, &filled);
    value_drop(ev, &bytes);
    value_drop(ev, &made);
    return ok || eval_no_memory(ev, s, s->shapes[0]);
}

/* Reads the bytes of `row` as the result, in the memory order of its layout. */
static bool read_bytes(struct eval *ev, const struct step *s, const struct view *row,
                       struct view *out)
{
    const struct shape *to = s->inst->shape;
    int64_t perm[VIEW_MAX_RANK], dims[VIEW_MAX_RANK], n = view_elements(row),
                                                      requested = view_elements(out);
    struct view flat, ordered_flat, turned;
    struct value ordered = {0};
    physical_order(to, perm);
    permute(to, perm, dims);
    if (!value_new(ev, &ordered, out->dtype, to->rank, dims))
        return eval_no_memory(ev, s, to);
    view_dense(&flat, row->dtype, 1, &n, row->data);
    view_dense(&ordered_flat, out->dtype, 1, &requested, ordered.view.data);
    bool ok = true;
    if (row->dtype == out->dtype && requested <= n)
        copy_first(ev, &ordered_flat, &flat, requested);
    else
        ok = recast_row(ev, s, &flat, &ordered_flat);
    kern_view_transpose(&turned, out, perm);
    if (ok)
        ev->kern->copy(ev->workers, &turned, &ordered.view);
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
        ev->kern->reduce_precision(ev->workers, out, &in, plan_bits(i, A_EXPONENT_BITS),
                                   plan_bits(i, A_MANTISSA_BITS));
    value_drop(ev, &made);
    return out != NULL;
}

static bool eval_bitcast_convert(struct eval *ev, const struct step *s)
{
    struct view *out = eval_result(ev, s, 0);
    if (out)
        ev->kern->bitcast_convert(ev->workers, out, eval_view(ev, s, 0));
    return out != NULL;
}

static bool eval_stochastic_convert(struct eval *ev, const struct step *s)
{
    struct view *out = eval_result(ev, s, 0);
    if (out)
        ev->kern->stochastic_convert(ev->workers, out, eval_view(ev, s, 0), eval_view(ev, s, 1));
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
