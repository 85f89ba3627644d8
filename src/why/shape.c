/*
 * Operations that only move elements: each is one element of an operand, or padding, or made of its place.
 */
#include "why/why_priv.h"

static void broadcast(struct why *w, const struct inst *i, const int64_t *index)
{
    const struct ints dims = inst_ints(i, A_DIMENSIONS);
    struct why_source *s = why_whole(w, i, 0, 0, "operand");
    for (int d = 0; d < s->rank; d++)
        why_fix(s, d, s->count[d] == 1 ? 0 : index[dims.at[d]]);
}

static void transpose(struct why *w, const struct inst *i, const int64_t *index)
{
    const struct ints dims = inst_ints(i, A_DIMENSIONS);
    struct why_source *s = why_whole(w, i, 0, 0, "operand");
    for (int d = 0; d < s->rank; d++)
        why_fix(s, dims.at[d], index[d]);
}

static void reshape(struct why *w, const struct inst *i, const int64_t *index)
{
    int64_t from[VIEW_MAX_RANK], to[VIEW_MAX_RANK], at[VIEW_MAX_RANK];
    why_dims(w, i, 0, 0, from);
    why_dims(w, i, WHY_SELF, 0, to);
    why_unlinear(i->operands[0]->shape->rank, from, why_linear(i->shape->rank, to, index), at);
    why_point(w, i, 0, 0, at, "operand");
}

static void reverse(struct why *w, const struct inst *i, const int64_t *index)
{
    const struct ints dims = inst_ints(i, A_DIMENSIONS);
    struct why_source *s = why_point(w, i, 0, 0, index, "operand");
    int64_t sizes[VIEW_MAX_RANK];
    why_dims(w, i, 0, 0, sizes);
    for (int64_t k = 0; k < dims.count; k++)
        s->start[dims.at[k]] = sizes[dims.at[k]] - 1 - index[dims.at[k]];
}

static void slice(struct why *w, const struct inst *i, const int64_t *index)
{
    const struct attr *a = inst_attr(i, A_SLICE);
    struct why_source *s = why_point(w, i, 0, 0, index, "operand");
    for (int d = 0; a && d < a->v.slices.rank; d++)
        s->start[d] = a->v.slices.dims[d].start + index[d] * a->v.slices.dims[d].stride;
}

static void concatenate(struct why *w, const struct inst *i, const int64_t *index)
{
    const int64_t along = inst_ints(i, A_DIMENSIONS).at[0];
    int64_t at = index[along], dims[VIEW_MAX_RANK];
    for (int k = 0; k < i->operand_count; k++) {
        why_dims(w, i, k, 0, dims);
        if (at < dims[along]) {
            why_point(w, i, k, 0, index, "operand")->start[along] = at;
            return;
        }
        at -= dims[along];
    }
}

static void pad(struct why *w, const struct inst *i, const int64_t *index)
{
    const struct padding p = inst_attr(i, A_PADDING)->v.padding;
    int64_t at[VIEW_MAX_RANK], dims[VIEW_MAX_RANK];
    bool inside = true;
    why_dims(w, i, 0, 0, dims);
    for (int d = 0; d < p.rank && inside; d++) {
        const int64_t from = index[d] - p.dims[d].low, step = p.dims[d].interior + 1;
        at[d] = from / step;
        inside = from >= 0 && from % step == 0 && at[d] < dims[d];
    }
    if (inside)
        why_point(w, i, 0, 0, at, "operand");
    else
        why_whole(w, i, 1, 0, "padding value");
}

/* (result, operand, context), the operand twice. */
static void copy_start(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    const int64_t leaves = shape_leaf_count(i->operands[0]->shape);
    if (leaf < 2 * leaves)
        why_same(w, i, 0, leaf % leaves, index, "operand");
}

void why_shape(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    switch (i->opcode) {
    case OP_IOTA: break;
    case OP_BROADCAST: broadcast(w, i, index); break;
    case OP_TRANSPOSE: transpose(w, i, index); break;
    case OP_RESHAPE: reshape(w, i, index); break;
    case OP_REVERSE: reverse(w, i, index); break;
    case OP_SLICE: slice(w, i, index); break;
    case OP_CONCATENATE: concatenate(w, i, index); break;
    case OP_PAD: pad(w, i, index); break;
    case OP_COPY_START: copy_start(w, i, leaf, index); break;
    default: why_same(w, i, 0, leaf, index, "operand"); /* copy, and the end of one */
    }
}
