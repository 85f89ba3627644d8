/*
 * reduce.c: valid reducers, and result shapes of reduce, reduce-window and scan.
 */
#include "infer/infer_priv.h"

/* Component k of a result shape, which may be a tuple. */
static const struct shape *part(const struct shape *s, int k)
{
    return shape_is_tuple(s) ? s->elements[k] : s;
}

static bool reducer_form(struct infer *ctx, const struct inst *i, const struct reducer *r)
{
    const struct computation *c = r->computation;
    const struct shape *root = c->root->shape;
    if (!infer_check_params(ctx, i, c, 2 * r->count))
        return false;
    int results = shape_is_tuple(root) ? root->count : shape_is_array(root) ? 1 : -1;
    if (results != r->count)
        return report_computation(ctx, i, c, "returns %s, expected %d scalar(s)",
                                  report_text(ctx, root), r->count);
    for (int k = 0; k < r->count; k++)
        if (!shape_is_scalar(part(c->root->shape, k)))
            return report_computation(ctx, i, c, "returns %s, expected scalars",
                                      report_text(ctx, root));
    return true;
}

/* Checks one accumulator: the result must be a valid argument of the next call, as accumulator and
 * as value. */
static bool reducer_slot(struct infer *ctx, const struct inst *i, const struct reducer *r, int k)
{
    const struct computation *c = r->computation;
    const struct shape *result = part(c->root->shape, k), *accumulator = c->params[k]->shape,
                       *value = c->params[r->count + k]->shape;
    if (!shape_compatible(result, accumulator))
        return report_computation(ctx, i, c, "returns %s where parameter %d is %s",
                                  report_text(ctx, result), k, report_text(ctx, accumulator));
    if (!shape_compatible_fp(result, r->init[k]))
        return report_computation(ctx, i, c, "returns %s where the initial value is %s",
                                  report_text(ctx, result), report_text(ctx, r->init[k]));
    if (!infer_check_scalar(ctx, i, c, r->count + k, r->input[k]))
        return false;
    if (!shape_compatible_fp(result, value))
        return report_computation(ctx, i, c, "returns %s where parameter %d is %s",
                                  report_text(ctx, result), r->count + k, report_text(ctx, value));
    return true;
}

bool reduce_check_reducer(struct infer *ctx, const struct inst *i, const struct reducer *r)
{
    if (!reducer_form(ctx, i, r))
        return false;
    for (int k = 0; k < r->count; k++)
        if (!reducer_slot(ctx, i, r, k))
            return false;
    return true;
}

/* The result: arrays of the same dimensions, one per input; a tuple if the reducer's root is
 * one. */
static const struct shape *reduced_shape(struct infer *ctx, const struct computation *c,
                                         const struct dims *d, const enum dtype *types)
{
    const struct shape *root = c->root->shape;
    if (!shape_is_tuple(root))
        return dims_shape(ctx->arena, types[0], d);
    const struct shape **parts = ARENA_ARRAY(ctx->arena, const struct shape *, root->count);
    for (int k = 0; k < root->count; k++)
        parts[k] = dims_shape(ctx->arena, types[k], d);
    return shape_tuple(ctx->arena, root->count, parts);
}

bool reduce_check_types(struct infer *ctx, const struct inst *i, const struct computation *c)
{
    if (ctx->parsing || ctx->mixed_precision)
        return true;
    for (int k = 0; k < c->param_count && k < i->operand_count; k++)
        if (c->params[k]->shape->dtype != operand_shape(i, k)->dtype)
            return report_operand(ctx, i, k, "the type of parameter %d of '" STR_FMT "', %s", k,
                                  STR_ARG(c->name), report_text(ctx, c->params[k]->shape));
    return true;
}

/* Checks inputs and initial values of a reduction; all inputs must have the same dimensions. */
static bool reduce_operands(struct infer *ctx, const struct inst *i, struct reducer *r)
{
    r->computation = inst_computation(i, A_TO_APPLY);
    r->count = i->operand_count / 2;
    if (i->operand_count % 2 || r->count == 0)
        return report_inst(ctx, i, NULL,
                           "has %d operands, expected one initial value for each input",
                           i->operand_count);
    if (!check_operand_arrays(ctx, i, 0, i->operand_count))
        return false;
    const struct shape **init = ARENA_ARRAY(ctx->arena, const struct shape *, r->count);
    enum dtype *input = ARENA_ARRAY(ctx->arena, enum dtype, r->count);
    for (int k = 0; k < r->count; k++) {
        if (!check_same_dims(ctx, i, 0, k))
            return false;
        init[k] = operand_shape(i, r->count + k);
        input[k] = operand_shape(i, k)->dtype;
    }
    r->init = init;
    r->input = input;
    return true;
}

