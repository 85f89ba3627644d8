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
        return verify_bad_inst(v, i, NULL, "has state %s, expected ((operands), result, ...)",
                               verify_text(v, s));
    const struct shape *params = s->elements[0];
    bool fits = params->count == c->param_count;
    for (int k = 0; fits && k < c->param_count; k++)
        fits = verify_same(v, params->elements[k], c->params[k]->shape);
    if (!fits)
        return verify_bad_computation(v, i, c, "does not take parameters %s",
                                      verify_text(v, params));
    if (!verify_same(v, s->elements[1], c->root->shape))
        return verify_bad_computation(v, i, c, "returns %s, expected %s",
                                      verify_text(v, c->root->shape),
                                      verify_text(v, s->elements[1]));
    return true;
}

static bool start_operands(struct verify *v, const struct inst *i)
{
    const struct shape *params = i->shape->elements[0];
    if (i->operand_count > params->count)
        return verify_bad_inst(v, i, NULL, "has %d operands, but its state has %d",
                               i->operand_count, params->count);
    for (int k = 0; k < i->operand_count; k++)
        if (!verify_same(v, params->elements[k], operand_shape(i, k)))
            return verify_bad_operand(v, i, k, "%s, as in its state",
                                      verify_text(v, params->elements[k]));
    return true;
}

/* spec: AsyncStart */
const struct shape *verify_async_shape(struct verify *v, const struct inst *i)
{
    const struct inst *start = chain_start(i);
    if (!start)
        return verify_bad_inst(v, i, NULL, "does not follow an async-start"), NULL;
    const struct computation *c = inst_computation(start, A_CALLS);
    const struct shape *state = i->opcode == OP_ASYNC_START ? i->shape : operand_shape(i, 0);
    if (!state_fits(v, i, state, c))
        return NULL;
    if (i->opcode == OP_ASYNC_DONE && !verify_same(v, i->shape, state->elements[1]))
        return verify_bad_result(v, i, state->elements[1]), NULL;
    if (i->opcode == OP_ASYNC_UPDATE && !verify_same(v, i->shape, state))
        return verify_bad_result(v, i, state), NULL;
    if (i->opcode == OP_ASYNC_START && (!start_operands(v, i) || !verify_aliasing(v, i)))
        return NULL;
    return i->shape;
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
            ok = verify_bad_computation(v, c->async_start, c,
                                        "must consist of parameters and a root");
    }
    return ok;
}
