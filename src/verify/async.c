/*
 * async.c: consistency of asynchronous chains (async-start, async-update, async-done).
 */
#include "verify/verify_priv.h"

static const struct inst *chain_start(const struct inst *i)
{
    while (i->opcode == OP_ASYNC_UPDATE || i->opcode == OP_ASYNC_DONE) {
        if (i->operand_count != 1)
            return NULL;
        i = i->operands[0];
    }
    return i->opcode == OP_ASYNC_START ? i : NULL;
}

/* Whether the state is ((parameters), result, ...) of the chain's computation. */
static bool state_fits(struct verify *v, const struct inst *i, const struct shape *s,
                       const struct computation *c)
{
    if (!shape_is_tuple(s) || s->count < 2 || !shape_is_tuple(s->elements[0]))
        return report_inst(&v->infer, i, NULL, "has state %s, expected ((operands), result, ...)",
                           report_text(&v->infer, s));
    const struct shape *params = s->elements[0];
    bool fits = params->count == c->param_count;
    for (int k = 0; fits && k < c->param_count; k++)
        fits = infer_same(&v->infer, params->elements[k], c->params[k]->shape);
    if (!fits)
        return report_computation(&v->infer, i, c, "does not take parameters %s",
                                  report_text(&v->infer, params));
    if (!infer_same(&v->infer, s->elements[1], c->root->shape))
        return report_computation(&v->infer, i, c, "returns %s, expected %s",
                                  report_text(&v->infer, c->root->shape),
                                  report_text(&v->infer, s->elements[1]));
    return true;
}

static bool start_operands(struct verify *v, const struct inst *i)
{
    const struct shape *params = i->shape->elements[0];
    if (i->operand_count > params->count)
        return report_inst(&v->infer, i, NULL, "has %d operands, but its state has %d",
                           i->operand_count, params->count);
    for (int k = 0; k < i->operand_count; k++)
        if (!infer_same(&v->infer, params->elements[k], operand_shape(i, k)))
            return report_operand(&v->infer, i, k, "%s, as in its state",
                                  report_text(&v->infer, params->elements[k]));
    return true;
}

/* spec: AsyncStart */
bool verify_async(struct verify *v, const struct inst *i)
{
    const struct inst *start = chain_start(i);
    if (!start)
        return report_inst(&v->infer, i, NULL, "does not follow an async-start");
    const struct computation *c = inst_computation(start, A_CALLS);
    const struct shape *state = i->opcode == OP_ASYNC_START ? i->shape : operand_shape(i, 0);
    if (!state_fits(v, i, state, c))
        return false;
    if (i->opcode == OP_ASYNC_DONE && !infer_same(&v->infer, i->shape, state->elements[1]))
        return report_result(&v->infer, i, state->elements[1]);
    if (i->opcode == OP_ASYNC_UPDATE && !infer_same(&v->infer, i->shape, state))
        return report_result(&v->infer, i, state);
    return i->opcode != OP_ASYNC_START || (start_operands(v, i) && verify_aliasing(v, i));
}

/* Whether the computation is a single instruction whose operands are parameters or components of
 * them. */
static bool is_single(const struct computation *c)
{
    for (int k = 0; k < c->inst_count; k++) {
        const struct inst *i = c->insts[k];
        if (i != c->root && i->opcode != OP_PARAMETER && i->opcode != OP_GET_TUPLE_ELEMENT)
            return false;
    }
    return true;
}

bool verify_async_bodies(struct verify *v)
{
    bool ok = true;
    for (int k = 0; k < v->m->computation_count; k++) {
        const struct computation *c = v->m->computations[k];
        if (c->async_start && !inst_frontend(c->async_start, "_collectives_group") && !is_single(c))
            ok = report_computation(&v->infer, c->async_start, c,
                                    "must consist of parameters and a root");
    }
    return ok;
}
