/*
 * reduce.c: valid reducers, and result shapes of reduce, reduce-window and scan.
 */
#include "verify/verify_priv.h"

static const struct shape *reducer_result(const struct computation *c, int k)
{
    const struct shape *s = c->root->shape;
    return shape_is_tuple(s) ? s->elements[k] : s;
}

static bool reducer_form(struct verify *v, const struct inst *i, const struct reducer *r)
{
    const struct computation *c = r->computation;
    const struct shape *root = c->root->shape;
    if (c->param_count != 2 * r->count)
        return verify_bad_computation(v, i, c, "has %d parameters, expected %d", c->param_count,
                                      2 * r->count);
    int results = shape_is_tuple(root) ? root->count : shape_is_array(root) ? 1 : -1;
    if (results != r->count)
        return verify_bad_computation(v, i, c, "returns %s, expected %d scalar(s)",
                                      verify_text(v, root), r->count);
    for (int k = 0; k < r->count; k++)
        if (!shape_is_scalar(reducer_result(c, k)))
            return verify_bad_computation(v, i, c, "returns %s, expected scalars",
                                          verify_text(v, root));
    return true;
}

/* Checks one accumulator: the result must be a valid argument of the next call, as accumulator and
 * as value. */
static bool reducer_slot(struct verify *v, const struct inst *i, const struct reducer *r, int k)
{
    const struct computation *c = r->computation;
    const struct shape *result = reducer_result(c, k), *accumulator = c->params[k]->shape,
                       *value = c->params[r->count + k]->shape;
    if (!shape_compatible(result, accumulator))
        return verify_bad_computation(v, i, c, "returns %s where parameter %d is %s",
                                      verify_text(v, result), k, verify_text(v, accumulator));
    if (!shape_compatible_fp(result, r->init[k]))
        return verify_bad_computation(v, i, c, "returns %s where the initial value is %s",
                                      verify_text(v, result), verify_text(v, r->init[k]));
    if (!shape_is_scalar_like(value, r->input[k]))
        return verify_bad_computation(v, i, c, "takes %s as parameter %d, expected a scalar of %s",
                                      verify_text(v, value), r->count + k,
                                      dtype_spelling(r->input[k]));
    if (!shape_compatible_fp(result, value))
        return verify_bad_computation(v, i, c, "returns %s where parameter %d is %s",
                                      verify_text(v, result), r->count + k, verify_text(v, value));
    return true;
}

bool verify_reducer(struct verify *v, const struct inst *i, const struct reducer *r)
{
    if (!reducer_form(v, i, r))
        return false;
    for (int k = 0; k < r->count; k++)
        if (!reducer_slot(v, i, r, k))
            return false;
    return true;
}

/* The result: arrays of the same dimensions, one per input; a tuple if the reducer's root is
 * one. */
static const struct shape *reduced_shape(struct verify *v, const struct computation *c,
                                         const struct dims *d, const enum dtype *types)
{
    const struct shape *root = c->root->shape;
    if (!shape_is_tuple(root))
        return verify_dims_shape(v, types[0], d);
    const struct shape **parts = ARENA_ARRAY(v->arena, const struct shape *, root->count);
    for (int k = 0; k < root->count; k++)
        parts[k] = verify_dims_shape(v, types[k], d);
    return shape_tuple(v->arena, root->count, parts);
}

bool verify_operand_types_match(struct verify *v, const struct inst *i, const struct computation *c)
{
    if (v->parsing || v->options.mixed_precision)
        return true;
    for (int k = 0; k < c->param_count && k < i->operand_count; k++)
        if (c->params[k]->shape->dtype != operand_shape(i, k)->dtype)
            return verify_bad_operand(v, i, k, "the type of parameter %d of '" STR_FMT "', %s", k,
                                      STR_ARG(c->name), verify_text(v, c->params[k]->shape));
    return true;
}

/* Checks inputs and initial values of a reduction; all inputs must have the same dimensions. */
static bool reduce_operands(struct verify *v, const struct inst *i, struct reducer *r)
{
    r->computation = inst_computation(i, A_TO_APPLY);
    r->count = i->operand_count / 2;
    if (i->operand_count % 2 || r->count == 0)
        return verify_bad_inst(v, i, NULL,
                               "has %d operands, expected one initial value for each input",
                               i->operand_count);
    if (!verify_operand_arrays(v, i, 0, i->operand_count))
        return false;
    const struct shape **init = ARENA_ARRAY(v->arena, const struct shape *, r->count);
    enum dtype *input = ARENA_ARRAY(v->arena, enum dtype, r->count);
    for (int k = 0; k < r->count; k++) {
        if (!shape_same_dims(operand_shape(i, 0), operand_shape(i, k)))
            return verify_bad_operands(v, i, 0, k, "dimensions");
        init[k] = operand_shape(i, r->count + k);
        input[k] = operand_shape(i, k)->dtype;
    }
    r->init = init;
    r->input = input;
    return true;
}

