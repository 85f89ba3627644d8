/*
 * custom_call.c: checks custom calls, and results that share storage with operands.
 */
#include "verify/verify_priv.h"

/* ---- aliasing ---- */

/* Whether two shapes may share storage. For Pin and Unpin, a buffer is treated as its array. */
static bool alias_shapes_fit(const struct verify *v, const struct inst *i, const struct shape *out,
                             const struct shape *in)
{
    struct str target = inst_str(i, A_CUSTOM_CALL_TARGET);
    bool pins = str_is(target, "Pin") || str_is(target, "Unpin");
    if (pins && out->dtype == DT_BUFFER)
        out = out->elements[0];
    if (pins && in->dtype == DT_BUFFER)
        in = in->elements[0];
    if (!v->options.layout_sensitive)
        return shape_compatible(out, in);
    int64_t count;
    bool one = shape_elements(in, &count) && count == 1;
    return shape_equal(out, in, one ? IGNORE_MEMORY_SPACE : 0);
}

static bool alias_fits(struct verify *v, const struct inst *i, const struct alias *a)
{
    if (!check_attr_int(&v->infer, i, A_OUTPUT_TO_OPERAND_ALIASING, a->operand, 0,
                        i->operand_count))
        return false;
    const struct shape *out = shape_at(i->shape, a->output.at, (size_t)a->output.count);
    const struct shape *in =
        shape_at(operand_shape(i, (int)a->operand), a->index.at, (size_t)a->index.count);
    if (!out || !in)
        return report_attr(
            &v->infer, i, A_OUTPUT_TO_OPERAND_ALIASING, "no such element of %s",
            report_text(&v->infer, out ? operand_shape(i, (int)a->operand) : i->shape));
    if (inst_frontend(i, "xla_skip_custom_call_alias_shape_check") ||
        alias_shapes_fit(v, i, out, in))
        return true;
    return report_attr(&v->infer, i, A_OUTPUT_TO_OPERAND_ALIASING,
                       "result %s shares storage with operand %s", report_text(&v->infer, out),
                       report_text(&v->infer, in));
}

bool verify_aliasing(struct verify *v, const struct inst *i)
{
    const struct attr *a = inst_attr(i, A_OUTPUT_TO_OPERAND_ALIASING);
    for (int k = 0; a && k < a->v.aliasing.count; k++)
        if (!alias_fits(v, i, &a->v.aliasing.at[k]))
            return false;
    return true;
}

/* ---- custom-call ---- */

/* spec: CustomCall */
bool verify_custom_call(struct verify *v, const struct inst *i)
{
    if (str_is(inst_str(i, A_CUSTOM_CALL_TARGET), "GetRngSeed")) {
        const struct shape *seed = shape_scalar(v->arena, DT_U64);
        if (i->operand_count != 0)
            return report_inst(&v->infer, i, NULL, "has %d operand(s), GetRngSeed expects none",
                               i->operand_count);
        if (!shape_compatible(i->shape, seed))
            return report_result(&v->infer, i, seed);
    }
    if (inst_is_onnx_loop(i) && !verify_onnx_loop(v, i))
        return false;
    return verify_aliasing(v, i);
}
