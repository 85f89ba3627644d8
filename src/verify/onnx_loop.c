/*
 * onnx_loop.c: checks a custom call to onnx.Loop and its body by the rules of ONNX's operator Loop.
 *
 *   (R...) custom-call(M, cond, v1, ... vN), custom_call_target="onnx.Loop",
 *          called_computations={body}
 *   body: (iteration s64[], condition pred[], N values)
 *         -> (condition pred[], N values, K scan values)
 *
 * XLA does not know the target and accepts any such call. A dimension of a carried value may change
 * between iterations if the shapes are bounded there: here it is only checked that the shapes can
 * match, at run time that they do.
 */
#include "verify/verify_priv.h"

/* ---- element types by version ---- */

enum { SEQUENCES = 13, OPTIONALS = 16, NEVER = 1000 };

static const struct onnx_type {
    const char *name;
    enum dtype dtype;
    int since;
} types[] = {
#define ONNX_TYPE(name, dtype, since) {name, DT_##dtype, since},
#include "verify/onnx_type.def"
};

static const struct onnx_type *find_type(enum dtype t)
{
    for (size_t k = 0; k < COUNT_OF(types); k++)
        if (types[k].dtype == t)
            return &types[k];
    return NULL;
}

static int max_version(int a, int b) { return a > b ? a : b; }

/* Whether it is a sequence: a tuple of arrays, the first of which holds its elements. */
static bool is_sequence(const struct shape *s)
{
    bool arrays = shape_is_tuple(s) && s->count > 0;
    for (int k = 0; arrays && k < s->count; k++)
        arrays = shape_is_array(s->elements[k]) && find_type(s->elements[k]->dtype);
    return arrays;
}

static bool is_optional(const struct shape *s)
{
    return shape_is_tuple(s) && s->count == 2 && shape_is_scalar_of(s->elements[0], DT_PRED);
}

/* The ONNX name of a value's type, and the first version of Loop that lists it. NULL: ONNX has no
 * such type. */
static const char *onnx_name(struct verify *v, const struct shape *s, int *since)
{
    bool optional = is_optional(s);
    const struct shape *value = optional ? s->elements[1] : s;
    bool sequence = is_sequence(value);
    const struct onnx_type *t = find_type(sequence ? value->elements[0]->dtype : value->dtype);
    if (!t)
        return NULL;
    *since = t->since;
    if (sequence)
        *since = optional && t->since > OPTIONALS ? NEVER : max_version(*since, SEQUENCES);
    if (optional)
        *since = max_version(*since, OPTIONALS);
    return arena_printf(&v->ds->arena, "%s%stensor(%s)%s%s", optional ? "optional(" : "",
                        sequence ? "seq(" : "", t->name, sequence ? ")" : "", optional ? ")" : "")
        .ptr;
}

/* Why a version does not list a type; NULL: it does. */
static const char *why_type_is_unsupported(struct verify *v, const struct shape *s, int64_t version)
{
    int since;
    const char *name = onnx_name(v, s, &since);
    if (!name)
        return "a tensor, sequence or optional of ONNX";
    if (since > ONNX_LOOP_NEWEST)
        return arena_printf(&v->ds->arena, "a type of some version of the operator, got %s", name)
            .ptr;
    if (since > version)
        return arena_printf(&v->ds->arena, "a type of version %" PRId64 "; %s requires version %d",
                            version, name, since)
            .ptr;
    return NULL;
}

/* ---- shapes ---- */

static bool dim_fits(const struct shape *from, const struct shape *to, int d, int e)
{
    if (shape_dim_dynamic(from, d))
        return shape_dim_dynamic(to, e) || to->dims[e] <= from->dims[d];
    return shape_dim_dynamic(to, e) ? from->dims[d] <= to->dims[e] : from->dims[d] == to->dims[e];
}

