/*
 * rng.c: rules for declared results of random number generators.
 */
#include "verify/verify_priv.h"

static bool bounds_fit(struct verify *v, const struct inst *i)
{
    bool normal = inst_enum(i, A_DISTRIBUTION, E_DISTRIBUTION_UNIFORM) == E_DISTRIBUTION_NORMAL;
    if (i->operand_count != 2)
        return verify_bad_inst(v, i, NULL, "has %d operand(s), expected 2", i->operand_count);
    for (int k = 0; k < 2; k++)
        if (!shape_is_scalar(operand_shape(i, k)))
            return verify_bad_operand(v, i, k, "a scalar");
    enum dtype t = operand_shape(i, 0)->dtype;
    if (t != operand_shape(i, 1)->dtype)
        return verify_bad_operands(v, i, 0, 1, "element type");
    if (dtype_is_complex(t) || (normal && !dtype_is_float(t)))
        return verify_bad_operand(v, i, 0, normal ? "a float" : "pred, an integer or a float");
    return true;
}

/* spec: RngUniform */
static const struct shape *rng_shape(struct verify *v, const struct inst *i)
{
    if (!bounds_fit(v, i))
        return NULL;
    enum dtype t = operand_shape(i, 0)->dtype, out = i->shape->dtype;
    if (t == out || (v->options.mixed_precision && dtype_same_kind(t, out)))
        return i->shape;
    return verify_bad_operand(v, i, 0, "of the result's type, %s", dtype_spelling(out)), NULL;
}

/* spec: RngBitGenerator */
static const struct shape *bit_generator_shape(struct verify *v, const struct inst *i)
{
    const struct shape *out = i->shape, *state = operand_shape(i, 0);
    if (shape_is_array(out))
        return out;
    if (shape_is_tuple(out) && out->count == 2 && shape_compatible(out->elements[0], state))
        return out;
    verify_bad_inst(v, i, i->operands[0], "returns %s, expected an array or (%s, ...)",
                    verify_text(v, out), verify_text(v, state));
    return NULL;
}

/* spec: RngGetAndUpdateState */
static const struct shape *state_shape(struct verify *v, const struct inst *i)
{
    const struct shape *expected =
        shape_array(v->arena, DT_U64, 1, (const int64_t[]){2}, NULL, NULL);
    if (!i->shape) /* inference for the parser */
        return expected;
    if (shape_compatible(i->shape, expected))
        return i->shape;
    return verify_bad_result(v, i, expected), NULL;
}

const struct shape *verify_rng(struct verify *v, const struct inst *i)
{
    switch (i->opcode) {
    case OP_RNG: return rng_shape(v, i);
    case OP_RNG_BIT_GENERATOR: return bit_generator_shape(v, i);
    default: return state_shape(v, i);
    }
}
