/*
 * verify.c: the verifier. For each instruction, checks that the result is bounded, infers its
 * shape, checks that float types are not mixed, and compares the written shape with the inferred
 * one.
 */
#include "verify/verify_priv.h"

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
            return report_operand(&v->infer, i, k, "floats of one type, got %s",
                                  dtype_spelling(seen));
    return true;
}

/* Whether shapes are compatible; with mixed precision all float types are equal. */
static bool compatible(const struct verify *v, const struct shape *a, const struct shape *b)
{
    return v->options.mixed_precision ? shape_compatible_fp(a, b) : shape_compatible(a, b);
}

/* A copy may change the layout, but a transfer to or from the host only the memory space. */
static bool copy_fits(const struct verify *v, const struct shape *written,
                      const struct shape *given)
{
    if (v->options.layout_sensitive && verify_on_host(written) && !verify_on_host(given))
        return shape_compatible(written, given);
    if (v->options.layout_sensitive && verify_on_host(given) && !verify_on_host(written))
        return shape_equal(written, given, IGNORE_MEMORY_SPACE);
    return compatible(v, written, given);
}

static bool result_fits(const struct verify *v, const struct inst *i, const struct shape *given)
{
    switch (op_table[i->opcode].compare) {
    case COMPARE_OWN: return true;
    case COMPARE_STRICT: return infer_same(&v->infer, i->shape, given);
    case COMPARE_STRICT_MTM:
        return v->options.layout_sensitive ? shape_equal(i->shape, given, SHAPE_MTM_ONLY)
                                           : shape_compatible(i->shape, given);
    case COMPARE_COPY: return copy_fits(v, i->shape, given);
    default: return compatible(v, i->shape, given);
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
            return report_operand(
                &v->infer, i, k,
                "the dimensions of the result %s; implicit broadcast is not supported",
                report_text(&v->infer, i->shape));
    return true;
}

static bool check_inst(struct verify *v, const struct inst *i)
{
    if (!v->options.allow_unbounded && shape_has_unbounded(i->shape))
        return report_inst(&v->infer, i, NULL, "returns %s, expected bounded dimensions",
                           report_text(&v->infer, i->shape));
    const struct shape *given = infer_result(&v->infer, i);
    if (!given || !verify_written(v, i) || !float_types_fit(v, i))
        return false;
    if (!result_fits(v, i, given))
        return report_result(&v->infer, i, given);
    return operands_as_result(v, i) && verify_annotations(v, i);
}

bool verify_module(struct diags *ds, struct module *m, const struct verify_options *options)
{
    SCOPED_ARENA scratch = arena_make();
    struct verify v = {.ds = ds,
                       .m = m,
                       .arena = &scratch,
                       .options = *options,
                       .infer = {.ds = ds,
                                 .m = m,
                                 .arena = &scratch,
                                 .layout_sensitive = options->layout_sensitive,
                                 .mixed_precision = options->mixed_precision}};
    unsigned before = ds->errors;
    for (struct inst *i = NULL; (i = module_next(m, i)) != NULL;) {
        struct arena_mark mark = arena_mark(&scratch);
        check_inst(&v, i);
        arena_release(&scratch, mark);
    }
    if (ds->errors == before) { /* the following checks require valid shapes */
        verify_pairing(&v);
        verify_async_bodies(&v);
        verify_fusions(&v);
        verify_buffers(&v);
        verify_module_rules(&v);
    }
    return ds->errors == before;
}
