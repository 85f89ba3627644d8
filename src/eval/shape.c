/*
 * shape.c: operations that move elements. Most results are views of the operand's bytes and cost
 * nothing; plain runs copy.
 */
#include "eval/eval_priv.h"

#include "kern/interleave.h"

/* Whether to copy a small piece of a large array: a view would keep all of it alive and prevent
 * updates in place. Borrowed storage lives through the whole run in any case. */
static bool worth_copying(const struct value *x, const struct view *piece)
{
    int64_t bytes = view_elements(piece) * (int64_t)dtype_bytes(piece->dtype);
    return x->buffer->class != POOL_BORROWED && bytes <= (int64_t)(x->buffer->size / 8);
}

bool eval_piece(struct eval *ev, const struct step *s, int r, int k, const struct view *piece)
{
    if (worth_copying(eval_operand(ev, s, k), piece))
        return eval_copy(ev, s, r, piece);
    return eval_alias(ev, s, r, k, piece);
}

/* The result of a rearrangement; plain runs copy. */
static bool eval_moved(struct eval *ev, const struct step *s, const struct view *moved)
{
    return ev->p->options.plain ? eval_copy(ev, s, 0, moved) : eval_alias(ev, s, 0, 0, moved);
}

static bool eval_slice(struct eval *ev, const struct step *s)
{
    const struct view *x = eval_view(ev, s, 0);
    const struct slices slices = inst_attr(s->inst, A_SLICE)->v.slices;
    int64_t start[VIEW_MAX_RANK], limit[VIEW_MAX_RANK], stride[VIEW_MAX_RANK];
    struct view v;
    for (int d = 0; d < slices.rank; d++) {
        start[d] = slices.dims[d].start;
        limit[d] = slices.dims[d].limit;
        stride[d] = slices.dims[d].stride;
    }
    kern_view_slice(&v, x, start, limit, stride);
    return ev->p->options.plain ? eval_copy(ev, s, 0, &v) : eval_piece(ev, s, 0, 0, &v);
}

bool eval_reshape(struct eval *ev, const struct step *s)
{
    const struct view *x = eval_view(ev, s, 0);
    struct view v, whole;
    if (!ev->p->options.plain && kern_view_reshape(&v, x, s->shapes[0]->rank, eval_dims(ev, s, 0)))
        return eval_alias(ev, s, 0, 0, &v);
    struct view *out = eval_result(ev, s, 0);
    if (!out)
        return false;
    view_dense(&whole, x->dtype, x->rank, x->dims, out->data);
    EVAL_RUN(ev, copy, ev->workers, &whole, x);
    return true;
}

static bool eval_broadcast(struct eval *ev, const struct step *s)
{
    struct view v;
    kern_view_broadcast(&v, eval_view(ev, s, 0), s->shapes[0]->rank, eval_dims(ev, s, 0),
                        inst_ints(s->inst, A_DIMENSIONS).at);
    return eval_moved(ev, s, &v);
}

static bool eval_transpose(struct eval *ev, const struct step *s)
{
    struct view v;
    kern_view_pick(&v, eval_view(ev, s, 0), s->inst->shape->rank,
                   inst_ints(s->inst, A_DIMENSIONS).at);
    return eval_moved(ev, s, &v);
}

static bool eval_reverse(struct eval *ev, const struct step *s)
{
    struct ints dims = inst_ints(s->inst, A_DIMENSIONS);
    struct view v;
    kern_view_reverse(&v, eval_view(ev, s, 0), dims.at, (int)dims.count);
    return eval_moved(ev, s, &v);
}

static bool copy_pieces(struct eval *ev, const struct step *s, const struct pieces_step *pieces)
{
    struct view *out = eval_result(ev, s, 0), part, x;
    for (int k = 0; k < pieces->count && out; k++) {
        const struct piece *p = &pieces->at[k];
        kern_view_slice(&x, eval_view(ev, s, p->operand), p->start, p->limit, p->stride);
        view_copy(&part, out);
        for (int d = 0; d < out->rank; d++) {
            part.dims[d] = x.dims[d];
            part.data += p->place[d] * out->strides[d];
        }
        EVAL_RUN(ev, copy, ev->workers, &part, &x);
    }
    return out != NULL;
}