/* Whether a value of one shape can match the other at run time. */
static bool may_fit(const struct shape *from, const struct shape *to)
{
    if (from->dtype != to->dtype || from->rank != to->rank || from->count != to->count)
        return false;
    for (int d = 0; d < from->rank; d++)
        if (!dim_fits(from, to, d, d))
            return false;
    for (int k = 0; k < from->count; k++)
        if (!may_fit(from->elements[k], to->elements[k]))
            return false;
    return true;
}

/* The same if `to` has an additional leading dimension. */
static bool is_stacked_shape(const struct shape *from, const struct shape *to)
{
    if (!shape_is_array(from) || from->dtype != to->dtype || from->rank + 1 != to->rank)
        return false;
    for (int d = 0; d < from->rank; d++)
        if (!dim_fits(from, to, d, d + 1))
            return false;
    return true;
}

/* ---- the components of a call ---- */

struct loop_call {
    struct onnx_loop config;
    const struct computation *body;
    int heads; /* number of operands before the carried values */
    int carried, scans;
    const struct shape *const *results; /* carried values, then scan outputs */
};

static const struct computation *body_of(const struct inst *i)
{
    const struct attr *a = inst_attr(i, A_CALLED_COMPUTATIONS);
    return a && a->v.computations.count == 1 ? a->v.computations.at[0] : NULL;
}

static bool check_leading_operands(struct verify *v, const struct inst *i, struct loop_call *l)
{
    const char *problem =
        onnx_loop_config(inst_str(i, A_BACKEND_CONFIG), &v->ds->arena, &l->config);
    if (problem)
        return report_attr(&v->infer, i, A_BACKEND_CONFIG, "%s", problem);
    l->heads = l->config.has_count + l->config.has_condition;
    l->carried = i->operand_count - l->heads;
    /* Version 1 requires three inputs, absent ones included. */
    int min = l->heads + (l->config.version == 1);
    if (i->operand_count < min)
        return report_inst(
            &v->infer, i, NULL,
            "has %d operand(s), expected at least %d with these inputs of version %" PRId64,
            i->operand_count, min, l->config.version);
    if (l->config.has_count && !shape_is_scalar_of(operand_shape(i, 0), DT_S64))
        return report_operand(&v->infer, i, 0, "s64[], as M");
    if (l->config.has_condition && !shape_is_scalar_of(operand_shape(i, l->heads - 1), DT_PRED))
        return report_operand(&v->infer, i, l->heads - 1, "pred[], as cond");
    return true;
}

static bool signature_fits(struct verify *v, const struct inst *i, struct loop_call *l)
{
    const struct computation *c = l->body;
    const struct shape *root = c->root->shape;
    if (c->param_count != l->carried + 2)
        return report_computation(
            &v->infer, i, c,
            "has %d parameter(s), expected %d: the iteration, the condition and %d carried",
            c->param_count, l->carried + 2, l->carried);
    if (!shape_is_scalar_of(c->params[0]->shape, DT_S64) ||
        !shape_is_scalar_of(c->params[1]->shape, DT_PRED))
        return report_computation(&v->infer, i, c,
                                  "takes %s and %s first, expected s64[] and pred[]",
                                  report_text(&v->infer, c->params[0]->shape),
                                  report_text(&v->infer, c->params[1]->shape));
    if (!shape_is_tuple(root) || root->count < l->carried + 1 ||
        !shape_is_scalar_of(root->elements[0], DT_PRED))
        return report_computation(
            &v->infer, i, c,
            "returns %s, expected a tuple of pred[], %d carried and any scan values",
            report_text(&v->infer, root), l->carried);
    l->scans = root->count - 1 - l->carried;
    return true;
}

/* Whether the result is a tuple of the n values; for n = 1 it may also be the value itself, which
 * can be a tuple as well. */
static bool is_tuple_of(const struct shape *s, int n, const struct shape *first)
{
    return shape_is_tuple(s) && s->count == n && (n != 1 || s->elements[0]->dtype == first->dtype);
}

