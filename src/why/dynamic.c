/*
 * Sizes that change at run time.
 */
#include "why/why_priv.h"

static void dynamic_reshape(struct why *w, const struct inst *i, const int64_t *index)
{
    int64_t from[VIEW_MAX_RANK], to[VIEW_MAX_RANK], at[VIEW_MAX_RANK];
    why_dims(w, i, 0, 0, from);
    why_dims(w, i, WHY_SELF, 0, to);
    if (why_value(w, i, WHY_SELF, 0)) {
        why_unlinear(i->operands[0]->shape->rank, from, why_linear(i->shape->rank, to, index), at);
        why_point(w, i, 0, 0, at, "operand");
    } else {
        why_whole(w, i, 0, 0, "operand");
    }
    for (int k = 1; k < i->operand_count; k++)
        why_whole(w, i, k, 0, "size");
}

/* A size is made of no element: get-dimension-size has no sources. */
void why_dynamic(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    switch (i->opcode) {
    case OP_DYNAMIC_RESHAPE: dynamic_reshape(w, i, index); break;
    case OP_SET_DIMENSION_SIZE:
        why_same(w, i, 0, leaf, index, "operand");
        why_whole(w, i, 1, 0, "size");
        break;
    default: break;
    }
}
