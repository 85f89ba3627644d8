/*
 * why/element: operations whose elements come from the same index of each operand, conversions, and
 * random numbers.
 */
#include "why/why_priv.h"

#include <string.h>

/* ---- elementwise ---- */

/* Whether operand k is bitwise equal to the result at the index. */
static bool is_result(const struct why *w, const struct inst *i, int k, const int64_t *index)
{
    const struct literal *result = why_value(w, i, WHY_SELF, 0), *operand = why_value(w, i, k, 0);
    const void *a = result ? why_at(result, index) : NULL,
               *b = operand ? why_at(operand, index) : NULL;
    return a && b && result->shape->dtype == operand->shape->dtype &&
           memcmp(a, b, dtype_bytes(result->shape->dtype)) == 0;
}

/* The first of the operands, in this order, that is bitwise equal to the result. */
static void one_of(struct why *w, const struct inst *i, const int64_t *index, const int *order,
                   const char *const *roles)
{
    int chosen = -1;
    for (int k = 0; k < i->operand_count && chosen < 0; k++)
        if (is_result(w, i, order[k], index))
            chosen = order[k];
    for (int k = 0; k < i->operand_count; k++)
        why_point(w, i, k, 0, index, k == chosen ? "chosen" : roles[k]);
}

static void select_one(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    const struct literal *pred = why_value(w, i, 0, 0);
    const unsigned char *p = pred ? why_at(pred, index) : NULL;
    why_point(w, i, 0, 0, index, "condition");
    if (p) {
        why_point(w, i, *p ? 1 : 2, leaf, index, "chosen");
        return;
    }
    why_point(w, i, 1, leaf, index, "on true");
    why_point(w, i, 2, leaf, index, "on false");
}

void why_elementwise(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    static const char *const binary[] = {"lhs", "rhs"}, *const clamp[] = {"min", "operand", "max"};
    switch (i->opcode) {
    case OP_SELECT: select_one(w, i, leaf, index); break;
    case OP_CLAMP: one_of(w, i, index, (const int[]){1, 0, 2}, clamp); break;
    case OP_MINIMUM:
    case OP_MAXIMUM: one_of(w, i, index, (const int[]){0, 1}, binary); break;
    default:
        for (int k = 0; k < i->operand_count; k++)
            why_point(w, i, k, 0, index, i->operand_count == 2 ? binary[k] : "operand");
    }
}

void why_compare(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    why_elementwise(w, i, leaf, index);
}

/* ---- conversions ---- */

static void bitcast_convert(struct why *w, const struct inst *i, const int64_t *index)
{
    const int rank = i->operands[0]->shape->rank;
    struct why_source *s = why_whole(w, i, 0, 0, "operand");
    for (int d = 0; d < rank && d < i->shape->rank; d++)
        why_fix(s, d, index[d]);
}

/* The number of elements per byte in a buffer. */
static int64_t each_byte(enum dtype t)
{
    return dtype_bits(t) < 8 ? 8 / (int64_t)dtype_bits(t) : 1;
}
static int64_t bytes_each(enum dtype t)
{
    return dtype_bits(t) < 8 ? 1 : (int64_t)dtype_bits(t) / 8;
}

/* Permutes one number per dimension to the order of the layout, slowest first. */
static void in_memory(const struct shape *s, const int64_t *from, int64_t *to)
{
    for (int k = 0; k < s->rank; k++)
        to[k] = from[s->layout && s->layout->rank == s->rank
                         ? s->layout->minor_to_major[s->rank - 1 - k]
                         : k];
}

/* The element of the operand at a position in memory. */
static void point_in_memory(struct why *w, const struct inst *i, int64_t at)
{
    const struct shape *s = i->operands[0]->shape;
    int64_t dims[VIEW_MAX_RANK], place[VIEW_MAX_RANK], index[VIEW_MAX_RANK];
    in_memory(s, s->dims, dims);
    why_unravel(s->rank, dims, at, place);
    for (int k = 0; k < s->rank; k++)
        index[s->layout && s->layout->rank == s->rank ? s->layout->minor_to_major[s->rank - 1 - k]
                                                      : k] = place[k];
    why_point(w, i, 0, 0, index, "operand");
}

static void bitcast(struct why *w, const struct inst *i, const int64_t *index)
{
    const struct shape *from = i->operands[0]->shape, *to = i->shape;
    int64_t dims[VIEW_MAX_RANK], place[VIEW_MAX_RANK], n;
    if (!shape_is_array(from) || !shape_elements(from, &n) || shape_has_dynamic(from) ||
        shape_has_dynamic(to)) {
        why_every_leaf(w, i, 0, "operand");
        return;
    }
    in_memory(to, to->dims, dims);
    in_memory(to, index, place);
    const int64_t at = why_linear(to->rank, dims, place);
    if (dtype_bits(from->dtype) == dtype_bits(to->dtype)) {
        if (at < n)
            point_in_memory(w, i, at);
        return;
    }
    const int64_t byte = at / each_byte(to->dtype) * bytes_each(to->dtype),
                  end = byte + bytes_each(to->dtype);
    const int64_t first = byte / bytes_each(from->dtype) * each_byte(from->dtype);
    const int64_t last =
        (end - 1) / bytes_each(from->dtype) * each_byte(from->dtype) + each_byte(from->dtype);
    for (int64_t k = first; k < last && k < n; k++)
        point_in_memory(w, i, k);
}

void why_convert(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    switch (i->opcode) {
    case OP_BITCAST: bitcast(w, i, index); break;
    case OP_BITCAST_CONVERT: bitcast_convert(w, i, index); break;
    default:
        why_point(w, i, 0, leaf, index, "operand");
        if (i->opcode == OP_STOCHASTIC_CONVERT)
            why_point(w, i, 1, 0, index, "random");
    }
}

/* ---- random numbers ---- */

void why_rng(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    for (int k = 0; k < i->operand_count; k++)
        why_every_leaf(w, i, k, i->opcode == OP_RNG ? "parameter" : "state");
}