static bool results_fit(struct verify *v, const struct inst *i, struct loop_call *l)
{
    int n = l->carried + l->scans;
    if (n == 0)
        return report_inst(&v->infer, i, NULL,
                           "returns nothing, expected a carried value or a scan output");
    bool tuple = is_tuple_of(i->shape, n, l->body->root->shape->elements[1]);
    l->results = tuple ? i->shape->elements : &i->shape;
    return tuple || n == 1 ||
           report_inst(&v->infer, i, NULL,
                       "returns %s, expected a tuple of %d carried and %d scanned values",
                       report_text(&v->infer, i->shape), l->carried, l->scans);
}

/* Whether the body returns value k unchanged. In ONNX it is then a reference to the enclosing
 * graph; the type lists of versions apply to values that change only. */
static bool returns_unchanged(const struct loop_call *l, int k)
{
    const struct inst *root = l->body->root;
    return root->opcode == OP_TUPLE && root->operands[1 + k] == l->body->params[2 + k];
}

static bool carried_fits(struct verify *v, const struct inst *i, const struct loop_call *l, int k)
{
    const struct computation *c = l->body;
    const struct shape *param = c->params[2 + k]->shape, *out = c->root->shape->elements[1 + k];
    const struct shape *in = operand_shape(i, l->heads + k);
    const char *expected = why_type_is_unsupported(
        v, in, returns_unchanged(l, k) ? ONNX_LOOP_NEWEST : l->config.version);
    if (expected)
        return report_operand(&v->infer, i, l->heads + k, "%s", expected);
    if (!may_fit(in, param))
        return report_operand(&v->infer, i, l->heads + k, "%s, as parameter %d of '" STR_FMT "'",
                              report_text(&v->infer, param), 2 + k, STR_ARG(c->name));
    if (!may_fit(out, param))
        return report_computation(
            &v->infer, i, c, "returns %s as carried value %d, expected %s as its parameter %d",
            report_text(&v->infer, out), k, report_text(&v->infer, param), 2 + k);
    return may_fit(out, l->results[k]) ||
           report_inst(&v->infer, i, NULL,
                       "returns %s as carried value %d, but its body returns %s",
                       report_text(&v->infer, l->results[k]), k, report_text(&v->infer, out));
}

static bool scan_fits(struct verify *v, const struct inst *i, const struct loop_call *l, int k)
{
    const struct shape *out = l->body->root->shape->elements[1 + l->carried + k];
    const struct shape *result = l->results[l->carried + k];
    const char *expected =
        shape_is_array(out) ? why_type_is_unsupported(v, out, l->config.version) : "an array";
    if (expected)
        return report_computation(&v->infer, i, l->body, "returns %s as scan value %d, expected %s",
                                  report_text(&v->infer, out), k, expected);
    return is_stacked_shape(out, result) ||
           report_inst(&v->infer, i, NULL,
                       "returns %s as scan output %d, but its body returns %s in each iteration",
                       report_text(&v->infer, result), k, report_text(&v->infer, out));
}

static bool call_fits(struct verify *v, const struct inst *i)
{
    struct loop_call l = {.body = body_of(i)};
    /* The parser, like XLA's, drops called computations if the call has operand layouts. */
    if (!l.body)
        return report_inst(&v->infer, i, NULL, "requires one body in called_computations%s",
                           inst_has(i, A_OPERAND_LAYOUT_CONSTRAINTS)
                               ? ", which is not parsed with operand_layout_constraints"
                               : "");
    if (!check_leading_operands(v, i, &l) || !signature_fits(v, i, &l) || !results_fit(v, i, &l))
        return false;
    for (int k = 0; k < l.carried; k++)
        if (!carried_fits(v, i, &l, k))
            return false;
    for (int k = 0; k < l.scans; k++)
        if (!scan_fits(v, i, &l, k))
            return false;
    return true;
}

/* spec: Loop of ONNX */
bool verify_onnx_loop(struct verify *v, const struct inst *i)
{
    const char *word = v->infer.word;
    v->infer.word = "onnx.Loop";
    bool ok = call_fits(v, i);
    v->infer.word = word;
    return ok;
}
