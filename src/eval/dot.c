/*
 * Products of tensors.
 */
#include "eval/eval_priv.h"

static int64_t copy_ints(int64_t *out, struct ints from)
{
    for (int64_t k = 0; k < from.count; k++)
        out[k] = from.at[k];
    return from.count;
}

static void dot_dims(const struct inst *i, struct kern_dot_dims *d)
{
    d->batch_count = (int)copy_ints(d->lhs_batch, inst_ints(i, A_LHS_BATCH_DIMS));
    copy_ints(d->rhs_batch, inst_ints(i, A_RHS_BATCH_DIMS));
    d->contracting_count = (int)copy_ints(d->lhs_contracting, inst_ints(i, A_LHS_CONTRACTING_DIMS));
    copy_ints(d->rhs_contracting, inst_ints(i, A_RHS_CONTRACTING_DIMS));
}

bool eval_dot(struct eval *ev, const struct step *s)
{
    struct kern_dot_dims dims;
    if (s->inst->opcode != OP_DOT || s->operand_count != 2)
        return eval_unsupported(ev, s);
    dot_dims(s->inst, &dims);
    struct view *out = eval_result(ev, s, 0);
    if (!out)
        return false;
    return kern_dot(out, eval_view(ev, s, 0), eval_view(ev, s, 1), &dims, ev->p->options.plain) ||
           eval_no_memory(ev, s, s->shapes[0]);
}
