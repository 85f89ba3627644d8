/*
 * verify.c: the verifier. For each instruction, checks the number of operands, that the result is
 * bounded, its shape by the family's rule, that float types are not mixed, and the written shape
 * against the rule's.
 */
#include "verify/verify_priv.h"

static verify_family_fn *const families[FAMILY_COUNT] = {
#define X(name, flags) [FAMILY_##name] = verify_##name,
    FAMILIES(X)
#undef X
};

static bool operand_count_fits(struct verify *v, const struct inst *i)
{
    const struct op_info *op = &op_table[i->opcode];
    if (i->operand_count >= op->min_operands &&
        (op->max_operands == OPERANDS_MANY || i->operand_count <= op->max_operands))
        return true;
    return verify_bad_inst(v, i, NULL, "has %d operand(s), expected %s%d", i->operand_count,
                           op->max_operands == OPERANDS_MANY ? "at least " : "", op->min_operands);
}

static const char *types_name(unsigned types)
{
    switch (types) {
    case TY_FLOAT: return "float elements";
    case TY_INTEGER: return "integer elements";
    case TY_FLOAT | TY_COMPLEX: return "float or complex elements";
    case TY_PRED | TY_INTEGER: return "pred or integer elements";
    case TY_INTEGER | TY_FLOAT | TY_COMPLEX: return "numeric elements";
    case TY_SIGNED | TY_FLOAT | TY_COMPLEX: return "signed elements";
    default: return "an array";
    }
}

/* Checks the element type of the first operand against the types allowed by op.def. */
static bool operand_types_fit(struct verify *v, const struct inst *i)
{
    unsigned types = op_table[i->opcode].types;
    if (types == TY_ANY || i->operand_count == 0 ||
        dtype_in_class(operand_shape(i, 0)->dtype, types))
        return true;
    return verify_bad_operand(v, i, 0, "%s", types_name(types));
}

/* Infers a shape, which may turn out too large: without written shapes, nested tuples grow
 * exponentially in a few lines. */
static const struct shape *infer(struct verify *v, const struct inst *i)
{
    if (!operand_count_fits(v, i) || !operand_types_fit(v, i))
        return NULL;
    const struct shape *s = families[op_table[i->opcode].family](v, i);
    if (s && shape_part_count(s) > SHAPE_MAX_PARTS)
        return DIAG(v->ds, i->span, TOO_MANY_LEAVES, SHAPE_MAX_PARTS), NULL;
    if (s && s->depth > SHAPE_MAX_DEPTH)
        return DIAG(v->ds, i->span, TUPLES_TOO_DEEP, SHAPE_MAX_DEPTH), NULL;
    return s;
}

/* ---- checks after inference ---- */

/* Whether all float leaves of a shape have the type *seen, which the first one sets (DT_INVALID:
 * none yet). */
static bool one_float_type(const struct shape *s, enum dtype *seen)
{
    for (int k = 0; shape_is_tuple(s) && k < s->count; k++)
        if (!one_float_type(s->elements[k], seen))
            return false;
    if (!dtype_is_float(s->dtype))
        return true;
    if (*seen != DT_INVALID && *seen != s->dtype)
        return false;
    *seen = s->dtype;
    return true;
}

static bool float_types_fit(struct verify *v, const struct inst *i)
{
    const struct op_info *op = &op_table[i->opcode];
    enum dtype seen = DT_INVALID;
    if (v->options.mixed_precision || op->flags & OP_MIXED || op->compare == COMPARE_OWN)
        return true;
    for (int k = 0; k < i->operand_count; k++)
        if (!one_float_type(operand_shape(i, k), &seen))
            return verify_bad_operand(v, i, k, "floats of one type, got %s", dtype_spelling(seen));
    return true;
}

enum { HOST_MEMORY = 5 };

static bool on_host(const struct shape *s)
{
    return shape_is_array(s) && s->layout->memory_space == HOST_MEMORY;
}

/* A copy may change the layout, but a transfer to or from the host only the memory space. */
static bool copy_fits(const struct verify *v, const struct shape *written,
                      const struct shape *given)
{
    if (v->options.layout_sensitive && on_host(written) && !on_host(given))
        return shape_compatible(written, given);
    if (v->options.layout_sensitive && on_host(given) && !on_host(written))
        return shape_equal(written, given, IGNORE_MEMORY_SPACE);
    return v->options.mixed_precision ? shape_compatible_fp(written, given)
                                      : shape_compatible(written, given);
}

