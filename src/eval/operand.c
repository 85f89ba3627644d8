/*
 * operand.c: operands of steps, and storage of their results: new storage, storage of an operand
 * that is not read again, or a view of an operand's bytes.
 */
#include "eval/eval_priv.h"

struct value *eval_operand(struct eval *ev, const struct step *s, int k)
{
    int at = s->operands[k];
    if (ev->sizes)
        return &ev->sizes->operands[k];
    return at >= 0 ? &ev->frame[at] : &ev->constants[~at];
}

void eval_hand_over(struct eval *ev, const struct step *s, int k, struct value *to)
{
    if (s->operands[k] == NO_VALUE)
        to->buffer = NULL;
    else if (s->uses[k] == USE_KEEP)
        value_share(to, eval_operand(ev, s, k));
    else
        value_move(to, eval_operand(ev, s, k));
}

/* ---- operands converted for kernels ---- */

bool eval_convert_to(struct eval *ev, const struct step *s, const struct view *out,
                     const struct view *x)
{
    if (out->dtype == x->dtype) {
        EVAL_RUN(ev, copy, ev->workers, out, x);
        return true;
    }
    kern_tile_fn *fn = kern_find_convert(out->dtype, x->dtype);
    if (!fn)
        return eval_unsupported(ev, s);
    if (!eval_is_dry_run(ev))
        kern_map_tiles(ev->workers, fn, out, 1, x);
    return true;
}

static const struct view *converted(struct eval *ev, const struct step *s, const struct view *x,
                                    enum dtype t, struct value *made)
{
    if (!value_new(ev, made, t, x->rank, x->dims)) {
        eval_no_memory(ev, s, s->inst->shape);
        return NULL;
    }
    return eval_convert_to(ev, s, &made->view, x) ? &made->view : NULL;
}

const struct view *eval_as_type(struct eval *ev, const struct step *s, int k, enum dtype t,
                                struct value *made)
{
    const struct view *x = eval_view(ev, s, k);
    made->buffer = NULL;
    return x->dtype == t ? x : converted(ev, s, x, t, made);
}

const struct view *eval_dense(struct eval *ev, const struct step *s, int k, enum dtype t,
                              struct value *made)
{
    const struct view *x = eval_view(ev, s, k);
    made->buffer = NULL;
    return x->dtype == t && view_is_dense(x) ? x : converted(ev, s, x, t, made);
}

const struct view *eval_own(struct eval *ev, const struct step *s, int k, struct value *made)
{
    const struct view *x = eval_view(ev, s, k);
    made->buffer = NULL;
    return converted(ev, s, x, x->dtype, made);
}

/* ---- results ---- */

static struct view *new_result(struct eval *ev, const struct step *s, int r, const int64_t *dims)
{
    struct value *v = &ev->frame[s->results[r]];
    const struct shape *shape = s->shapes[r];
    if (value_new(ev, v, shape->dtype, shape->rank, dims))
        return &v->view;
    eval_no_memory(ev, s, shape);
    return NULL;
}

struct view *eval_result(struct eval *ev, const struct step *s, int r)
{
    return new_result(ev, s, r, eval_dims(ev, s, r));
}

struct view *eval_sized_result(struct eval *ev, const struct step *s, int r, const int64_t *dims)
{
    const struct shape *shape = s->shapes[r];
    for (int d = 0; d < shape->rank; d++)
        if (dims[d] < 0 || dims[d] > shape->dims[d])
            return EVAL_FAIL(ev, s, UNSUPPORTED, op_spelling(s->inst->opcode),
                             "a result too small for all received rows"),
                   NULL;
    struct view *out = new_result(ev, s, r, dims);
    if (out)
        value_fit(&ev->frame[s->results[r]], shape, false);
    return out;
}

bool eval_sized_zeros(struct eval *ev, const struct step *s, int r, const int64_t *dims)
{
    struct view *out = eval_sized_result(ev, s, r, dims);
    if (out)
        memset(out->data, 0, (size_t)view_elements(out) * dtype_bytes(out->dtype));
    return out != NULL;
}

bool eval_clear(struct eval *ev, const struct step *s, int r)
{
    return eval_sized_zeros(ev, s, r, eval_dims(ev, s, r));
}

static bool has_dims(const struct view *v, int rank, const int64_t *dims)
{
    if (v->rank != rank)
        return false;
    for (int d = 0; d < rank; d++)
        if (v->dims[d] != dims[d])
            return false;
    return true;
}

struct view *eval_reuse(struct eval *ev, const struct step *s, int r, int k, bool alone)
{
    if (s->uses[k] == USE_KEEP || (alone && s->uses[k] != USE_ONLY))
        return NULL;
    struct value *x = eval_operand(ev, s, k), *out = &ev->frame[s->results[r]];
    const struct shape *shape = s->shapes[r];
    const int64_t *dims = eval_dims(ev, s, r);
    if (!x->buffer || x->buffer->refs != 1 || x->buffer->class == POOL_BORROWED ||
        dtype_bytes(x->view.dtype) != dtype_bytes(shape->dtype) ||
        !has_dims(&x->view, shape->rank, dims) || !view_is_dense(&x->view))
        return NULL;
    /* the operand keeps its view, for the kernel to read, but releases the storage */
    out->buffer = x->buffer;
    x->buffer = NULL;
    out->bounds = NULL;
    out->absent = false;
    view_dense(&out->view, shape->dtype, shape->rank, dims, x->view.data);
    return &out->view;
}

struct view *eval_update(struct eval *ev, const struct step *s, int r, int k)
{
    struct view *out = NULL;
    const struct view *x = eval_view(ev, s, k);
    if (x->dtype == s->shapes[r]->dtype)
        out = eval_reuse(ev, s, r, k, true);
    if (out)
        return out;
    out = eval_result(ev, s, r);
    return out && eval_convert_to(ev, s, out, x) ? out : NULL;
}

bool eval_alias(struct eval *ev, const struct step *s, int r, int k, const struct view *v)
{
    struct value *x = eval_operand(ev, s, k), *out = &ev->frame[s->results[r]];
    struct view copy;
    view_copy(&copy, v);
    copy.dtype = s->shapes[r]->dtype;
    out->buffer = x->buffer;
    out->buffer->refs++;
    out->bounds = NULL;
    out->absent = false;
    view_copy(&out->view, &copy);
    return true;
}

bool eval_copy(struct eval *ev, const struct step *s, int r, const struct view *x)
{
    struct view *out = eval_result(ev, s, r);
    return out && eval_convert_to(ev, s, out, x);
}