/* spec: Reduce */
static const struct shape *reduce_shape(struct infer *ctx, const struct inst *i)
{
    struct reducer r;
    if (!reduce_operands(ctx, i, &r))
        return NULL;
    const struct shape *s = operand_shape(i, 0);
    if (!check_dim_list(ctx, i, A_DIMENSIONS, s->rank, LIST_DISTINCT) ||
        !reduce_check_reducer(ctx, i, &r) || !reduce_check_types(ctx, i, r.computation))
        return NULL;
    const bool *gone = infer_marks(ctx, inst_ints(i, A_DIMENSIONS), s->rank);
    struct dims d = dims_new(ctx->arena, s->rank);
    for (int k = 0; k < s->rank; k++)
        if (!gone[k])
            dims_take(&d, s, k);
    enum dtype *types = ARENA_ARRAY(ctx->arena, enum dtype, r.count);
    for (int k = 0; k < r.count; k++)
        types[k] = part(r.computation->root->shape, k)->dtype;
    return reduced_shape(ctx, r.computation, &d, types);
}

/* ---- reduce-window: the operands are those of reduce ---- */

/* spec: ReduceWindow */
const struct shape *reduce_window_shape(struct infer *ctx, const struct inst *i)
{
    struct reducer r;
    if (!reduce_operands(ctx, i, &r) || !reduce_check_reducer(ctx, i, &r) ||
        !reduce_check_types(ctx, i, r.computation))
        return NULL;
    const struct shape *s = operand_shape(i, 0);
    struct dims d = dims_new(ctx->arena, s->rank);
    if (!window_sizes(ctx, i, s, &d))
        return NULL;
    enum dtype *types = ARENA_ARRAY(ctx->arena, enum dtype, r.count);
    for (int k = 0; k < r.count; k++)
        types[k] = r.init[k]->dtype;
    return reduced_shape(ctx, r.computation, &d, types);
}

/* ---- scan ---- */

struct scan {
    const struct computation *computation;
    int64_t along, size; /* size -1: unknown */
    int inputs, carries, outputs;
};

static int part_count(const struct shape *s) { return shape_is_tuple(s) ? s->count : 1; }

static bool scan_agree(const struct infer *ctx, const struct shape *a, const struct shape *b)
{
    unsigned ignore = IGNORE_LAYOUT | (ctx->mixed_precision ? IGNORE_FP_PRECISION : 0);
    if (ctx->layout_sensitive && !ctx->parsing)
        return shape_equal(a, b, ignore);
    return shape_compatible(a, b);
}

/* The array without the scanned dimension, whose size must be the same in all arrays. */
static const struct shape *scan_row(struct infer *ctx, const struct inst *i, struct scan *c,
                                    const struct shape *s)
{
    if (!shape_is_array(s) || c->along < 0 || c->along >= s->rank)
        return report_attr(ctx, i, A_DIMENSIONS, "%s has no dimension %" PRId64,
                           report_text(ctx, s), c->along),
               NULL;
    if (c->size >= 0 && s->dims[c->along] != c->size)
        return report_attr(ctx, i, A_DIMENSIONS,
                           "dimension %" PRId64 " of %s is not of size %" PRId64, c->along,
                           report_text(ctx, s), c->size),
               NULL;
    c->size = s->dims[c->along];
    struct dims d = dims_new(ctx->arena, s->rank);
    for (int k = 0; k < s->rank; k++)
        if (k != c->along)
            dims_take(&d, s, k);
    return dims_shape(ctx->arena, s->dtype, &d);
}

static bool scan_operands(struct infer *ctx, const struct inst *i, struct scan *c)
{
    for (int k = 0; k < i->operand_count; k++) {
        const struct shape *s = operand_shape(i, k), *param = c->computation->params[k]->shape;
        if (k < c->inputs)
            s = scan_row(ctx, i, c, s);
        if (!s)
            return false;
        if (!scan_agree(ctx, s, param))
            return report_operand(ctx, i, k, "%s%s, as parameter %d of '" STR_FMT "'",
                                  k < c->inputs ? "rows of " : "", report_text(ctx, param), k,
                                  STR_ARG(c->computation->name));
    }
    return true;
}

