/*
 * Batch normalization.
 */
#include "eval/eval_priv.h"

/* Epsilon rounded to the element type, as in XLA. */
static double epsilon(const struct inst *i, enum dtype t)
{
    const struct attr *a = inst_attr(i, A_EPSILON);
    return a ? float_decode(t, float_encode(t, a->v.f)) : 0;
}

bool eval_batchnorm(struct eval *ev, const struct step *s)
{
    const struct inst *i = s->inst;
    struct view *out[3];
    const struct view *x[5];
    int feature = (int)inst_int(i, A_FEATURE_INDEX, 0);
    for (int k = 0; k < s->operand_count; k++)
        x[k] = eval_view(ev, s, k);
    if (!dtype_is_float(x[0]->dtype) || s->result_count > 3)
        return eval_unsupported(ev, s);
    double eps = epsilon(i, x[0]->dtype);
    for (int r = 0; r < s->result_count; r++) {
        out[r] = eval_result(ev, s, r);
        if (!out[r])
            return false;
    }
    bool ok = true;
    if (i->opcode == OP_BATCH_NORM_INFERENCE)
        ev->kern->batch_norm_inference(out[0], x[0], x[1], x[2], x[3], x[4], eps, feature);
    else if (i->opcode == OP_BATCH_NORM_TRAINING)
        ok = ev->kern->batch_norm_training(out[0], out[1], out[2], x[0], x[1], x[2], eps, feature);
    else
        ok = ev->kern->batch_norm_grad(out[0], out[1], out[2], x[0], x[1], x[2], x[3], x[4], eps,
                                       feature);
    return ok || eval_no_memory(ev, s, s->shapes[0]);
}
