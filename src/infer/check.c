/*
 * check.c: reports rule violations; small checks that many rules share.
 */
#include "verify/verify_priv.h"

/* The span of the opcode, if the text contains one. */
static struct span place_of(const struct inst *i)
{
    return i->opcode_span.end > i->opcode_span.begin ? i->opcode_span : i->span;
}

static const char *called(const struct verify *v, const struct inst *i)
{
    return v->word ? v->word : op_spelling((enum opcode)i->opcode);
}

static struct span result_place(const struct inst *i)
{
    return i->shape_span.end > i->shape_span.begin ? i->shape_span : place_of(i);
}

const char *verify_text(struct verify *v, const struct shape *s)
{
    return shape_text(&v->ds->arena, s).ptr;
}

static void note_definition(struct verify *v, struct diag *d, const struct inst *operand)
{
    diag_note(v->ds, d, operand->name_span, "'" STR_FMT "' is %s, defined here",
              STR_ARG(operand->name), verify_text(v, operand->shape));
}

bool verify_bad_operand(struct verify *v, const struct inst *i, int k, const char *expected, ...)
{
    va_list ap;
    va_start(ap, expected);
    struct str expectation = arena_vprintf(&v->ds->arena, expected, ap);
    va_end(ap);
    struct diag *d = DIAG(v->ds, place_of(i), BAD_OPERAND, k, called(v, i),
                          verify_text(v, operand_shape(i, k)), expectation.ptr);
    note_definition(v, d, i->operands[k]);
    return false;
}

bool verify_bad_operands(struct verify *v, const struct inst *i, int a, int b, const char *what)
{
    struct diag *d = DIAG(v->ds, place_of(i), OPERANDS_DIFFER, a, b, called(v, i), what,
                          verify_text(v, operand_shape(i, a)), verify_text(v, operand_shape(i, b)));
    note_definition(v, d, i->operands[a]);
    note_definition(v, d, i->operands[b]);
    return false;
}

bool verify_bad_result(struct verify *v, const struct inst *i, const struct shape *expected)
{
    return DIAG_ERROR(v->ds, result_place(i), BAD_RESULT, called(v, i), verify_text(v, i->shape),
                      verify_text(v, expected));
}

bool verify_bad_attr(struct verify *v, const struct inst *i, enum attr_id id, const char *problem,
                     ...)
{
    va_list ap;
    va_start(ap, problem);
    struct str text = arena_vprintf(&v->ds->arena, problem, ap);
    va_end(ap);
    struct span span = inst_attr_span(i, id);
    return DIAG_ERROR(v->ds, span.end > span.begin ? span : place_of(i), BAD_ATTRIBUTE,
                      attr_spelling(id), called(v, i), text.ptr);
}

bool verify_bad_computation(struct verify *v, const struct inst *i, const struct computation *c,
                            const char *problem, ...)
{
    va_list ap;
    va_start(ap, problem);
    struct str text = arena_vprintf(&v->ds->arena, problem, ap);
    va_end(ap);
    struct diag *d =
        DIAG(v->ds, place_of(i), BAD_COMPUTATION, STR_ARG(c->name), called(v, i), text.ptr);
    diag_note(v->ds, d, c->name_span, "'" STR_FMT "' is defined here", STR_ARG(c->name));
    return false;
}

bool verify_bad_inst(struct verify *v, const struct inst *i, const struct inst *other,
                     const char *problem, ...)
{
    va_list ap;
    va_start(ap, problem);
    struct str text = arena_vprintf(&v->ds->arena, problem, ap);
    va_end(ap);
    struct diag *d = DIAG(v->ds, place_of(i), BAD_INSTRUCTION, called(v, i), text.ptr);
    if (other)
        note_definition(v, d, other);
    return false;
}

bool verify_operand_array(struct verify *v, const struct inst *i, int k)
{
    return shape_is_array(operand_shape(i, k)) || verify_bad_operand(v, i, k, "an array");
}

