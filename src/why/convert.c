/*
 * Conversions: the same place; where bits are read as another type, all elements whose bits are in it.
 */
#include "why/why_priv.h"

static void bitcast_convert(struct why *w, const struct inst *i, const int64_t *index)
{
    const int rank = i->operands[0]->shape->rank;
    struct why_source *s = why_whole(w, i, 0, 0, "operand");
    for (int d = 0; d < rank && d < i->shape->rank; d++)
        why_fix(s, d, index[d]);
}

/* How elements lie in a buffer: what is narrower than a byte shares one. */
static int64_t each_byte(enum dtype t) { return dtype_bits(t) < 8 ? 8 / (int64_t)dtype_bits(t) : 1; }
static int64_t bytes_each(enum dtype t) { return dtype_bits(t) < 8 ? 1 : (int64_t)dtype_bits(t) / 8; }

/* The dimensions of a shape in the order in which they lie in memory, slowest first. */
static void in_memory(const struct shape *s, const int64_t *from, int64_t *to)
{
    for (int k = 0; k < s->rank; k++)
        to[k] = from[s->layout && s->layout->rank == s->rank ? s->layout->minor_to_major[s->rank - 1 - k] : k];
}

/* One element of the operand by its place in memory. */
static void point_in_memory(struct why *w, const struct inst *i, int64_t at)
{
    const struct shape *s = i->operands[0]->shape;
    int64_t dims[VIEW_MAX_RANK], place[VIEW_MAX_RANK], index[VIEW_MAX_RANK];
    in_memory(s, s->dims, dims);
    why_unlinear(s->rank, dims, at, place);
    for (int k = 0; k < s->rank; k++)
        index[s->layout && s->layout->rank == s->rank ? s->layout->minor_to_major[s->rank - 1 - k] : k] = place[k];
    why_point(w, i, 0, 0, index, "operand");
}

static void bitcast(struct why *w, const struct inst *i, const int64_t *index)
{
    const struct shape *from = i->operands[0]->shape, *to = i->shape;
    int64_t dims[VIEW_MAX_RANK], place[VIEW_MAX_RANK], n;
    if (!shape_is_array(from) || !shape_elements(from, &n) || shape_has_dynamic(from) || shape_has_dynamic(to)) {
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
    const int64_t byte = at / each_byte(to->dtype) * bytes_each(to->dtype), end = byte + bytes_each(to->dtype);
    const int64_t first = byte / bytes_each(from->dtype) * each_byte(from->dtype);
    const int64_t last = (end - 1) / bytes_each(from->dtype) * each_byte(from->dtype) + each_byte(from->dtype);
    for (int64_t k = first; k < last && k < n; k++)
        point_in_memory(w, i, k);
}

void why_convert(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    switch (i->opcode) {
    case OP_BITCAST: bitcast(w, i, index); break;
    case OP_BITCAST_CONVERT: bitcast_convert(w, i, index); break;
    default:
        why_same(w, i, 0, leaf, index, "operand");
        if (i->opcode == OP_STOCHASTIC_CONVERT)
            why_same(w, i, 1, 0, index, "random");
    }
}
