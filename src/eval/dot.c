/*
 * Products of tensors.
 */
#include "eval/eval_priv.h"

bool eval_dot(struct eval *ev, const struct step *s)
{
    struct kern_dot_dims dims;
    if (s->inst->opcode != OP_DOT || s->operand_count != 2)
        return eval_unsupported(ev, s);
    plan_dot_dims(s->inst, &dims);
    struct view *out = eval_result(ev, s, 0);
    if (!out)
        return false;
    return ev->kern->dot(out, eval_view(ev, s, 0), eval_view(ev, s, 1), &dims) ||
           eval_no_memory(ev, s, s->shapes[0]);
}
