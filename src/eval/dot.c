/*
 * Products of tensors.
 */
#include "eval/eval_priv.h"

struct view *eval_sum_begin(struct eval *ev, const struct step *s, struct value *made)
{
    struct view *out = eval_result(ev, s, 0);
    made->buffer = NULL;
    if (!out)
        return NULL;
    enum dtype t = plan_sum_type(s->inst);
    if (t == out->dtype)
        return out;
    if (value_new(ev, made, t, out->rank, out->dims))
        return &made->view;
    eval_no_memory(ev, s, s->shapes[0]);
    return NULL;
}

bool eval_sum_end(struct eval *ev, const struct step *s, struct value *made, bool ok)
{
    if (!ok)
        eval_no_memory(ev, s, s->shapes[0]);
    else if (made->buffer)
        ok = eval_convert_to(ev, s, &ev->frame[s->results[0]].view, &made->view);
    value_drop(ev, made);
    return ok;
}

bool eval_dot(struct eval *ev, const struct step *s)
{
    struct kern_dot_dims dims;
    if (s->inst->opcode != OP_DOT || s->operand_count != 2)
        return eval_unsupported(ev, s);
    plan_dot_dims(s->inst, &dims);
    struct value made;
    struct view *out = eval_sum_begin(ev, s, &made);
    if (!out)
        return false;
    return eval_sum_end(ev, s, &made, ev->kern->dot(out, eval_view(ev, s, 0), eval_view(ev, s, 1), &dims));
}