/* False if the operands are not arrays that kern_interleave() takes. */
static bool interleave(struct eval *ev, const struct step *s, const struct view *out, int64_t d)
{
    const struct view *x[KERN_INTERLEAVED];
    if (ev->p->options.plain || s->operand_count > KERN_INTERLEAVED)
        return false;
    for (int k = 0; k < s->operand_count; k++)
        x[k] = eval_view(ev, s, k);
    if (!kern_interleaves(out, s->operand_count, x, d))
        return false;
    if (!eval_is_dry_run(ev))
        kern_interleave(ev->workers, out, s->operand_count, x);
    return true;
}

static bool eval_concatenate(struct eval *ev, const struct step *s)
{
    if (step_pieces(s))
        return copy_pieces(ev, s, step_pieces(s));
    struct view *out = eval_result(ev, s, 0), part;
    int64_t d = inst_ints(s->inst, A_DIMENSIONS).at[0];
    if (!out)
        return false;
    if (interleave(ev, s, out, d))
        return true;
    view_copy(&part, out);
    for (int k = 0; k < s->operand_count; k++) {
        const struct view *x = eval_view(ev, s, k);
        part.dims[d] = x->dims[d];
        if (!eval_convert_to(ev, s, &part, x))
            return false;
        part.data += x->dims[d] * part.strides[d];
    }
    return true;
}

static bool eval_pad(struct eval *ev, const struct step *s)
{
    const struct padding padding = inst_attr(s->inst, A_PADDING)->v.padding;
    struct kern_pad_dim dims[VIEW_MAX_RANK];
    struct value x_made, value_made;
    for (int d = 0; d < padding.rank; d++)
        dims[d] = (struct kern_pad_dim){padding.dims[d].low, padding.dims[d].high,
                                        padding.dims[d].interior};
    const struct view *x = eval_as_type(ev, s, 0, s->shapes[0]->dtype, &x_made);
    const struct view *value = x ? eval_as_type(ev, s, 1, s->shapes[0]->dtype, &value_made) : NULL;
    struct view *out = value ? eval_result(ev, s, 0) : NULL;
    if (!out)
        return false;
    EVAL_RUN(ev, pad, ev->workers, out, x, value->data, dims);
    value_drop(ev, &x_made);
    value_drop(ev, &value_made);
    return true;
}

/* Makes one row of numbers, broadcast along the other dimensions by a view. */
static bool iota_as_view(struct eval *ev, const struct step *s, int64_t dimension)
{
    const struct shape *shape = s->shapes[0];
    const int64_t *dims = eval_dims(ev, s, 0);
    struct value *v = &ev->frame[s->results[0]];
    struct view line;
    if (!value_new(ev, v, shape->dtype, 1, &dims[dimension]))
        return eval_no_memory(ev, s, shape);
    view_copy(&line, &v->view);
    EVAL_RUN(ev, iota, ev->workers, &line, 0);
    kern_view_broadcast(&v->view, &line, shape->rank, dims, &dimension);
    return true;
}

static bool eval_iota(struct eval *ev, const struct step *s)
{
    const int rank = s->shapes[0]->rank; /* of an empty array, the row may still be a long one */
    if (!ev->p->options.plain && rank > 1 && dims_elements(rank, eval_dims(ev, s, 0)) > 0)
        return iota_as_view(ev, s, inst_int(s->inst, A_IOTA_DIMENSION, 0));
    struct view *out = eval_result(ev, s, 0);
    if (out)
        EVAL_RUN(ev, iota, ev->workers, out, (int)inst_int(s->inst, A_IOTA_DIMENSION, 0));
    return out != NULL;
}

bool eval_shape(struct eval *ev, const struct step *s)
{
    switch (s->inst->opcode) {
    case OP_SLICE: return eval_slice(ev, s);
    case OP_RESHAPE: return eval_reshape(ev, s);
    case OP_BROADCAST: return eval_broadcast(ev, s);
    case OP_TRANSPOSE: return eval_transpose(ev, s);
    case OP_REVERSE: return eval_reverse(ev, s);
    case OP_CONCATENATE: return eval_concatenate(ev, s);
    case OP_PAD: return eval_pad(ev, s);
    case OP_IOTA: return eval_iota(ev, s);
    case OP_COPY: return eval_elementwise(ev, s);
    default: return eval_unsupported(ev, s);
    }
}