bool verify_operand_arrays(struct verify *v, const struct inst *i, int first, int end)
{
    for (int k = first; k < end; k++)
        if (!verify_operand_array(v, i, k))
            return false;
    return true;
}

bool verify_operand_least(struct verify *v, const struct inst *i, int min)
{
    return i->operand_count >= min ||
           verify_bad_inst(v, i, NULL, "has %d operand(s), expected at least %d", i->operand_count,
                           min);
}

bool verify_attr_int(struct verify *v, const struct inst *i, enum attr_id id, int64_t value,
                     int64_t low, int64_t end)
{
    if (value >= low && (value < end || end == INT64_MAX))
        return true;
    if (low == INT64_MIN)
        return verify_bad_attr(v, i, id, "%" PRId64 " is not less than %" PRId64, value, end);
    if (end == INT64_MAX)
        return verify_bad_attr(v, i, id, "%" PRId64 " is less than %" PRId64, value, low);
    return verify_bad_attr(v, i, id, "%" PRId64 " is not in [%" PRId64 ", %" PRId64 ")", value, low,
                           end);
}

bool verify_attr_count(struct verify *v, const struct inst *i, enum attr_id id, int64_t count,
                       int64_t expected)
{
    return count == expected ||
           verify_bad_attr(v, i, id, "%" PRId64 " entries, expected %" PRId64, count, expected);
}

const bool *verify_marked(struct verify *v, struct ints list, int64_t end)
{
    bool *marks = ARENA_ARRAY(v->arena, bool, end);
    for (int64_t k = 0; k < list.count; k++)
        marks[list.at[k]] = true;
    return marks;
}

bool verify_dim_list(struct verify *v, const struct inst *i, enum attr_id id, int64_t end,
                     enum list_rule rule)
{
    struct ints list = inst_ints(i, id);
    bool *seen = ARENA_ARRAY(v->arena, bool, end);
    for (int64_t k = 0; k < list.count; k++) {
        if (!verify_attr_int(v, i, id, list.at[k], 0, end))
            return false;
        if (seen[list.at[k]])
            return verify_bad_attr(v, i, id, "%" PRId64 " is duplicated", list.at[k]);
        if (rule == LIST_SORTED && k > 0 && list.at[k] < list.at[k - 1])
            return verify_bad_attr(v, i, id, "not sorted: %" PRId64 " after %" PRId64, list.at[k],
                                   list.at[k - 1]);
        seen[list.at[k]] = true;
    }
    return true;
}

bool verify_same(const struct verify *v, const struct shape *a, const struct shape *b)
{
    return v->options.layout_sensitive && !v->parsing ? shape_equal(a, b, 0)
                                                      : shape_compatible(a, b);
}

bool verify_higher(struct verify *v, const struct inst *i, int a, int b, enum dtype *out)
{
    *out = dtype_higher(operand_shape(i, a)->dtype, operand_shape(i, b)->dtype);
    return *out != DT_INVALID || verify_bad_operands(v, i, a, b, "element type");
}

struct dims verify_dims(struct verify *v, int64_t capacity)
{
    return (struct dims){0, ARENA_ARRAY(v->arena, int64_t, capacity),
                         ARENA_ARRAY(v->arena, bool, capacity)};
}

const struct shape *verify_dims_shape(struct verify *v, enum dtype t, const struct dims *d)
{
    bool any = false;
    for (int k = 0; k < d->rank; k++)
        any |= d->dynamic[k];
    return shape_array(v->arena, t, d->rank, d->size, any ? d->dynamic : NULL, NULL);
}

const struct shape *verify_operands_shape(struct verify *v, const struct inst *i, int count)
{
    if (count == 1)
        return operand_shape(i, 0);
    const struct shape **shapes = ARENA_ARRAY(v->arena, const struct shape *, count);
    for (int k = 0; k < count; k++)
        shapes[k] = operand_shape(i, k);
    return shape_tuple(v->arena, count, shapes);
}
