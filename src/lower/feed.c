/*
 * feed.c: random number operations named by their distributions, and feeds without tokens, as
 * in early editions of the specification.
 */
#include "lower/lower_priv.h"

/* ---- random numbers ---- */

/* One where a uniform random number in [0, 1) is below the mean, else zero. */
static bool bernoulli(struct lower *lo)
{
    struct inst *i = lo->i, *mean = i->operands[0];
    if (i->operand_count != 1)
        return report_inst(&lo->infer, i, NULL, "has %d operands, expected one, the mean",
                           i->operand_count);
    if (!shape_is_scalar(mean->shape) || !dtype_is_float(mean->shape->dtype))
        return report_operand(&lo->infer, i, 0, "a float scalar, the mean");
    if (!i->shape)
        return report_inst(&lo->infer, i, NULL, "requires an explicit result shape or shape=");
    if (!shape_is_array(i->shape) || dtype_is_complex(i->shape->dtype) ||
        shape_has_dynamic(i->shape))
        return report_inst(&lo->infer, i, NULL, "returns %s, expected an array of real numbers",
                           report_text(&lo->infer, i->shape));
    enum dtype t = mean->shape->dtype;
    const struct shape *s = shape_array(lo->arena, t, i->shape->rank, i->shape->dims, NULL, NULL);
    struct inst *bounds[] = {lower_scalar(lo, t, 0), lower_scalar(lo, t, 1)};
    if (!bounds[0] || !bounds[1])
        return false;
    struct inst *random = lower_helper(lo, OP_RNG, s, 2, bounds);
    lower_set_attr(lo, random, A_DISTRIBUTION, (union attr_value){.e = E_DISTRIBUTION_UNIFORM});
    struct inst *sides[] = {random, lower_broadcast_to(lo, mean, s, NULL)};
    struct inst *below =
        lower_helper(lo, OP_COMPARE, shape_with_dtype(lo->arena, s, DT_PRED), 2, sides);
    lower_set_attr(lo, below, A_DIRECTION, (union attr_value){.e = E_DIRECTION_LT});
    inst_remove_attr(i, A_DISTRIBUTION);
    i->opcode = OP_CONVERT;
    lower_set_operands(lo, 1, &below);
    return true;
}

/* spec: RngBernoulli, RngNormal, RngUniform */
bool lower_rng(struct lower *lo)
{
    int given = inst_enum(lo->i, A_DISTRIBUTION, -1);
    int expected = lo->form == FORM_RNG_BERNOULLI ? E_DISTRIBUTION_BERNOULLI
                   : lo->form == FORM_RNG_NORMAL  ? E_DISTRIBUTION_NORMAL
                   : lo->form == FORM_RNG_UNIFORM ? E_DISTRIBUTION_UNIFORM
                                                  : given;
    if (expected != given && given >= 0)
        return report_attr(&lo->infer, lo->i, A_DISTRIBUTION, "implied by the opcode");
    if (!lower_shape_attr(lo))
        return false;
    if (expected == E_DISTRIBUTION_BERNOULLI)
        return lo->i->operand_count > 0 ? bernoulli(lo) : check_operand_least(&lo->infer, lo->i, 1);
    if (expected >= 0)
        lower_set_attr(lo, lo->i, A_DISTRIBUTION, (union attr_value){.e = expected});
    return true;
}

/* ---- feeds ---- */

/* The token for a feed without one: that of the preceding feed, since feeds of a computation
 * execute in textual order. */
static struct inst *token_before(struct lower *lo)
{
    for (int k = lo->c->inst_count - 1; k >= 0; k--) {
        struct inst *i = lo->c->insts[k];
        if (i->opcode == OP_OUTFEED && shape_is_token(i->shape))
            return i;
        if (i->opcode == OP_INFEED && shape_is_tuple(i->shape) && i->shape->count == 2)
            return lower_element(lo, i, 1);
    }
    return lower_helper(lo, OP_AFTER_ALL, shape_token(), 0, NULL);
}

/* spec: Infeed */
bool lower_infeed(struct lower *lo)
{
    struct inst *i = lo->i;
    const struct attr *shape = inst_attr(i, A_SHAPE), *config = inst_attr(i, A_INFEED_CONFIG);
    if (i->operand_count > 0) {
        if (!shape)
            return true;
        const struct shape *parts[] = {shape->v.shape, shape_token()};
        return lower_set_shape(lo, shape_tuple(lo->arena, 2, parts));
    }
    if (!lower_shape_attr(lo))
        return false;
    if (!i->shape)
        return report_inst(&lo->infer, i, NULL, "requires an explicit result shape or shape=");
    const struct shape *data = i->shape;
    if (shape_is_tuple(data) && data->count == 0) { /* only a token remains */
        inst_remove_attr(i, A_INFEED_CONFIG);
        i->opcode = OP_TUPLE;
        return true;
    }
    for (int k = 0; shape_is_tuple(data) && k < data->count; k++)
        if (shape_is_tuple(data->elements[k]))
            return report_inst(&lo->infer, i, NULL, "returns %s, nested tuples are not supported",
                               report_text(&lo->infer, data));
    const struct shape *parts[] = {data, shape_token()};
    struct inst *token = token_before(lo);
    struct inst *feed = lower_helper(lo, OP_INFEED, shape_tuple(lo->arena, 2, parts), 1, &token);
    if (config)
        lower_set_attr(lo, feed, A_INFEED_CONFIG, config->v);
    inst_remove_attr(i, A_INFEED_CONFIG);
    i->opcode = OP_GET_TUPLE_ELEMENT;
    lower_set_attr(lo, i, A_INDEX, (union attr_value){.i = 0});
    lower_set_operands(lo, 1, &feed);
    return true;
}

/* Outfeed of the specification of 2017, which has no token. */
bool lower_outfeed(struct lower *lo)
{
    if (lo->i->operand_count != 1 || shape_is_token(operand_shape(lo->i, 0)))
        return true;
    struct inst *operands[] = {lo->i->operands[0], token_before(lo)};
    lower_set_operands(lo, 2, operands);
    return true;
}

/* spec: Recv */
bool lower_recv(struct lower *lo)
{
    const struct attr *a = inst_attr(lo->i, A_SHAPE);
    if (!a)
        return true;
    const struct shape *parts[] = {a->v.shape, shape_scalar(lo->arena, DT_U32), shape_token()};
    return lower_set_shape(lo, shape_tuple(lo->arena, 3, parts));
}
