/*
 * feed.c: random number operations named by their distributions, and feeds without tokens, as
 * in early editions of the specification.
 */
#include "lower/lower_priv.h"

/* ---- random numbers ---- */

/* One where a uniform random number in [0, 1) is below the mean, else zero. */
static bool bernoulli(struct build *b)
{
    struct inst *i = b->i, *mean = i->operands[0];
    if (i->operand_count != 1)
        return verify_bad_inst(&b->v, i, NULL, "has %d operands, expected one, the mean",
                               i->operand_count);
    if (!shape_is_scalar(mean->shape) || !dtype_is_float(mean->shape->dtype))
        return verify_bad_operand(&b->v, i, 0, "a float scalar, the mean");
    if (!i->shape)
        return verify_bad_inst(&b->v, i, NULL, "requires an explicit result shape or shape=");
    if (!shape_is_array(i->shape) || dtype_is_complex(i->shape->dtype) ||
        shape_has_dynamic(i->shape))
        return verify_bad_inst(&b->v, i, NULL, "returns %s, expected an array of real numbers",
                               verify_text(&b->v, i->shape));
    enum dtype t = mean->shape->dtype;
    const struct shape *s = shape_array(b->v.arena, t, i->shape->rank, i->shape->dims, NULL, NULL);
    struct inst *bounds[] = {build_scalar(b, t, 0), build_scalar(b, t, 1)};
    if (!bounds[0] || !bounds[1])
        return false;
    struct inst *random = build_inst(b, OP_RNG, s, 2, bounds);
    build_set(b, random, A_DISTRIBUTION, (union attr_value){.e = E_DISTRIBUTION_UNIFORM});
    struct inst *sides[] = {random, build_broadcast(b, mean, s, NULL)};
    struct inst *below =
        build_inst(b, OP_COMPARE, shape_with_dtype(b->v.arena, s, DT_PRED), 2, sides);
    build_set(b, below, A_DIRECTION, (union attr_value){.e = E_DIRECTION_LT});
    inst_remove_attr(i, A_DISTRIBUTION);
    i->opcode = OP_CONVERT;
    build_operands(b, 1, &below);
    return true;
}

/* spec: RngBernoulli, RngNormal, RngUniform */
bool build_lower_rng(struct build *b)
{
    int given = inst_enum(b->i, A_DISTRIBUTION, -1);
    int expected = b->form == FORM_RNG_BERNOULLI ? E_DISTRIBUTION_BERNOULLI
                   : b->form == FORM_RNG_NORMAL  ? E_DISTRIBUTION_NORMAL
                   : b->form == FORM_RNG_UNIFORM ? E_DISTRIBUTION_UNIFORM
                                                 : given;
    if (expected != given && given >= 0)
        return verify_bad_attr(&b->v, b->i, A_DISTRIBUTION, "implied by the opcode");
    if (!build_lower_shape(b))
        return false;
    if (expected == E_DISTRIBUTION_BERNOULLI)
        return b->i->operand_count > 0 ? bernoulli(b) : verify_operand_least(&b->v, b->i, 1);
    if (expected >= 0)
        build_set(b, b->i, A_DISTRIBUTION, (union attr_value){.e = expected});
    return true;
}

/* ---- feeds ---- */

/* The token for a feed without one: that of the preceding feed, since feeds of a computation
 * execute in textual order. */
static struct inst *token_before(struct build *b)
{
    for (int k = b->c->inst_count - 1; k >= 0; k--) {
        struct inst *i = b->c->insts[k];
        if (i->opcode == OP_OUTFEED && shape_is_token(i->shape))
            return i;
        if (i->opcode == OP_INFEED && shape_is_tuple(i->shape) && i->shape->count == 2)
            return build_element(b, i, 1);
    }
    return build_inst(b, OP_AFTER_ALL, shape_token(), 0, NULL);
}

/* spec: Infeed */
bool build_lower_infeed(struct build *b)
{
    struct inst *i = b->i;
    const struct attr *shape = inst_attr(i, A_SHAPE), *config = inst_attr(i, A_INFEED_CONFIG);
    if (i->operand_count > 0) {
        if (!shape)
            return true;
        const struct shape *parts[] = {shape->v.shape, shape_token()};
        return build_shape(b, shape_tuple(b->v.arena, 2, parts));
    }
    if (!build_lower_shape(b))
        return false;
    if (!i->shape)
        return verify_bad_inst(&b->v, i, NULL, "requires an explicit result shape or shape=");
    const struct shape *data = i->shape;
    if (shape_is_tuple(data) && data->count == 0) { /* only a token remains */
        inst_remove_attr(i, A_INFEED_CONFIG);
        i->opcode = OP_TUPLE;
        return true;
    }
    for (int k = 0; shape_is_tuple(data) && k < data->count; k++)
        if (shape_is_tuple(data->elements[k]))
            return verify_bad_inst(&b->v, i, NULL, "returns %s, nested tuples are not supported",
                                   verify_text(&b->v, data));
    const struct shape *parts[] = {data, shape_token()};
    struct inst *token = token_before(b);
    struct inst *feed = build_inst(b, OP_INFEED, shape_tuple(b->v.arena, 2, parts), 1, &token);
    if (config)
        build_set(b, feed, A_INFEED_CONFIG, config->v);
    inst_remove_attr(i, A_INFEED_CONFIG);
    i->opcode = OP_GET_TUPLE_ELEMENT;
    build_set(b, i, A_INDEX, (union attr_value){.i = 0});
    build_operands(b, 1, &feed);
    return true;
}

/* Outfeed of the specification of 2017, which has no token. */
bool build_lower_outfeed(struct build *b)
{
    if (b->i->operand_count != 1 || shape_is_token(operand_shape(b->i, 0)))
        return true;
    struct inst *operands[] = {b->i->operands[0], token_before(b)};
    build_operands(b, 2, operands);
    return true;
}

/* spec: Recv */
bool build_lower_recv(struct build *b)
{
    const struct attr *a = inst_attr(b->i, A_SHAPE);
    if (!a)
        return true;
    const struct shape *parts[] = {a->v.shape, shape_scalar(b->v.arena, DT_U32), shape_token()};
    return build_shape(b, shape_tuple(b->v.arena, 3, parts));
}