static bool result_fits(const struct verify *v, const struct inst *i, const struct shape *given)
{
    switch (op_table[i->opcode].compare) {
    case COMPARE_OWN: return true;
    case COMPARE_STRICT: return verify_same(v, i->shape, given);
    case COMPARE_STRICT_MTM:
        return v->options.layout_sensitive ? shape_equal(i->shape, given, SHAPE_MTM_ONLY)
                                           : shape_compatible(i->shape, given);
    case COMPARE_COPY: return copy_fits(v, i->shape, given);
    default:
        return v->options.mixed_precision ? shape_compatible_fp(i->shape, given)
                                          : shape_compatible(i->shape, given);
    }
}

/* Operands must have the dimensions of the result: only the parser's inference broadcasts, and
 * modules may not rely on it. */
static bool operands_as_result(struct verify *v, const struct inst *i)
{
    if (op_table[i->opcode].class != CLASS_BINARY)
        return true;
    for (int k = 0; k < i->operand_count; k++)
        if (!shape_compatible_any(operand_shape(i, k), i->shape))
            return verify_bad_operand(
                v, i, k, "the dimensions of the result %s; implicit broadcast is not supported",
                verify_text(v, i->shape));
    return true;
}

static bool verify_inst(struct verify *v, const struct inst *i)
{
    if (!v->options.allow_unbounded && shape_has_unbounded(i->shape))
        return verify_bad_inst(v, i, NULL, "returns %s, expected bounded dimensions",
                               verify_text(v, i->shape));
    const struct shape *given = infer(v, i);
    if (!given || !float_types_fit(v, i))
        return false;
    if (!result_fits(v, i, given))
        return verify_bad_result(v, i, given);
    return operands_as_result(v, i) && verify_annotations(v, i);
}

bool verify_module(struct diags *ds, struct module *m, const struct verify_options *options)
{
    struct arena scratch;
    arena_init(&scratch);
    struct verify v = {.ds = ds, .m = m, .arena = &scratch, .options = *options};
    unsigned before = ds->errors;
    for (int c = 0; c < m->computation_count; c++)
        for (int k = 0; k < m->computations[c]->inst_count; k++) {
            struct arena_mark mark = arena_mark(&scratch);
            verify_inst(&v, m->computations[c]->insts[k]);
            arena_release(&scratch, mark);
        }
    if (ds->errors == before) { /* the following checks require valid shapes */
        verify_pairing(&v);
        verify_async_bodies(&v);
        verify_fusions(&v);
        verify_buffers(&v);
        verify_module_rules(&v);
    }
    arena_free(&scratch);
    return ds->errors == before;
}

/* ---- inference for the parser ---- */

/* Opcodes whose shape must be declared. */
static const uint8_t declared_only[] = {
    OP_BITCAST,
    OP_BITCAST_CONVERT,
    OP_CONVERT,
    OP_CUSTOM_CALL,
    OP_DYNAMIC_RESHAPE,
    OP_INFEED,
    OP_IOTA,
    OP_PARAMETER,
    OP_RECV,
    OP_RESHAPE,
    OP_RNG,
    OP_RNG_BIT_GENERATOR,
    OP_STOCHASTIC_CONVERT,
    OP_ASYNC_START,
    OP_ASYNC_UPDATE,
    OP_ASYNC_DONE,
    OP_CONSTANT,
};

bool verify_can_infer(enum opcode op, bool strict)
{
    if (strict)
        return op_table[op].flags & OP_INFER && op != OP_OPT_BARRIER;
    return memchr(declared_only, (int)op, sizeof declared_only) == NULL;
}

const struct shape *verify_infer_for_parser(struct diags *ds, struct module *m,
                                            const struct inst *i, bool strict)
{
    struct verify v = {.ds = ds, .m = m, .arena = &m->arena, .parsing = true, .strict = strict};
    if (!verify_can_infer((enum opcode)i->opcode, strict)) {
        verify_bad_inst(&v, i, NULL, "requires an explicit result shape");
        return NULL;
    }
    return infer(&v, i);
}