/* spec: Reduce */
static const struct shape *reduce_shape(struct verify *v, const struct inst *i)
{
    struct reducer r;
    if (!reduce_operands(v, i, &r))
        return NULL;
    const struct shape *s = operand_shape(i, 0);
    if (!verify_dim_list(v, i, A_DIMENSIONS, s->rank, LIST_DISTINCT) || !verify_reducer(v, i, &r) ||
        !verify_operand_types_match(v, i, r.computation))
        return NULL;
    const bool *gone = verify_marked(v, inst_ints(i, A_DIMENSIONS), s->rank);
    struct dims d = verify_dims(v, s->rank);
    for (int k = 0; k < s->rank; k++)
        if (!gone[k])
            dims_take(&d, s, k);
    enum dtype *types = ARENA_ARRAY(v->arena, enum dtype, r.count);
    for (int k = 0; k < r.count; k++)
        types[k] = reducer_result(r.computation, k)->dtype;
    return reduced_shape(v, r.computation, &d, types);
}

/* ---- reduce-window: the operands are those of reduce ---- */

/* spec: ReduceWindow */
const struct shape *verify_reduce_window(struct verify *v, const struct inst *i)
{
    struct reducer r;
    if (!reduce_operands(v, i, &r) || !verify_reducer(v, i, &r) ||
        !verify_operand_types_match(v, i, r.computation))
        return NULL;
    const struct shape *s = operand_shape(i, 0);
    struct dims d = verify_dims(v, s->rank);
    if (!verify_window_shape(v, i, s, &d))
        return NULL;
    enum dtype *types = ARENA_ARRAY(v->arena, enum dtype, r.count);
    for (int k = 0; k < r.count; k++)
        types[k] = r.init[k]->dtype;
    return reduced_shape(v, r.computation, &d, types);
}

/* ---- scan ---- */

struct scan {
    const struct computation *computation;
    int64_t along, size; /* size -1: unknown */
    int inputs, carries, outputs;
};

/* Component k of a result shape, which may be a tuple. */
static const struct shape *part(const struct shape *s, int k)
{
    return shape_is_tuple(s) ? s->elements[k] : s;
}

static int part_count(const struct shape *s) { return shape_is_tuple(s) ? s->count : 1; }

static bool scan_agree(const struct verify *v, const struct shape *a, const struct shape *b)
{
    unsigned ignore = IGNORE_LAYOUT | (v->options.mixed_precision ? IGNORE_FP_PRECISION : 0);
    if (v->options.layout_sensitive && !v->parsing)
        return shape_equal(a, b, ignore);
    return shape_compatible(a, b);
}

/* The array without the scanned dimension, whose size must be the same in all arrays. */
static const struct shape *scan_row(struct verify *v, const struct inst *i, struct scan *c,
                                    const struct shape *s)
{
    if (!shape_is_array(s) || c->along < 0 || c->along >= s->rank) {
        verify_bad_attr(v, i, A_DIMENSIONS, "%s has no dimension %" PRId64, verify_text(v, s),
                        c->along);
        return NULL;
    }
    if (c->size >= 0 && s->dims[c->along] != c->size) {
        verify_bad_attr(v, i, A_DIMENSIONS, "dimension %" PRId64 " of %s is not of size %" PRId64,
                        c->along, verify_text(v, s), c->size);
        return NULL;
    }
    c->size = s->dims[c->along];
    struct dims d = verify_dims(v, s->rank);
    for (int k = 0; k < s->rank; k++)
        if (k != c->along)
            dims_take(&d, s, k);
    return verify_dims_shape(v, s->dtype, &d);
}

static bool scan_operands(struct verify *v, const struct inst *i, struct scan *c)
{
    for (int k = 0; k < i->operand_count; k++) {
        const struct shape *s = operand_shape(i, k), *param = c->computation->params[k]->shape;
        if (k < c->inputs)
            s = scan_row(v, i, c, s);
        if (!s)
            return false;
        if (!scan_agree(v, s, param))
            return verify_bad_operand(v, i, k, "%s%s, as parameter %d of '" STR_FMT "'",
                                      k < c->inputs ? "rows of " : "", verify_text(v, param), k,
                                      STR_ARG(c->computation->name));
    }
    return true;
}