/* The computation's carried results must have the shapes of its carried parameters. */
static bool scan_carries(struct infer *ctx, const struct inst *i, struct scan *c)
{
    const struct shape *root = c->computation->root->shape;
    for (int k = 0; k < c->carries; k++) {
        const struct shape *out = part(root, c->outputs + k),
                           *in = c->computation->params[c->inputs + k]->shape;
        if (!scan_agree(ctx, out, in))
            return report_computation(ctx, i, c->computation, "takes the carry %s but returns %s",
                                      report_text(ctx, in), report_text(ctx, out));
    }
    return true;
}

static bool scan_results(struct infer *ctx, const struct inst *i, struct scan *c)
{
    const struct shape *root = c->computation->root->shape;
    for (int k = 0; k < c->outputs + c->carries; k++) {
        const struct shape *s = part(i->shape, k);
        if (k < c->outputs)
            s = scan_row(ctx, i, c, s);
        if (!s)
            return false;
        if (!scan_agree(ctx, s, part(root, k)))
            return report_computation(
                ctx, i, c->computation, "returns %s as result %d, but the scan returns %s",
                report_text(ctx, part(root, k)), k, report_text(ctx, part(i->shape, k)));
    }
    return true;
}

/* The inferred result: outputs, whose rows are stacked, then the carried values. */
static const struct shape *scan_inferred(struct infer *ctx, const struct inst *i, struct scan *c)
{
    const struct shape *root = c->computation->root->shape;
    const struct shape **parts = ARENA_ARRAY(ctx->arena, const struct shape *, part_count(root));
    for (int k = 0; k < part_count(root); k++) {
        const struct shape *s = part(root, k);
        parts[k] = s;
        if (k >= c->outputs)
            continue;
        if (!shape_is_array(s) || c->along > s->rank || c->size < 0)
            return report_computation(ctx, i, c->computation,
                                      "returns %s, which cannot be stacked along %" PRId64,
                                      report_text(ctx, s), c->along),
                   NULL;
        struct dims d = dims_new(ctx->arena, s->rank + 1);
        for (int j = 0; j <= s->rank; j++) {
            if (j == c->along)
                dims_add(&d, c->size, false);
            if (j < s->rank)
                dims_take(&d, s, j);
        }
        parts[k] = dims_shape(ctx->arena, s->dtype, &d);
    }
    return shape_is_tuple(root) ? shape_tuple(ctx->arena, root->count, parts) : parts[0];
}

static bool scan_counts(struct infer *ctx, const struct inst *i, struct scan *c)
{
    int64_t carries = inst_int(i, A_NUM_CARRIES, 0);
    struct ints dims = inst_ints(i, A_DIMENSIONS);
    c->computation = inst_computation(i, A_TO_APPLY);
    if (!check_attr_count(ctx, i, A_DIMENSIONS, dims.count, 1) ||
        !check_attr_int(ctx, i, A_NUM_CARRIES, carries, 0, (int64_t)i->operand_count + 1))
        return false;
    if (!infer_check_params(ctx, i, c->computation, i->operand_count))
        return false;
    c->along = dims.at[0];
    c->size = -1;
    c->carries = (int)carries;
    c->inputs = i->operand_count - c->carries;
    c->outputs = part_count(c->computation->root->shape) - c->carries;
    if (c->outputs < 0 || (c->outputs == 0 && c->inputs == 0))
        return report_computation(ctx, i, c->computation,
                                  "returns %d value(s), expected at least %d carries",
                                  part_count(c->computation->root->shape), c->carries);
    return true;
}

/* spec: Scan */
static const struct shape *scan_shape(struct infer *ctx, const struct inst *i)
{
    struct scan c;
    if (!scan_counts(ctx, i, &c))
        return NULL;
    if (ctx->parsing) /* XLA's parser also checks the first input only */
        return c.inputs == 0 || scan_row(ctx, i, &c, operand_shape(i, 0))
                   ? scan_inferred(ctx, i, &c)
                   : NULL;
    if (!scan_operands(ctx, i, &c) || !scan_carries(ctx, i, &c))
        return NULL;
    if (part_count(i->shape) != c.outputs + c.carries)
        return report_inst(ctx, i, NULL, "returns %s, expected %d results",
                           report_text(ctx, i->shape), c.outputs + c.carries),
               NULL;
    if (!scan_results(ctx, i, &c))
        return NULL;
    if (ctx->layout_sensitive && !inst_bool(i, A_IS_ASSOCIATIVE))
        return report_attr(ctx, i, A_IS_ASSOCIATIVE, "expected true"), NULL;
    return i->shape;
}

const struct shape *infer_reduce(struct infer *ctx, const struct inst *i)
{
    return i->opcode == OP_SCAN ? scan_shape(ctx, i) : reduce_shape(ctx, i);
}
