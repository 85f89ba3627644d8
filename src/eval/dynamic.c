/*
 * Dynamic sizes, as far as every dimension is as large as its bound.
 */
#include "eval/eval_priv.h"

static bool get_dimension_size(struct eval *ev, const struct step *s)
{
    struct view *out = eval_result(ev, s, 0);
    int32_t size = (int32_t)eval_view(ev, s, 0)->dims[inst_ints(s->inst, A_DIMENSIONS).at[0]];
    if (out)
        memcpy(out->data, &size, sizeof size);
    return out != NULL;
}

/* The size must be the bound: nothing here keeps a size beside its array. */
static bool set_dimension_size(struct eval *ev, const struct step *s)
{
    const struct view *x = eval_view(ev, s, 0), *size = eval_view(ev, s, 1);
    if (kern_load_index(size->dtype, size->data) != x->dims[inst_ints(s->inst, A_DIMENSIONS).at[0]])
        return EVAL_FAIL(ev, s, UNSUPPORTED, op_spelling(s->inst->opcode), "a size below the bound");
    return eval_alias(ev, s, 0, 0, x);
}

static bool dynamic_reshape(struct eval *ev, const struct step *s)
{
    const struct shape *to = s->shapes[0];
    struct view v;
    for (int d = 0; d < to->rank; d++) {
        const struct view *size = eval_view(ev, s, 1 + d);
        if (kern_load_index(size->dtype, size->data) != to->dims[d])
            return EVAL_FAIL(ev, s, UNSUPPORTED, op_spelling(s->inst->opcode), "a size below the bound");
    }
    if (kern_view_reshape(&v, eval_view(ev, s, 0), to->rank, to->dims))
        return eval_alias(ev, s, 0, 0, &v);
    struct view whole, *out = eval_result(ev, s, 0);
    if (!out)
        return false;
    const struct view *x = eval_view(ev, s, 0);
    view_dense(&whole, x->dtype, x->rank, x->dims, out->data);
    kern_copy(&whole, x);
    return true;
}

bool eval_dynamic(struct eval *ev, const struct step *s)
{
    switch (s->inst->opcode) {
    case OP_GET_DIMENSION_SIZE: return get_dimension_size(ev, s);
    case OP_SET_DIMENSION_SIZE: return set_dimension_size(ev, s);
    default: return dynamic_reshape(ev, s);
    }
}