/* The computation's carried results must have the shapes of its carried parameters. */
static bool scan_carries(struct verify *v, const struct inst *i, struct scan *c)
{
    const struct shape *root = c->computation->root->shape;
    for (int k = 0; k < c->carries; k++) {
        const struct shape *out = part(root, c->outputs + k),
                           *in = c->computation->params[c->inputs + k]->shape;
        if (!scan_agree(v, out, in))
            return verify_bad_computation(v, i, c->computation, "takes the carry %s but returns %s",
                                          verify_text(v, in), verify_text(v, out));
    }
    return true;
}

static bool scan_results(struct verify *v, const struct inst *i, struct scan *c)
{
    const struct shape *root = c->computation->root->shape;
    for (int k = 0; k < c->outputs + c->carries; k++) {
        const struct shape *s = part(i->shape, k);
        if (k < c->outputs)
            s = scan_row(v, i, c, s);
        if (!s)
            return false;
        if (!scan_agree(v, s, part(root, k)))
            return verify_bad_computation(
                v, i, c->computation, "returns %s as result %d, but the scan returns %s",
                verify_text(v, part(root, k)), k, verify_text(v, part(i->shape, k)));
    }
    return true;
}

/* The inferred result: outputs, whose rows are stacked, then the carried values. */
static const struct shape *scan_inferred(struct verify *v, const struct inst *i, struct scan *c)
{
    const struct shape *root = c->computation->root->shape;
    const struct shape **parts = ARENA_ARRAY(v->arena, const struct shape *, part_count(root));
    for (int k = 0; k < part_count(root); k++) {
        const struct shape *s = part(root, k);
        parts[k] = s;
        if (k >= c->outputs)
            continue;
        if (!shape_is_array(s) || c->along > s->rank || c->size < 0) {
            verify_bad_computation(v, i, c->computation,
                                   "returns %s, which cannot be stacked along %" PRId64,
                                   verify_text(v, s), c->along);
            return NULL;
        }
        struct dims d = verify_dims(v, s->rank + 1);
        for (int j = 0; j <= s->rank; j++) {
            if (j == c->along)
                dims_add(&d, c->size, false);
            if (j < s->rank)
                dims_take(&d, s, j);
        }
        parts[k] = verify_dims_shape(v, s->dtype, &d);
    }
    return shape_is_tuple(root) ? shape_tuple(v->arena, root->count, parts) : parts[0];
}

static bool scan_counts(struct verify *v, const struct inst *i, struct scan *c)
{
    int64_t carries = inst_int(i, A_NUM_CARRIES, 0);
    struct ints dims = inst_ints(i, A_DIMENSIONS);
    c->computation = inst_computation(i, A_TO_APPLY);
    if (!verify_attr_count(v, i, A_DIMENSIONS, dims.count, 1) ||
        !verify_attr_int(v, i, A_NUM_CARRIES, carries, 0, (int64_t)i->operand_count + 1))
        return false;
    if (c->computation->param_count != i->operand_count)
        return verify_bad_computation(v, i, c->computation, "has %d parameters, expected %d",
                                      c->computation->param_count, i->operand_count);
    c->along = dims.at[0];
    c->size = -1;
    c->carries = (int)carries;
    c->inputs = i->operand_count - c->carries;
    c->outputs = part_count(c->computation->root->shape) - c->carries;
    if (c->outputs < 0 || (c->outputs == 0 && c->inputs == 0))
        return verify_bad_computation(v, i, c->computation,
                                      "returns %d value(s), expected at least %d carries",
                                      part_count(c->computation->root->shape), c->carries);
    return true;
}

/* spec: Scan */
static const struct shape *scan_shape(struct verify *v, const struct inst *i)
{
    struct scan c;
    if (!scan_counts(v, i, &c))
        return NULL;
    if (v->parsing) /* XLA's parser also checks the first input only */
        return c.inputs == 0 || scan_row(v, i, &c, operand_shape(i, 0)) ? scan_inferred(v, i, &c)
                                                                        : NULL;
    if (!scan_operands(v, i, &c) || !scan_carries(v, i, &c))
        return NULL;
    if (part_count(i->shape) != c.outputs + c.carries) {
        verify_bad_inst(v, i, NULL, "returns %s, expected %d results", verify_text(v, i->shape),
                        c.outputs + c.carries);
        return NULL;
    }
    if (!scan_results(v, i, &c))
        return NULL;
    if (v->options.layout_sensitive && !inst_bool(i, A_IS_ASSOCIATIVE)) {
        verify_bad_attr(v, i, A_IS_ASSOCIATIVE, "expected true");
        return NULL;
    }
    return i->shape;
}

const struct shape *verify_reduce(struct verify *v, const struct inst *i)
{
    return i->opcode == OP_SCAN ? scan_shape(v, i) : reduce_shape(v, i);
}
